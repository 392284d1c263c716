#include "../internal.h"

/* Handles other than the standard ones that lead to descriptors 0 or 1: `open my $copy, ">&STDOUT"`, `>&=`,
 * fdopen. Their buffers belong to their request's response; after the request they lead nowhere. */

/* From perlio.c: a table of handles, whose first entry refers to the next table. */
enum { HANDLES_PER_TABLE = 64, MAX_HOME = 32 };

/* Handles of start-up code and of perl itself: they lead to the descriptors of every request. */
static PerlIO *home[MAX_HOME];
static size_t home_count;
static int home_writes; /* start-up code has a handle to descriptor 1, whose use sets no flag */

typedef void (*visitor)(pTHX_ PerlIO *f);

static void each_handle(pTHX_ visitor visit)
{
    for (PerlIOl *table = PL_perlio; table; table = table->next)
        for (int i = 1; i < HANDLES_PER_TABLE; i++)
            if (table[i].next)
                visit(aTHX_ &table[i].next);
}

static int is_home(const PerlIO *f)
{
    for (size_t i = 0; i < home_count; i++)
        if (home[i] == f)
            return 1;
    return 0;
}

static void remember(pTHX_ PerlIO *f)
{
    const int fd = PerlIO_fileno(f);
    if ((fd != 0 && fd != 1) || cml_is_standard(f) || home_count == MAX_HOME)
        return;
    home[home_count++] = f;
    home_writes |= fd == 1 && f != PerlIO_stdout();
}

/* Runs in a fresh worker. */
void cml_remember_copies(pTHX)
{
    home_count = 0;
    home_writes = 0;
    each_handle(aTHX_ remember);
}

int cml_start_up_writes(void)
{
    return home_writes;
}

static int may_have_copies(void)
{
    return home_writes || cml_touched & (CML_COPIED | CML_WROTE);
}

static int has_unwritten(PerlIO *f)
{
    for (const PerlIOl *layer = *f; layer; layer = layer->next)
        if (layer->flags & PERLIO_F_WRBUF)
            return 1;
    return 0;
}

static void flush_copy(pTHX_ PerlIO *f)
{
    if (!has_unwritten(f))
        return;
    const int fd = PerlIO_fileno(f);
    if (fd == 1 || fd == 2 || cml_is_output(fd))
        PerlIO_flush(f);
}

static void flush_all(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    each_handle(aTHX_ flush_copy);
}

/* Runs before the response ends. C code writes through PerlIO_stdout() and stdio. */
void cml_flush_copies(pTHX)
{
    if (cml_forked_child)
        return;
    const int is_foreign = cml_has_foreign_code(aTHX);
    if (is_foreign)
        fflush(stdout);
    if (!may_have_copies() && !(is_foreign && has_unwritten(PerlIO_stdout())))
        return;
    cml_mute_flush++;
    cml_guarded_whole(aTHX_ flush_all, NULL); /* a layer may be Perl code */
    cml_mute_flush--;
}

static void end_copy(pTHX_ PerlIO *f)
{
    const int fd = PerlIO_fileno(f);
    if ((fd == 0 || fd == 1) && !cml_is_standard(f) && !is_home(f))
        cml_close_handle(aTHX_ f);
}

/* Runs after the request, before descriptors 0 and 1 are restored, so that its handles do not lead to the
 * next request's. Handles on duplicates of the descriptors lead to files that are closed. */
void cml_end_copies(pTHX_ int is_sure)
{
    if (is_sure || may_have_copies())
        each_handle(aTHX_ end_copy);
}

#include "../internal.h"

#include <errno.h>

/* Output for a client that has left. A program that prints without end would hold its worker for as long as
 * RequestTimeout allows. Output therefore first fails, then dies, and finally ends the program as exit does, which no
 * eval of the program stops.
 *
 *                         fails      dies       ends
 *   mod_perl 1            once       never      at the second output
 *   mod_perl 2            never      4 times    at the fifth, for programs that catch the errors of httpd's print
 *   a writer of PSGI      once       3 times    at the fifth
 *
 * For code that runs afterwards (destructors, END blocks, cleanups) output fails, up to LAST_WORDS times. */

enum { LAST_WORDS = 1000, CAUGHT = 16 };

typedef struct {
    unsigned fails, dies;
    unsigned failed; /* dropped outputs of this request */
} patience;

static patience of_mod_perl_1 = {1, 0, 0}, of_mod_perl_2 = {0, 4, 0}, of_writer = {1, 3, 0}, of_filter = {4, 0, 0};

static int dies;         /* whether the API is mod_perl 2's */
static int is_due;       /* whether a dropped output came from an operator or from C code that still runs */
static int has_ended;    /* whether the request's program was ended */
static int is_ending;    /* whether the guard has still to handle the end of the program */
static unsigned thrown, thrown_in; /* number of exceptions in this turn of perl, and the turn */

void cml_printing_dies(void)
{
    dies = 1;
}

/* Resets the state for the next request. */
void cml_forget_unheard(void)
{
    of_mod_perl_1.failed = of_mod_perl_2.failed = of_writer.failed = of_filter.failed = thrown = 0;
    is_due = has_ended = is_ending = 0;
}

/* Whether the guarded call into Perl ended because its client had left. */
int cml_was_ended(void)
{
    const int was = is_ending;
    is_ending = 0;
    return was;
}

static patience *of_print(void)
{
    return dies ? &of_mod_perl_2 : &of_mod_perl_1;
}

static int is_exhausted(const patience *p)
{
    return p->failed >= (has_ended ? LAST_WORDS : p->fails + p->dies);
}

/* Ends the program as exit does. In a subrequest exit is an exception: if the program's evals catch it repeatedly, the
 * process ends. */
static void end_program(pTHX_ patience *p)
{
    p->failed = 0;
    is_ending = 1;
    if (cml_exit_is_exception()) {
        thrown = thrown_in == cml_turn ? thrown + 1 : 1;
        thrown_in = cml_turn;
        if (thrown <= CAUGHT)
            cml_throw_exit(aTHX_ 0);
    }
    has_ended = 1;
    cml_exit_asked = 1;
    my_exit(0);
}

/* Throws an APR::Error as httpd's mod_perl 2 does: the first reports a reset connection, further ones an aborted
 * connection. */
static void die_as_mod_perl_2(pTHX_ const char *method, int is_first)
{
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    EXTEND(SP, 2);
    mPUSHi(is_first ? ECONNRESET : ECONNABORTED);
    mPUSHp(method, strlen(method));
    PUTBACK;
    call_pv("Cameleer::ModPerl2::unheard", G_VOID | G_DISCARD);
    FREETMPS;
    LEAVE;
}

/* Dies at the application's own line, because the caller is a method of the writer. */
static void die_as_writer(pTHX)
{
    const PERL_CONTEXT *const caller = caller_cx(0, NULL);
    const COP *const at = caller ? caller->blk_oldcop : PL_curcop;
    croak("PSGI: the client has left at %s line %" UVuf ".\n", CopFILE(at), (UV)CopLINE(at));
}

/* Counts a dropped output, and makes the output fail: by errno, by die, or by ending the program. */
static void fail(pTHX_ patience *p, const char *method)
{
    is_due = 0;
    if (cml_forked_child || !cml_is_guarded())
        return;
    if (is_exhausted(p))
        end_program(aTHX_ p);
    const int is_first = p->failed++ == 0;
    if (!has_ended && p->failed > p->fails) {
        if (p == &of_writer)
            die_as_writer(aTHX);
        die_as_mod_perl_2(aTHX_ method, is_first);
    }
    errno = is_first ? ECONNRESET : ECONNABORTED;
}

/* Notes that a PerlIO layer has written output that was dropped. A layer must not die: the calling operator or function
 * does so afterwards. If the caller is foreign C code, perl ends the program between two operators. */
void cml_layer_failed(void)
{
    dTHXa(cml_perl);
    is_due = 1;
    errno = of_print()->failed > 0 ? ECONNABORTED : ECONNRESET;
    if (is_exhausted(of_print()))
        PL_sig_pending = 1;
}

int cml_output_failed(pTHX)
{
    if (LIKELY(!is_due))
        return 0;
    fail(aTHX_ of_print(), ":Apache2 IO write");
    return 1;
}

void cml_unheard_between_operators(pTHX)
{
    if (is_due && is_exhausted(of_print()))
        cml_output_failed(aTHX);
}

/* Notes dropped output of methods of $r and of mod_perl 2's filters, which have no name and only fail. */
void cml_said_to_nobody(pTHX_ const char *method)
{
    fail(aTHX_ !method && dies ? &of_filter : of_print(), method);
}

void cml_written_to_nobody(pTHX)
{
    fail(aTHX_ &of_writer, NULL);
}

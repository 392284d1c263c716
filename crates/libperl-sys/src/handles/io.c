#include "../internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* STDOUT has a PerlIO layer that writes to the response buffer; STDERR one that writes to the error log. */

int cml_mute_flush, cml_stdout_logs;
PerlIO *cml_out_handle, *cml_err_handle;

int cml_say(const char *bytes, size_t count)
{
    if (!cml_stdout_logs)
        return cml_hooks_table.write(bytes, count) == CML_GONE;
    cml_hooks_table.log(bytes, count);
    return 0;
}

/* print checks the handle's error flag, not the result of the layer. */
static int failed(PerlIO *f)
{
    PerlIOBase(f)->flags |= PERLIO_F_ERROR;
    cml_layer_failed();
    return -1;
}

static SSize_t out_write(pTHX_ PerlIO *f, const void *bytes, Size_t count)
{
    PERL_UNUSED_ARG(f);
    if (cml_forked_child)
        return write(1, bytes, count);
    if (!cml_say(bytes, count))
        return (SSize_t)count;
    return failed(f);
}

static IV out_flush(pTHX_ PerlIO *f)
{
    PERL_UNUSED_ARG(f);
    if (cml_mute_flush || cml_forked_child || cml_stdout_logs || cml_hooks_table.flush() != CML_GONE)
        return 0;
    return failed(f);
}

static IV out_fileno(pTHX_ PerlIO *f)
{
    PERL_UNUSED_ARG(f);
    return 1;
}

static SSize_t err_write(pTHX_ PerlIO *f, const void *bytes, Size_t count)
{
    PERL_UNUSED_ARG(f);
    if (cml_forked_child)
        return write(2, bytes, count);
    cml_hooks_table.log(bytes, count);
    return (SSize_t)count;
}

static IV err_fileno(pTHX_ PerlIO *f)
{
    PERL_UNUSED_ARG(f);
    return 2;
}

/* Closing a Perl handle must not close descriptor 1 or 2. */
static IV just_close(pTHX_ PerlIO *f)
{
    PerlIOBase(f)->flags &= ~(PERLIO_F_CANREAD | PERLIO_F_CANWRITE | PERLIO_F_OPEN);
    return 0;
}

/* Opens a handle without layers, whatever `use open` is in effect. */
PerlIO *cml_plain_handle(pTHX_ int fd, const char *mode)
{
    return PerlIO_openn(aTHX_ ":unix:perlio", mode, fd, 0, 0, NULL, 0, NULL);
}

/* `open my $copy, ">&STDOUT"`, which uses perl's PERLIO_DUP_FD: returns a plain handle on a duplicate of the
 * descriptor. */
static PerlIO *dup_as_plain(pTHX_ PerlIO *f, PerlIO *o, CLONE_PARAMS *param, int flags)
{
    PERL_UNUSED_ARG(f);
    PERL_UNUSED_ARG(param);
    PERL_UNUSED_ARG(flags);
    return cml_plain_handle(aTHX_ fcntl(PerlIO_fileno(o), F_DUPFD_CLOEXEC, 3), "w");
}

#define LAYER(name_, write_, flush_, fileno_)                                                                          \
    {                                                                                                                  \
        .fsize = sizeof(PerlIO_funcs), .name = name_, .size = sizeof(struct _PerlIO), .kind = PERLIO_K_RAW,            \
        .Pushed = PerlIOBase_pushed, .Popped = PerlIOBase_popped, .Binmode = PerlIOBase_binmode, .Fileno = fileno_,    \
        .Dup = dup_as_plain, .Write = write_, .Close = just_close, .Flush = flush_, .Eof = PerlIOBase_eof,             \
        .Error = PerlIOBase_error, .Clearerr = PerlIOBase_clearerr, .Setlinebuf = PerlIOBase_setlinebuf,               \
    }

/* The layers have perlio's name: modules that copy a handle push the layers that it reports
 * (Test2::Util::clone_io). */
PerlIO_funcs cml_out_layer = LAYER("perlio", out_write, out_flush, out_fileno);
PerlIO_funcs cml_err_layer = LAYER("perlio", err_write, PerlIOBase_noop_ok, err_fileno);

PerlIO *cml_new_handle(pTHX_ PerlIO_funcs *layer)
{
    PerlIO *const f = PerlIO_allocate(aTHX);
    PerlIO_push(aTHX_ f, layer, "w", NULL);
    PerlIOBase(f)->flags |= PERLIO_F_OPEN | PERLIO_F_CANWRITE;
    return f;
}

int cml_has_layer(PerlIO *f, const PerlIO_funcs *layer)
{
    for (const PerlIOl *l = PerlIOValid(f) ? *f : NULL; l; l = l->next)
        if (l->tab == layer)
            return 1;
    return 0;
}

/* Unbuffered, as perl's own STDERR. */
static PerlIO *unbuffered(PerlIO *f)
{
    if (PerlIOValid(f))
        PerlIOBase(f)->flags |= PERLIO_F_UNBUF;
    return f;
}

/* perl reopens a standard handle by moving the new file to its descriptor, and retains the handle: the shim's handle
 * would still write to the response. A plain handle on the same descriptor follows the file. */
void cml_before_reopen(pTHX_ GV *gv, int has_descriptor)
{
    IO *const io = GvIO(gv);
    if (gv == cml_stdin_gv)
        cml_touched |= CML_LEFT_STDIN;
    if (!io)
        return;
    /* The shim's close left the descriptor open: close it now, so that the new file takes its number, the
     * lowest free one. */
    const int was_closed = !IoIFP(io) && !IoOFP(io) && has_descriptor;
    if (gv == cml_stdin_gv && was_closed)
        IoIFP(io) = cml_plain_handle(aTHX_ 0, "r");
    if (gv == cml_stdout_gv && (was_closed || cml_has_layer(IoOFP(io), &cml_out_layer)))
        IoIFP(io) = IoOFP(io) = cml_plain_handle(aTHX_ 1, "w");
    else if (gv == cml_stderr_gv && (was_closed || cml_has_layer(IoOFP(io), &cml_err_layer)))
        IoIFP(io) = IoOFP(io) = unbuffered(cml_plain_handle(aTHX_ 2, "w"));
}

static void flush_body(pTHX_ void *handle)
{
    PerlIO_flush((PerlIO *)handle);
}

static void end_of_output(pTHX_ void *tied)
{
    dSP;
    ENTER;
    PUSHMARK(SP);
    XPUSHs((SV *)tied);
    PUTBACK;
    call_method("end_of_output", G_VOID | G_DISCARD | G_EVAL);
    LEAVE;
}

/* Modules of output chains tie STDOUT and buffer text: their objects have a method that ends the output. */
static void finish_chain(pTHX_ IO *io)
{
    MAGIC *const tie = SvRMAGICAL((SV *)io) ? mg_find((SV *)io, PERL_MAGIC_tiedscalar) : NULL;
    SV *const tied = tie ? tie->mg_obj : NULL;
    if (!tied || !SvROK(tied) || !SvOBJECT(SvRV(tied)) || !gv_fetchmethod(SvSTASH(SvRV(tied)), "end_of_output"))
        return;
    sv_2mortal(SvREFCNT_inc(tied));
    sv_unmagic((SV *)io, PERL_MAGIC_tiedscalar);
    if (cml_guarded_whole(aTHX_ end_of_output, tied) == CML_DIED)
        cml_log_error();
}

/* Flushes the buffers of a pushed :encoding, or of a plain handle on descriptor 1, at the end of a request. */
static void flush_layers(pTHX)
{
    IO *const io = GvIO(cml_stdout_gv);
    if (!io || !PerlIOValid(IoOFP(io)) || PerlIOBase(IoOFP(io))->tab == &cml_out_layer)
        return;
    cml_mute_flush++;
    cml_guarded_whole(aTHX_ flush_body, IoOFP(io)); /* a layer may be Perl code */
    cml_mute_flush--;
}

void cml_flush_stdout(void)
{
    dTHXa(cml_perl);
    IO *const io = GvIO(cml_stdout_gv);
    if (io)
        finish_chain(aTHX_ io);
    flush_layers(aTHX);
    cml_flush_copies(aTHX);
}

/* A PSGI application responds by its return value; printed output goes to the log. Returns the previous
 * setting. */
int cml_stdout_is_log(int is_log)
{
    dTHXa(cml_perl);
    const int before = cml_stdout_logs;
    if (before != is_log) {
        flush_layers(aTHX);
        cml_flush_copies(aTHX);
    }
    if (before && !is_log)
        cml_drain_fd1();
    cml_stdout_logs = is_log;
    if (!is_log)
        cml_script_begins();
    return before;
}

int cml_is_response(const IO *io)
{
    return io && !cml_stdout_logs && IoOFP(io) == cml_out_handle && !(SvRMAGICAL(io) && mg_find((const SV *)io, PERL_MAGIC_tiedscalar));
}

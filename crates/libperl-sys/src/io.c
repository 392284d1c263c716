#include "internal.h"

#include <fcntl.h>
#include <unistd.h>

/* STDOUT is a PerlIO layer whose write is a call into the response buffer; STDERR one whose write is the error log. */

GV *cml_stdin_gv, *cml_stdout_gv, *cml_stderr_gv;
int cml_mute_flush, cml_stdout_logs;
static PerlIO *out_handle, *err_handle;
/* $| of STDOUT, as start-up code left it: mod_perl 1 takes it away from every request, mod_perl 2 does not. */
static int keeps_autoflush;
static U8 born_autoflush;

void cml_keep_autoflush(void)
{
    keeps_autoflush = 1;
}

void cml_say(const char *bytes, size_t count)
{
    if (cml_stdout_logs)
        cml_hooks_table.log(bytes, count);
    else
        cml_hooks_table.write(bytes, count);
}

static SSize_t out_write(pTHX_ PerlIO *f, const void *bytes, Size_t count)
{
    PERL_UNUSED_ARG(f);
    if (cml_forked_child)
        return write(1, bytes, count);
    cml_say(bytes, count);
    return (SSize_t)count;
}

static IV out_flush(pTHX_ PerlIO *f)
{
    PERL_UNUSED_ARG(f);
    if (!cml_mute_flush && !cml_forked_child && !cml_stdout_logs)
        cml_hooks_table.flush();
    return 0;
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

/* `open my $copy, ">&STDOUT"` with perl's PERLIO_DUP_FD: a plain handle on a copy of the descriptor. */
static PerlIO *dup_as_plain(pTHX_ PerlIO *f, PerlIO *o, CLONE_PARAMS *param, int flags)
{
    PERL_UNUSED_ARG(f);
    PERL_UNUSED_ARG(param);
    PERL_UNUSED_ARG(flags);
    return PerlIO_fdopen(fcntl(PerlIO_fileno(o), F_DUPFD_CLOEXEC, 3), "w");
}

#define LAYER(name_, write_, flush_, fileno_)                                                                          \
    {                                                                                                                  \
        .fsize = sizeof(PerlIO_funcs), .name = name_, .size = sizeof(struct _PerlIO), .kind = PERLIO_K_RAW,            \
        .Pushed = PerlIOBase_pushed, .Popped = PerlIOBase_popped, .Binmode = PerlIOBase_binmode, .Fileno = fileno_,    \
        .Dup = dup_as_plain, .Write = write_, .Close = just_close, .Flush = flush_, .Eof = PerlIOBase_eof,             \
        .Error = PerlIOBase_error, .Clearerr = PerlIOBase_clearerr, .Setlinebuf = PerlIOBase_setlinebuf,               \
    }

/* They go by perlio's name: modules that copy a handle push the layers that it reports (Test2::Util::clone_io). */
static PerlIO_funcs out_layer = LAYER("perlio", out_write, out_flush, out_fileno);
static PerlIO_funcs err_layer = LAYER("perlio", err_write, PerlIOBase_noop_ok, err_fileno);

static PerlIO *new_handle(pTHX_ PerlIO_funcs *layer)
{
    PerlIO *const f = PerlIO_allocate(aTHX);
    PerlIO_push(aTHX_ f, layer, "w", NULL);
    PerlIOBase(f)->flags |= PERLIO_F_OPEN | PERLIO_F_CANWRITE;
    return f;
}

/* Perl reopens a standard handle by moving the new file to its descriptor and keeping the handle: one of ours would go
 * on writing to the response. A plain handle on the same descriptor follows the file. */
void cml_before_reopen(pTHX_ GV *gv, int has_descriptor)
{
    IO *const io = GvIO(gv);
    if (gv == cml_stdin_gv)
        cml_touched |= CML_LEFT_STDIN;
    if (!io)
        return;
    /* To close ours left the descriptor open: a file that is opened then takes it, as the lowest that is free. */
    const int was_closed = !IoOFP(io) && has_descriptor;
    if (gv == cml_stdout_gv && (was_closed || IoOFP(io) == out_handle))
        IoIFP(io) = IoOFP(io) = PerlIO_fdopen(1, "w");
    else if (gv == cml_stderr_gv && (was_closed || IoOFP(io) == err_handle))
        IoIFP(io) = IoOFP(io) = PerlIO_fdopen(2, "w");
}

static IO *io_of(pTHX_ GV *gv)
{
    return GvIOn(gv);
}

static void point(IO *io, PerlIO *f, char type)
{
    IoIFP(io) = IoOFP(io) = f;
    IoTYPE(io) = type;
}

void cml_io_boot(pTHX)
{
    cml_stdin_gv = gv_fetchpvs("STDIN", GV_ADD, SVt_PVIO);
    cml_stdout_gv = gv_fetchpvs("STDOUT", GV_ADD, SVt_PVIO);
    cml_stderr_gv = gv_fetchpvs("STDERR", GV_ADD, SVt_PVIO);
    err_handle = new_handle(aTHX_ &err_layer);
    point(io_of(aTHX_ cml_stderr_gv), err_handle, IoTYPE_WRONLY);
}

/* Each worker has descriptors of its own: two that shared one would read each other's output. */
void cml_worker_boot(pTHX)
{
    cml_new_descriptors();
    if (!out_handle) /* the mold may have been a worker */
        out_handle = new_handle(aTHX_ &out_layer);
    point(io_of(aTHX_ cml_stdout_gv), out_handle, IoTYPE_WRONLY);
    born_autoflush = keeps_autoflush ? IoFLAGS(io_of(aTHX_ cml_stdout_gv)) & IOf_FLUSH : 0;
    if (PL_defoutgv != cml_stdout_gv)
        PL_defoutgv = (GV *)SvREFCNT_inc((SV *)cml_stdout_gv);
    cml_put_stdin_back(1);
}

/* Throws away what the handle has buffered and reads descriptor 0 from where it stands. */
void cml_rewind_stdin(pTHX)
{
    IO *const io = io_of(aTHX_ cml_stdin_gv);
    if (!IoIFP(io) || PerlIO_fileno(IoIFP(io)) != 0) {
        point(io, PerlIO_fdopen(0, "r"), IoTYPE_RDONLY);
        IoOFP(io) = NULL;
        return;
    }
    PerlIO_seek(IoIFP(io), 0, SEEK_SET);
    PerlIO_clearerr(IoIFP(io));
    IoLINES(io) = 0;
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

/* Modules of output chains tie STDOUT and hold text back: their objects have a method for when no more comes. */
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

/* What a pushed :encoding still holds, or a plain handle on descriptor 1, must not be lost at the end of a request. */
static void flush_layers(pTHX)
{
    IO *const io = GvIO(cml_stdout_gv);
    if (!io || !PerlIOValid(IoOFP(io)) || PerlIOBase(IoOFP(io))->tab == &out_layer)
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
}

/* A PSGI application answers by what it returns; what is printed meanwhile is for the log. Returns how it was. */
int cml_stdout_is_log(int is_log)
{
    dTHXa(cml_perl);
    const int before = cml_stdout_logs;
    if (before != is_log)
        flush_layers(aTHX);
    if (before && !is_log)
        cml_drain_fd1();
    cml_stdout_logs = is_log;
    return before;
}

int cml_is_answer(const IO *io)
{
    return io && !cml_stdout_logs && IoOFP(io) == out_handle && !(SvRMAGICAL(io) && mg_find((const SV *)io, PERL_MAGIC_tiedscalar));
}

/* Takes off what a script pushed (:utf8, :encoding, :crlf); false when the handle is not the one it had. */
static int strip_layers(pTHX_ IO *io, PerlIO *handle, PerlIO_funcs *layer)
{
    if (IoOFP(io) != handle)
        return 0;
    while (PerlIOValid(handle) && PerlIOBase(handle)->tab != layer)
        PerlIO_pop(aTHX_ handle);
    if (!PerlIOValid(handle) || !(PerlIOBase(handle)->flags & PERLIO_F_OPEN))
        return 0;
    PerlIOBase(handle)->flags &= ~(PERLIO_F_UTF8 | PERLIO_F_ERROR);
    return 1;
}

/* Gives a standard handle back to its layer; says whether that was needed. */
static int restore_handle(pTHX_ IO *io, PerlIO **handle, PerlIO_funcs *layer)
{
    if (strip_layers(aTHX_ io, *handle, layer))
        return 0;
    PerlIO *const others = IoOFP(io);
    *handle = new_handle(aTHX_ layer);
    point(io, *handle, IoTYPE_WRONLY);
    if (PerlIOValid(others))
        PerlIO_close(others);
    return 1;
}

static int untie(pTHX_ IO *io)
{
    if (!SvRMAGICAL((SV *)io) || !mg_find((SV *)io, PERL_MAGIC_tiedscalar))
        return 0;
    sv_unmagic((SV *)io, PERL_MAGIC_tiedscalar);
    return 1;
}

unsigned cml_restore_handles(pTHX)
{
    unsigned left = 0;
    IO *const out = io_of(aTHX_ cml_stdout_gv), *const err = io_of(aTHX_ cml_stderr_gv), *const in = io_of(aTHX_ cml_stdin_gv);

    if (untie(aTHX_ out) | untie(aTHX_ err) | untie(aTHX_ in))
        left |= CML_LEFT_TIE;
    if (restore_handle(aTHX_ out, &out_handle, &out_layer))
        left |= CML_LEFT_STDOUT;
    if (restore_handle(aTHX_ err, &err_handle, &err_layer)) {
        cml_put_stderr_back();
        left |= CML_LEFT_STDERR;
    }
    if ((IoFLAGS(out) & IOf_FLUSH) != born_autoflush) {
        IoFLAGS(out) ^= IOf_FLUSH;
        left |= CML_LEFT_AUTOFLUSH;
    }
    if (PL_defoutgv != cml_stdout_gv) {
        SvREFCNT_dec((SV *)PL_defoutgv);
        PL_defoutgv = (GV *)SvREFCNT_inc((SV *)cml_stdout_gv);
        left |= CML_LEFT_SELECT;
    }
    cml_put_stdout_back();
    left |= cml_touched & CML_LEFT_STDIN;
    cml_put_stdin_back((left & CML_LEFT_STDIN) || !IoIFP(in) || PerlIO_fileno(IoIFP(in)) != 0);
    return left;
}

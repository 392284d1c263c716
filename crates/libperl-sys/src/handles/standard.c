#include "../internal.h"

/* STDIN, STDOUT and STDERR are new for each request, without layers, whatever scripts or start-up code did
 * to them. */

GV *cml_stdin_gv, *cml_stdout_gv, *cml_stderr_gv;

/* The contents of a glob when the interpreter is new. */
typedef struct {
    GV *gv;
    GP *gp;
    IO *io;
} standard;

static standard in, out, err;
static PerlIO *in_handle;
static U32 in_references; /* references to in.io, including those of start-up code */
static SV *err_tie;       /* a tie of STDERR by start-up code is retained: the log belongs to no request */
/* $| of STDOUT after start-up: mod_perl 1 resets it for every request, mod_perl 2 does not. */
static int keeps_autoflush;
static U8 born_autoflush;

void cml_keep_autoflush(void)
{
    keeps_autoflush = 1;
}

static void point(IO *io, PerlIO *f, char type)
{
    IoIFP(io) = f;
    IoOFP(io) = type == IoTYPE_RDONLY ? NULL : f;
    IoTYPE(io) = type;
}

int cml_is_standard(const PerlIO *f)
{
    return f == IoIFP(in.io) || f == IoOFP(out.io) || f == IoOFP(err.io);
}

/* Holds a reference to a standard handle, so that closing it does not free its descriptor: the next open,
 * even of the server's own socket, would take the place of the next request's body or response. */
static GV *hold(pTHX_ standard *s, const char *name, int fd)
{
    PerlIOUnix_refcnt_inc(fd);
    s->gv = (GV *)SvREFCNT_inc(gv_fetchpv(name, GV_ADD, SVt_PVIO));
    s->io = (IO *)SvREFCNT_inc(GvIOn(s->gv));
    s->gp = gp_ref(GvGP(s->gv));
    return s->gv;
}

void cml_io_boot(pTHX)
{
    cml_stdin_gv = hold(aTHX_ &in, "STDIN", 0);
    cml_stdout_gv = hold(aTHX_ &out, "STDOUT", 1);
    cml_stderr_gv = hold(aTHX_ &err, "STDERR", 2);
    in_handle = IoIFP(in.io);
    cml_err_handle = cml_new_handle(aTHX_ &cml_err_layer);
    point(err.io, cml_err_handle, IoTYPE_WRONLY);
}

/* Points STDOUT and STDERR to perl's own handles of descriptors 1 and 2, in a process that runs as a program. */
void cml_plain_output(pTHX)
{
    point(out.io, PerlIO_stdout(), IoTYPE_WRONLY);
    point(err.io, PerlIO_stderr(), IoTYPE_WRONLY);
    IoFLAGS(out.io) &= ~IOf_FLUSH;
}

/* Reverts `*STDOUT = *OTHER`, `undef *STDOUT` and `*STDOUT = *OTHER{IO}`; the other globs are unchanged. */
static int restore_glob(pTHX_ standard *s)
{
    if (GvGP(s->gv) == s->gp && s->gp->gp_io == s->io)
        return 0;
    if (GvGP(s->gv) != s->gp) {
        gp_free(s->gv);
        GvGP_set(s->gv, gp_ref(s->gp));
    }
    if (s->gp->gp_io != s->io) {
        IO *const foreign = s->gp->gp_io;
        s->gp->gp_io = (IO *)SvREFCNT_inc((SV *)s->io);
        SvREFCNT_dec((SV *)foreign);
    }
    return 1;
}

/* Whether the handle has no layers, and no bytes that were read or pushed back. */
static int is_fresh(PerlIO *f)
{
    if (!PerlIOValid(f) || PerlIOBase(f)->tab != &PerlIO_perlio || PerlIOBase(f)->flags & (PERLIO_F_UTF8 | PERLIO_F_CRLF))
        return 0;
    const PerlIOBuf *const buffer = PerlIOSelf(f, PerlIOBuf);
    return buffer->ptr == buffer->end && PerlIOValid(PerlIONext(f)) && !PerlIOValid(PerlIONext(PerlIONext(f)));
}

/* Makes the new handle first: an old one may be Perl code that dies. */
static void renew_stdin(pTHX)
{
    PerlIO *const before = IoIFP(in.io), *const other = IoOFP(in.io);
    in_handle = cml_plain_handle(aTHX_ 0, "r");
    point(in.io, in_handle, IoTYPE_RDONLY);
    IoLINES(in.io) = 0;
    if (PerlIOValid(before))
        PerlIO_close(before);
    if (other != before && PerlIOValid(other))
        PerlIO_close(other);
}

/* Drops the handle's buffer and reads descriptor 0 from its start. */
void cml_rewind_stdin(pTHX)
{
    if (IoIFP(in.io) != in_handle || !PerlIOValid(in_handle))
        return; /* a handle of start-up code in the mold, or a handle that is about to be renewed */
    PerlIO_seek(in_handle, 0, SEEK_SET);
    PerlIO_clearerr(in_handle);
    IoLINES(in.io) = 0;
}

/* Gives STDIN a new IO, because the program has retained a psgi.input, which shares STDIN's IO. */
static void replace_io(pTHX)
{
    IO *const kept = in.io;
    in.io = newIO();
    in.gp->gp_io = (IO *)SvREFCNT_inc((SV *)in.io);
    SvREFCNT_dec((SV *)kept); /* releases the glob's reference */
    IoIFP(in.io) = IoIFP(kept);
    IoTYPE(in.io) = IoTYPE_RDONLY;
    IoIFP(kept) = IoOFP(kept) = NULL;
    in_references = SvREFCNT((SV *)in.io);
    SvREFCNT_dec((SV *)kept);
}

static void restore_stdin(pTHX_ int is_changed)
{
    if (cml_psgi_shares_input() && SvREFCNT((SV *)in.io) > in_references + 1) {
        cml_psgi_forget_input(aTHX);
        replace_io(aTHX);
    }
    if (is_changed || cml_touched & CML_COPIED) /* another file may be at descriptor 0 */
        cml_empty_stdin();
    cml_put_stdin_back();
    if (is_changed || IoIFP(in.io) != in_handle || !is_fresh(in_handle))
        renew_stdin(aTHX);
}

/* Removes layers that a script pushed (:utf8, :encoding, :crlf). Returns false when the handle was replaced;
 * the slot of a closed one may belong to another handle. */
static int strip_layers(pTHX_ IO *io, PerlIO *handle, PerlIO_funcs *layer)
{
    if (IoOFP(io) != handle || !cml_has_layer(handle, layer))
        return 0;
    while (PerlIOBase(handle)->tab != layer)
        PerlIO_pop(aTHX_ handle);
    if (!(PerlIOBase(handle)->flags & PERLIO_F_OPEN))
        return 0;
    PerlIOBase(handle)->flags &= ~(PERLIO_F_UTF8 | PERLIO_F_ERROR);
    return 1;
}

/* Restores the layer of a standard handle; returns whether that was necessary. */
static int restore_handle(pTHX_ IO *io, PerlIO **handle, PerlIO_funcs *layer)
{
    if (strip_layers(aTHX_ io, *handle, layer))
        return 0;
    PerlIO *const others = IoOFP(io);
    *handle = cml_new_handle(aTHX_ layer);
    point(io, *handle, IoTYPE_WRONLY);
    if (PerlIOValid(others))
        PerlIO_close(others);
    return 1;
}

static SV *tie_of(pTHX_ IO *io)
{
    MAGIC *const tie = SvRMAGICAL((SV *)io) ? mg_find((SV *)io, PERL_MAGIC_tiedscalar) : NULL;
    return tie ? tie->mg_obj : NULL;
}

static int untie(pTHX_ IO *io, SV *home)
{
    if (tie_of(aTHX_ io) == home)
        return 0;
    sv_unmagic((SV *)io, PERL_MAGIC_tiedscalar);
    if (home)
        sv_magic((SV *)io, home, PERL_MAGIC_tiedscalar, NULL, 0);
    return 1;
}

/* Gives each worker its own descriptors: workers that shared one would read each other's output. */
void cml_worker_boot(pTHX)
{
    cml_new_descriptors();
    restore_glob(aTHX_ &in);
    restore_glob(aTHX_ &out);
    restore_glob(aTHX_ &err);
    if (!cml_out_handle) /* a mold that was a worker already has one */
        cml_out_handle = cml_new_handle(aTHX_ &cml_out_layer);
    point(out.io, cml_out_handle, IoTYPE_WRONLY);
    restore_handle(aTHX_ err.io, &cml_err_handle, &cml_err_layer);
    err_tie = SvREFCNT_inc(tie_of(aTHX_ err.io));
    cml_psgi_forget_input(aTHX);
    in_references = SvREFCNT((SV *)in.io);
    cml_empty_stdin();
    if (IoIFP(in.io) != in_handle || !is_fresh(in_handle))
        renew_stdin(aTHX);
    cml_remember_copies(aTHX);
}

static unsigned select_stdout(pTHX)
{
    if (PL_defoutgv == cml_stdout_gv)
        return 0;
    SvREFCNT_dec((SV *)PL_defoutgv);
    PL_defoutgv = (GV *)SvREFCNT_inc((SV *)cml_stdout_gv);
    return CML_LEFT_SELECT;
}

/* Stores the state of the handles after start-up work in a fresh worker, to which each request returns. */
void cml_remember_handles(pTHX)
{
    born_autoflush = keeps_autoflush ? IoFLAGS(out.io) & IOf_FLUSH : 0;
    IoFLAGS(out.io) = (U8)((IoFLAGS(out.io) & ~IOf_FLUSH) | born_autoflush);
    select_stdout(aTHX);
}

/* A script begins without autoflush, in mod_perl 2 too: there perl-script makes STDOUT anew. */
void cml_script_begins(void)
{
    if (keeps_autoflush)
        IoFLAGS(out.io) &= ~IOf_FLUSH;
}

unsigned cml_restore_handles(pTHX)
{
    unsigned left = 0;
    cml_psgi_end(aTHX);
    const int was_closed = !PerlIOValid(IoIFP(in.io)); /* another handle may use descriptor 0 */

    if (restore_glob(aTHX_ &in))
        left |= CML_LEFT_STDIN;
    if (restore_glob(aTHX_ &out))
        left |= CML_LEFT_STDOUT;
    if (restore_glob(aTHX_ &err))
        left |= CML_LEFT_STDERR;
    if (untie(aTHX_ out.io, NULL) | untie(aTHX_ err.io, err_tie) | untie(aTHX_ in.io, NULL))
        left |= CML_LEFT_TIE;
    if (restore_handle(aTHX_ out.io, &cml_out_handle, &cml_out_layer))
        left |= CML_LEFT_STDOUT;
    if (restore_handle(aTHX_ err.io, &cml_err_handle, &cml_err_layer)) {
        cml_put_stderr_back();
        left |= CML_LEFT_STDERR;
    }
    if ((IoFLAGS(out.io) & IOf_FLUSH) != born_autoflush) {
        IoFLAGS(out.io) ^= IOf_FLUSH;
        left |= CML_LEFT_AUTOFLUSH;
    }
    left |= select_stdout(aTHX);
    left |= cml_touched & CML_LEFT_STDIN;
    cml_end_copies(aTHX_ was_closed || left & CML_LEFT_STDIN);
    cml_put_stdout_back();
    restore_stdin(aTHX_ was_closed || left & CML_LEFT_STDIN);
    return left;
}

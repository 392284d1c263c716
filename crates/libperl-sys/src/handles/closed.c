#include "../internal.h"

#include <errno.h>

/* Handles that a program has retained beyond its request: they remain valid but fail, so that they never access the
 * next request's descriptors. */

static SSize_t closed_read(pTHX_ PerlIO *f, void *bytes, Size_t count)
{
    PERL_UNUSED_ARG(f);
    PERL_UNUSED_ARG(bytes);
    PERL_UNUSED_ARG(count);
    errno = EBADF;
    return -1;
}

static SSize_t closed_write(pTHX_ PerlIO *f, const void *bytes, Size_t count)
{
    PERL_UNUSED_ARG(f);
    PERL_UNUSED_ARG(bytes);
    PERL_UNUSED_ARG(count);
    errno = EBADF;
    return -1;
}

static SSize_t input_read(pTHX_ PerlIO *f, void *bytes, Size_t count)
{
    PERL_UNUSED_ARG(f);
    PERL_UNUSED_ARG(bytes);
    PERL_UNUSED_ARG(count);
    croak("psgi.input: this request is over; its input cannot be read any more");
}

static IV closed_seek(pTHX_ PerlIO *f, Off_t offset, int whence)
{
    PERL_UNUSED_ARG(f);
    PERL_UNUSED_ARG(offset);
    PERL_UNUSED_ARG(whence);
    errno = EBADF;
    return -1;
}

static IV input_seek(pTHX_ PerlIO *f, Off_t offset, int whence)
{
    PERL_UNUSED_ARG(f);
    PERL_UNUSED_ARG(offset);
    PERL_UNUSED_ARG(whence);
    croak("psgi.input: this request is over; its input cannot be rewound any more");
}

static IV no_fileno(pTHX_ PerlIO *f)
{
    PERL_UNUSED_ARG(f);
    return -1;
}

static IV close_nothing(pTHX_ PerlIO *f)
{
    PerlIOBase(f)->flags &= ~(PERLIO_F_CANREAD | PERLIO_F_CANWRITE | PERLIO_F_OPEN);
    return 0;
}

#define CLOSED(read_, seek_)                                                                                           \
    {                                                                                                                  \
        .fsize = sizeof(PerlIO_funcs), .name = "closed", .size = sizeof(struct _PerlIO), .kind = PERLIO_K_RAW,         \
        .Pushed = PerlIOBase_pushed, .Popped = PerlIOBase_popped, .Binmode = PerlIOBase_binmode, .Fileno = no_fileno,  \
        .Read = read_, .Write = closed_write, .Seek = seek_, .Close = close_nothing, .Flush = PerlIOBase_noop_ok,      \
        .Eof = PerlIOBase_eof, .Error = PerlIOBase_error, .Clearerr = PerlIOBase_clearerr,                             \
        .Setlinebuf = PerlIOBase_setlinebuf,                                                                           \
    }

static PerlIO_funcs closed_layer = CLOSED(closed_read, closed_seek);
static PerlIO_funcs input_layer = CLOSED(input_read, input_seek);

/* Closes a handle whose slot in perl's table remains in use, because an IO of the request still refers to it. */
void cml_close_handle(pTHX_ PerlIO *f)
{
    PerlIO_close(f);
    PerlIO_push(aTHX_ f, &closed_layer, "w", NULL);
}

/* Makes the input that replaces a psgi.input that the program has retained. */
IO *cml_closed_input(pTHX)
{
    IO *const io = newIO();
    PerlIO *const f = PerlIO_allocate(aTHX);
    PerlIO_push(aTHX_ f, &input_layer, "r", NULL);
    PerlIOBase(f)->flags |= PERLIO_F_OPEN | PERLIO_F_CANREAD;
    IoIFP(io) = f;
    IoTYPE(io) = IoTYPE_RDONLY;
    return io;
}

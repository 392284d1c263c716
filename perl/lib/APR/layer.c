/* The PerlIO layer :APR: perl's own buffer above apr's files. The lower layer, which has no public name,
 * reads and writes. */
#include "xs.h"

#include <perlio.h>
#include <perliol.h>

#include <apr_file_io.h>
#include <apr_portable.h>

typedef struct {
    struct _PerlIO base;
    apr_pool_t *pool; /* the handle's own pool, independent of the end of other pools */
    apr_file_t *file;
} APRFile;

static APRFile *self_of(PerlIO *f)
{
    return PerlIOSelf(f, APRFile);
}

/* Statuses of the system become $!; apr's own have no errno. */
static IV failed(PerlIO *f, apr_status_t status)
{
    errno = status < APR_OS_START_ERROR ? status : APR_STATUS_IS_ENOTIMPL(status) ? ENOSYS : EINVAL;
    PerlIOBase(f)->flags |= PERLIO_F_ERROR;
    return -1;
}

/* A file that is not closed before the layer is popped stays open, as with perl's own layers. */
static IV file_popped(pTHX_ PerlIO *f)
{
    APRFile *const self = self_of(f);
    if (self->pool)
        apr_pool_destroy(self->pool);
    self->pool = NULL;
    self->file = NULL;
    return PerlIOBase_popped(aTHX_ f);
}

static int descriptor_of(const APRFile *self)
{
    apr_os_file_t descriptor = -1;
    return self->file && apr_os_file_get(&descriptor, self->file) == APR_SUCCESS ? descriptor : -1;
}

/* perl has two handles over one descriptor when it writes to a terminal or another device: the last one
 * closes it. */
static IV file_close(pTHX_ PerlIO *f)
{
    APRFile *const self = self_of(f);
    const IV code = PerlIOBase_close(aTHX_ f);
    const int descriptor = descriptor_of(self);
    const int is_last = descriptor >= 0 && PerlIOUnix_refcnt_dec(descriptor) <= 0;
    const apr_status_t status = is_last ? apr_file_close(self->file) : APR_SUCCESS;
    self->file = NULL;
    return status == APR_SUCCESS ? code : failed(f, status);
}

static IV file_fileno(pTHX_ PerlIO *f)
{
    return descriptor_of(self_of(f));
}

static SSize_t file_read(pTHX_ PerlIO *f, void *buffer, Size_t count)
{
    apr_size_t length = count;
    if (!(PerlIOBase(f)->flags & PERLIO_F_CANREAD))
        return 0;
    const apr_status_t status = apr_file_read(self_of(f)->file, buffer, &length);
    if (APR_STATUS_IS_EOF(status)) {
        PerlIOBase(f)->flags |= PERLIO_F_EOF;
        return 0;
    }
    return status == APR_SUCCESS ? (SSize_t)length : failed(f, status);
}

static SSize_t file_write(pTHX_ PerlIO *f, const void *buffer, Size_t count)
{
    apr_size_t length = count;
    const apr_status_t status = apr_file_write(self_of(f)->file, buffer, &length);
    return status == APR_SUCCESS ? (SSize_t)length : failed(f, status);
}

static IV file_seek(pTHX_ PerlIO *f, Off_t offset, int whence)
{
    apr_off_t to = offset;
    const apr_status_t status =
        apr_file_seek(self_of(f)->file, whence == SEEK_SET ? APR_SET : whence == SEEK_CUR ? APR_CUR : APR_END, &to);
    if (status != APR_SUCCESS)
        return failed(f, status);
    PerlIOBase(f)->flags &= ~PERLIO_F_EOF;
    return 0;
}

static Off_t file_tell(pTHX_ PerlIO *f)
{
    apr_off_t at = 0;
    const apr_status_t status = apr_file_seek(self_of(f)->file, APR_CUR, &at);
    return status == APR_SUCCESS ? (Off_t)at : (Off_t)failed(f, status);
}

static PerlIO *file_dup(pTHX_ PerlIO *f, PerlIO *o, CLONE_PARAMS *parameters, int flags)
{
    APRFile *const original = self_of(o);
    f = PerlIOBase_dup(aTHX_ f, o, parameters, flags);
    if (!f || !original->file || apr_pool_create(&self_of(f)->pool, NULL) != APR_SUCCESS)
        return f;
    if (apr_file_dup(&self_of(f)->file, original->file, self_of(f)->pool) == APR_SUCCESS)
        PerlIOUnix_refcnt_inc(descriptor_of(self_of(f)));
    return f;
}

static PerlIO_funcs FILE_LAYER = {
    sizeof(PerlIO_funcs), "APR::File", sizeof(APRFile), PERLIO_K_RAW,
    PerlIOBase_pushed, file_popped, NULL, PerlIOBase_binmode, NULL,
    file_fileno, file_dup, file_read, NULL, file_write, file_seek, file_tell, file_close,
    PerlIOBase_noop_ok, PerlIOBase_noop_fail, PerlIOBase_eof, PerlIOBase_error, PerlIOBase_clearerr, PerlIOBase_setlinebuf,
    NULL, NULL, NULL, NULL, NULL,
};

/* apr's flags for a mode of open; 0 for an unknown mode. */
static apr_int32_t flags_of(const char *mode)
{
    const int both = strchr(mode, '+') != NULL;
    switch (*mode) {
    case 'r': return APR_FOPEN_READ | (both ? APR_FOPEN_WRITE : 0);
    case 'w': return APR_FOPEN_WRITE | APR_FOPEN_CREATE | APR_FOPEN_TRUNCATE | (both ? APR_FOPEN_READ : 0);
    case 'a': return APR_FOPEN_WRITE | APR_FOPEN_CREATE | APR_FOPEN_APPEND | (both ? APR_FOPEN_READ : 0);
    default: return 0;
    }
}

/* Opens the file by name, or by a descriptor that open has duplicated. */
static apr_status_t open_file(pTHX_ APRFile *into, const char *mode, int descriptor, SV *name)
{
    /* The handle's end closes the file, not the pool's. */
    const apr_int32_t flags = flags_of(mode) | APR_FOPEN_NOCLEANUP;
    if (flags == APR_FOPEN_NOCLEANUP)
        return EINVAL;
    if (descriptor >= 0) {
        apr_os_file_t os = descriptor;
        return apr_os_file_put(&into->file, &os, flags, into->pool);
    }
    STRLEN length;
    const char *const path = SvPV(name, length);
    if (memchr(path, '\0', length))
        return ENOENT;
    return apr_file_open(&into->file, path, flags, APR_FPROT_OS_DEFAULT, into->pool);
}

static PerlIO *layer_open(pTHX_ PerlIO_funcs *self, PerlIO_list_t *layers, IV n, const char *mode, int fd, int imode, int perm,
                          PerlIO *f, int narg, SV **args)
{
    APRFile opened = {{0}};
    PERL_UNUSED_VAR(layers);
    PERL_UNUSED_VAR(n);
    PERL_UNUSED_VAR(imode);
    PERL_UNUSED_VAR(perm);
    if (narg > 1)
        (void)aprxs_expect(aTHX_ args[1], &aprxs_kind_Pool);
    if (f && PerlIOValid(f))
        return NULL;
    if (fd < 0 && narg < 1) {
        errno = EINVAL;
        return NULL;
    }
    if (apr_pool_create(&opened.pool, NULL) != APR_SUCCESS) {
        errno = ENOMEM;
        return NULL;
    }
    const apr_status_t status = open_file(aTHX_ &opened, mode, fd, narg > 0 ? args[0] : NULL);
    if (status != APR_SUCCESS) {
        apr_pool_destroy(opened.pool);
        errno = status < APR_OS_START_ERROR ? status : EINVAL;
        return NULL;
    }
    if (!f)
        f = PerlIO_allocate(aTHX);
    if ((f = PerlIO_push(aTHX_ f, &FILE_LAYER, mode, NULL))) {
        self_of(f)->pool = opened.pool;
        self_of(f)->file = opened.file;
        PerlIOUnix_refcnt_inc(descriptor_of(&opened));
        PerlIOBase(f)->flags |= PERLIO_F_OPEN;
        f = PerlIO_push(aTHX_ f, self, mode, NULL);
        if (f)
            PerlIOBase(f)->flags |= PERLIO_F_OPEN;
    } else {
        apr_file_close(opened.file);
        apr_pool_destroy(opened.pool);
    }
    return f;
}

static PerlIO_funcs LAYER;

void aprxs_register_layer(pTHX)
{
    if (!LAYER.size) {
        LAYER = PerlIO_perlio;
        LAYER.name = "APR";
        /* open takes two arguments: the name and the pool. */
        LAYER.kind |= PERLIO_K_MULTIARG;
        LAYER.Open = layer_open;
    }
    PerlIO_define_layer(aTHX_ &FILE_LAYER);
    PerlIO_define_layer(aTHX_ &LAYER);
}

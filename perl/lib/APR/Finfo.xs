#include "xs.h"

#include <apr_file_info.h>
#include <apr_strings.h>

const aprxs_kind aprxs_kind_Finfo = {"APR::Finfo", NULL, NULL};

enum { FIELD_PROTECTION, FIELD_FILETYPE, FIELD_USER, FIELD_GROUP, FIELD_INODE, FIELD_DEVICE, FIELD_NLINK, FIELD_SIZE, FIELD_CSIZE, FIELD_ATIME, FIELD_MTIME, FIELD_CTIME, FIELD_VALID };

static IV number_of(const apr_finfo_t *finfo, I32 which)
{
    switch (which) {
    case FIELD_PROTECTION: return finfo->protection;
    case FIELD_FILETYPE: return finfo->filetype;
    case FIELD_USER: return finfo->user;
    case FIELD_GROUP: return finfo->group;
    case FIELD_INODE: return (IV)finfo->inode;
    case FIELD_DEVICE: return (IV)finfo->device;
    case FIELD_NLINK: return finfo->nlink;
    case FIELD_SIZE: return finfo->size;
    case FIELD_CSIZE: return finfo->csize;
    case FIELD_ATIME: return apr_time_sec(finfo->atime);
    case FIELD_MTIME: return apr_time_sec(finfo->mtime);
    case FIELD_CTIME: return apr_time_sec(finfo->ctime);
    default: return finfo->valid;
    }
}

MODULE = APR::Finfo    PACKAGE = APR::Finfo

SV *
stat(fname, wanted, p)
    IV wanted
    PoolOf p
    SV *fname
  CODE:
    const aprxs_text path = aprxs_text_of(aTHX_ fname);
    /* The conversion of the name may have run code that destroyed the pool. */
    p = aprxs_expect(aTHX_ ST(2), &aprxs_kind_Pool);
    apr_finfo_t *const finfo = apr_pcalloc(p->it, sizeof *finfo);
    const char *const name = apr_pstrdup(p->it, path.bytes);
    const apr_status_t status = apr_stat(finfo, name, (apr_int32_t)wanted, p->it);
    /* An incomplete result is no error: `valid` has the mask of known fields. */
    if (status != APR_INCOMPLETE)
        aprxs_check(aTHX_ cv, status);
    finfo->fname = name;
    RETVAL = aprxs_new(aTHX_ &aprxs_kind_Finfo, finfo, p);
  OUTPUT:
    RETVAL

SV *
none(class, p)
    SV *class
    PoolOf p
  CODE:
    /* Attributes of a missing file: its type is NOFILE. */
    apr_finfo_t *const finfo = apr_pcalloc(p->it, sizeof *finfo);
    PERL_UNUSED_VAR(class);
    finfo->filetype = APR_NOFILE;
    finfo->valid = APR_FINFO_TYPE;
    RETVAL = aprxs_new(aTHX_ &aprxs_kind_Finfo, finfo, p);
  OUTPUT:
    RETVAL

IV
protection(obj)
    Finfo obj
  ALIAS:
    protection = FIELD_PROTECTION   filetype = FIELD_FILETYPE   user = FIELD_USER   group = FIELD_GROUP
    inode = FIELD_INODE   device = FIELD_DEVICE   nlink = FIELD_NLINK   size = FIELD_SIZE   csize = FIELD_CSIZE
    atime = FIELD_ATIME   mtime = FIELD_MTIME   ctime = FIELD_CTIME   valid = FIELD_VALID
  CODE:
    RETVAL = number_of(obj->it, ix);
  OUTPUT:
    RETVAL

SV *
fname(obj)
    Finfo obj
  ALIAS:
    name = 1
  CODE:
    const apr_finfo_t *const finfo = obj->it;
    RETVAL = aprxs_sv_of(aTHX_ ix ? finfo->name : finfo->fname);
  OUTPUT:
    RETVAL

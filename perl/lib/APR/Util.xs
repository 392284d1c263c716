#include "xs.h"

#include <apr_lib.h>
#include <apr_md5.h>

/* Longest password, in bytes. */
enum { MAX_PASSWORD_BYTES = 4096 };

MODULE = APR::Util    PACKAGE = APR::Util

int
password_validate(passwd, hash)
    SV *passwd
    SV *hash
  CODE:
    const char *const password = aprxs_text_of(aTHX_ sv_mortalcopy(passwd)).bytes;
    RETVAL = apr_password_validate(password, aprxs_text_of(aTHX_ hash).bytes) == APR_SUCCESS;
  OUTPUT:
    RETVAL

SV *
filepath_name_get(pathname)
    SV *pathname
  CODE:
    RETVAL = newSVpv(apr_filepath_name_get(aprxs_text_of(aTHX_ pathname).bytes), 0);
  OUTPUT:
    RETVAL

IV
password_get(prompt, pwbuf, bufsize)
    SV *prompt
    SV *pwbuf
    UV bufsize
  CODE:
    char password[MAX_PASSWORD_BYTES] = "";
    apr_size_t length = bufsize < sizeof password ? bufsize : sizeof password;
    RETVAL = length ? apr_password_get(aprxs_text_of(aTHX_ prompt).bytes, password, &length) : APR_EINVAL;
    sv_setpv_mg(pwbuf, RETVAL == APR_SUCCESS ? password : "");
  OUTPUT:
    RETVAL

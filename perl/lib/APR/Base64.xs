#include "xs.h"

#include <apr_base64.h>

/* apr's lengths are ints. */
enum { MAX_BYTES = 1 << 30 };

MODULE = APR::Base64    PACKAGE = APR::Base64

SV *
encode(plain)
    SV *plain
  CODE:
    const aprxs_text from = aprxs_text_of(aTHX_ plain);
    if (from.length > MAX_BYTES)
        aprxs_check(aTHX_ cv, APR_EINVAL);
    RETVAL = aprxs_room(aTHX_ cv, (size_t)apr_base64_encode_len((int)from.length));
    /* apr's length includes the terminating NUL. */
    SvCUR_set(RETVAL, apr_base64_encode_binary(SvPVX(RETVAL), (const unsigned char *)from.bytes, (int)from.length) - 1);
    SvREFCNT_inc(RETVAL);
  OUTPUT:
    RETVAL

SV *
decode(coded)
    SV *coded
  CODE:
    const aprxs_text from = aprxs_text_of(aTHX_ coded);
    if (from.length > MAX_BYTES)
        aprxs_check(aTHX_ cv, APR_EINVAL);
    RETVAL = aprxs_room(aTHX_ cv, (size_t)apr_base64_decode_len(from.bytes));
    SvCUR_set(RETVAL, apr_base64_decode_binary((unsigned char *)SvPVX(RETVAL), from.bytes));
    *SvEND(RETVAL) = '\0';
    SvREFCNT_inc(RETVAL);
  OUTPUT:
    RETVAL

IV
encode_len(len)
    IV len
  CODE:
    if (len < 0 || len > MAX_BYTES)
        aprxs_check(aTHX_ cv, APR_EINVAL);
    RETVAL = apr_base64_encode_len((int)len) - 1;
  OUTPUT:
    RETVAL

#include "xs.h"

enum { EACCES_, EAGAIN_, ENOENT_, EOF_, ECONNABORTED_, ECONNRESET_, TIMEUP_ };

MODULE = APR::Status    PACKAGE = APR::Status

int
is_EACCES(rc)
    IV rc
  ALIAS:
    is_EACCES = EACCES_   is_EAGAIN = EAGAIN_   is_ENOENT = ENOENT_   is_EOF = EOF_   is_ECONNABORTED = ECONNABORTED_
    is_ECONNRESET = ECONNRESET_   is_TIMEUP = TIMEUP_
  CODE:
    switch (ix) {
    case EACCES_: RETVAL = APR_STATUS_IS_EACCES(rc); break;
    case EAGAIN_: RETVAL = APR_STATUS_IS_EAGAIN(rc); break;
    case ENOENT_: RETVAL = APR_STATUS_IS_ENOENT(rc); break;
    case EOF_: RETVAL = APR_STATUS_IS_EOF(rc); break;
    case ECONNABORTED_: RETVAL = APR_STATUS_IS_ECONNABORTED(rc); break;
    case ECONNRESET_: RETVAL = APR_STATUS_IS_ECONNRESET(rc); break;
    default: RETVAL = APR_STATUS_IS_TIMEUP(rc);
    }
  OUTPUT:
    RETVAL

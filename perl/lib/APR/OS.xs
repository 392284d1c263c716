#include "xs.h"

#include <apr_portable.h>

MODULE = APR::OS    PACKAGE = APR::OS

UV
current_thread_id()
  CODE:
    RETVAL = (UV)apr_os_thread_current();
  OUTPUT:
    RETVAL

#include "xs.h"

#include <apr_strings.h>

MODULE = APR::String    PACKAGE = APR::String

SV *
format_size(size)
    IV size
  CODE:
    char text[5];
    RETVAL = newSVpv(apr_strfsize(size, text), 0);
  OUTPUT:
    RETVAL

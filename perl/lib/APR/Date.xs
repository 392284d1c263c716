#include "xs.h"

#include <apr_date.h>

MODULE = APR::Date    PACKAGE = APR::Date

IV
parse_http(date)
    SV *date
  CODE:
    RETVAL = apr_time_sec(apr_date_parse_http(aprxs_text_of(aTHX_ date).bytes));
  OUTPUT:
    RETVAL

IV
parse_rfc(date)
    SV *date
  CODE:
    RETVAL = apr_time_sec(apr_date_parse_rfc(aprxs_text_of(aTHX_ date).bytes));
  OUTPUT:
    RETVAL

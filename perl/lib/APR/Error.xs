#include "xs.h"

/* mod_perl's two own statuses; their numbers begin where apr leaves numbers to applications. */
static const char *own_text(apr_status_t status)
{
    switch (status - APR_OS_START_USERERR) {
    case 0: return "exit was called";
    case 1: return "filter handler has failed";
    default: return NULL;
    }
}

MODULE = APR::Error    PACKAGE = APR::Error

SV *
strerror(rc)
    IV rc
  CODE:
    char text[256];
    const char *const own = own_text((apr_status_t)rc);
    RETVAL = newSVpv(own ? own : apr_strerror((apr_status_t)rc, text, sizeof text), 0);
  OUTPUT:
    RETVAL

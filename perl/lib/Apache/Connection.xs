#include "xs.h"

MODULE = Apache::Connection    PACKAGE = Apache::Connection

SV *
remote_ip(r, ...)
    Request r
  ALIAS:
    remote_ip = APACHE_REMOTE_IP   remote_host = APACHE_REMOTE_HOST   local_ip = APACHE_LOCAL_IP   user = APACHE_USER
    auth_type = APACHE_AUTH_TYPE
  CODE:
    RETVAL = apache_text_field(aTHX_ r, ix, items > 1 ? ST(1) : NULL);
  OUTPUT:
    RETVAL

SV *
aborted(r)
    Request r
  ALIAS:
    aborted = APACHE_ABORTED   Apache::_is_gone = APACHE_GONE   remote_port = APACHE_REMOTE_PORT
    local_port = APACHE_LOCAL_PORT
  CODE:
    RETVAL = apache_number_field(aTHX_ r, ix, NULL);
  OUTPUT:
    RETVAL

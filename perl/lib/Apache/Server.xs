#include "xs.h"

MODULE = Apache::Server    PACKAGE = Apache::Server

SV *
server_hostname(...)
  ALIAS:
    server_hostname = APACHE_SERVER_HOSTNAME
    server_admin = APACHE_SERVER_ADMIN
    server_root = APACHE_SERVER_ROOT
    server_software = APACHE_SERVER_SOFTWARE
    document_root = APACHE_DOCUMENT_ROOT
  CODE:
    PERL_UNUSED_VAR(items);
    apache_text text;
    apache_server_text(ix, &text);
    RETVAL = apache_sv_of(aTHX_ text);
  OUTPUT:
    RETVAL

IV
port(...)
  ALIAS:
    port = APACHE_SERVER_PORT
    is_virtual = APACHE_IS_VIRTUAL
    loglevel = APACHE_LOG_LEVEL
  CODE:
    PERL_UNUSED_VAR(items);
    RETVAL = (IV)apache_server_number(ix);
  OUTPUT:
    RETVAL

void
variables(...)
  PPCODE:
    PERL_UNUSED_VAR(items);
    for (size_t at = 0;; at++) {
        apache_text name, value;
        apache_server_var(at, &name, &value);
        if (!name.bytes)
            break;
        EXTEND(SP, 2);
        PUSHs(sv_2mortal(apache_sv_of(aTHX_ name)));
        PUSHs(sv_2mortal(apache_sv_of(aTHX_ value)));
    }

void
sections(...)
  PPCODE:
    PERL_UNUSED_VAR(items);
    for (size_t at = 0;; at++) {
        const int32_t section = apache_section(at);
        if (section < 0)
            break;
        mXPUSHi(section);
    }

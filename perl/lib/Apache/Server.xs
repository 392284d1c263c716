#include "xs.h"

MODULE = Apache::Server    PACKAGE = Apache::Server

SV *
server_hostname(s)
    Server s
  ALIAS:
    server_hostname = APACHE_SERVER_HOSTNAME   server_admin = APACHE_SERVER_ADMIN   server_root = APACHE_SERVER_ROOT
    server_software = APACHE_SERVER_SOFTWARE   document_root = APACHE_DOCUMENT_ROOT   error_fname = APACHE_ERROR_FNAME
    _perl_options = APACHE_PERL_OPTIONS
  CODE:
    apache_text text;
    apache_server_text(s, ix, &text);
    RETVAL = apache_sv_of(aTHX_ text);
  OUTPUT:
    RETVAL

# Setting the port affects this process only: the server's URLs that are made later have it.
IV
port(s, ...)
    Server s
  CODE:
    RETVAL = (IV)apache_server_number(s, APACHE_SERVER_PORT);
    if (items > 1)
        apache_set_server_port(s, (uint16_t)SvUV(ST(1)));
  OUTPUT:
    RETVAL

IV
is_virtual(s)
    Server s
  ALIAS:
    is_virtual = APACHE_IS_VIRTUAL
    timeout_said = APACHE_TIMEOUT
  CODE:
    RETVAL = (IV)apache_server_number(s, ix);
  OUTPUT:
    RETVAL

IV
loglevel(s, ...)
    Server s
  CODE:
    RETVAL = (IV)apache_server_number(s, APACHE_LOG_LEVEL);
    if (items > 1)
        apache_set_log_level((uint32_t)SvUV(ST(1)));
  OUTPUT:
    RETVAL

SV *
next(s)
    Server s
  CODE:
    const int64_t is_there = apache_server_number(s + 1, APACHE_HOST);
    RETVAL = is_there < 0 ? newSV(0) : apache_object(aTHX_ APACHE_SERVER, s + 1);
  OUTPUT:
    RETVAL

void
variables(s)
    Server s
  PPCODE:
    for (size_t at = 0;; at++) {
        apache_text name, value;
        apache_server_var(s, at, &name, &value);
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
        const int64_t section = apache_section(at);
        if (section < 0)
            break;
        mXPUSHi(section);
    }

void
aliases(s)
    Server s
  PPCODE:
    for (size_t at = 0;; at++) {
        apache_text name;
        apache_server_alias(s, at, &name);
        if (!name.bytes)
            break;
        mXPUSHs(apache_sv_of(aTHX_ name));
    }

void
add_version_component(text)
    SV *text
  CODE:
    apache_add_version_component(apache_text_of(aTHX_ text));

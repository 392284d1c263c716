#include "xs.h"

MODULE = Apache::Response    PACKAGE = Apache

void
print(r, ...)
    Request r
  ALIAS:
    PRINT = 1
  PPCODE:
    PERL_UNUSED_VAR(ix);
    for (I32 i = 1; i < items; i++)
        apache_print(aTHX_ r, ST(i));
    if (PL_defoutgv && GvIO(PL_defoutgv) && IoFLAGS(GvIOp(PL_defoutgv)) & IOf_FLUSH)
        apache_check(aTHX_ apache_rflush(r));
    int64_t unheard;
    apache_check(aTHX_ apache_get_number(r, APACHE_UNHEARD, &unheard));
    if (apache_is_gone(aTHX_ r)) {
        cml_said_to_nobody(aTHX_ NULL);
        XSRETURN_NO;
    }
    if (unheard)
        XSRETURN_NO;
    XSRETURN_YES;

IV
write_client(r, ...)
    Request r
  ALIAS:
    _write_client = 1
  CODE:
    RETVAL = 0;
    for (I32 i = 1; i < items; i++)
        RETVAL += (IV)apache_print(aTHX_ r, ST(i));
    if (!ix && apache_is_gone(aTHX_ r))
        cml_said_to_nobody(aTHX_ NULL);
  OUTPUT:
    RETVAL

void
rflush(r)
    Request r
  ALIAS:
    _rflush = 1
  CODE:
    apache_check(aTHX_ apache_rflush(r));
    if (!ix && apache_is_gone(aTHX_ r))
        cml_said_to_nobody(aTHX_ NULL);

# For mod_perl 2's methods, which look for the client themselves.
void
_said_to_nobody(method)
    const char *method
  CODE:
    cml_said_to_nobody(aTHX_ method);

# For Apache2::HookRun.
IV
_run_hook(r, hook)
    Request r
    SV *hook
  CODE:
    int64_t status;
    apache_check(aTHX_ apache_run_hook(r, apache_text_of(aTHX_ hook), &status));
    RETVAL = (IV)status;
  OUTPUT:
    RETVAL

void
_die(r, status)
    Request r
    IV status
  CODE:
    apache_check(aTHX_ apache_die(r, status));

# For Cameleer::Filters: start to filter the output; write the last filter's output; report a failed filter.
void
_filter_response(r)
    Request r
  CODE:
    apache_check(aTHX_ apache_filter_response(r));

void
_filter_body(r)
    Request r
  CODE:
    apache_check(aTHX_ apache_filter_body(r));

void
_write_filtered(r, bytes)
    Request r
    SV *bytes
  CODE:
    const apache_text text = apache_text_of(aTHX_ bytes);
    if (text.bytes)
        apache_check(aTHX_ apache_write_filtered(r, text.bytes, text.length));

void
_flush_filtered(r)
    Request r
  CODE:
    apache_check(aTHX_ apache_flush_filtered(r));

void
_filter_failed(r, status)
    Request r
    IV status
  CODE:
    apache_check(aTHX_ apache_filter_failed(r, status));

void
send_http_header(r, type = &PL_sv_undef)
    Request r
    SV *type
  CODE:
    apache_check(aTHX_ apache_send_http_header(r, apache_text_of(aTHX_ type)));

void
send_cgi_header(r, header)
    Request r
    SV *header
  CODE:
    apache_check(aTHX_ apache_send_cgi_header(r, apache_text_of(aTHX_ header)));

void
cgi_header_out(r, name, ...)
    Request r
    SV *name
  PPCODE:
    const apache_text key = apache_kept_text_of(aTHX_ name);
    SV *const before = apache_value(aTHX_ r, APACHE_HEADERS_OUT, key);
    if (SvOK(before))
        SvTAINTED_on(before);
    if (items > 2)
        apache_check(aTHX_ apache_cgi_header_out(r, key, apache_text_of(aTHX_ ST(2))));
    XPUSHs(before);

# The next output begins with header lines, as after httpd's own status line.
void
basic_http_header(r)
    Request r
  CODE:
    apache_check(aTHX_ apache_expect_header(r));

# A timeout has expired: no further output is sent.
void
give_up(r, reason)
    Request r
    SV *reason
  CODE:
    apache_check(aTHX_ apache_give_up(r, apache_text_of(aTHX_ reason)));

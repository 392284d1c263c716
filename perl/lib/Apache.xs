#include "xs.h"

void cml_drain_fd1(void);

MODULE = Apache    PACKAGE = Apache

SV *
request(...)
  CODE:
    if (items > 1 && SvROK(ST(1)))
        apache_check(aTHX_ apache_set_current(apache_request_of(aTHX_ ST(1))));
    const Request r = apache_record_number();
    RETVAL = r ? apache_object(aTHX_ APACHE_REQUEST, r) : newSV(0);
  OUTPUT:
    RETVAL

SV *
connection(r)
    Request r
  CODE:
    RETVAL = apache_object(aTHX_ APACHE_CONNECTION, r);
  OUTPUT:
    RETVAL

# Called on $r: the request's server; on the class: the main server.
SV *
server(self)
    SV *self
  CODE:
    int64_t host = 0;
    if (SvROK(self))
        apache_check(aTHX_ apache_get_number(apache_request_of(aTHX_ self), APACHE_HOST, &host));
    RETVAL = apache_object(aTHX_ APACHE_SERVER, (Request)host);
  OUTPUT:
    RETVAL

SV *
uri(r, ...)
    Request r
  ALIAS:
    the_request = APACHE_THE_REQUEST   protocol = APACHE_PROTOCOL   method = APACHE_METHOD   uri = APACHE_URI
    unparsed_uri = APACHE_UNPARSED_URI   query_string = APACHE_ARGS   filename = APACHE_FILENAME
    path_info = APACHE_PATH_INFO   script_name = APACHE_SCRIPT_NAME   hostname = APACHE_HOSTNAME
    get_server_name = APACHE_HOSTNAME   content_type = APACHE_CONTENT_TYPE   content_encoding = APACHE_CONTENT_ENCODING
    status_line = APACHE_STATUS_LINE   user = APACHE_USER   auth_type = APACHE_PLACE_AUTH_TYPE
    auth_name = APACHE_PLACE_AUTH_NAME   handler = APACHE_HANDLER   virtual_host = APACHE_VIRTUAL_HOST
    current_callback = APACHE_CURRENT_CALLBACK   dispatcher = APACHE_DISPATCHER   document_root = APACHE_DOCUMENT_ROOT
    _perl_options = APACHE_PERL_OPTIONS
  CODE:
    RETVAL = apache_text_field(aTHX_ r, ix, items > 1 ? ST(1) : NULL);
  OUTPUT:
    RETVAL

SV *
location(r)
    Request r
  CODE:
    RETVAL = apache_text_field(aTHX_ r, APACHE_LOCATION, NULL);
  OUTPUT:
    RETVAL

SV *
status(r, ...)
    Request r
  ALIAS:
    status = APACHE_STATUS   method_number = APACHE_METHOD_NUMBER   header_only = APACHE_HEADER_ONLY
    no_cache = APACHE_NO_CACHE   sent_header = APACHE_SENT_HEADER   request_time = APACHE_REQUEST_TIME
    get_server_port = APACHE_SERVER_PORT   allow_options = APACHE_ALLOW_OPTIONS   body_length = APACHE_BODY_LENGTH
    satisfies = APACHE_SATISFIES   some_auth_required = APACHE_SOME_AUTH_REQUIRED   allowed = APACHE_ALLOWED
    expects_header = APACHE_EXPECTS_HEADER   has_file = APACHE_HAS_FILE   proxyreq = APACHE_PROXYREQ
  CODE:
    RETVAL = apache_number_field(aTHX_ r, ix, items > 1 ? ST(1) : NULL);
  OUTPUT:
    RETVAL

# The count is that of the request that responds. Output on descriptor 1 (syswrite, children) is included.
SV *
bytes_sent(r, ...)
    Request r
  CODE:
    cml_drain_fd1();
    for (Request later = r; later; apache_check(aTHX_ apache_linked(r, APACHE_NEXT, &later)))
        r = later;
    RETVAL = apache_number_field(aTHX_ r, APACHE_BYTES_SENT, items > 1 ? ST(1) : NULL);
  OUTPUT:
    RETVAL

SV *
requires(r)
    Request r
  CODE:
    RETVAL = apache_requirements(aTHX_ r);
  OUTPUT:
    RETVAL

void
_speak(api)
    int api
  CODE:
    apache_speak(api);

UV
number(r)
    Request r
  CODE:
    RETVAL = (UV)r;
  OUTPUT:
    RETVAL

SV *
main(r)
    Request r
  ALIAS:
    main = APACHE_MAIN   prev = APACHE_PREV   next = APACHE_NEXT
  CODE:
    Request other;
    apache_check(aTHX_ apache_linked(r, ix, &other));
    RETVAL = other ? apache_object(aTHX_ APACHE_REQUEST, other) : newSV(0);
  OUTPUT:
    RETVAL

SV *
lookup_uri(r, target)
    Request r
    SV *target
  ALIAS:
    lookup_file = 1
  CODE:
    Request sub;
    const apache_text text = apache_text_of(aTHX_ target);
    apache_check(aTHX_ ix ? apache_lookup_file(r, text, &sub) : apache_lookup_uri(r, text, &sub));
    RETVAL = sub ? apache_object(aTHX_ APACHE_SUBREQUEST, sub) : newSV(0);
  OUTPUT:
    RETVAL

SV *
_add_config(r, text, overrides, options, path)
    Request r
    SV *text
    U32 overrides
    U32 options
    SV *path
  CODE:
    apache_text error;
    const apache_lines lines = { apache_text_of(aTHX_ text), apache_text_of(aTHX_ path), overrides, options };
    apache_check(aTHX_ apache_add_config(r, &lines, &error));
    RETVAL = apache_sv_of(aTHX_ error);
  OUTPUT:
    RETVAL

void
_merge_location(r, path)
    Request r
    SV *path
  PPCODE:
    int64_t is_there;
    apache_text error;
    apache_check(aTHX_ apache_merge_location(r, apache_text_of(aTHX_ path), &is_there, &error));
    EXTEND(SP, 2);
    PUSHs(boolSV(is_there));
    mPUSHs(apache_sv_of(aTHX_ error));

IV
translate_name(r)
    Request r
  CODE:
    int64_t status;
    apache_check(aTHX_ apache_translate_name(r, &status));
    RETVAL = (IV)status;
  OUTPUT:
    RETVAL

void
internal_redirect(r, target)
    Request r
    SV *target
  ALIAS:
    internal_redirect_handler = 1
  CODE:
    apache_check(aTHX_ apache_internal_redirect(r, apache_text_of(aTHX_ target), ix));

# Returns the old response; a second argument of undef removes it.
SV *
custom_response(r, status, response = NULL)
    Request r
    IV status
    SV *response
  CODE:
    apache_text before;
    apache_check(aTHX_ apache_custom_response(r, status, &before));
    RETVAL = apache_sv_of(aTHX_ before);
    if (response && SvROK(response) && !SvOBJECT(SvRV(response)))
        response = SvRV(response);
    if (response)
        apache_check(aTHX_ apache_set_custom_response(r, status, apache_text_of(aTHX_ response)));
  OUTPUT:
    RETVAL

# Records that Perl code pushed handlers for the phase, or replaced them. Returns false when no phase has that
# name.
IV
_stack_touched(r, phase, replaced)
    Request r
    SV *phase
    int replaced
  CODE:
    int64_t known;
    apache_check(aTHX_ apache_stack_touched(r, apache_text_of(aTHX_ phase), replaced, &known));
    RETVAL = (IV)known;
  OUTPUT:
    RETVAL

void
_configured(r, phase)
    Request r
    SV *phase
  PPCODE:
    const apache_text name = apache_text_of(aTHX_ phase);
    apache_text handler;
    for (size_t at = 0;; at++) {
        apache_check(aTHX_ apache_configured(r, name, at, &handler));
        if (!handler.bytes)
            break;
        mXPUSHs(apache_sv_of(aTHX_ handler));
    }

void
headers_in(r)
    Request r
  ALIAS:
    headers_in = APACHE_HEADERS_IN   headers_out = APACHE_HEADERS_OUT   err_headers_out = APACHE_ERR_HEADERS_OUT
  PPCODE:
    if (GIMME_V == G_LIST)
        SP = apache_push_table(aTHX_ SP, r, ix);
    else
        mXPUSHs(apache_table_object(aTHX_ r, ix));

void
header_in(r, ...)
    Request r
  ALIAS:
    header_in = APACHE_HEADERS_IN   header_out = APACHE_HEADERS_OUT   err_header_out = APACHE_ERR_HEADERS_OUT
    notes = APACHE_NOTES   env_table = APACHE_SUBPROCESS_ENV   dir_config = APACHE_DIR_CONFIG
  PPCODE:
    if (items > 1) {
        const apache_text name = items > 2 ? apache_kept_text_of(aTHX_ ST(1)) : apache_text_of(aTHX_ ST(1));
        SV *const before = apache_value(aTHX_ r, ix, name);
        if ((ix == APACHE_HEADERS_IN || ix == APACHE_HEADERS_OUT || ix == APACHE_ERR_HEADERS_OUT) && SvOK(before))
            SvTAINTED_on(before);
        if (items > 2)
            apache_table_store(aTHX_ r, ix, APACHE_TABLE_SET, name, ST(2));
        XPUSHs(before);
    } else if (ix == APACHE_DIR_CONFIG && GIMME_V == G_LIST) {
        SP = apache_push_table(aTHX_ SP, r, ix);
    } else {
        mXPUSHs(apache_table_object(aTHX_ r, ix));
    }

void
cgi_env(r, ...)
    Request r
  ALIAS:
    cgi_var = 1
  PPCODE:
    PERL_UNUSED_VAR(ix);
    if (items > 1) {
        const apache_text name = apache_kept_text_of(aTHX_ ST(1));
        if (items > 2)
            apache_table_store(aTHX_ r, APACHE_SUBPROCESS_ENV, APACHE_TABLE_SET, name, ST(2));
        XPUSHs(apache_value(aTHX_ r, APACHE_SUBPROCESS_ENV, name));
    } else if (GIMME_V == G_LIST) {
        SP = apache_push_table(aTHX_ SP, r, APACHE_SUBPROCESS_ENV);
    } else {
        mXPUSHs(apache_table_object(aTHX_ r, APACHE_SUBPROCESS_ENV));
    }

void
extend_timeout(r, seconds)
    Request r
    NV seconds
  CODE:
    if (!(seconds > 0))
        croak("extend_timeout: expected a number of seconds");
    apache_check(aTHX_ apache_extend_timeout(r, seconds));

void
want_cleanup(r)
    Request r
  CODE:
    apache_check(aTHX_ apache_want_cleanup(r));

void
_add_cgi_variables(r)
    Request r
  CODE:
    apache_check(aTHX_ apache_add_cgi_variables(r));

void
child_terminate(r)
    Request r
  CODE:
    apache_check(aTHX_ apache_child_terminate(r));

void
parse_args(wants_list, query)
    SV *wants_list
    SV *query
  PPCODE:
    if (!SvTRUE(wants_list)) {
        XPUSHs(sv_mortalcopy(query)); /* a copy: returning the sub's own variable would drop its taint */
    } else if (SvOK(query)) {
        STRLEN length;
        const char *const text = SvPV(query, length);
        SP = apache_push_arguments(aTHX_ SP, text, length);
    }

SV *
unescape_url(text)
    SV *text
  ALIAS:
    unescape_url_info = 1
  CODE:
    STRLEN length;
    const char *const bytes = SvPV(text, length);
    RETVAL = newSVpvn(bytes, length);
    SvCUR_set(RETVAL, apache_unescape(SvPVX(RETVAL), length, ix));
    *SvEND(RETVAL) = '\0';
  OUTPUT:
    RETVAL

UV
seqno(...)
  CODE:
    PERL_UNUSED_VAR(items);
    RETVAL = (UV)apache_record_number();
  OUTPUT:
    RETVAL

void
taint(...)
  ALIAS:
    untaint = 1
  CODE:
    for (I32 i = 1; TAINTING_get && i < items; i++) {
        if (ix)
            SvTAINTED_off(ST(i));
        else
            SvTAINTED_on(ST(i));
    }

MODULE = Apache    PACKAGE = Apache::SubRequest

IV
run(r)
    Request r
  CODE:
    int64_t status;
    apache_check(aTHX_ apache_run_sub(r, &status));
    RETVAL = (IV)status;
  OUTPUT:
    RETVAL

/* The request record as XS sees it: small functions with a status, none of which runs Perl code.
 *
 * `r` is the number that $r holds. A text that comes back points into the record: copy it before the next call. Croak,
 * if need be, when the function has returned: no longjmp may pass a Rust frame. */
#ifndef APACHE_H
#define APACHE_H

#include <stddef.h>
#include <stdint.h>

enum {
    APACHE_OK = 0,
    APACHE_STALE = 1, /* that request is over */
    APACHE_FAILED = 2, /* a filter of the answer did not do its work */
};

/* No bytes (NULL): undef. */
typedef struct {
    const char *bytes;
    size_t length;
} apache_text;

/* Texts; a test compares the numbers with field.rs. */
enum {
    APACHE_THE_REQUEST = 0,
    APACHE_PROTOCOL = 1,
    APACHE_METHOD = 2,
    APACHE_URI = 3,
    APACHE_UNPARSED_URI = 4,
    APACHE_ARGS = 5,
    APACHE_FILENAME = 6,
    APACHE_PATH_INFO = 7,
    APACHE_SCRIPT_NAME = 8,
    APACHE_HOSTNAME = 9,
    APACHE_CONTENT_TYPE = 10,
    APACHE_CONTENT_ENCODING = 11,
    APACHE_STATUS_LINE = 12,
    APACHE_USER = 13,
    APACHE_AUTH_TYPE = 14,
    APACHE_HANDLER = 15,
    APACHE_LOCATION = 16,
    APACHE_REMOTE_IP = 17,
    APACHE_REMOTE_HOST = 18,
    APACHE_LOCAL_IP = 19,
    APACHE_DOCUMENT_ROOT = 20,
    APACHE_SERVER_ROOT = 21,
    APACHE_SERVER_HOSTNAME = 22,
    APACHE_SERVER_ADMIN = 23,
    APACHE_SERVER_SOFTWARE = 24,
    APACHE_VIRTUAL_HOST = 25,
    APACHE_PLACE_AUTH_TYPE = 26,
    APACHE_PLACE_AUTH_NAME = 27,
    APACHE_CURRENT_CALLBACK = 28,
    APACHE_DISPATCHER = 29,
    APACHE_ERROR_FNAME = 30,
    APACHE_PERL_OPTIONS = 31,
};

/* Numbers. */
enum {
    APACHE_STATUS = 0,
    APACHE_METHOD_NUMBER = 1,
    APACHE_HEADER_ONLY = 2,
    APACHE_NO_CACHE = 3,
    APACHE_SENT_HEADER = 4,
    APACHE_BYTES_SENT = 5,
    APACHE_REQUEST_TIME = 6,
    APACHE_REMOTE_PORT = 7,
    APACHE_LOCAL_PORT = 8,
    APACHE_SERVER_PORT = 9,
    APACHE_IS_VIRTUAL = 10,
    APACHE_ALLOW_OPTIONS = 11,
    APACHE_ABORTED = 12,
    APACHE_LOG_LEVEL = 13,
    APACHE_BODY_LENGTH = 14,
    APACHE_SATISFIES = 15,
    APACHE_SOME_AUTH_REQUIRED = 16,
    APACHE_ALLOWED = 17,
    APACHE_EXPECTS_HEADER = 18,
    APACHE_PROXYREQ = 19,
    APACHE_TIMEOUT = 20,
    APACHE_HOST = 21,
    APACHE_UNHEARD = 22,
    APACHE_HAS_FILE = 23,
    APACHE_CLENGTH = 24,
    APACHE_IS_EARLY = 25,
};

/* Tables that every request has; apache_table_new gives further numbers. */
enum {
    APACHE_HEADERS_IN = 0,
    APACHE_HEADERS_OUT = 1,
    APACHE_ERR_HEADERS_OUT = 2,
    APACHE_NOTES = 3,
    APACHE_SUBPROCESS_ENV = 4,
    APACHE_DIR_CONFIG = 5,
};

enum {
    APACHE_TABLE_SET = 0,
    APACHE_TABLE_ADD = 1,
    APACHE_TABLE_MERGE = 2,
    APACHE_TABLE_UNSET = 3,
    APACHE_TABLE_CLEAR = 4,
};

uint64_t apache_generation(void); /* 0: no request is current */

int apache_get_text(uint64_t r, uint32_t field, apache_text *out);
int apache_set_text(uint64_t r, uint32_t field, apache_text value);
int apache_get_number(uint64_t r, uint32_t field, int64_t *out);
int apache_set_number(uint64_t r, uint32_t field, int64_t value);

/* One line of Require, for whichever method; no text behind the last. */
int apache_requirement(uint64_t r, size_t at, int64_t *method_mask, apache_text *requirement);

/* The record of another request of the same client; 0: there is none. */
enum {
    APACHE_MAIN = 0,
    APACHE_PREV = 1,
    APACHE_NEXT = 2,
};
int apache_linked(uint64_t r, uint32_t which, uint64_t *other);
/* From now on that request's handlers run. */
int apache_set_current(uint64_t r);

/* Requests that lead to others run Perl code: nothing of the record may be held. */
int apache_lookup_uri(uint64_t r, apache_text target, uint64_t *sub);
int apache_lookup_file(uint64_t r, apache_text name, uint64_t *sub);
int apache_run_sub(uint64_t r, int64_t *status);
int apache_translate_name(uint64_t r, int64_t *status);
/* Both: error is undef, or why the place of the request stays as it is. */
int apache_add_config(uint64_t r, apache_text text, uint32_t overrides, uint32_t options, apache_text path, apache_text *error);
int apache_merge_location(uint64_t r, apache_text path, int64_t *is_there, apache_text *error);
int apache_run_hook(uint64_t r, apache_text hook, int64_t *status);
int apache_die(uint64_t r, int64_t status);
int apache_internal_redirect(uint64_t r, apache_text target, int keeps_type);
int apache_set_custom_response(uint64_t r, int64_t status, apache_text response);
int apache_custom_response(uint64_t r, int64_t status, apache_text *response);

/* What Perl code made of a phase's handlers: pushed some, or replaced them. `known` is 0 for no phase of that name. */
int apache_stack_touched(uint64_t r, apache_text phase, int replaced, int64_t *known);
/* A configured handler's name; no text behind the last. */
int apache_configured(uint64_t r, apache_text phase, size_t at, apache_text *handler);

int apache_table_new(uint64_t r, uint32_t *table);
int apache_table_get(uint64_t r, uint32_t table, apache_text name, apache_text *value);
int apache_table_entry(uint64_t r, uint32_t table, size_t at, apache_text *name, apache_text *value);
int apache_table_change(uint64_t r, uint32_t table, uint32_t verb, apache_text name, apache_text value);

/* Forms. `count` and `is_one` say whether it worked: -1 and 0 when not. */
enum {
    APACHE_PART_MORE = 0, /* feed the next piece */
    APACHE_PART_BEGIN = 1,
    APACHE_PART_DATA = 2,
    APACHE_PART_END = 3,
    APACHE_PART_LAST = 4,
    APACHE_PART_BAD = 5, /* text says why */
};
typedef struct {
    uint32_t kind;
    uint32_t table; /* a part's headers */
    apache_text text;
    apache_text filename;
} apache_part;
int apache_parse_form(uint64_t r, uint32_t table, apache_text text, int64_t *count);
int apache_multipart_begin(uint64_t r, apache_text content_type, int64_t *is_one);
int apache_multipart_feed(uint64_t r, apache_text piece);
int apache_multipart_next(uint64_t r, apache_part *part);
int apache_memory_file(apache_text text);

int apache_write(uint64_t r, const char *bytes, size_t length);
int apache_rflush(uint64_t r);
/* What is written passes filters, which are Perl code: it runs within apache_write and apache_rflush, and those that print for
 * perl. What comes out of the last filter goes on by these. */
int apache_filter_answer(uint64_t r);
int apache_filter_body(uint64_t r);
int apache_write_filtered(uint64_t r, const char *bytes, size_t length);
int apache_flush_filtered(uint64_t r);
int apache_filter_failed(uint64_t r, int64_t status);
int apache_send_http_header(uint64_t r, apache_text content_type);
int apache_send_cgi_header(uint64_t r, apache_text header);
int apache_cgi_header_out(uint64_t r, apache_text name, apache_text value);
int apache_expect_header(uint64_t r);
int apache_give_up(uint64_t r, apache_text reason);
int apache_extend_timeout(uint64_t r, double seconds);
int apache_want_cleanup(uint64_t r);
int apache_add_cgi_variables(uint64_t r);
int apache_child_terminate(uint64_t r);

/* Of a server, 0 the main one and the others virtual hosts: they need no request. */
void apache_server_text(uint32_t host, uint32_t field, apache_text *out);
int64_t apache_server_number(uint32_t host, uint32_t field); /* -1: no such server */
void apache_server_var(uint32_t host, size_t at, apache_text *name, apache_text *value);
void apache_server_alias(uint32_t host, size_t at, apache_text *name);
void apache_set_server_port(uint32_t host, uint16_t port);
void apache_set_log_level(uint32_t level);
void apache_add_version_component(apache_text text);
int64_t apache_section(size_t at); /* -1: no more */
enum { APACHE_CONTEXT_LEADS, APACHE_CONTEXT_FOLLOWS, APACHE_CONTEXT_NONE, APACHE_CONTEXT_BARE };
void apache_log(uint32_t level, uint32_t context, apache_text text);

/* Of whichever request is current: the hooks of the interpreter. */
void apache_output(const char *bytes, size_t length);
void apache_flush(void);
void apache_head_start(int status);
void apache_head_add(const char *name, size_t name_length, const char *value, size_t value_length);

/* Registers the bootstrap functions of the packages here; gets the PerlInterpreter. */
void apache_xs_init(void *interpreter);

#endif

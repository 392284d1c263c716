/* The request record's interface for XS: small functions that return a status. None runs Perl code, unless
 * its comment says so.
 * `r` is the number that $r holds. A text that a function returns points into the record: copy it before the
 * next call. XS may croak only after the function has returned: no longjmp may cross a Rust frame. */
#ifndef APACHE_H
#define APACHE_H

#include <stddef.h>
#include <stdint.h>

enum {
    APACHE_OK = 0,
    APACHE_STALE = 1, /* the request has ended */
    APACHE_FAILED = 2, /* a filter of the response failed */
};

/* NULL `bytes`: undef */
typedef struct {
    const char *bytes;
    size_t length;
} apache_text;

/* Text fields; a test compares the numbers with field.rs. */
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

/* Fields that are numbers. */
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
    APACHE_GONE = 26,
};

/* Tables of every request; apache_table_new returns higher numbers. */
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

uint64_t apache_generation(void); /* 0: no current request */

int apache_get_text(uint64_t r, uint32_t field, apache_text *out);
int apache_set_text(uint64_t r, uint32_t field, apache_text value);
int apache_get_number(uint64_t r, uint32_t field, int64_t *out);
int apache_set_number(uint64_t r, uint32_t field, int64_t value);

/* The line number `at` of Require and the methods that it applies to; requirement is undef behind the last
 * line. */
int apache_requirement(uint64_t r, size_t at, int64_t *method_mask, apache_text *requirement);

/* Other records of the same client; apache_linked returns 0 where there is none. */
enum {
    APACHE_MAIN = 0,
    APACHE_PREV = 1,
    APACHE_NEXT = 2,
};
int apache_linked(uint64_t r, uint32_t which, uint64_t *other);
/* Makes that request the current one: its handlers run from now on. */
int apache_set_current(uint64_t r);

/* The following functions run Perl code: the caller must hold no text of the record. */
int apache_lookup_uri(uint64_t r, apache_text target, uint64_t *sub);
int apache_lookup_file(uint64_t r, apache_text name, uint64_t *sub);
int apache_run_sub(uint64_t r, int64_t *status);
int apache_translate_name(uint64_t r, int64_t *status);
/* In both, error is undef, or why the request's configuration is unchanged. */
int apache_add_config(uint64_t r, apache_text text, uint32_t overrides, uint32_t options, apache_text path, apache_text *error);
int apache_merge_location(uint64_t r, apache_text path, int64_t *is_there, apache_text *error);
int apache_run_hook(uint64_t r, apache_text hook, int64_t *status);
int apache_die(uint64_t r, int64_t status);
int apache_internal_redirect(uint64_t r, apache_text target, int keeps_type);
int apache_set_custom_response(uint64_t r, int64_t status, apache_text response);
int apache_custom_response(uint64_t r, int64_t status, apache_text *response);

/* Notes that Perl code has pushed or replaced handlers of a phase. `known` is 0 for an unknown phase name. */
int apache_stack_touched(uint64_t r, apache_text phase, int replaced, int64_t *known);
/* The name of configured handler number `at`; undef behind the last one. */
int apache_configured(uint64_t r, apache_text phase, size_t at, apache_text *handler);

int apache_table_new(uint64_t r, uint32_t *table);
int apache_table_get(uint64_t r, uint32_t table, apache_text name, apache_text *value);
int apache_table_entry(uint64_t r, uint32_t table, size_t at, apache_text *name, apache_text *value);
int apache_table_change(uint64_t r, uint32_t table, uint32_t verb, apache_text name, apache_text value);

/* Forms. On failure `count` is -1 and `is_one` is 0. */
enum {
    APACHE_PART_MORE = 0, /* feed the next piece */
    APACHE_PART_BEGIN = 1,
    APACHE_PART_DATA = 2,
    APACHE_PART_END = 3,
    APACHE_PART_LAST = 4,
    APACHE_PART_BAD = 5, /* text holds the reason */
};
typedef struct {
    uint32_t kind;
    uint32_t table; /* headers of the part */
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
/* Output passes filters, which are Perl code, within apache_write, apache_rflush and the functions that
 * perl's own print calls. The last filter's output returns through the following functions. */
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

/* Servers: 0 is the main server, others are virtual hosts. No request is needed. */
void apache_server_text(uint32_t host, uint32_t field, apache_text *out);
int64_t apache_server_number(uint32_t host, uint32_t field); /* -1: no server with this index */
void apache_server_var(uint32_t host, size_t at, apache_text *name, apache_text *value);
void apache_server_alias(uint32_t host, size_t at, apache_text *name);
void apache_set_server_port(uint32_t host, uint16_t port);
void apache_set_log_level(uint32_t level);
void apache_add_version_component(apache_text text);
int64_t apache_section(size_t at); /* -1: `at` is behind the last section */
enum { APACHE_CONTEXT_LEADS, APACHE_CONTEXT_FOLLOWS, APACHE_CONTEXT_NONE, APACHE_CONTEXT_BARE };
void apache_log(uint32_t level, uint32_t context, apache_text text);

/* Hooks of the interpreter, for the current request. */
int apache_output(const char *bytes, size_t length);
int apache_flush(void);
void apache_head_start(int status);
void apache_head_add(const char *name, size_t name_length, const char *value, size_t value_length);

/* Registers the bootstrap functions of this crate's packages; the argument is a PerlInterpreter. */
void apache_xs_init(void *interpreter);

#endif

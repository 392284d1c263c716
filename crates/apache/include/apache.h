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
    APACHE_UNKNOWN_VERB = 3, /* not one of APACHE_TABLE_… */
};

/* NULL `bytes`: undef */
typedef struct {
    const char *bytes;
    size_t length;
} apache_text;

/* Directives for a request: their text, what AllowOverride and Options allow them, the folder they are for. */
typedef struct {
    apache_text text;
    apache_text path;
    uint32_t overrides;
    uint32_t options;
} apache_lines;

/* Text fields; a test compares the order with field.rs. */
enum {
    APACHE_THE_REQUEST, APACHE_PROTOCOL, APACHE_METHOD, APACHE_URI, APACHE_UNPARSED_URI, APACHE_ARGS, APACHE_FILENAME,
    APACHE_PATH_INFO, APACHE_SCRIPT_NAME, APACHE_HOSTNAME, APACHE_CONTENT_TYPE, APACHE_CONTENT_ENCODING,
    APACHE_STATUS_LINE, APACHE_USER, APACHE_AUTH_TYPE, APACHE_HANDLER, APACHE_LOCATION, APACHE_REMOTE_IP,
    APACHE_REMOTE_HOST, APACHE_LOCAL_IP, APACHE_DOCUMENT_ROOT, APACHE_SERVER_ROOT, APACHE_SERVER_HOSTNAME,
    APACHE_SERVER_ADMIN, APACHE_SERVER_SOFTWARE, APACHE_VIRTUAL_HOST, APACHE_PLACE_AUTH_TYPE, APACHE_PLACE_AUTH_NAME,
    APACHE_CURRENT_CALLBACK, APACHE_DISPATCHER, APACHE_ERROR_FNAME, APACHE_PERL_OPTIONS,
};

/* Fields that are numbers. */
enum {
    APACHE_STATUS, APACHE_METHOD_NUMBER, APACHE_HEADER_ONLY, APACHE_NO_CACHE, APACHE_SENT_HEADER, APACHE_BYTES_SENT,
    APACHE_REQUEST_TIME, APACHE_REMOTE_PORT, APACHE_LOCAL_PORT, APACHE_SERVER_PORT, APACHE_IS_VIRTUAL,
    APACHE_ALLOW_OPTIONS, APACHE_ABORTED, APACHE_LOG_LEVEL, APACHE_BODY_LENGTH, APACHE_SATISFIES,
    APACHE_SOME_AUTH_REQUIRED, APACHE_ALLOWED, APACHE_EXPECTS_HEADER, APACHE_PROXYREQ, APACHE_TIMEOUT, APACHE_HOST,
    APACHE_UNHEARD, APACHE_HAS_FILE, APACHE_CLENGTH, APACHE_IS_EARLY, APACHE_GONE,
};

/* Tables of every request; apache_table_new returns higher numbers. */
enum {
    APACHE_HEADERS_IN, APACHE_HEADERS_OUT, APACHE_ERR_HEADERS_OUT, APACHE_NOTES, APACHE_SUBPROCESS_ENV,
    APACHE_DIR_CONFIG,
};

enum { APACHE_TABLE_SET, APACHE_TABLE_ADD, APACHE_TABLE_MERGE, APACHE_TABLE_UNSET, APACHE_TABLE_CLEAR };

uint64_t apache_record_number(void); /* 0: no current request */

int apache_get_text(uint64_t r, uint32_t field, apache_text *out);
int apache_set_text(uint64_t r, uint32_t field, apache_text value);
int apache_get_number(uint64_t r, uint32_t field, int64_t *out);
int apache_set_number(uint64_t r, uint32_t field, int64_t value);

/* The line number `at` of Require and the methods that it applies to; requirement is undef behind the last
 * line. */
int apache_requirement(uint64_t r, size_t at, int64_t *method_mask, apache_text *requirement);

/* Other records of the same client; apache_linked returns 0 where there is none. */
enum { APACHE_MAIN, APACHE_PREV, APACHE_NEXT };
int apache_linked(uint64_t r, uint32_t which, uint64_t *other);
/* Makes `r` the current request, whose handlers run from now on. */
int apache_set_current(uint64_t r);

/* The following functions run Perl code: the caller must hold no text of the record. */
int apache_lookup_uri(uint64_t r, apache_text target, uint64_t *sub);
int apache_lookup_file(uint64_t r, apache_text name, uint64_t *sub);
int apache_run_sub(uint64_t r, int64_t *status);
int apache_translate_name(uint64_t r, int64_t *status);
/* In both, error is undef, or why the request's configuration is unchanged. */
int apache_add_config(uint64_t r, const apache_lines *lines, apache_text *error);
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
int apache_filter_response(uint64_t r);
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

/* The port of a worker with an event loop. `add_stream` gets the descriptor of each new stream, `add_message` channel
 * and text of each broadcast message; they must not croak. The result of cameleer_event_orders is a sum: 1 if the worker
 * must leave, 2 if the front has ended, 4 if WebSockets must be closed now. */
int cameleer_event_descriptor(void);
int cameleer_event_orders(void (*add_stream)(void *into, int stream), void *streams,
                          void (*add_message)(void *into, apache_text channel, apache_text message), void *messages);
void cameleer_event_ready(void);
/* The loop calls the application for a request, or for more of one that has begun; the call has returned; a second has
 * passed. */
void cameleer_event_begins(apache_text method, apache_text host, apache_text client, apache_text target, int is_more);
void cameleer_event_ends(void);
void cameleer_event_tick(void);

/* Cameleer::Broadcast. `failed` gets the reason of a failure. */
void cameleer_broadcast_publish(apache_text channel, apache_text message, void (*failed)(void *into, apache_text reason),
                                void *into);
void cameleer_broadcast_subscribed(apache_text channel, uint32_t count, void (*failed)(void *into, apache_text reason),
                                   void *into);
/* The number of subscriptions to a channel; -1: unknown. */
int64_t cameleer_broadcast_presence(apache_text channel);

/* Registers the bootstrap functions of this crate's packages; the argument is a PerlInterpreter. */
void apache_xs_init(void *interpreter);

#endif

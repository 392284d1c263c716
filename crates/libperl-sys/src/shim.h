/* The C interface of libperl for Rust: small functions with one prefix.
 *
 * The rule that keeps Perl's longjmp out of Rust: every function that can run Perl code returns a cml_status
 * and runs it inside cml_guarded (guard.c). Rust never dereferences an SV: it passes SV pointers back
 * unread.
 *
 * docs/architecture.md has a row for each C file. */
#ifndef CML_SHIM_H
#define CML_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CML_OK = 0,     /* the code returned */
    CML_DIED = 1,   /* the code died; cml_error has the text */
    CML_EXITED = 2, /* the code called exit; cml_exit_code has the code */
    CML_UNHEARD = 3, /* the code was ended, because it continued to print after its client had disconnected */
} cml_status;

typedef struct {
    const char *bytes;
    size_t length;
} cml_bytes;

/* The receiver of the current response. */
typedef enum {
    CML_HERE = 0,
    CML_NOT_WANTED = 1, /* the client is connected, but no body is due, or the response has failed */
    CML_GONE = 2,       /* the client has disconnected */
} cml_audience;

/* The receivers of a request's output. Set once at boot; called with Perl on the stack, so they must not
 * call into Perl. */
typedef struct {
    cml_audience (*write)(const char *bytes, size_t length);
    cml_audience (*flush)(void);
    void (*log)(const char *bytes, size_t length);
    void (*head)(int status);
    void (*header)(const char *name, size_t name_length, const char *value, size_t value_length);
    void (*environment)(void); /* %ENV is accessed: call cml_env_put for every pair */
    void (*extend)(double seconds); /* called when the request asks for more time */
} cml_hooks;

extern cml_hooks cml_hooks_table;

/* census.c */
void cml_census(void (*tell)(void *to, const char *name, size_t length, size_t count, size_t bytes), void *to);

/* spans.c */
typedef struct {
    void *to;
    void (*span)(void *to, const void *start, size_t length);
    void (*child)(void *to, const void *value);
} cml_spans;

typedef enum {
    CML_OWN,     /* a variable or sub of the package */
    CML_LEXICAL, /* a lexical of the sub */
    CML_OUTER,   /* a lexical around a sub */
    CML_ALSO     /* an import, or code without a name: the name is that of its file */
} cml_naming;

typedef struct {
    void *to;
    /* Sets the package of the following names, and their sub if there is one. */
    void (*within)(void *to, const char *package, size_t package_length, const char *sub, size_t sub_length);
    /* Reports a name. Sigils: those of variables, & for code, * for globs, : for symbol tables. */
    void (*name)(void *to, const void *value, char sigil, cml_naming naming, cml_bytes name);
} cml_names;

/* Size of a body of that type, or of what perl allocates for it; 0: the value lies in the head. */
size_t cml_body_size(int type);
void cml_each_value(void (*tell)(void *to, const void *value), void *to);
void cml_names_by(const void *value, const cml_names *of);
void cml_spans_of(const void *value, const cml_spans *of);
void cml_spans_of_stacks(const cml_spans *of);
void cml_kind_of(const void *value, void (*tell)(void *to, const char *name, size_t length), void *to);

/* fork.c */
void cml_before_forks(void);
void cml_before_promotion(void);
void cml_is_promoted(void);

/* boot.c */
int cml_boot(const cml_hooks *hooks, void (*xs_init)(void *interpreter), int taint);
void cml_after_fork(void);
typedef enum {
    CML_END_BLOCKS,
    CML_END_PROCESS,
    CML_END_ALL,
    /* Steps with a time limit of 3 s: */
    CML_END_OBJECTS,
    CML_END_BLOCKS_SOON,
} cml_ending;
void cml_end(cml_ending what);
void cml_set_title(const char *title);
void cml_version(cml_bytes *out);

/* guard.c */
void cml_error(cml_bytes *out);
int cml_exit_code(void);
int cml_gave_up(void);
void cml_release(void *sv);

/* call.c */
cml_status cml_eval(const char *code, size_t length, const char *file, unsigned line);
cml_status cml_require(const char *file, size_t length);
cml_status cml_require_module(const char *name, size_t length);
cml_status cml_call_name(const char *sub, const char *argument, size_t length);
cml_status cml_call_aside(const char *sub, const char *bytes, size_t length);
cml_status cml_ask_name(const char *sub, const char *argument, size_t length, cml_bytes *out);
cml_status cml_resolve_handler(const char *name, size_t length, void **code, void **invocant);
/* Sets the class of handlers' $r; the default is Apache. */
void cml_request_class(const char *name);
/* Applies the start-up code's $| of STDOUT to each request. */
void cml_keep_autoflush(void);
cml_status cml_call_handler(void *code, void *invocant, uint64_t request, int *result);

/* psgi.c: load an application; for each call put pairs into a new environment, then run. */
cml_status cml_load_psgi(const char *source, size_t length, int is_file, void **app);
void cml_psgi_begin(int https, int entries);
void cml_psgi_put(const char *key, size_t key_length, const char *value, size_t value_length);
cml_status cml_psgi_run(void *app, int *needs_cleanup, int *leave);
cml_status cml_psgi_cleanup(int *leave);

/* io.c */
void cml_flush_stdout(void);

/* descriptors.c */
int cml_stdin_is(int fd);
void cml_drain_fd1(void);
int cml_stdout_is_log(int is_log);
void cml_stderr_is_log(void);
void cml_is_request_child(void);
int cml_call_as_program(const char *sub, const char *bytes, size_t length);

/* env.c */
void cml_env_begin(void);
void cml_env_enter(void);
void cml_env_leave(void);
void cml_env_refresh(void);
void cml_env_forget(const char *key, size_t key_length);
void cml_env_put(const char *key, size_t key_length, const char *value, size_t value_length);
void cml_env_end(void);
void cml_env_base(void (*each)(void *, const char *, size_t, const char *, size_t), void *arg);

/* env_tie.c */
typedef void (*cml_env_receiver)(void *arg, const char *key, size_t key_length, const char *value, size_t value_length);
void cml_env_tie(void);
int cml_env_changes(cml_env_receiver receive, void *arg);
void cml_env_follow(const char *key, size_t key_length, const char *value, size_t value_length);

/* operators.c */
int cml_is_forked_child(void);
void cml_next_fork_speaks(int speaks);
int cml_may_have_children(int is_busy);
/* Pairs of pid and status, of children that were reaped. */
void cml_has_children(int has, const int (*ended)[2], size_t count);
/* Maximum number of private descriptors. */
#define CML_PRIVATE_FDS 64
void cml_keep_from_children(const int *fds, size_t count);
void cml_loop_socket(int fd);

/* state.c */
enum {
    CML_LEFT_CWD = 1 << 0,
    CML_LEFT_UMASK = 1 << 1,
    CML_LEFT_SIGNAL = 1 << 2,
    CML_LEFT_ALARM = 1 << 3,
    CML_LEFT_INPUT_SEPARATOR = 1 << 4,
    CML_LEFT_OUTPUT_SEPARATOR = 1 << 5,
    CML_LEFT_FIELD_SEPARATOR = 1 << 6,
    CML_LEFT_SELECT = 1 << 7,
    CML_LEFT_STDIN = 1 << 8,
    CML_LEFT_STDOUT = 1 << 9,
    CML_LEFT_STDERR = 1 << 10,
    CML_LEFT_TIE = 1 << 11,
    CML_LEFT_AUTOFLUSH = 1 << 13,
    CML_LEFT_INC = 1 << 14,
    CML_LEFT_MASK = 1 << 15,
    CML_LEFT_TIMER = 1 << 16,
    CML_LEFT_SYSTEM_FD = 1 << 17,
    CML_LEFT_WARNINGS = 1 << 18,
    CML_LEFT_SUBSCRIPT_SEPARATOR = 1 << 19,
    CML_LEFT_LIST_SEPARATOR = 1 << 20,
    CML_LEFT_LOCALE = 1 << 21,
    CML_LEFT_NAME = 1 << 22,
    /* Flags that only cause a check and restore no state. */
    CML_COPIED = 1 << 23,   /* another handle or descriptor may lead to descriptors 0 and 1 */
    CML_BOUNDS = 1 << 24,   /* limits, namespaces, capabilities or priority may have changed */
    CML_WROTE = 1 << 25,    /* wrote to descriptor 1, or replaced it */
    CML_IDENTITY = 1 << 26, /* user or group was changed */
    CML_BORE = 1 << 27,     /* children may exist */
    CML_CHROOTED = 1 << 28,
    CML_SEEDED = 1 << 29,
    CML_OPENED = 1 << 30,
};
void cml_remember_state(void);
int cml_go_home(void); /* called by XS */
unsigned cml_restore_state(void);

/* leave.c */
typedef enum {
    CML_MAY_STAY = 0,
    CML_NO_DESCRIPTORS = 1, /* nearly all descriptors are open */
    CML_OTHER_USER = 2,     /* changed by a worker of root */
    CML_OTHER_ROOT = 3,     /* chroot */
    CML_OTHER_LIMITS = 4,   /* setrlimit */
    CML_OTHER_NAMESPACE = 5,
    CML_OTHER_RIGHTS = 6,   /* capabilities, seccomp, no_new_privs */
    CML_OTHER_PRIORITY = 7, /* nice */
    CML_NO_HOME = 8,        /* the working directory of the worker cannot be entered any more */
} cml_reason;
cml_reason cml_must_leave(void);

/* deadline.c */
void cml_deadline_signal(int signal); /* called once in every worker */
void cml_request_is(uint64_t number); /* 0: none */
void cml_request_is_in_time(void);
void cml_request_is_answered(void);
int cml_timed_out(void); /* whether the request has died because it was late */
int cml_is_late(void); /* whether the request is late but has not died: the caller must end it */

/* Memory of another process. */
typedef struct {
    int (*read)(void *from, uintptr_t address, void *into, size_t length); /* returns whether all of it was read */
    void *from;
} cml_memory;

/* observe/activity.c */
typedef struct {
    uint64_t request; /* number of the request; 0: none */
    uint64_t received_us, begun_us; /* µs since 1970: complete head at the front, beginning in this process */
    const void *perl;
    uint16_t lengths[4]; /* of method, host, client and target */
    uint16_t phase; /* phase of the request, numbered by the worker; 0: none */
    char texts[438];
    uint64_t again; /* equals `request` while the data is valid */
} cml_activity;

void cml_activity_begins(uint64_t number, uint64_t received_us, const cml_bytes texts[4]);
void cml_activity_ends(void);
uint16_t cml_activity_phase(uint16_t phase); /* returns the previous one */
uintptr_t cml_activity_address(void);
int cml_activity_of(const cml_memory *memory, uintptr_t address, cml_activity *out);

/* observe/stack.c */
typedef enum {
    CML_FRAME_SUB,      /* a sub; `sub` is its address */
    CML_FRAME_C,        /* a sub written in C */
    CML_FRAME_EVAL,     /* an eval of a string */
    CML_FRAME_FILE,     /* a file being loaded */
    CML_FRAME_METHOD,   /* innermost: a method written in C; `sub` is the address of its name */
    CML_FRAME_OPERATOR, /* innermost: `sub` is the number of the operator */
} cml_frame_kind;

typedef struct {
    cml_frame_kind kind;
    uintptr_t sub;
    uintptr_t place; /* address of the current statement's place */
} cml_frame;

size_t cml_stack_of(const cml_memory *memory, uintptr_t perl, cml_frame *frames, size_t room);
size_t cml_sub_name_of(const cml_memory *memory, uintptr_t sub, char *into, size_t room);
size_t cml_method_name_of(const cml_memory *memory, uintptr_t name, char *into, size_t room);
size_t cml_place_of(const cml_memory *memory, uintptr_t place, char *into, size_t room, unsigned *line);
const char *cml_operator_name(size_t number);

/* observe/statements.c */
typedef void (*cml_tell_statement)(void *to, const char *method, uint64_t begun_us, uint64_t taken_us, cml_bytes text);
void cml_trace_statements(int traced);
void cml_each_statement(cml_tell_statement tell, void *to);

#endif

/* libperl as C gives it to Rust: one small function a need, one prefix.
 *
 * The rule that keeps Perl's longjmp out of Rust: every function that can run Perl code returns a cml_status and does
 * the running inside cml_guarded (guard.c). No function here returns an SV to be dereferenced; Rust passes SV pointers
 * back unread.
 *
 *   boot.c   an interpreter from nothing to ready, and its end
 *   guard.c  around each call of Perl: die and exit become a status, the error is kept
 *   call.c   the calls: eval, require, a sub by its name, handlers
 *   psgi.c   environments and plain answers of PSGI applications
 *   psgi_objects.c  what an application gets and what refuses when its request is over
 *   io.c     STDOUT and STDERR of a request, as Perl's handles
 *   standard.c  STDIN, STDOUT, STDERR are new for each request
 *   copies.c  handles beside them that lead to descriptors 0 and 1
 *   closed.c  handles that were kept and lead nowhere
 *   print.c  print and say of a reference to a text
 *   descriptors.c  the same as descriptors 0, 1 and 2, which children have too
 *   env.c    %ENV of a request, and what processes that Perl code starts see of it
 *   env_tie.c  %ENV and $r->subprocess_env of mod_perl 2 show each other's changes
 *   operators.c  the operators that start those processes, wait for them, or exit
 *   state.c  what a request may not leave behind
 *   inc.c    the same for @INC
 *   handlers.c  the same for %SIG
 *   signals.c  the same for the signal mask and timers
 *   globals.c  the same for variables that are everybody's, and the locale
 *   objects.c  which objects end with the process
 *   files.c  files that each worker opens anew
 *   children.c  how children ended that nobody waited for
 *   watch.c  that the process was changed
 *   birth.c  what the kernel allows a worker, and whether that has changed
 *   leave.c  what cannot be put back
 *   deadline.c  what happens to a request that takes too long
 *   census.c  what lives in the arenas, by class
 *   spans.c  where in memory values lie, and whose they are
 *   fork.c   what the mold does before it forks workers
 *   activity.c  what this process is at, for one that reads its memory
 *   statements.c  what a request asks of databases
 *   stack.c  the stack of another process's perl
 */
#ifndef CML_SHIM_H
#define CML_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CML_OK = 0,     /* returned */
    CML_DIED = 1,   /* died; cml_error has the text */
    CML_EXITED = 2, /* called exit; cml_exit_code has the code */
} cml_status;

typedef struct {
    const char *bytes;
    size_t length;
} cml_bytes;

/* Where a request's output goes. Set once at boot; called with Perl on the stack, so they must not call into Perl. */
typedef struct {
    void (*write)(const char *bytes, size_t length);
    int (*flush)(void); /* whether somebody hears what is said */
    void (*log)(const char *bytes, size_t length);
    void (*head)(int status);
    void (*header)(const char *name, size_t name_length, const char *value, size_t value_length);
    void (*environment)(void); /* %ENV is looked at: cml_env_put every pair */
    void (*extend)(double seconds); /* the request asks for more time */
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
    CML_LEXICAL, /* of the sub */
    CML_OUTER,   /* a lexical around a sub */
    CML_ALSO     /* imported, or code without a name: the name is that of its file */
} cml_naming;

typedef struct {
    void *to;
    /* What follows is in this package, and in this sub if there is one. */
    void (*within)(void *to, const char *package, size_t package_length, const char *sub, size_t sub_length);
    /* Sigils: those of variables, & for code, * for globs, : for symbol tables. */
    void (*name)(void *to, const void *value, char sigil, cml_naming naming, const char *name, size_t length);
} cml_names;

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
    /* Within a bound of time. */
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
/* The class of $r that handlers get; Apache where nobody says. */
void cml_request_class(const char *name);
/* $| of STDOUT stays in each request what start-up code made of it. */
void cml_keep_autoflush(void);
cml_status cml_call_handler(void *code, void *invocant, uint64_t request, int *result);

/* psgi.c: load an application; for a call put pairs into a new environment, then run. */
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
typedef void (*cml_env_told)(void *arg, const char *key, size_t key_length, const char *value, size_t value_length);
void cml_env_tie(void);
int cml_env_changes(cml_env_told told, void *arg);
void cml_env_follow(const char *key, size_t key_length, const char *value, size_t value_length);

/* operators.c */
int cml_is_forked_child(void);
void cml_next_fork_speaks(int speaks);
int cml_may_have_children(int is_busy);
/* How those ended that were reaped: pairs of a process and its status. */
void cml_has_children(int has, const int (*ended)[2], size_t count);
/* So many descriptors at most. */
#define CML_PRIVATE_FDS 64
void cml_keep_from_children(const int *fds, size_t count);

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
    /* Nothing to put back, but a reason to look. */
    CML_COPIED = 1 << 23,   /* another handle or descriptor may lead to descriptors 0 and 1 */
    CML_BOUNDS = 1 << 24,   /* limits, namespaces, rights or priority may have changed */
    CML_WROTE = 1 << 25,    /* to descriptor 1, or made it another */
    CML_IDENTITY = 1 << 26, /* user or group was set */
    CML_BORE = 1 << 27,     /* there may be children */
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
    CML_NO_DESCRIPTORS = 1, /* hardly any is free */
    CML_OTHER_USER = 2,     /* of root's worker */
    CML_OTHER_ROOT = 3,     /* chroot */
    CML_OTHER_LIMITS = 4,   /* setrlimit */
    CML_OTHER_NAMESPACE = 5,
    CML_OTHER_RIGHTS = 6,   /* capabilities, seccomp, no_new_privs */
    CML_OTHER_PRIORITY = 7, /* nice */
} cml_reason;
cml_reason cml_must_leave(void);

/* deadline.c */
void cml_deadline_signal(int signal); /* once in every worker */
void cml_request_is(uint64_t number); /* 0: none */
void cml_request_is_in_time(void);
void cml_request_is_answered(void);
int cml_timed_out(void); /* it died of it */
int cml_is_late(void); /* it has not died yet, and whoever asks ends it */

/* Of another process. */
typedef struct {
    int (*read)(void *from, uintptr_t address, void *into, size_t length); /* whether all of it was read */
    void *from;
} cml_memory;

/* observe/activity.c */
typedef struct {
    uint64_t request; /* its number; 0: none */
    uint64_t received_us, begun_us; /* since 1970: by the front, by this process */
    const void *perl;
    uint16_t lengths[3]; /* of method, host, target */
    uint16_t phase; /* of the request, as the worker numbers them; 0: none */
    char texts[440];
    uint64_t again; /* the request */
} cml_activity;

void cml_activity_begins(uint64_t number, uint64_t received_us, const cml_bytes texts[3]);
void cml_activity_ends(void);
uint16_t cml_activity_phase(uint16_t phase); /* the one before */
uintptr_t cml_activity_address(void);
int cml_activity_of(const cml_memory *memory, uintptr_t address, cml_activity *out);

/* observe/stack.c */
typedef enum {
    CML_FRAME_SUB,      /* a sub; `sub` is its address */
    CML_FRAME_C,        /* the same, written in C */
    CML_FRAME_EVAL,     /* of a string */
    CML_FRAME_FILE,     /* that is being required */
    CML_FRAME_METHOD,   /* innermost: a method that is written in C; `sub` is the address of its name */
    CML_FRAME_OPERATOR, /* innermost: `sub` is the number of the operator */
} cml_frame_kind;

typedef struct {
    cml_frame_kind kind;
    uintptr_t sub;
    uintptr_t place; /* of the statement that it is at */
} cml_frame;

size_t cml_stack_of(const cml_memory *memory, uintptr_t perl, cml_frame *frames, size_t room);
size_t cml_sub_name_of(const cml_memory *memory, uintptr_t sub, char *into, size_t room);
size_t cml_method_name_of(const cml_memory *memory, uintptr_t name, char *into, size_t room);
size_t cml_place_of(const cml_memory *memory, uintptr_t place, char *into, size_t room, unsigned *line);
const char *cml_operator_name(size_t number);

/* observe/statements.c */
typedef void (*cml_tell_statement)(void *to, const char *method, uint64_t begun_us, uint64_t taken_us, const char *text, size_t length);
void cml_trace_statements(int traced);
void cml_each_statement(cml_tell_statement tell, void *to);

#endif

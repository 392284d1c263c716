/* Declarations shared by the files of the shim, and by no others. */
#ifndef CML_INTERNAL_H
#define CML_INTERNAL_H

#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>
#include <perliol.h>

#include "shim.h"

extern PerlInterpreter *cml_perl;

/* Runs `body` so that neither die nor exit passes this point; see guard.c. */
typedef void (*cml_body)(pTHX_ void *argument);
cml_status cml_guarded(pTHX_ cml_body body, void *argument);

/* Like cml_guarded, for a body without an eval of its own. */
cml_status cml_guarded_whole(pTHX_ cml_body body, void *argument);
typedef struct {
    cml_body body;
    void *argument;
} cml_evaluation;
void cml_in_eval(pTHX_ void *evaluation);

SV *cml_take_error(void);
void cml_put_error(pTHX_ SV *error);
void cml_log_error(void);

/* Drops a reference, which may be NULL; destructors run guarded. */
void cml_drop(pTHX_ SV *sv);

/* Whether a guard is active, to which die can return. */
int cml_is_guarded(void);

/* Incremented whenever Perl code begins or ends. */
extern unsigned cml_turn;

/* Whether exit must preserve Perl frames below the innermost guard; then it throws. */
int cml_exit_is_exception(void);
void cml_throw_exit(pTHX_ int code);

void cml_io_boot(pTHX);
void cml_operators_boot(pTHX);
void cml_print_boot(pTHX);
void cml_worker_boot(pTHX);
void cml_psgi_boot(pTHX);
void cml_default_signals(void);
/* Whether a fresh worker has set its own action for a signal. */
int cml_is_workers_signal(int number);

/* State of a child that Perl code forked: it must not talk to the front. */
/* Whether this process is a fork of the worker; whether it runs one script of the worker's request. */
extern volatile sig_atomic_t cml_forked_child, cml_request_child;
void cml_plain_output(pTHX);
/* Set while perl flushes every handle, as before a fork: that must not send an incomplete response. */
extern int cml_mute_flush;
/* CML_LEFT_… bits of the state that a request has touched. */
extern unsigned cml_touched;

/* See census.c: SCALAR, ARRAY and so on. */
const char *cml_name_of_type(int type);

/* See io.c: whether output to this IO is the response; a handle that the site has tied is not. */
int cml_is_response(const IO *io);
extern PerlIO *cml_out_handle, *cml_err_handle;
extern PerlIO_funcs cml_out_layer, cml_err_layer;
int cml_has_layer(PerlIO *f, const PerlIO_funcs *layer);
PerlIO *cml_new_handle(pTHX_ PerlIO_funcs *layer);
PerlIO *cml_plain_handle(pTHX_ int fd, const char *mode);

/* See closed.c. */
void cml_close_handle(pTHX_ PerlIO *f);
IO *cml_closed_input(pTHX);

/* See copies.c. */
void cml_remember_copies(pTHX);
int cml_start_up_writes(void);
void cml_flush_copies(pTHX);
void cml_end_copies(pTHX_ int is_sure);

/* See psgi.c and psgi_objects.c. */
void cml_psgi_headers(pTHX_ AV *headers);
void cml_psgi_objects_boot(pTHX);
SV *cml_psgi_input(pTHX);
SV *cml_psgi_inform(pTHX);
SV *cml_psgi_extend(pTHX);
int cml_psgi_shares_input(void);
void cml_psgi_forget_input(pTHX);
void cml_psgi_end(pTHX);

/* See handlers.c. */
void cml_remember_handlers(pTHX);
unsigned cml_restore_handlers(pTHX);

/* See signals.c. */
void cml_remember_mask(void);
int cml_are_same_signals(const sigset_t *one, const sigset_t *other);
unsigned cml_restore_mask(void);
unsigned cml_restore_timers(void);

/* See globals.c. */
void cml_remember_globals(pTHX);
unsigned cml_restore_globals(pTHX);

/* See objects.c. */
void cml_first_process(void);
void cml_know_objects(pTHX);
void cml_bound_end(void);
void cml_end_objects(pTHX);

/* See files.c. */
void cml_know_files(void);
void cml_reopen_files(void);

/* See children.c. */
void cml_child_has_ended(int pid, int status);
void cml_forget_child(int pid);
void cml_forget_children(void);
int cml_wait_is_over(pTHX);
int cml_child_of_pipe(pTHX_ const GV *gv);
void cml_pipe_is_closed(pTHX_ int pid);

/* See watch.c. */
void cml_watch_operators(pTHX);
void cml_watch_variables(pTHX);
void cml_look(pTHX);
int cml_has_foreign_code(pTHX);

/* @INC; see inc.c. */
void cml_inc_is_apps(void);
int cml_is_same(pTHX_ SV *now, SV *kept);
void cml_remember_inc(pTHX);
unsigned cml_restore_inc(pTHX);

void cml_remember_bounds(void);

/* See state.c. */
int cml_lost_home(void);

/* See birth.c. */
void cml_remember_birth(void);
cml_reason cml_differs_from_birth(void);

/* Whether Perl code has called exit. */
extern int cml_exit_asked;

/* See standard.c. */
extern GV *cml_stdin_gv, *cml_stdout_gv, *cml_stderr_gv;
int cml_is_standard(const PerlIO *f);
void cml_remember_handles(pTHX);
void cml_script_begins(void);
unsigned cml_restore_handles(pTHX);

/* See unheard.c. */
void cml_forget_unheard(void);
int cml_was_ended(void);
void cml_layer_failed(void);
int cml_output_failed(pTHX);
void cml_unheard_between_operators(pTHX);
void cml_written_to_nobody(pTHX);

/* See io.c: writes to the response, or to the log while a PSGI application runs. Returns whether the client has
 * left. */
int cml_say(const char *bytes, size_t count);
extern int cml_stdout_logs;
void cml_rewind_stdin(pTHX);

/* See descriptors.c. */
extern int cml_forked_in_request;
void cml_has_opened(pTHX_ GV *gv);
void cml_new_descriptors(void);
void cml_drop_descriptors(void);
void cml_put_stdin_back(void);
void cml_empty_stdin(void);
int cml_is_output(int fd);
void cml_put_stdout_back(void);
void cml_put_stderr_back(void);

/* See env.c. */
void cml_store(pTHX_ HV *hash, const char *name, size_t length, SV *value);
HV *cml_requests_env(pTHX);
char **cml_env_exported(pTHX_ HV *env);
void cml_env_trust_no_path(pTHX_ HV *env);
void cml_env_is(pTHX_ HV *hash);
void cml_env_before_whole(pTHX_ SV *hash);
AV *cml_pairs_of(pTHX_ HV *hash);
SV *cml_text_of(pTHX_ SV *value);
int cml_env_waits(void);
int cml_env_is_requests(HV *env);
void cml_env_replace(const char *key, size_t key_length, const char *value, size_t value_length);

/* See env_tie.c. */
HV *cml_env_untie(void);
void cml_env_tie_again(HV *before);
void cml_env_note(pTHX_ IV action, SV *key);
void cml_env_note_whole(void);

int cml_before_child(void);
void cml_after_child(int was_moved);
void cml_before_reopen(pTHX_ GV *gv, int has_descriptor);

#endif

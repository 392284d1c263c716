#include "internal.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* Wrappers of Perl's operators that start processes, wait for them, access %ENV or exit. */

volatile sig_atomic_t cml_forked_child, cml_request_child;
int cml_forked_in_request;

static Perl_ppaddr_t original[MAXO];

/* Descriptors that lead to the front: the worker's socket, and the eventfds of the front's threads. */
static int private_fds[CML_PRIVATE_FDS];
static size_t private_count;

void cml_keep_from_children(const int *fds, size_t count)
{
    private_count = count < CML_PRIVATE_FDS ? count : CML_PRIVATE_FDS;
    memcpy(private_fds, fds, private_count * sizeof *fds);
}

/* The sockets of an event loop, by their numbers: those of clients' requests, and the worker's own. A number is used again
 * after a close that nobody reports here, so the inode tells whether it still is that socket. */
static ino_t *loop_sockets;
static size_t loop_room;

static ino_t inode_of(int fd)
{
    struct stat now;
    return fstat(fd, &now) == 0 && S_ISSOCK(now.st_mode) ? now.st_ino : 0;
}

void cml_loop_socket(int fd)
{
    const size_t number = (size_t)fd;
    if (fd < 0)
        return;
    if (number >= loop_room) {
        const size_t room = number + 64;
        loop_sockets = saferealloc(loop_sockets, room * sizeof *loop_sockets);
        memset(loop_sockets + loop_room, 0, (room - loop_room) * sizeof *loop_sockets);
        loop_room = room;
    }
    loop_sockets[number] = inode_of(fd);
}

static int is_loop_socket(int fd)
{
    return fd >= 0 && (size_t)fd < loop_room && loop_sockets[fd] && loop_sockets[fd] == inode_of(fd);
}

/* In a child the sockets of the loop become /dev/null: it neither answers a request of its parent, nor keeps a client
 * waiting that the parent has left. A loop that goes on in the child finds them readable. */
static void leave_loop_sockets(void)
{
    const int null = loop_room ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;
    for (size_t fd = 0; fd < loop_room; fd++)
        if (is_loop_socket((int)fd) && (null < 0 || dup3(null, (int)fd, O_CLOEXEC) < 0))
            close((int)fd);
    if (null >= 0)
        close(null);
}

/* Runs after each fork, by an operator of perl's or a library. */
static void has_forked(void)
{
    cml_forked_in_request = 1;
    cml_touched |= CML_BORE | CML_BOUNDS;
}

/* Forks by other C code are unknown here. Asking the kernel for children is a system call, made while the
 * worker is idle, and after every BUSY_TURN-th busy request. */
enum { BUSY_TURN = 16 };

int cml_may_have_children(int is_busy)
{
    static unsigned turn;
    dTHXa(cml_perl);
    if (cml_touched & CML_BORE)
        return 1;
    return cml_has_foreign_code(aTHX) && (!is_busy || ++turn % BUSY_TURN == 0);
}

/* Records the kernel's answer about children. */
void cml_has_children(int has, const int (*ended)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        cml_child_has_ended(ended[i][0], ended[i][1]);
    if (has)
        cml_touched |= CML_BORE;
    else
        cml_touched &= ~CML_BORE;
}

static int next_speaks;

/* Sets whether the child of the next fork continues the worker's request as the worker does. */
void cml_next_fork_speaks(int speaks)
{
    next_speaks = speaks;
}

static void in_forked_child(void)
{
    if (next_speaks)
        return;
    cml_forked_child = 1;
    cml_forget_children();
    cml_request_child = 0;
    for (size_t i = 0; i < private_count; i++)
        if (!is_loop_socket(private_fds[i]))
            close(private_fds[i]);
    leave_loop_sockets();
    private_count = 0; /* the child may open others with these numbers, which its own children need */
    cml_default_signals();
}

/* Prepares a child that runs one script of the worker's request. */
void cml_is_request_child(void)
{
    dTHXa(cml_perl);
    PL_srand_called = FALSE; /* otherwise each run would draw the same numbers */
    cml_request_child = 1;
    cml_plain_output(aTHX);
}

int cml_is_forked_child(void)
{
    return cml_forked_child;
}

/* The environment during the start of a program, to be restored after it. */
typedef struct {
    char **before;
    int is_moved;
    HV *env; /* NULL: perl's own %ENV, which is exported already */
} environment;

/* Restores the environment, also when the operator dies. */
static void without_env(pTHX_ void *argument)
{
    const environment *const e = argument;
    cml_mute_flush--;
    cml_after_child(e->is_moved);
    if (!e->env)
        return;
    environ = e->before;
    cml_env_is(aTHX_ e->env);
    SvREFCNT_dec((SV *)e->env);
}

static OP *with_env(pTHX)
{
    const int type = PL_op->op_type;
    HV *const env = cml_requests_env(aTHX);
    char **const table = env ? cml_env_exported(aTHX_ env) : NULL;
    environment e = {environ, cml_before_child(), (HV *)SvREFCNT_inc((SV *)env)};
    ENTER;
    cml_mute_flush++;
    SAVEDESTRUCTOR_X(without_env, &e);
    if (env) {
        environ = table;
        if (TAINTING_get)
            cml_env_trust_no_path(aTHX_ env);
    }
    cml_forked_in_request = 1; /* a background program may write to descriptor 1 much later */
    OP *const next = original[type](aTHX);
    LEAVE;
    cml_drain_fd1();
    return next;
}

/* The taint mark is magic that runs no code. */
static int is_only_tainted(SV *sv)
{
    const MAGIC *const magic = SvTYPE(sv) >= SVt_PVMG ? SvMAGIC(sv) : NULL;
    return magic && magic->mg_type == PERL_MAGIC_taint && !magic->mg_moremagic;
}

/* An object's text comes from its own code, which must not run twice. */
static int may_start_program(pTHX_ SV *arg)
{
    if ((SvGMAGICAL(arg) && !is_only_tainted(arg)) || (SvROK(arg) && SvOBJECT(SvRV(arg))))
        return 1;
    return SvPOK(arg) && memchr(SvPVX(arg), '|', SvCUR(arg)) != NULL;
}

static GV *handle_at(pTHX_ SV **place)
{
    return place <= PL_stack_sp && isGV_with_GP(*place) ? (GV *)*place : NULL;
}

/* Most calls of open are for plain files: only a call that may start a program exports the environment. */
static OP *open_op(pTHX)
{
    SV **const mark = PL_stack_base + *PL_markstack_ptr;
    GV *const gv = handle_at(aTHX_ mark + 1);
    cml_touched |= CML_OPENED;
    if (gv)
        cml_before_reopen(aTHX_ gv, mark + 3 > PL_stack_sp || !SvROK(mark[3]) || SvOBJECT(SvRV(mark[3])));
    /* The mode shows this, or the only argument. The argument after a mode is a file name; arguments of a layer are no
     * programs either. */
    const int is_program = mark + 2 <= PL_stack_sp && may_start_program(aTHX_ mark[2]);
    OP *const next = is_program ? with_env(aTHX) : original[OP_OPEN](aTHX);
    cml_has_opened(aTHX_ gv);
    return next;
}

static OP *sysopen_op(pTHX)
{
    SV **const mark = PL_stack_sp - (MAXARG > 3 ? 3 : 2);
    GV *const gv = handle_at(aTHX_ mark);
    cml_touched |= CML_OPENED;
    OP *const next = original[OP_SYSOPEN](aTHX);
    cml_has_opened(aTHX_ gv);
    return next;
}

static OP *whole_hash_op(pTHX)
{
    cml_env_before_whole(aTHX_ *PL_stack_sp);
    return original[OP_RV2HV](aTHX);
}

static OP *fork_op(pTHX)
{
    cml_mute_flush++;
    const int is_moved = cml_before_child();
    OP *const next = original[OP_FORK](aTHX);
    cml_after_child(is_moved);
    cml_mute_flush--;
    if (SvIOK(*PL_stack_sp))
        cml_forget_child((int)SvIVX(*PL_stack_sp));
    return next;
}

/* The output of a forked child is complete once the child was waited for. */
static OP *wait_op(pTHX)
{
    OP *const next = cml_wait_is_over(aTHX) ? NORMAL : original[PL_op->op_type](aTHX);
    cml_drain_fd1();
    return next;
}

/* close of a pipe also waits for its process. */
static OP *close_op(pTHX)
{
    const GV *const gv = MAXARG > 0 ? handle_at(aTHX_ PL_stack_sp) : PL_defoutgv;
    const int pid = cml_child_of_pipe(aTHX_ gv);
    OP *const next = original[OP_CLOSE](aTHX);
    cml_pipe_is_closed(aTHX_ pid);
    cml_drain_fd1();
    return next;
}

/* Whether exit was called by a script. perl itself also exits when malloc fails. */
int cml_exit_asked;

static OP *exit_op(pTHX)
{
    if (cml_exit_is_exception()) {
        dSP;
        SV *const code = MAXARG < 1 ? NULL : TOPs;
        cml_throw_exit(aTHX_ code ? (int)SvIV(code) : 0);
    }
    cml_exit_asked = 1;
    return original[OP_EXIT](aTHX);
}

static void wrap(int op, OP *(*with)(pTHX))
{
    original[op] = PL_ppaddr[op];
    PL_ppaddr[op] = with;
}

void cml_operators_boot(pTHX)
{
    wrap(OP_SYSTEM, with_env);
    wrap(OP_BACKTICK, with_env);
    wrap(OP_EXEC, with_env);
    wrap(OP_OPEN, open_op);
    wrap(OP_SYSOPEN, sysopen_op);
    wrap(OP_FORK, fork_op);
    wrap(OP_WAIT, wait_op);
    wrap(OP_WAITPID, wait_op);
    wrap(OP_CLOSE, close_op);
    wrap(OP_RV2HV, whole_hash_op);
    wrap(OP_EXIT, exit_op);
    pthread_atfork(NULL, has_forked, in_forked_child);
}

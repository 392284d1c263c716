#include "../internal.h"

#include <sys/wait.h>

/* Exit statuses of children that the worker has reaped. A program that waits for such a child in a later request gets
 * its status, as if the child were still a zombie. */

typedef struct {
    int pid; /* 0: the slot is free */
    int status;
} ended;

/* The oldest entry is replaced when all are used. */
enum { KEPT = 64 };
static ended kept[KEPT];
static unsigned next, count;

void cml_child_has_ended(int pid, int status)
{
    cml_forget_child(pid);
    count += kept[next].pid == 0;
    kept[next] = (ended){pid, status};
    next = (next + 1) % KEPT;
}

/* Forgets a child whose pid was reused for a new child. */
void cml_forget_child(int pid)
{
    for (unsigned i = 0; count > 0 && i < KEPT; i++)
        if (kept[i].pid == pid) {
            kept[i].pid = 0;
            count--;
        }
}

/* Forgets all children; runs in a forked child, which is not their parent. */
void cml_forget_children(void)
{
    memset(kept, 0, sizeof kept);
    count = 0;
}

/* Takes the entry of `pid`, or the oldest for -1, and sets $? to its status. Returns 0 without an entry. */
static int take(pTHX_ int pid)
{
    for (unsigned i = 0; count > 0 && i < KEPT; i++) {
        ended *const child = &kept[(next + i) % KEPT];
        if (child->pid == 0 || (pid != -1 && child->pid != pid))
            continue;
        const int found = child->pid;
        STATUS_NATIVE_CHILD_SET(child->status);
        child->pid = 0;
        count--;
        return found;
    }
    return 0;
}

/* Replaces `wait` and `waitpid`; returns whether the status was recorded. */
int cml_wait_is_over(pTHX)
{
    dSP;
    if (count == 0)
        return 0;
    const int has_arguments = PL_op->op_type == OP_WAITPID;
    const int pid = take(aTHX_ has_arguments ? (int)SvIV(SP[-1]) : -1);
    if (pid == 0)
        return 0;
    if (has_arguments)
        SP -= 2;
    XPUSHs(sv_2mortal(newSViv(pid)));
    PUTBACK;
    return 1;
}

/* The process behind a pipe that is about to be closed, if it may have been reaped. */
int cml_child_of_pipe(pTHX_ const GV *gv)
{
    const IO *const io = gv && isGV_with_GP(gv) ? GvIO(gv) : NULL;
    if (count == 0 || !io || IoTYPE(io) != IoTYPE_PIPE || !IoIFP(io))
        return 0;
    SV **const pid = av_fetch(PL_fdpid, PerlIO_fileno(IoIFP(io)), FALSE);
    /* perl sets the number without the flag SvIOK */
    return pid && SvTYPE(*pid) == SVt_IV ? (int)SvIVX(*pid) : 0;
}

/* Runs after `close` of that pipe. */
void cml_pipe_is_closed(pTHX_ int pid)
{
    if (pid > 0 && take(aTHX_ pid))
        *PL_stack_sp = boolSV(STATUS_NATIVE == 0);
}

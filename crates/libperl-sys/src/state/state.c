#include "../internal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Restores the process to its state at birth, so that no state of a request remains for the next one. Changes are
 * reported by name: a script that makes them was written for a process that ends. */

static int home = -1;
static struct stat home_stat;
static mode_t home_umask;

/* Runs once after the fork, and again after start-up work in a fresh worker, which may change the state for
 * good. */
void cml_remember_state(void)
{
    dTHXa(cml_perl);
    if (home >= 0)
        close(home);
    home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (home < 0) /* a folder that the worker's user may not enter is useless */
        home = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    fstat(home, &home_stat);
    home_umask = umask(022);
    umask(home_umask);
    cml_remember_handlers(aTHX);
    cml_remember_mask();
    cml_remember_handles(aTHX);
    cml_remember_inc(aTHX);
    cml_remember_globals(aTHX);
    cml_remember_bounds();
    cml_look(aTHX);
    cml_touched = 0;
}

/* Whether both values are plain texts, as most are: they are compared without calling perl. */
static int are_texts(const SV *now, const SV *kept)
{
    return (SvFLAGS(now) & SvFLAGS(kept) & SVf_POK) && !SvROK(now) && !SvROK(kept) && !SvUTF8(now) == !SvUTF8(kept);
}

/* Whether a value equals its copy. Objects are compared by identity only. */
int cml_is_same(pTHX_ SV *now, SV *kept)
{
    if (are_texts(now, kept)) /* a copy shares the string's memory until one of the two is written */
        return SvCUR(now) == SvCUR(kept)
            && (SvPVX_const(now) == SvPVX_const(kept) || memEQ(SvPVX_const(now), SvPVX_const(kept), SvCUR(now)));
    if (SvROK(now) || SvROK(kept))
        return SvROK(now) && SvROK(kept) && SvRV(now) == SvRV(kept);
    if (!SvOK(now) || !SvOK(kept))
        return !SvOK(now) == !SvOK(kept);
    return sv_eq(now, kept);
}

static int is_elsewhere(void)
{
    struct stat now;
    if (!(cml_touched & CML_LEFT_CWD))
        return 0;
    return stat(".", &now) != 0 || now.st_ino != home_stat.st_ino || now.st_dev != home_stat.st_dev;
}

static unsigned restore_folder(void)
{
    return is_elsewhere() && fchdir(home) == 0 ? CML_LEFT_CWD : 0;
}

/* Whether the request has left the home folder and cannot return to it, because the permission to enter it may be gone.
 * Code that runs after the response remains in the request's folder. */
int cml_lost_home(void)
{
    if (!is_elsewhere())
        return 0;
    const int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int is_lost = fchdir(home) != 0;
    if (here >= 0) {
        if (!is_lost && fchdir(here) != 0)
            cml_touched &= ~CML_LEFT_CWD; /* the process is already at home */
        close(here);
    }
    return is_lost;
}

/* Returns to the home folder after code of the server's own has changed it. Returns whether there was one. */
int cml_go_home(void)
{
    if (home < 0 || fchdir(home) != 0)
        return 0;
    cml_touched &= ~CML_LEFT_CWD;
    return 1;
}

static unsigned restore_umask(void)
{
    if (!(cml_touched & CML_LEFT_UMASK))
        return 0;
    return umask(home_umask) == home_umask ? 0 : CML_LEFT_UMASK;
}

typedef struct {
    unsigned left;
} restoring;

static void restore_body(pTHX_ void *argument)
{
    restoring *const r = argument;
    r->left |= cml_restore_handlers(aTHX);
    r->left |= cml_restore_inc(aTHX);
    r->left |= cml_restore_globals(aTHX);
}

static void handles_body(pTHX_ void *argument)
{
    ((restoring *)argument)->left |= cml_restore_handles(aTHX);
}

static void whole_body(pTHX_ void *argument)
{
    restore_body(aTHX_ argument);
    handles_body(aTHX_ argument);
}

/* Restores all state; returns CML_LEFT_… bits of what had changed. */
unsigned cml_restore_state(void)
{
    dTHXa(cml_perl);
    restoring r = {0};
    cml_look(aTHX);
    r.left |= cml_restore_timers() | restore_folder() | restore_umask();
    r.left |= cml_restore_mask(); /* before the handlers: a blocked signal must not cause the default action */
    /* Destructors and layers may die here; the handles are restored nevertheless. */
    if (cml_guarded_whole(aTHX_ whole_body, &r) != CML_OK)
        cml_guarded_whole(aTHX_ handles_body, &r);
    const unsigned lost = is_elsewhere() ? CML_LEFT_CWD : 0;
    cml_touched &= CML_CHROOTED | CML_IDENTITY | CML_BORE | CML_BOUNDS | lost; /* checked after the next request, too */
    cml_env_end();
    return r.left;
}

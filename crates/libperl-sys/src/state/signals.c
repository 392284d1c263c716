#include "../internal.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

/* The signal mask and the timers as in a fresh worker; handlers.c has the handlers. */

static sigset_t home_mask;

void cml_remember_mask(void)
{
    sigprocmask(SIG_SETMASK, NULL, &home_mask);
}

/* A signal that came while it was blocked was meant for the request. */
static void drop_pending(const sigset_t *blocked)
{
    const struct timespec at_once = {0, 0};
    sigset_t those = *blocked;
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(&home_mask, signal))
            sigdelset(&those, signal);
    while (sigtimedwait(&those, NULL, &at_once) > 0) {
    }
}

/* Compares signal by signal, because a sigset_t has unused bits, which the C library does not define. */
int cml_are_same_signals(const sigset_t *one, const sigset_t *other)
{
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(one, signal) != sigismember(other, signal))
            return 0;
    return 1;
}

unsigned cml_restore_mask(void)
{
    sigset_t now;
    if (!(cml_touched & CML_LEFT_MASK) || sigprocmask(SIG_SETMASK, NULL, &now) != 0 || cml_are_same_signals(&now, &home_mask))
        return 0;
    drop_pending(&now);
    sigprocmask(SIG_SETMASK, &home_mask, NULL);
    return CML_LEFT_MASK;
}

static int stop(int timer)
{
    const struct itimerval never = {{0, 0}, {0, 0}};
    struct itimerval before;
    return setitimer(timer, &never, &before) == 0 && (before.it_value.tv_sec != 0 || before.it_value.tv_usec != 0);
}

unsigned cml_restore_timers(void)
{
    unsigned left = 0;
    if (cml_touched & CML_LEFT_ALARM && stop(ITIMER_REAL))
        left |= CML_LEFT_ALARM;
    if (cml_touched & CML_LEFT_TIMER && (stop(ITIMER_VIRTUAL) | stop(ITIMER_PROF)))
        left |= CML_LEFT_TIMER;
    return left;
}

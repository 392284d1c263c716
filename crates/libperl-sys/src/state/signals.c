#include "../internal.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

/* Signals, as the worker had them when it was born: handlers, the mask, timers. */

static SV *handlers[SIG_SIZE];
static SV *warn_hook, *die_hook;
static struct sigaction home_action[NSIG];
static sigset_t home_mask;

static void keep(pTHX_ SV **place, SV *value)
{
    SV *const before = *place;
    if (before == value)
        return; /* no worker writes what the mold has written already */
    *place = SvREFCNT_inc(value);
    SvREFCNT_dec(before);
}

void cml_remember_signals(pTHX)
{
    (void)get_hv("SIG", GV_ADD); /* perl makes PL_psig_ptr when %SIG is first named */
    for (int i = 1; PL_psig_ptr && i < SIG_SIZE; i++)
        keep(aTHX_ &handlers[i], PL_psig_ptr[i]);
    keep(aTHX_ &warn_hook, PL_warnhook);
    keep(aTHX_ &die_hook, PL_diehook);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &home_action[i]);
    sigprocmask(SIG_SETMASK, NULL, &home_mask);
}

static void set_handler(pTHX_ const char *name, SV *handler)
{
    HV *const sig = get_hv("SIG", GV_ADD);
    const I32 length = (I32)strlen(name);
    if (!handler) {
        (void)hv_delete(sig, name, length, G_DISCARD);
        return;
    }
    SV **const slot = hv_fetch(sig, name, length, 1);
    if (slot) {
        sv_setsv(*slot, handler);
        SvSETMAGIC(*slot);
    }
}

/* perl keeps a handler in a place of its own: `kept` is what stood there at birth, and stands there again afterwards. */
static unsigned restore_handler(pTHX_ const char *name, SV **now, SV **kept)
{
    if (*now == *kept)
        return 0;
    set_handler(aTHX_ name, *kept);
    SvREFCNT_dec(*kept);
    *kept = SvREFCNT_inc(*now);
    return CML_LEFT_SIGNAL;
}

/* Who reads $SIG{X} makes perl keep what it found there, in the place of the handler: nothing has changed. Nobody can set a
 * handler for what the kernel, or the C library, keeps for itself. */
static int was_only_read(pTHX_ int number)
{
    struct sigaction action;
    SV *const now = PL_psig_ptr[number];
    if (!now || handlers[number] || number >= NSIG || SvROK(now))
        return 0;
    return sigaction(number, NULL, &action) != 0 || action.sa_handler == home_action[number].sa_handler;
}

/* Without a handler perl gives a signal its default: to some the worker has an answer of its own. One that has come for
 * the handler that goes now is for nobody. */
static unsigned restore_signal(pTHX_ int number)
{
    if (was_only_read(aTHX_ number)) {
        SvREFCNT_dec(PL_psig_ptr[number]);
        PL_psig_ptr[number] = NULL;
        return 0;
    }
    const unsigned left = restore_handler(aTHX_ PL_sig_name[number], &PL_psig_ptr[number], &handlers[number]);
    if (left) {
        PL_psig_pend[number] = 0;
        if (!PL_psig_ptr[number] && number < NSIG)
            sigaction(number, &home_action[number], NULL);
    }
    return left;
}

unsigned cml_restore_signals(pTHX)
{
    unsigned left = 0;
    for (int i = 1; PL_psig_ptr && i < SIG_SIZE; i++)
        if (PL_psig_ptr[i] != handlers[i])
            left |= restore_signal(aTHX_ i);
    left |= restore_handler(aTHX_ "__WARN__", &PL_warnhook, &warn_hook);
    left |= restore_handler(aTHX_ "__DIE__", &PL_diehook, &die_hook);
    return left;
}

/* What has come while it was blocked was meant for the request. */
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

/* Signal by signal: a sigset_t has room for more than there are, and the C library leaves that room as it was. */
static int same_signals(const sigset_t *one, const sigset_t *other)
{
    for (int signal = 1; signal < NSIG; signal++)
        if (sigismember(one, signal) != sigismember(other, signal))
            return 0;
    return 1;
}

unsigned cml_restore_mask(void)
{
    sigset_t now;
    if (!(cml_touched & CML_LEFT_MASK) || sigprocmask(SIG_SETMASK, NULL, &now) != 0 || same_signals(&now, &home_mask))
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

#include "../internal.h"

#include <signal.h>

/* %SIG as in a fresh worker: handlers of signals, __WARN__, __DIE__, and the names that exist.
 *
 * PL_psig_ptr, PL_warnhook and PL_diehook refer to the element of %SIG itself. A new handler changes the
 * element's value, not the pointer, so values are copied and compared. */

static SV *handlers[SIG_SIZE]; /* copies; NULL: no handler */
static SV *warn_hook, *die_hook;
static struct sigaction home_action[NSIG];
static GV *sig_gv;
static char existed[SIG_SIZE];
static STRLEN name_count;

/* Returns the handler, or NULL for an undefined one. */
static SV *defined(SV *handler)
{
    return handler && (SvROK(handler) || SvOK(handler)) ? handler : NULL;
}

static int is_home(pTHX_ SV *now, SV *home)
{
    now = defined(now);
    return now && home ? cml_is_same(aTHX_ now, home) : now == home;
}

/* Skips values that the mold has stored already: a write would un-share the page. */
static void remember(pTHX_ SV **home, SV *now)
{
    if (is_home(aTHX_ now, *home))
        return;
    SvREFCNT_dec(*home);
    *home = defined(now) ? newSVsv(now) : NULL;
}

static void remember_names(pTHX_ HV *sig)
{
    for (int i = 1; i < SIG_SIZE; i++)
        existed[i] = (char)hv_exists(sig, PL_sig_name[i], (I32)strlen(PL_sig_name[i]));
    name_count = HvTOTALKEYS(sig);
}

void cml_remember_handlers(pTHX)
{
    if (!sig_gv)
        sig_gv = gv_fetchpvs("SIG", GV_ADD, SVt_PVHV); /* perl creates PL_psig_ptr at the first use of %SIG */
    for (int i = 1; PL_psig_ptr && i < SIG_SIZE; i++)
        remember(aTHX_ &handlers[i], PL_psig_ptr[i]);
    remember(aTHX_ &warn_hook, PL_warnhook);
    remember(aTHX_ &die_hook, PL_diehook);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &home_action[i]);
    remember_names(aTHX_ GvHVn(sig_gv));
}

static void set_handler(pTHX_ const char *name, SV *home)
{
    HV *const sig = GvHVn(sig_gv);
    const I32 length = (I32)strlen(name);
    if (!home) {
        (void)hv_delete(sig, name, length, G_DISCARD);
        return;
    }
    SV **const slot = hv_fetch(sig, name, length, 1);
    if (slot) {
        sv_setsv(*slot, home);
        SvSETMAGIC(*slot);
    }
}

static unsigned restore_hook(pTHX_ const char *name, SV **now, SV *home)
{
    if (is_home(aTHX_ *now, home))
        return 0;
    set_handler(aTHX_ name, home);
    if (!home && *now) { /* the element is no longer in %SIG */
        SvREFCNT_dec(*now);
        *now = NULL;
    }
    return CML_LEFT_SIGNAL;
}

/* POSIX::sigaction also sets flags and a mask, which %SIG does not show. */
static int is_action_home(int number)
{
    struct sigaction now;
    const struct sigaction *const home = &home_action[number];
    if (!(cml_touched & CML_LEFT_SIGNAL) || number >= NSIG || sigaction(number, NULL, &now) != 0)
        return 1;
    return now.sa_handler == home->sa_handler && now.sa_flags == home->sa_flags
        && cml_are_same_signals(&now.sa_mask, &home->sa_mask);
}

/* Whether $SIG{X} was only read: perl then stores the kernel's state in place of the handler. The kernel and
 * the C library reserve some signals, for which no handler can be set. */
static int was_only_read(pTHX_ int number)
{
    struct sigaction action;
    if (handlers[number] || number >= NSIG || SvROK(PL_psig_ptr[number]))
        return 0;
    return sigaction(number, NULL, &action) != 0 || action.sa_handler == home_action[number].sa_handler;
}

/* Restores the action itself, not perl's default for a removed handler: the worker has its own handlers for some
 * signals, and start-up code may have set flags. A pending signal of the removed handler is dropped. */
static unsigned restore_signal(pTHX_ int number)
{
    const int was_set = defined(PL_psig_ptr[number]) != NULL;
    /* Where start-up code has set a handler for such a signal, the end of `local $SIG{CHLD}` removes the worker's own
     * action. The script did not ask for that, so the action is restored without a line in the log. */
    if (cml_is_workers_signal(number) && handlers[number] && is_home(aTHX_ PL_psig_ptr[number], handlers[number])) {
        sigaction(number, &home_action[number], NULL);
        return 0;
    }
    if (is_action_home(number)) {
        if (PL_psig_ptr[number] && was_only_read(aTHX_ number)) {
            SvREFCNT_dec(PL_psig_ptr[number]);
            PL_psig_ptr[number] = NULL;
            return 0;
        }
        if (handlers[number] && is_home(aTHX_ PL_psig_ptr[number], handlers[number]))
            return 0;
    }
    set_handler(aTHX_ PL_sig_name[number], handlers[number]);
    PL_psig_pend[number] = 0;
    if (number < NSIG)
        sigaction(number, &home_action[number], NULL);
    /* The end of `local $SIG{X}` results in undef and the default action, which is not reported as a change. */
    return was_set || handlers[number] ? CML_LEFT_SIGNAL : 0;
}

/* Programs test `exists $SIG{X}` to learn which signals exist: sigtrap does. */
static void restore_names(pTHX)
{
    HV *const sig = GvHVn(sig_gv);
    if (HvTOTALKEYS(sig) == name_count)
        return;
    for (int i = 1; i < SIG_SIZE; i++)
        if (existed[i])
            (void)hv_fetch(sig, PL_sig_name[i], (I32)strlen(PL_sig_name[i]), 1);
    name_count = HvTOTALKEYS(sig);
}

unsigned cml_restore_handlers(pTHX)
{
    unsigned left = 0;
    for (int i = 1; PL_psig_ptr && i < SIG_SIZE; i++)
        if (PL_psig_ptr[i] || handlers[i])
            left |= restore_signal(aTHX_ i);
    left |= restore_hook(aTHX_ "__WARN__", &PL_warnhook, warn_hook);
    left |= restore_hook(aTHX_ "__DIE__", &PL_diehook, die_hook);
    restore_names(aTHX);
    return left;
}

#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* Ends a request that takes too long. The master, at the front's request, sends a signal whose value is the
 * request's number, so that a late signal does not hit the next request.
 *
 *   IN_TIME ──signal──▶ NOTED ──between two ops──▶ DIED        the stack is logged, then die
 *                         └──signal──▶ NOTED                   perl is inside one op: its place is logged
 *
 * The signal is not SIGALRM, which belongs to the site's code. It interrupts a sleep or a read. */

static volatile uint64_t running; /* the request's number; 0 between requests */
static volatile enum { IN_TIME, NOTED, DIED } state;
static int is_answered; /* whether code after the response runs, which has its own RequestTimeout */
static despatch_signals_proc_t perls_own;
static long seconds_east;

void cml_request_is(uint64_t number)
{
    running = 0;
    cml_forget_unheard();
    state = IN_TIME;
    is_answered = 0;
    running = number;
}

/* Begins the work behind the response: cleanups, and the request's remains. */
void cml_request_is_answered(void)
{
    is_answered = 1;
    state = IN_TIME;
}

/* The request was given more time. */
void cml_request_is_in_time(void)
{
    state = IN_TIME;
}

int cml_timed_out(void)
{
    return state == DIED;
}

/* Whether the request is late, for code that waits outside of perl; marks the request as died. */
int cml_is_late(void)
{
    if (state == NOTED)
        state = DIED;
    return state == DIED;
}

/* The functions up to `log_place` run in the signal handler: no allocation, no lock, and of perl's data only
 * reads. */

typedef struct {
    char text[1024];
    size_t length;
} line;

static void add(line *l, const char *text)
{
    while (text && *text && l->length < sizeof l->text - 1) {
        const char c = *text++;
        l->text[l->length++] = (unsigned char)c < ' ' ? '?' : c;
    }
}

static void add_number(line *l, unsigned long number, int width)
{
    char digits[24];
    int at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number || (int)sizeof digits - 1 - at < width);
    add(l, digits + at);
}

/* `[Sat Nov 21 08:00:00.123456 2026] `, by the rules of the Gregorian calendar; localtime() takes a lock. */
static void add_time(line *l)
{
    static const char *const days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const long local = now.tv_sec + seconds_east;
    const long day = local / 86400, second = local % 86400;
    /* Years begin in March here, so that the leap day is the last one; 719468 days lie between 1 March 0 and
     * 1970. */
    const long z = day + 719468, era = z / 146097, of_era = z % 146097;
    const long year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const long of_year = of_era - (365 * year + year / 4 - year / 100);
    const long from_march = (5 * of_year + 2) / 153;
    const long month = from_march < 10 ? from_march + 2 : from_march - 10;
    add(l, "[");
    add(l, days[day % 7]);
    add(l, " ");
    add(l, months[month]);
    add(l, " ");
    add_number(l, (unsigned long)(of_year - (153 * from_march + 2) / 5 + 1), 2);
    add(l, " ");
    add_number(l, (unsigned long)(second / 3600), 2);
    add(l, ":");
    add_number(l, (unsigned long)(second / 60 % 60), 2);
    add(l, ":");
    add_number(l, (unsigned long)(second % 60), 2);
    add(l, ".");
    add_number(l, (unsigned long)(now.tv_nsec / 1000), 6);
    add(l, " ");
    add_number(l, (unsigned long)(year + era * 400 + (month < 2)), 4);
    add(l, "] ");
}

/* Adds the innermost sub's name. CvGV is not used: it may create the glob. */
static void add_sub(pTHX_ line *l)
{
    for (const PERL_SI *si = PL_curstackinfo; si; si = si->si_prev) {
        for (I32 at = si->si_cxix; at >= 0; at--) {
            const PERL_CONTEXT *const frame = &si->si_cxstack[at];
            if (CxTYPE(frame) != CXt_SUB)
                continue;
            CV *const cv = frame->blk_sub.cv;
            const GV *const gv = CvNAMED(cv) ? NULL : ((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv;
            add(l, ", in ");
            if (CvNAMED(cv)) {
                add(l, HEK_KEY(((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_hek));
            } else if (gv) {
                add(l, GvSTASH(gv) ? HvNAME_get(GvSTASH(gv)) : NULL);
                add(l, "::");
                add(l, GvNAME_get(gv));
            }
            return;
        }
    }
}

static void log_place(pTHX)
{
    line l = {.length = 0};
    add_time(&l);
    add(&l, "[perl:error] [pid ");
    add_number(&l, (unsigned long)getpid(), 1);
    add(&l, state == NOTED ? "] RequestTimeout: still inside one operation, at " : "] RequestTimeout: still running after its die, at ");
    add(&l, PL_curcop ? OutCopFILE(PL_curcop) : "?");
    add(&l, " line ");
    add_number(&l, PL_curcop ? (unsigned long)CopLINE(PL_curcop) : 0, 1);
    add_sub(aTHX_ &l);
    l.text[l.length++] = '\n';
    if (write(2, l.text, l.length) < 0)
        return; /* die must not result from a lost log line */
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    dTHXa(cml_perl);
    const int error = errno;
    PERL_UNUSED_VAR(signal);
    PERL_UNUSED_VAR(context);
    if (info->si_code != SI_QUEUE || !running || (uint64_t)(uintptr_t)info->si_value.sival_ptr != running
        || (cml_forked_child && !cml_request_child))
        return;
    if (state == IN_TIME) {
        state = NOTED;
        PL_sig_pending = 1;
    } else {
        log_place(aTHX);
    }
    errno = error;
}

/* Logs the stack, one line per frame, as the Perl half formats it. */
static void log_stack(pTHX)
{
    dSP;
    PUSHSTACKi(PERLSI_SIGNAL);
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    PUTBACK;
    if (call_pv("Cameleer::Deadline::stack", G_SCALAR) == 1) {
        SPAGAIN;
        SV *const message = POPs;
        STRLEN length;
        const char *const text = SvPV(message, length);
        PUTBACK;
        if (!cml_forked_child)
            cml_hooks_table.log(text, length);
        else if (write(2, text, length) < 0)
            PUTBACK; /* the log has no reader */
    }
    FREETMPS;
    LEAVE;
    POPSTACK;
}

/* Runs between two ops, where perl runs its own signal handlers: it is safe to call Perl and to die. */
static void between_ops(pTHX)
{
    if (state == NOTED && (cml_forked_child ? cml_request_child : cml_is_guarded())) {
        state = DIED;
        log_stack(aTHX);
        croak(is_answered ? "the request's cleanup took longer than RequestTimeout"
                          : "the request took longer than RequestTimeout");
    }
    cml_unheard_between_operators(aTHX);
    perls_own(aTHX);
}

void cml_deadline_signal(int signal)
{
    dTHXa(cml_perl);
    const time_t now = time(NULL);
    struct tm local;
    seconds_east = localtime_r(&now, &local) ? local.tm_gmtoff : 0;
    if (PL_signalhook != between_ops) { /* the mold's hook for its warm-up */
        perls_own = PL_signalhook;
        PL_signalhook = between_ops;
    }
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    sigaction(signal, &action, NULL);
}

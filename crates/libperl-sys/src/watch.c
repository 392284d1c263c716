#include "internal.h"

/* What changes the process. To ask the kernel after each request whether that was done would cost every request; the
 * operators, and the functions of modules in C that do it behind perl's back, are made to say so instead. */

unsigned cml_touched;

static const struct {
    int op;
    unsigned touches; /* CML_LEFT_… and the like */
} operators[] = {
    {OP_ALARM, CML_LEFT_ALARM},
    {OP_CHDIR, CML_LEFT_CWD},
    {OP_UMASK, CML_LEFT_UMASK},
    {OP_SRAND, CML_SEEDED},
    {OP_CHROOT, CML_CHROOTED},
    {OP_SYSOPEN, CML_OPENED},
    {OP_OPEN_DIR, CML_OPENED},
    {OP_SOCKET, CML_OPENED},
    {OP_SOCKPAIR, CML_OPENED},
    {OP_ACCEPT, CML_OPENED},
    {OP_PIPE_OP, CML_OPENED},
    /* It can be anything. */
    {OP_SYSCALL, CML_LEFT_CWD | CML_LEFT_UMASK | CML_LEFT_ALARM | CML_LEFT_TIMER | CML_LEFT_MASK | CML_OPENED},
};

static Perl_ppaddr_t original[MAXO];
static unsigned touches[MAXO];

static OP *touching_op(pTHX)
{
    const int type = PL_op->op_type;
    cml_touched |= touches[type];
    return original[type](aTHX);
}

/* Before the first op is compiled. */
void cml_watch_operators(pTHX)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(operators); i++) {
        const int op = operators[i].op;
        touches[op] = operators[i].touches;
        original[op] = PL_ppaddr[op];
        PL_ppaddr[op] = touching_op;
    }
}

static struct watched {
    const char *file; /* the module's, in %INC */
    const char *sub;
    unsigned touches; /* CML_LEFT_… */
    CV *cv;           /* of the mold or of this worker; NULL: not there yet */
    XSUBADDR_t original;
} watched[] = {
    {"POSIX.pm", "POSIX::sigprocmask", CML_LEFT_MASK, NULL, NULL},
    {"POSIX.pm", "POSIX::sigsuspend", CML_LEFT_MASK, NULL, NULL},
    {"POSIX.pm", "POSIX::setlocale", CML_LEFT_LOCALE, NULL, NULL},
    {"Time/HiRes.pm", "Time::HiRes::alarm", CML_LEFT_ALARM, NULL, NULL},
    {"Time/HiRes.pm", "Time::HiRes::ualarm", CML_LEFT_ALARM, NULL, NULL},
    {"Time/HiRes.pm", "Time::HiRes::setitimer", CML_LEFT_ALARM | CML_LEFT_TIMER, NULL, NULL},
};

static void called(pTHX_ CV *cv)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(watched); i++) {
        if (watched[i].cv != cv)
            continue;
        cml_touched |= watched[i].touches;
        watched[i].original(aTHX_ cv);
        return;
    }
}

static void watch(pTHX_ struct watched *w)
{
    CV *const cv = get_cv(w->sub, 0);
    if (!cv || !CvISXSUB(cv) || CvXSUB(cv) == called)
        return;
    w->original = CvXSUB(cv);
    w->cv = (CV *)SvREFCNT_inc((SV *)cv);
    CvXSUB(cv) = called;
}

/* Returns what a module that was loaded since this was last called may have changed before it was watched. */
unsigned cml_watch(pTHX)
{
    HV *const loaded = GvHVn(gv_fetchpvs("INC", GV_ADD, SVt_PVHV));
    unsigned touched = 0;
    for (size_t i = 0; i < C_ARRAY_LENGTH(watched); i++) {
        struct watched *const w = &watched[i];
        if (w->cv || !hv_exists(loaded, w->file, (I32)strlen(w->file)))
            continue;
        watch(aTHX_ w);
        if (w->cv)
            touched |= w->touches;
    }
    return touched;
}

#include "internal.h"

/* Functions of modules in C that change the process behind perl's back. To ask the kernel after each request whether one
 * was called would cost every request; they are made to say so instead. */

static struct watched {
    const char *file; /* the module's, in %INC */
    const char *sub;
    unsigned touches; /* CML_LEFT_… */
    CV *cv;           /* of the mold or of this worker; NULL: not there yet */
    XSUBADDR_t original;
} watched[] = {
    {"POSIX.pm", "POSIX::sigprocmask", CML_LEFT_MASK, NULL, NULL},
    {"POSIX.pm", "POSIX::sigsuspend", CML_LEFT_MASK, NULL, NULL},
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

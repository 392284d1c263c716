#include "internal.h"

/* Detects what a request has changed in its process. Asking the kernel after each request would be expensive. Instead,
 * perl's operators and variables, and functions of perl's own modules, set flags. Other C modules are unknown: if one
 * is loaded, the kernel is asked. */

unsigned cml_touched;

static const struct {
    int op;
    unsigned touches; /* CML_LEFT_… and similar bits */
} operators[] = {
    {OP_ALARM, CML_LEFT_ALARM},
    {OP_CHDIR, CML_LEFT_CWD},
    {OP_UMASK, CML_LEFT_UMASK},
    {OP_SRAND, CML_SEEDED},
    {OP_CHROOT, CML_CHROOTED},
    {OP_OPEN_DIR, CML_OPENED},
    {OP_SOCKET, CML_OPENED},
    {OP_SOCKPAIR, CML_OPENED},
    {OP_ACCEPT, CML_OPENED},
    {OP_PIPE_OP, CML_OPENED},
    /* syscall can change any state. */
    {OP_SYSCALL, CML_LEFT_CWD | CML_LEFT_UMASK | CML_LEFT_ALARM | CML_LEFT_TIMER | CML_LEFT_MASK | CML_OPENED | CML_WROTE | CML_COPIED
                     | CML_IDENTITY | CML_BORE | CML_BOUNDS},
    {OP_SETPRIORITY, CML_BOUNDS},
};

static Perl_ppaddr_t original[MAXO];
static unsigned touches[MAXO];

static OP *touching_op(pTHX)
{
    const int type = PL_op->op_type;
    cml_touched |= touches[type];
    return original[type](aTHX);
}

/* Runs before the first op is compiled. */
void cml_watch_operators(pTHX)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(operators); i++) {
        const int op = operators[i].op;
        touches[op] = operators[i].touches;
        original[op] = PL_ppaddr[op];
        PL_ppaddr[op] = touching_op;
    }
}

/* $< $> $( $) */
static int identity_is_set(pTHX_ SV *sv, MAGIC *magic)
{
    PERL_UNUSED_ARG(sv);
    PERL_UNUSED_ARG(magic);
    cml_touched |= CML_IDENTITY;
    return 0;
}

void cml_watch_variables(pTHX)
{
    static const MGVTBL on_set = {.svt_set = identity_is_set};
    static const char *const names[] = {"<", ">", "(", ")"};
    for (size_t i = 0; i < C_ARRAY_LENGTH(names); i++)
        sv_magicext(get_sv(names[i], GV_ADD), NULL, PERL_MAGIC_ext, &on_set, NULL, 0);
}

static struct watched {
    const char *sub;
    unsigned touches; /* CML_LEFT_… and similar bits */
    CV *cv;           /* code in the mold or in this worker; NULL: not loaded */
    XSUBADDR_t original;
} watched[] = {
    {"POSIX::sigprocmask", CML_LEFT_MASK, NULL, NULL},
    {"POSIX::sigsuspend", CML_LEFT_MASK, NULL, NULL},
    {"POSIX::sigaction", CML_LEFT_SIGNAL, NULL, NULL},
    {"POSIX::setlocale", CML_LEFT_LOCALE, NULL, NULL},
    {"POSIX::setuid", CML_IDENTITY, NULL, NULL},
    {"POSIX::setgid", CML_IDENTITY, NULL, NULL},
    {"POSIX::nice", CML_BOUNDS, NULL, NULL},
    {"BSD::Resource::_setrlimit", CML_BOUNDS, NULL, NULL},
    {"BSD::Resource::_setpriority", CML_BOUNDS, NULL, NULL},
    {"POSIX::write", CML_WROTE, NULL, NULL},
    {"POSIX::dup", CML_COPIED, NULL, NULL},
    {"POSIX::dup2", CML_WROTE | CML_COPIED, NULL, NULL},
    {"POSIX::close", CML_WROTE | CML_COPIED, NULL, NULL},
    {"Time::HiRes::alarm", CML_LEFT_ALARM, NULL, NULL},
    {"Time::HiRes::ualarm", CML_LEFT_ALARM, NULL, NULL},
    {"Time::HiRes::setitimer", CML_LEFT_ALARM | CML_LEFT_TIMER, NULL, NULL},
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

/* A module loaded since the last call may have acted before it was watched. */
static void watch_functions(pTHX)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(watched); i++) {
        struct watched *const w = &watched[i];
        if (w->cv)
            continue;
        watch(aTHX_ w);
        if (w->cv)
            cml_touched |= w->touches;
    }
}

/* Whether a C module comes with perl: it lies in one of perl's folders. */
static int is_of_perl(pTHX_ SV *object)
{
    static const char *const folders[] = {CML_PERL_FOLDERS};
    const char *const file = object ? SvPV_nolen(object) : "";
    for (size_t i = 0; i < C_ARRAY_LENGTH(folders); i++)
        if (strncmp(file, folders[i], strlen(folders[i])) == 0)
            return 1;
    return 0;
}

static int has_foreign_code;

/* Checks whether C code was loaded; perl's loader lists it. */
void cml_look(pTHX)
{
    static GV *loaded;
    static SSize_t last = -1;
    if (!loaded)
        loaded = gv_fetchpvs("DynaLoader::dl_shared_objects", GV_ADD, SVt_PVAV);
    AV *const objects = GvAV(loaded);
    if (!objects || AvFILLp(objects) == last)
        return;
    for (SSize_t i = last + 1; i <= AvFILLp(objects); i++)
        has_foreign_code |= !is_of_perl(aTHX_ AvARRAY(objects)[i]);
    last = AvFILLp(objects);
    watch_functions(aTHX);
}

/* Whether C code that is not part of perl is loaded: its changes set no flags, so the kernel must be queried. */
int cml_has_foreign_code(pTHX)
{
    cml_look(aTHX);
    return has_foreign_code;
}

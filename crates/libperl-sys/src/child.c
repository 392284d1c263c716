#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* During a request %ENV is a plain hash, and an empty one until somebody looks: most handlers never do, and filling it
 * means to look the request's file up on disk. C code and children do not see it: the operators that start a program
 * export it to `environ` just before they run. */

volatile sig_atomic_t cml_stranger;
int cml_forked_in_request;

static HV *base_env;    /* perl's own, with magic */
static HV *request_env; /* ours */
static int env_is_due;  /* it waits to be filled */

static Perl_ppaddr_t original[MAXO];

/* The worker's way to the front. */
static int private_fd = -1;

void cml_keep_from_children(int fd)
{
    private_fd = fd;
}

static void in_forked_child(void)
{
    cml_stranger = 1;
    if (private_fd >= 0)
        close(private_fd);
    cml_default_signals();
}

int cml_is_stranger(void)
{
    return cml_stranger;
}

static int time_zone_changed;
static char *start_time_zone;

/* Fills %ENV by the hook, with the hash's magic switched off. */
static void fill_env(pTHX)
{
    env_is_due = 0;
    SvMAGICAL_off((SV *)request_env);
    cml_hooks_table.environment();
    mg_magical((SV *)request_env);
}

/* Of all variables C code in this process looks at one: TZ. Its element gets the magic that perl gives all of them. */
static void expose_time_zone(pTHX)
{
    SV **const slot = hv_fetchs(request_env, "TZ", 1);
    if (slot && !SvMAGICAL(*slot))
        sv_magic(*slot, NULL, PERL_MAGIC_envelem, "TZ", 2);
}

static I32 env_touched(pTHX_ IV action, SV *sv)
{
    SV *const key = mg_find((SV *)request_env, PERL_MAGIC_uvar)->mg_obj;
    PERL_UNUSED_ARG(sv);
    SvMAGICAL_off((SV *)request_env);
    if (env_is_due)
        fill_env(aTHX);
    if ((action & (HV_FETCH_ISSTORE | HV_FETCH_LVALUE)) && key && SvPOK(key) && strEQ(SvPVX(key), "TZ")) {
        expose_time_zone(aTHX);
        time_zone_changed = 1;
    }
    mg_magical((SV *)request_env);
    return 0;
}

/* Elements go through the hash's magic; what looks at a hash as a whole (keys, each, lists, references) comes here. */
static OP *whole_hash_op(pTHX)
{
    if (env_is_due) {
        SV *const top = *PL_stack_sp;
        if (top == (SV *)PL_envgv || (SvROK(top) && SvRV(top) == (SV *)request_env))
            fill_env(aTHX);
    }
    return original[OP_RV2HV](aTHX);
}

/* `environ` made of the request's %ENV, in one block that free() takes back. */
static char **exported(pTHX)
{
    const bool tainted = TAINT_get; /* reading a tainted value taints the statement, and it was not the site that read */
    if (env_is_due)
        fill_env(aTHX);
    HE *entry;
    size_t bytes = 0, count = 0;
    hv_iterinit(request_env);
    while ((entry = hv_iternext(request_env))) {
        STRLEN key, value;
        (void)HePV(entry, key);
        (void)SvPV(HeVAL(entry), value);
        bytes += key + value + 2;
        count++;
    }
    char **const table = malloc((count + 1) * sizeof(char *) + bytes);
    if (!table)
        return NULL;
    char *at = (char *)(table + count + 1);
    char **slot = table;
    hv_iterinit(request_env);
    while ((entry = hv_iternext(request_env))) {
        STRLEN key_length, value_length;
        const char *const key = HePV(entry, key_length);
        const char *const value = SvPV(HeVAL(entry), value_length);
        *slot++ = at;
        memcpy(at, key, key_length);
        at += key_length;
        *at++ = '=';
        memcpy(at, value, value_length);
        at += value_length;
        *at++ = '\0';
    }
    *slot = NULL;
    TAINT_set(tainted);
    return table;
}

/* Under PerlTaintCheck perl looks at these before it starts a program, in a %ENV that it knows as its own. The request's
 * is another hash: we look at that, and perl sees its own, in which nothing is tainted. */
static const char *const path_like[] = {"PATH", "IFS", "CDPATH", "ENV", "BASH_ENV"};

static void trust_no_path(pTHX)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(path_like); i++) {
        const I32 length = (I32)strlen(path_like[i]);
        SV **const slot = hv_fetch(request_env, path_like[i], length, 0);
        if (slot && SvTAINTED(*slot))
            croak("Insecure $ENV{%s} while running with -T switch", path_like[i]);
        SV **const own = hv_fetch(base_env, path_like[i], length, 0);
        if (own)
            SvTAINTED_off(*own);
    }
    GvHV(PL_envgv) = base_env;
}

typedef struct {
    char **before, **table;
} environment;

/* Also when the operator dies. */
static void without_env(pTHX_ void *argument)
{
    const environment *const e = argument;
    cml_mute_flush--;
    if (!e->table)
        return;
    GvHV(PL_envgv) = request_env;
    environ = e->before;
    free(e->table);
}

static OP *with_env(pTHX)
{
    const int type = PL_op->op_type;
    environment e = {environ, request_env && GvHV(PL_envgv) == request_env ? exported(aTHX) : NULL};
    ENTER;
    cml_mute_flush++;
    SAVEDESTRUCTOR_X(without_env, &e);
    if (e.table) {
        environ = e.table;
        if (TAINTING_get)
            trust_no_path(aTHX);
    }
    cml_forked_in_request = 1; /* what runs in the background may write to descriptor 1 long after */
    OP *const next = original[type](aTHX);
    LEAVE;
    cml_drain_fd1();
    return next;
}

/* Most opens are of plain files: only one that may start a program pays for the export. */
static OP *open_op(pTHX)
{
    SV **const mark = PL_stack_base + *PL_markstack_ptr;
    cml_touched |= CML_OPENED;
    if (mark < PL_stack_sp && SvTYPE(mark[1]) == SVt_PVGV)
        cml_before_reopen(aTHX_ (GV *)mark[1]);
    for (SV **arg = mark + 2; arg <= PL_stack_sp; arg++)
        if (SvPOK(*arg) && memchr(SvPVX(*arg), '|', SvCUR(*arg)))
            return with_env(aTHX);
    return original[OP_OPEN](aTHX);
}

static OP *fork_op(pTHX)
{
    cml_mute_flush++;
    OP *const next = original[OP_FORK](aTHX);
    cml_mute_flush--;
    cml_forked_in_request = 1;
    return next;
}

/* What a forked child wrote is complete when it was waited for. */
static OP *wait_op(pTHX)
{
    OP *const next = original[PL_op->op_type](aTHX);
    cml_drain_fd1();
    return next;
}

/* perl itself exits when malloc fails: that must not be taken for a script's end. */
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

void cml_child_boot(pTHX)
{
    wrap(OP_SYSTEM, with_env);
    wrap(OP_BACKTICK, with_env);
    wrap(OP_EXEC, with_env);
    wrap(OP_OPEN, open_op);
    wrap(OP_FORK, fork_op);
    wrap(OP_WAIT, wait_op);
    wrap(OP_WAITPID, wait_op);
    wrap(OP_CLOSE, wait_op); /* of a pipe: waits too */
    wrap(OP_RV2HV, whole_hash_op);
    wrap(OP_EXIT, exit_op);
    pthread_atfork(NULL, NULL, in_forked_child);
}

static HV *new_request_env(pTHX)
{
    static struct ufuncs on_touch = {env_touched, NULL, 0};
    HV *const env = newHV();
    sv_magic((SV *)env, NULL, PERL_MAGIC_uvar, (char *)&on_touch, sizeof on_touch);
    return env;
}

void cml_env_begin(void)
{
    dTHXa(cml_perl);
    if (!base_env) {
        base_env = GvHV(PL_envgv);
        start_time_zone = getenv("TZ") ? strdup(getenv("TZ")) : NULL;
    }
    if (!request_env)
        request_env = new_request_env(aTHX);
    GvHV(PL_envgv) = request_env;
    env_is_due = 1;
}

/* %ENV of the request that the current one waits for. */
typedef struct outer_env {
    HV *env;
    int is_due;
    struct outer_env *outer;
} outer_env;

static outer_env *outer;

/* A subrequest has an %ENV of its own until cml_env_leave. */
void cml_env_enter(void)
{
    dTHXa(cml_perl);
    outer_env *before;
    Newx(before, 1, outer_env);
    *before = (outer_env){request_env, env_is_due, outer};
    outer = before;
    request_env = NULL;
    cml_env_begin();
}

void cml_env_leave(void)
{
    dTHXa(cml_perl);
    outer_env *const before = outer;
    if (!before)
        return;
    SvREFCNT_dec((SV *)request_env);
    request_env = before->env;
    env_is_due = before->is_due;
    outer = before->outer;
    Safefree(before);
    GvHV(PL_envgv) = request_env ? request_env : base_env;
}

/* What earlier phases have changed shows in an %ENV that they have looked at, too. */
void cml_env_refresh(void)
{
    dTHXa(cml_perl);
    if (request_env && !env_is_due)
        fill_env(aTHX);
}

/* An %ENV that somebody has looked at loses a name. The value dies later, where Perl code may run. */
void cml_env_forget(const char *key, size_t key_length)
{
    dTHXa(cml_perl);
    if (!request_env || env_is_due)
        return;
    SvMAGICAL_off((SV *)request_env);
    (void)hv_delete(request_env, key, (I32)key_length, 0);
    mg_magical((SV *)request_env);
}

void cml_env_put(const char *key, size_t key_length, const char *value, size_t value_length)
{
    dTHXa(cml_perl);
    SV *const sv = newSVpvn(value, value_length);
    SvTAINTED_on(sv);
    (void)hv_store(request_env, key, (I32)key_length, sv, 0);
}

void cml_env_end(void)
{
    dTHXa(cml_perl);
    if (!base_env)
        return;
    GvHV(PL_envgv) = base_env;
    if (time_zone_changed) {
        time_zone_changed = 0;
        if (start_time_zone)
            setenv("TZ", start_time_zone, 1);
        else
            unsetenv("TZ");
        tzset();
    }
    if (env_is_due || !request_env) {
        env_is_due = 0;
        return; /* nobody looked: the next request can have it */
    }
    SvREFCNT_dec((SV *)request_env);
    request_env = NULL;
}

/* The environment that the mold left: what every request starts from. */
void cml_env_base(void (*each)(void *, const char *, size_t, const char *, size_t), void *arg)
{
    dTHXa(cml_perl);
    HV *const env = base_env ? base_env : GvHVn(PL_envgv);
    HE *entry;
    hv_iterinit(env);
    while ((entry = hv_iternext(env))) {
        STRLEN key_length, value_length;
        const char *const key = HePV(entry, key_length);
        const char *const value = SvPV(HeVAL(entry), value_length);
        each(arg, key, key_length, value, value_length);
    }
}

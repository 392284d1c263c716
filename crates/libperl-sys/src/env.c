#include "internal.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* During a request %ENV is a plain hash, which stays empty until it is accessed: most handlers never do, and
 * filling it looks the request's file up on disk. C code and children do not see it: operators that start a
 * program export it to `environ` first. */

static HV *base_env;    /* perl's own %ENV, with magic */
static HV *request_env; /* %ENV of the request */
static int env_is_due;  /* whether it is still to be filled */
static int env_is_filled_again;

static int time_zone_changed;
static char *start_time_zone;

/* Requests use the same names again. perl stores a name once for all hashes, with its hash value, as long as one hash
 * holds it. A reference to recent names saves both the hash and the allocation. */

enum { BITS = 11, MAX_NAME_BYTES = 64 };

static SV *held[1 << BITS];

/* Slot of a name. Different names may collide, and then one replaces the other; names of CGI, PSGI and browsers'
 * headers have distinct slots. */
static size_t place_of(const char *name, size_t length)
{
    uint64_t first = 0, last = 0;
    if (length >= sizeof first) {
        memcpy(&first, name, sizeof first);
        memcpy(&last, name + length - sizeof last, sizeof last);
    } else {
        memcpy(&first, name, length);
        last = first;
    }
    return (size_t)(((first ^ (last << 13 | last >> 51)) + length) * 0x9E3779B97F4A7C15u >> (64 - BITS));
}

static SV *held_name(pTHX_ const char *name, size_t length)
{
    SV **const place = &held[place_of(name, length)];
    if (*place && SvCUR(*place) == length && memcmp(SvPVX(*place), name, length) == 0)
        return *place;
    SvREFCNT_dec(*place);
    return *place = newSVpvn_share(name, (I32)length, 0);
}

/* Stores a value and takes ownership of it. */
void cml_store(pTHX_ HV *hash, const char *name, size_t length, SV *value)
{
    if (length == 0 || length > MAX_NAME_BYTES) {
        (void)hv_store(hash, name, (I32)length, value, 0);
        return;
    }
    SV *const key = held_name(aTHX_ name, length);
    (void)hv_store_ent(hash, key, value, SvSHARED_HASH(key));
}

/* Fills %ENV by the hook, with the hash's magic off. */
static void fill_env(pTHX)
{
    env_is_due = 0;
    SvMAGICAL_off((SV *)request_env);
    cml_hooks_table.environment();
    mg_magical((SV *)request_env);
}

/* TZ is the only variable that C code in this process reads. Its element gets perl's magic, which exports
 * it. */
static void expose_time_zone(pTHX)
{
    SV **const slot = hv_fetchs(request_env, "TZ", 1);
    if (slot && !SvMAGICAL(*slot))
        sv_magic(*slot, NULL, PERL_MAGIC_envelem, "TZ", 2);
}

static I32 env_touched(pTHX_ IV action, SV *sv)
{
    PERL_UNUSED_ARG(sv);
    if (!request_env)
        return 0; /* the program has retained the %ENV of a finished request */
    SV *const key = mg_find((SV *)request_env, PERL_MAGIC_uvar)->mg_obj;
    SvMAGICAL_off((SV *)request_env);
    if (env_is_due)
        fill_env(aTHX);
    cml_env_note(aTHX_ action, key);
    if ((action & (HV_FETCH_ISSTORE | HV_FETCH_LVALUE)) && key && SvPOK(key) && strEQ(SvPVX(key), "TZ")) {
        expose_time_zone(aTHX);
        time_zone_changed = 1;
    }
    mg_magical((SV *)request_env);
    return 0;
}

/* Makes `hash` %ENV. The glob has a reference count of its own: Perl code may assign to it. */
void cml_env_is(pTHX_ HV *hash)
{
    HV *const before = GvHV(PL_envgv);
    if (before == hash)
        return;
    GvHV(PL_envgv) = (HV *)SvREFCNT_inc((SV *)hash);
    cml_drop(aTHX_ (SV *)before);
}

/* The names and values of a hash as stored: runs no Perl code, preserves the iterator of `each`, and ignores ties. */
AV *cml_pairs_of(pTHX_ HV *hash)
{
    AV *const pairs = (AV *)sv_2mortal((SV *)newAV());
    HE **const buckets = HvARRAY(hash);
    for (STRLEN i = 0; buckets && i <= HvMAX(hash); i++) {
        for (HE *entry = buckets[i]; entry; entry = HeNEXT(entry)) {
            if (HeVAL(entry) == &PL_sv_placeholder)
                continue;
            av_push(pairs, newSVhek(HeKEY_hek(entry)));
            av_push(pairs, SvREFCNT_inc_NN(HeVAL(entry)));
        }
    }
    return pairs;
}

static void as_bytes(pTHX_ SV *text)
{
    if (SvUTF8(text) && !sv_utf8_downgrade(text, TRUE))
        SvUTF8_off(text);
}

/* A text copy of a value; undef is empty. The code of an object or tied value runs once, in here; its
 * changes to the value or the hash do not affect any copy. */
SV *cml_text_of(pTHX_ SV *value)
{
    SV *const own = sv_mortalcopy(value);
    SV *const text = newSVpvs_flags("", SVs_TEMP);
    if (SvOK(own))
        sv_copypv(text, own);
    as_bytes(aTHX_ text);
    return text;
}

static I32 texts_are_made;

/* The array with texts in place of values. If the code of a value itself starts a program, which needs this
 * environment, the code does not run again: that program does not get the value. */
static AV *texts_of(pTHX_ AV *pairs)
{
    const I32 is_inside = texts_are_made;
    SSize_t kept = 0;
    ENTER;
    SAVEI32(texts_are_made);
    texts_are_made = 1;
    AV *const texts = (AV *)sv_2mortal((SV *)newAV());
    for (SSize_t i = 0; i < AvFILLp(pairs); i += 2) {
        SV *const name = AvARRAY(pairs)[i], *const value = AvARRAY(pairs)[i + 1];
        if (is_inside && (SvROK(value) || SvGMAGICAL(value)))
            continue;
        as_bytes(aTHX_ name);
        av_store(texts, kept++, SvREFCNT_inc_NN(name));
        av_store(texts, kept++, SvREFCNT_inc_NN(cml_text_of(aTHX_ value)));
    }
    LEAVE;
    return texts;
}

/* `environ` made of %ENV, as one block that lives until the statement ends. */
char **cml_env_exported(pTHX_ HV *env)
{
    const bool tainted = TAINT_get; /* reading a tainted value would taint a statement of the site that has not read it */
    if (env_is_due && env == request_env)
        fill_env(aTHX);
    AV *const texts = texts_of(aTHX_ cml_pairs_of(aTHX_ env));
    const STRLEN count = (STRLEN)(av_top_index(texts) + 1) / 2;
    STRLEN bytes = 0;
    for (SSize_t i = 0; i <= AvFILLp(texts); i++)
        bytes += SvCUR(AvARRAY(texts)[i]) + 1;
    SV *const block = sv_2mortal(newSV((count + 1) * sizeof(char *) + bytes));
    char **const table = (char **)SvPVX(block);
    char **slot = table;
    char *at = (char *)(table + count + 1);
    for (SSize_t i = 0; i <= AvFILLp(texts); i++) {
        const SV *const text = AvARRAY(texts)[i];
        if (i % 2 == 0)
            *slot++ = at;
        Copy(SvPVX(text), at, SvCUR(text), char);
        at += SvCUR(text);
        *at++ = i % 2 == 0 ? '=' : '\0';
    }
    *slot = NULL;
    TAINT_set(tainted);
    return table;
}

/* Under PerlTaintCheck perl checks these variables of its own %ENV before it starts a program. The request's %ENV is
 * another hash, so the shim checks it. */
static const char *const path_like[] = {"PATH", "IFS", "CDPATH", "ENV", "BASH_ENV"};

void cml_env_trust_no_path(pTHX_ HV *env)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(path_like); i++) {
        const I32 length = (I32)strlen(path_like[i]);
        SV **const slot = hv_fetch(env, path_like[i], length, 0);
        if (slot && SvTAINTED(*slot))
            croak("Insecure $ENV{%s} while running with -T switch", path_like[i]);
        SV **const own = hv_fetch(base_env, path_like[i], length, 0);
        if (own)
            SvTAINTED_off(*own);
    }
    cml_env_is(aTHX_ base_env);
}

/* The current %ENV: the request's, or another hash that Perl code has put in its place by `local`. */
HV *cml_requests_env(pTHX)
{
    HV *const env = GvHVn(PL_envgv);
    return request_env && env != base_env ? env : NULL;
}

/* Elements are accessed through the hash's magic; operations on the whole hash (keys, each, lists,
 * references) call this first. */
void cml_env_before_whole(pTHX_ SV *hash)
{
    if (hash != (SV *)PL_envgv && !(SvROK(hash) && SvRV(hash) == (SV *)request_env))
        return;
    cml_env_note_whole();
    if (env_is_due)
        fill_env(aTHX);
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
        base_env = (HV *)SvREFCNT_inc((SV *)GvHVn(PL_envgv));
        start_time_zone = getenv("TZ") ? strdup(getenv("TZ")) : NULL;
    }
    if (!request_env)
        request_env = new_request_env(aTHX);
    cml_drop(aTHX_ (SV *)cml_env_untie());
    cml_env_is(aTHX_ request_env);
    env_is_due = 1;
}

/* A stack of %ENVs of the outer requests. */
typedef struct outer_env {
    HV *env;
    int is_due;
    HV *tie;
    struct outer_env *outer;
} outer_env;

static outer_env *outer;

/* Gives a subrequest its own %ENV, until cml_env_leave. */
void cml_env_enter(void)
{
    dTHXa(cml_perl);
    outer_env *before;
    Newx(before, 1, outer_env);
    *before = (outer_env){request_env, env_is_due, cml_env_untie(), outer};
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
    SV *const over = (SV *)request_env;
    request_env = before->env;
    env_is_due = before->is_due;
    cml_drop(aTHX_ (SV *)cml_env_untie());
    cml_env_tie_again(before->tie);
    outer = before->outer;
    Safefree(before);
    cml_env_is(aTHX_ request_env ? request_env : base_env);
    cml_drop(aTHX_ over);
}

/* Updates an %ENV that was already accessed with the changes of earlier phases. */
void cml_env_refresh(void)
{
    dTHXa(cml_perl);
    if (!request_env || env_is_due)
        return;
    env_is_filled_again = 1;
    fill_env(aTHX);
    env_is_filled_again = 0;
}

/* Removes a name from an %ENV that was accessed. The value is freed later, where Perl code may run. */
void cml_env_forget(const char *key, size_t key_length)
{
    dTHXa(cml_perl);
    if (!request_env || env_is_due)
        return;
    SvMAGICAL_off((SV *)request_env);
    (void)hv_delete(request_env, key, (I32)key_length, 0);
    mg_magical((SV *)request_env);
}

int cml_env_waits(void)
{
    return env_is_due;
}

int cml_env_is_requests(HV *env)
{
    return env == request_env;
}

/* Sets a value in an %ENV that was accessed. */
void cml_env_replace(const char *key, size_t key_length, const char *value, size_t value_length)
{
    dTHXa(cml_perl);
    if (!request_env)
        return;
    SvMAGICAL_off((SV *)request_env);
    env_is_filled_again = 1;
    cml_env_put(key, key_length, value, value_length);
    env_is_filled_again = 0;
    mg_magical((SV *)request_env);
}

void cml_env_put(const char *key, size_t key_length, const char *value, size_t value_length)
{
    dTHXa(cml_perl);
    SV *const sv = newSVpvn(value, value_length);
    SvTAINTED_on(sv);
    if (env_is_filled_again) {
        SV *const before = hv_delete(request_env, key, (I32)key_length, 0);
        PERL_UNUSED_VAR(before); /* mortal: its destructor may run Perl code, which the calling hook must not run */
    }
    cml_store(aTHX_ request_env, key, key_length, sv);
}

void cml_env_end(void)
{
    dTHXa(cml_perl);
    if (!base_env)
        return;
    cml_env_is(aTHX_ base_env);
    cml_drop(aTHX_ (SV *)cml_env_untie());
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
        return; /* unused, so the next request can use it */
    }
    SV *const over = (SV *)request_env;
    request_env = NULL;
    cml_drop(aTHX_ over);
}

static void base_body(pTHX_ void *argument)
{
    AV **const texts = argument;
    ENTER;
    SAVETMPS;
    AV *const found = texts_of(aTHX_ cml_pairs_of(aTHX_ base_env ? base_env : GvHVn(PL_envgv)));
    *texts = (AV *)SvREFCNT_inc_NN((SV *)found);
    FREETMPS;
    LEAVE;
}

/* The environment that the mold left: the base of every request's. */
void cml_env_base(void (*each)(void *, const char *, size_t, const char *, size_t), void *arg)
{
    dTHXa(cml_perl);
    AV *texts = NULL;
    cml_guarded_whole(aTHX_ base_body, &texts);
    for (SSize_t i = 0; texts && i < AvFILLp(texts); i += 2) {
        const SV *const name = AvARRAY(texts)[i], *const value = AvARRAY(texts)[i + 1];
        each(arg, SvPVX(name), SvCUR(name), SvPVX(value), SvCUR(value));
    }
    cml_drop(aTHX_ (SV *)texts);
}

#include "internal.h"

/* Under mod_perl 2, %ENV and $r->subprocess_env of a perl-script handler show each other's changes. The table is the
 * server's. It asks here what Perl code has changed before somebody looks at it, and tells here what was changed in it. */

static HV *changed; /* names that were stored or deleted since the last question; NULL: they are not tied */
static int whole_changed;

void cml_env_tie(void)
{
    dTHXa(cml_perl);
    if (changed)
        return;
    changed = newHV();
    whole_changed = 0;
}

/* They are tied no more; what is needed to tie them again. */
HV *cml_env_untie(void)
{
    HV *const before = changed;
    changed = NULL;
    whole_changed = 0;
    return before;
}

/* In the place of what cml_env_untie left. */
void cml_env_tie_again(HV *before)
{
    changed = before;
    whole_changed = before != NULL;
}

/* More names than these are not noted one by one. */
enum { MOST_NAMES = 1000 };

void cml_env_note(pTHX_ IV action, SV *key)
{
    if (!changed || !key || !(action & (HV_FETCH_ISSTORE | HV_FETCH_LVALUE | HV_DELETE)))
        return;
    if (HvUSEDKEYS(changed) == MOST_NAMES) {
        hv_clear(changed);
        whole_changed = 1;
    }
    (void)hv_store_ent(changed, key, &PL_sv_yes, 0);
}

void cml_env_note_whole(void)
{
    whole_changed = 1;
}

/* No code of the site's runs: what an object or a tied value says is not asked. Magic that only notes something, as where a
 * match with /g has ended, has nothing to run when the value is read. */
static int is_plain(SV *value)
{
    if (SvROK(value))
        return 0;
    for (const MAGIC *magic = SvMAGICAL(value) ? SvMAGIC(value) : NULL; magic; magic = magic->mg_moremagic) {
        if (magic->mg_type != PERL_MAGIC_taint && magic->mg_virtual && magic->mg_virtual->svt_get)
            return 0;
    }
    return 1;
}

static void tell(pTHX_ cml_env_told told, void *arg, SV *name, SV *value)
{
    SV *const key = cml_text_of(aTHX_ name);
    SV *const text = value ? cml_text_of(aTHX_ value) : NULL;
    told(arg, SvPVX(key), SvCUR(key), text ? SvPVX(text) : NULL, text ? SvCUR(text) : 0);
}

static void tell_whole(pTHX_ HV *env, cml_env_told told, void *arg)
{
    AV *const pairs = cml_pairs_of(aTHX_ env);
    for (SSize_t i = 0; i < AvFILLp(pairs); i += 2) {
        if (is_plain(AvARRAY(pairs)[i + 1]))
            tell(aTHX_ told, arg, AvARRAY(pairs)[i], AvARRAY(pairs)[i + 1]);
    }
}

static void tell_changed(pTHX_ HV *env, cml_env_told told, void *arg)
{
    HE *entry;
    SvMAGICAL_off((SV *)env);
    hv_iterinit(changed);
    while ((entry = hv_iternext(changed))) {
        SV *const name = hv_iterkeysv(entry);
        HE *const found = hv_fetch_ent(env, name, 0, 0);
        if (!found || is_plain(HeVAL(found)))
            tell(aTHX_ told, arg, name, found ? HeVAL(found) : NULL);
    }
    mg_magical((SV *)env);
}

/* What Perl code has changed since the last question; without a value, it is gone. Returns whether all of %ENV is told,
 * because it may have been changed as a whole: by `local %ENV`, or a list. */
int cml_env_changes(cml_env_told told, void *arg)
{
    dTHXa(cml_perl);
    if (!changed || cml_env_waits())
        return 0;
    HV *const env = cml_requests_env(aTHX);
    const int is_own = cml_env_is_requests(env);
    const int is_whole = whole_changed || !is_own;
    const bool tainted = TAINT_get; /* as in cml_env_exported */
    ENTER;
    SAVETMPS;
    if (is_whole && env)
        tell_whole(aTHX_ env, told, arg);
    else if (env && HvUSEDKEYS(changed))
        tell_changed(aTHX_ env, told, arg);
    FREETMPS;
    LEAVE;
    TAINT_set(tainted);
    hv_clear(changed);
    whole_changed = !is_own; /* until the one that is hidden now has been told, too */
    return is_whole && env;
}

/* The table has this now; without a value, no more. */
void cml_env_follow(const char *key, size_t key_length, const char *value, size_t value_length)
{
    if (!changed || cml_env_waits())
        return;
    if (value)
        cml_env_replace(key, key_length, value, value_length);
    else
        cml_env_forget(key, key_length);
}

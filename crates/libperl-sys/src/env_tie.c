#include "internal.h"

/* Under mod_perl 2, %ENV and $r->subprocess_env of a perl-script handler mirror each other. The table belongs to the
 * server. Before a read of the table the server asks for the changes of %ENV; changes of the table are passed to
 * cml_env_follow. */

static HV *changed; /* names stored or deleted since the last call; NULL: not tied */
static int whole_changed;

void cml_env_tie(void)
{
    dTHXa(cml_perl);
    if (changed)
        return;
    changed = newHV();
    whole_changed = 0;
}

/* Unties %ENV; returns the state for cml_env_tie_again. */
HV *cml_env_untie(void)
{
    HV *const before = changed;
    changed = NULL;
    whole_changed = 0;
    return before;
}

/* Restores the state that cml_env_untie returned. */
void cml_env_tie_again(HV *before)
{
    changed = before;
    whole_changed = before != NULL;
}

/* Beyond this number, changes are not recorded by name. */
enum { MAX_NAMES = 1000 };

void cml_env_note(pTHX_ IV action, SV *key)
{
    if (!changed || !key || !(action & (HV_FETCH_ISSTORE | HV_FETCH_LVALUE | HV_DELETE)))
        return;
    if (HvUSEDKEYS(changed) == MAX_NAMES) {
        hv_clear(changed);
        whole_changed = 1;
    }
    (void)hv_store_ent(changed, key, &PL_sv_yes, 0);
}

void cml_env_note_whole(void)
{
    whole_changed = 1;
}

/* Whether reading the value runs no Perl code: the value is no object and not tied. Other magic, such as the position
 * of a match with /g, has no code for reading. */
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

static void pass(pTHX_ cml_env_receiver receive, void *arg, SV *name, SV *value)
{
    SV *const key = cml_text_of(aTHX_ name);
    SV *const text = value ? cml_text_of(aTHX_ value) : NULL;
    receive(arg, SvPVX(key), SvCUR(key), text ? SvPVX(text) : NULL, text ? SvCUR(text) : 0);
}

static void pass_whole(pTHX_ HV *env, cml_env_receiver receive, void *arg)
{
    AV *const pairs = cml_pairs_of(aTHX_ env);
    for (SSize_t i = 0; i < AvFILLp(pairs); i += 2) {
        if (is_plain(AvARRAY(pairs)[i + 1]))
            pass(aTHX_ receive, arg, AvARRAY(pairs)[i], AvARRAY(pairs)[i + 1]);
    }
}

static void pass_changed(pTHX_ HV *env, cml_env_receiver receive, void *arg)
{
    HE *entry;
    SvMAGICAL_off((SV *)env);
    hv_iterinit(changed);
    while ((entry = hv_iternext(changed))) {
        SV *const name = hv_iterkeysv(entry);
        HE *const found = hv_fetch_ent(env, name, 0, 0);
        if (!found || is_plain(HeVAL(found)))
            pass(aTHX_ receive, arg, name, found ? HeVAL(found) : NULL);
    }
    mg_magical((SV *)env);
}

/* Passes the changes of %ENV since the last call to `receive`; a NULL value means that the name was deleted. Returns
 * whether all of %ENV was passed, because `local %ENV` or an assignment may have changed it as a whole. */
int cml_env_changes(cml_env_receiver receive, void *arg)
{
    dTHXa(cml_perl);
    if (!changed || cml_env_waits())
        return 0;
    HV *const env = cml_requests_env(aTHX);
    const int is_own = cml_env_is_requests(env);
    const int is_whole = whole_changed || !is_own;
    const bool tainted = TAINT_get; /* see cml_env_exported */
    ENTER;
    SAVETMPS;
    if (is_whole && env)
        pass_whole(aTHX_ env, receive, arg);
    else if (env && HvUSEDKEYS(changed))
        pass_changed(aTHX_ env, receive, arg);
    FREETMPS;
    LEAVE;
    TAINT_set(tainted);
    hv_clear(changed);
    /* While `local %ENV` hides the request's %ENV, the next call passes the whole table again. */
    whole_changed = !is_own;
    return is_whole && env;
}

/* Applies a change of the table; a NULL value removes the name. */
void cml_env_follow(const char *key, size_t key_length, const char *value, size_t value_length)
{
    if (!changed || cml_env_waits())
        return;
    if (value)
        cml_env_replace(key, key_length, value, value_length);
    else
        cml_env_forget(key, key_length);
}

/* Calls of filters: the handler with its brigade, and the rest of the chain. */

#include "filter.h"

/* Apache2::Const's OK and DECLINED. */
enum { OK = 0, DECLINED = -1 };

/* Maximum number of filters in a chain. */
enum { MAX_DEPTH = 400 };

/* The status of a handler's return value; other values than numbers, and 200, are OK. */
static IV status_of(pTHX_ SV *returned)
{
    IV status = OK;
    if (!SvOK(returned))
        return status;
    STRLEN length;
    const char *const text = SvPV(returned, length);
    const STRLEN sign = length && *text == '-';
    for (STRLEN i = sign; i < length; i++)
        if (!isDIGIT(text[i]))
            return OK;
    if (length > sign)
        status = SvIV(returned);
    return status == 200 ? OK : status;
}

static IV called(pTHX_ int count)
{
    dSP;
    const IV returned = count == 1 ? POPi : 0;
    PUTBACK;
    return returned;
}

/* The status of a handler that died. */
static IV ended(pTHX_ SV *f, SV *error)
{
    dSP;
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(f);
    PUSHs(error);
    PUTBACK;
    return called(aTHX_ call_pv("Apache2::Filter::_ended", G_SCALAR));
}

/* Calls pass_brigade as a method, because a program may have overridden it. */
static IV pass_brigade(pTHX_ SV *f, SV *brigade)
{
    dSP;
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(f);
    PUSHs(brigade);
    PUTBACK;
    return called(aTHX_ call_method("pass_brigade", G_SCALAR));
}

static IV send_brigade(pTHX_ SV *f, HV *run, int mark)
{
    dSP;
    PUSHMARK(SP);
    EXTEND(SP, 3);
    PUSHs(f);
    mPUSHs(newRV_inc((SV *)run));
    mPUSHi(mark);
    PUTBACK;
    return called(aTHX_ call_pv("Apache2::Filter::_send", G_SCALAR));
}

/* Runs the handler with a brigade; {how} has a body filter's arguments. {run} exists meanwhile. */
IV xs_filter_run_handler(pTHX_ SV *f, HV *filter, HV *run, SV *brigade)
{
    dSP;
    SV **const asked = FIELD(run, "how");
    AV *const how = asked ? (AV *)SvRV(*asked) : NULL;
    const SSize_t more = how ? AvFILL(how) + 1 : 0;
    SV **const slot = FIELD(filter, "code");
    SV *const code = slot ? sv_mortalcopy(*slot) : NULL;
    if (!code)
        croak("a filter without code");
    ENTER;
    (void)hv_stores(filter, "run", newRV_inc((SV *)run));
    save_hdelete(filter, newSVpvs_flags("run", SVs_TEMP));
    PUSHMARK(SP);
    EXTEND(SP, 2 + more);
    PUSHs(f);
    PUSHs(brigade);
    for (SSize_t i = 0; i < more; i++)
        PUSHs(AvARRAY(how)[i]);
    PUTBACK;
    const int count = call_sv(code, G_SCALAR | G_EVAL);
    SPAGAIN;
    SV *const returned = count == 1 ? POPs : &PL_sv_undef;
    PUTBACK;
    /* An exception object may overload its truth value. */
    const int has_died = SvROK(ERRSV) || (SvPOK(ERRSV) && SvCUR(ERRSV));
    const IV status = has_died ? ended(aTHX_ f, sv_mortalcopy(ERRSV)) : status_of(aTHX_ returned);
    LEAVE;
    return status;
}

/* Passes filter_printed output to the next filter, followed by the mark. */
static IV send_on(pTHX_ SV *f, HV *filter, HV *run, int mark)
{
    SV **const out = FIELD(run, "out");
    if (!xs_filter_is_last(aTHX_ filter))
        return send_brigade(aTHX_ f, run, mark);
    if (out && SvPOK(*out) && SvCUR(*out))
        xs_filter_write(aTHX_ filter, SvPVX(*out), SvCUR(*out));
    if (mark == APRXS_FLUSH)
        apache_check(aTHX_ apache_flush_filtered(number_in(aTHX_ FIELD(filter, "number"))));
    return OK;
}

/* Makes the hash for one call of the handler: its input and its filter_printed output. */
HV *xs_filter_new_run(pTHX_ HV *filter, SV *brigade)
{
    if (hash_behind(FIELD(filter, "run")))
        croak("a filter has passed a brigade to itself; pass it to $f->next\n");
    HV *const run = (HV *)sv_2mortal((SV *)newHV());
    (void)hv_stores(run, "brigade", newSVsv(brigade));
    (void)hv_stores(run, "in", newSVpvs(""));
    (void)hv_stores(run, "at", newSVuv(0));
    (void)hv_stores(run, "out", newSVpvs(""));
    (void)hv_stores(run, "eos", newSViv(0));
    (void)hv_stores(run, "flush", newSViv(0));
    return run;
}

/* Input behind an end that the filter has sent is dropped. */
static IV filter_once(pTHX_ SV *f, HV *filter, SV *brigade)
{
    if (IS_TRUE(filter, "has_ended"))
        return OK;
    HV *const run = xs_filter_new_run(aTHX_ filter, brigade);
    IV status = xs_filter_run_handler(aTHX_ f, filter, run, brigade);
    SV **const next = FIELD(filter, "next");
    if (status == DECLINED && next)
        return pass_brigade(aTHX_ *next, brigade);
    if (status != OK)
        return status;
    const int has_flush = IS_TRUE(run, "flush");
    if (has_flush || SvCUR(xs_filter_printed(aTHX_ run)))
        status = send_on(aTHX_ f, filter, run, has_flush ? APRXS_FLUSH : APRXS_NOTHING);
    if (status != OK || !IS_TRUE(run, "eos"))
        return status;
    (void)hv_stores(filter, "has_ended", newSViv(1));
    (void)hv_stores(run, "out", newSVpvs(""));
    return send_on(aTHX_ f, filter, run, APRXS_EOS);
}

/* Each filter of a chain uses the C stack, and a handler may add further filters. */
IV xs_filter_response(pTHX_ SV *f, HV *filter, SV *brigade)
{
    static I32 depth;
    ENTER;
    SAVEI32(depth);
    if (++depth > MAX_DEPTH)
        croak("more than %d filters in a chain: does a filter add itself?", MAX_DEPTH);
    const IV status = filter_once(aTHX_ f, filter, brigade);
    LEAVE;
    return status;
}

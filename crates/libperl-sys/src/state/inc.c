#include "../internal.h"

/* @INC is restored after each request, as in mod_perl 1: a handler that damages it would break later loading
 * of modules. A PSGI application's changes stay, because PSGI servers never restore @INC; from then on other
 * handlers return to that value. */

static AV *home_inc; /* copies of the paths */
static int is_apps;

void cml_inc_is_apps(void)
{
    is_apps = 1;
}

static int is_same(pTHX_ SV *now, SV *kept)
{
    if (!now)
        return !SvOK(kept);
    if (SvGMAGICAL(now))
        return 0; /* tied: a read would run its code */
    return cml_is_same(aTHX_ now, kept);
}

static int is_home(pTHX_ AV *inc)
{
    const SSize_t last = av_top_index(home_inc);
    if (SvMAGICAL(inc) || av_top_index(inc) != last)
        return 0;
    for (SSize_t i = 0; i <= last; i++)
        if (!is_same(aTHX_ AvARRAY(inc)[i], AvARRAY(home_inc)[i]))
            return 0;
    return 1;
}

void cml_remember_inc(pTHX)
{
    AV *const inc = GvAVn(PL_incgv);
    const SSize_t last = av_top_index(inc);
    if (home_inc && is_home(aTHX_ inc))
        return; /* unchanged: a write would un-share the mold's page */
    SvREFCNT_dec(home_inc);
    home_inc = newAV();
    for (SSize_t i = 0; i <= last; i++) {
        SV **const entry = av_fetch(inc, i, 0);
        av_push(home_inc, entry ? newSVsv(*entry) : newSV(0));
    }
}

/* Empties the array in place if possible: the program may hold a reference to it. */
static AV *emptied(pTHX_ AV *inc)
{
    if (!SvMAGICAL(inc) && !SvREADONLY(inc)) {
        av_clear(inc);
        return inc;
    }
    GvAV(PL_incgv) = newAV();
    SvREFCNT_dec(inc);
    return GvAV(PL_incgv);
}

unsigned cml_restore_inc(pTHX)
{
    AV *inc = GvAVn(PL_incgv);
    const int is_kept = is_apps;
    is_apps = 0;
    if (is_home(aTHX_ inc))
        return 0;
    if (is_kept) {
        cml_remember_inc(aTHX);
        return 0;
    }
    inc = emptied(aTHX_ inc);
    for (SSize_t i = 0; i <= av_top_index(home_inc); i++)
        av_push(inc, newSVsv(AvARRAY(home_inc)[i]));
    return CML_LEFT_INC;
}

/* Input and output of a filter: reading from a brigade, printing for the next filter. */

#include "filter.h"

HV *xs_filter_of(pTHX_ SV *f)
{
    if (!SvROK(f) || !sv_derived_from(f, "Apache2::Filter") || SvTYPE(SvRV(f)) != SVt_PVHV)
        croak("not an Apache2::Filter object");
    /* Held, because code of a text may drop the last reference. */
    return (HV *)sv_2mortal(SvREFCNT_inc_simple(SvRV(f)));
}

HV *xs_filter_run_of(pTHX_ HV *filter, const char *method)
{
    HV *const run = hash_behind(FIELD(filter, "run"));
    if (!run)
        croak("$f->%s: this filter is not running: its handler has returned", method);
    return (HV *)sv_2mortal(SvREFCNT_inc_simple((SV *)run));
}

int xs_filter_is_of_responses(pTHX_ HV *filter)
{
    SV **const way = FIELD(filter, "way");
    return way && is_plain(*way) && SvPOK(*way) && strEQ(SvPVX(*way), "output");
}

/* Whether the next filter is the server's end: a brigade would be taken apart immediately. */
int xs_filter_is_last(pTHX_ HV *filter)
{
    HV *const next = hash_behind(FIELD(filter, "next"));
    return next && xs_filter_is_of_responses(aTHX_ filter) && IS_TRUE(next, "core") && !IS_TRUE(next, "next");
}

/* Moves the text of a brigade without buckets into the run. */
static void take_text(pTHX_ HV *filter, HV *run)
{
    int mark;
    SV **const brigade = FIELD(run, "brigade");
    if (FIELD(run, "source") || !brigade || !xs_filter_is_of_responses(aTHX_ filter))
        return;
    SV *const text = is_plain(*brigade) || SvGMAGICAL(*brigade) ? NULL : apache_brigade_text(aTHX_ *brigade, &mark);
    if (!text)
        return;
    sv_2mortal(SvREFCNT_inc_simple(text));
    (void)hv_stores(run, "source", newSVsv(*brigade));
    (void)hv_stores(run, "in", SvREFCNT_inc_simple(text));
    (void)hv_stores(run, "at", newSVuv(0));
    (void)hv_stores(run, "mark", newSViv(mark));
}

/* Runs after the last byte of a text with an end callback. */
static void pass_mark(pTHX_ HV *run)
{
    SV **const slot = FIELD(run, "mark");
    const UV mark = number_in(aTHX_ slot);
    if (FIELD(run, "has_read"))
        return;
    if (mark == APRXS_EOS)
        (void)hv_stores(run, "eos", newSViv(1));
    if (mark == APRXS_FLUSH)
        (void)hv_stores(run, "flush", newSViv(1));
    (void)hv_stores(run, "has_read", newSViv(1));
}

/* Assigning to a tied or magical buffer, or freeing its old value, may run code: the bytes are copied
 * before. */
static void hand_over(pTHX_ SV *buffer, const char *bytes, STRLEN length)
{
    if (SvTHINKFIRST(buffer) || SvMAGICAL(buffer) || SvUTF8(buffer))
        sv_setsv(buffer, newSVpvn_flags(bytes, length, SVs_TEMP));
    else
        sv_setpvn(buffer, bytes, length);
    SvSETMAGIC(buffer);
    SvTAINTED_on(buffer);
}

/* Reads from the text without waiting. Returns fewer bytes than wanted only at the end of a text, and -1 if
 * Filter.pm must continue. */
IV xs_filter_read(pTHX_ HV *filter, HV *run, SV *buffer, STRLEN wanted)
{
    take_text(aTHX_ filter, run);
    SV **const in = FIELD(run, "in"), **const place = FIELD(run, "at");
    if (!in || !place || !SvPOK(*in))
        return -1;
    sv_2mortal(SvREFCNT_inc_simple(*in));
    const char *const bytes = SvPVX(*in);
    const STRLEN at = number_in(aTHX_ place), length = SvCUR(*in);
    const STRLEN there = at < length ? length - at : 0;
    if (there < wanted && !FIELD(run, "mark"))
        return -1;
    const STRLEN count = there < wanted ? there : wanted;
    sv_setuv(*place, at + count);
    if (there < wanted)
        pass_mark(aTHX_ run);
    hand_over(aTHX_ buffer, count ? bytes + at : "", count);
    return (IV)count;
}

void xs_filter_write(pTHX_ HV *filter, const char *bytes, STRLEN length)
{
    apache_check(aTHX_ apache_write_filtered(number_in(aTHX_ FIELD(filter, "number")), bytes, length));
}

/* The buffer of filter_printed output. */
SV *xs_filter_printed(pTHX_ HV *run)
{
    SV **const slot = hv_fetchs(run, "out", 1);
    if (!SvPOK(*slot))
        sv_setpvs(*slot, "");
    return *slot;
}

void xs_filter_print(pTHX_ HV *filter, HV *run, apache_text text)
{
    SV *const out = xs_filter_printed(aTHX_ run);
    if (!text.length)
        return;
    if (!SvCUR(out) && text.length >= PIECE && xs_filter_is_last(aTHX_ filter))
        xs_filter_write(aTHX_ filter, text.bytes, text.length);
    else
        sv_catpvn(out, text.bytes, text.length);
}

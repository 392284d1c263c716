#include "xs.h"

#include "../../lib/APR/api.h"

/* The functions that a streaming filter calls often: read and print. A filter is a hash; {run} is a second
 * hash that exists while its handler runs. Unusual cases are left to Filter.pm. */

/* Apache2::Const's OK and DECLINED. */
enum { OK = 0, DECLINED = -1 };

/* Printed output of this size, in bytes, is passed to the next filter. */
enum { PIECE = 8192 };

/* Most filters in a chain. */
enum { DEEPEST = 400 };

static HV *hash_behind(SV **slot)
{
    return slot && SvROK(*slot) && SvTYPE(SvRV(*slot)) == SVt_PVHV ? (HV *)SvRV(*slot) : NULL;
}

#define FIELD(hash, name) hv_fetchs((hash), name, 0)

/* Fields are read without running code: objects and magical values are not the module's own. */
static int is_plain(const SV *sv)
{
    return !SvROK(sv) && !SvGMAGICAL(sv);
}

static int is_true(pTHX_ SV **slot)
{
    /* {next} is an object of this module. */
    return slot && (SvROK(*slot) || (is_plain(*slot) && SvTRUE(*slot)));
}

#define IS_TRUE(hash, name) is_true(aTHX_ FIELD(hash, name))

static UV number_in(pTHX_ SV **slot)
{
    return slot && is_plain(*slot) && SvIOK(*slot) ? SvUV(*slot) : 0;
}

static HV *filter_of(pTHX_ SV *f)
{
    if (!SvROK(f) || !sv_derived_from(f, "Apache2::Filter") || SvTYPE(SvRV(f)) != SVt_PVHV)
        croak("not an Apache2::Filter object");
    /* Held, because code of a text may drop the last reference. */
    return (HV *)sv_2mortal(SvREFCNT_inc_simple(SvRV(f)));
}

static HV *run_of(pTHX_ HV *filter, const char *method)
{
    HV *const run = hash_behind(FIELD(filter, "run"));
    if (!run)
        croak("$f->%s: this filter is not running: its handler has returned", method);
    return (HV *)sv_2mortal(SvREFCNT_inc_simple((SV *)run));
}

static int is_for_answers(pTHX_ HV *filter)
{
    SV **const way = FIELD(filter, "way");
    return way && is_plain(*way) && SvPOK(*way) && strEQ(SvPVX(*way), "output");
}

/* Whether the next filter is the server's end: a brigade would be taken apart immediately. */
static int is_last(pTHX_ HV *filter)
{
    HV *const next = hash_behind(FIELD(filter, "next"));
    return next && is_for_answers(aTHX_ filter) && IS_TRUE(next, "core") && !IS_TRUE(next, "next");
}

/* Moves the text of a brigade without buckets into the run. */
static void take_text(pTHX_ HV *filter, HV *run)
{
    int mark;
    SV **const brigade = FIELD(run, "brigade");
    if (FIELD(run, "source") || !brigade || !is_for_answers(aTHX_ filter))
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
static IV read_some(pTHX_ HV *filter, HV *run, SV *buffer, STRLEN wanted)
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

/* The caller's length: 8192 for undef, and limited to the largest possible one. */
static STRLEN length_of(pTHX_ SV *length)
{
    SvGETMAGIC(length);
    if (!SvOK(length))
        return PIECE;
    const NV wanted = SvNV_nomg(length);
    return wanted >= (NV)SSize_t_MAX ? SSize_t_MAX : wanted > 0 ? (STRLEN)wanted : 0;
}

/* Calls the Perl half of a method with this call's arguments; returns its result. */
static IV ask(pTHX_ const char *sub, I32 ax, I32 items)
{
    dSP;
    IV said = 0;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    EXTEND(SP, items);
    for (I32 i = 0; i < items; i++)
        PUSHs(ST(i));
    PUTBACK;
    const int count = call_pv(sub, G_SCALAR);
    SPAGAIN;
    if (count == 1)
        said = POPi;
    PUTBACK;
    FREETMPS;
    LEAVE;
    return said;
}

static void write_answer(pTHX_ HV *filter, const char *bytes, STRLEN length)
{
    apache_check(aTHX_ apache_write_filtered(number_in(aTHX_ FIELD(filter, "number")), bytes, length));
}

/* The buffer of printed output. */
static SV *printed(pTHX_ HV *run)
{
    SV **const slot = hv_fetchs(run, "out", 1);
    if (!SvPOK(*slot))
        sv_setpvs(*slot, "");
    return *slot;
}

/* The status of a handler's return value; other values than numbers, and 200, are OK. */
static IV status_of(pTHX_ SV *said)
{
    IV status = OK;
    if (!SvOK(said))
        return status;
    STRLEN length;
    const char *const text = SvPV(said, length);
    const STRLEN sign = length && *text == '-';
    for (STRLEN i = sign; i < length; i++)
        if (!isDIGIT(text[i]))
            return OK;
    if (length > sign)
        status = SvIV(said);
    return status == 200 ? OK : status;
}

static IV called(pTHX_ int count)
{
    dSP;
    const IV said = count == 1 ? POPi : 0;
    PUTBACK;
    return said;
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
static IV run_handler(pTHX_ SV *f, HV *filter, HV *run, SV *brigade)
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
    SV *const said = count == 1 ? POPs : &PL_sv_undef;
    PUTBACK;
    /* An exception object may overload its truth value. */
    const int has_died = SvROK(ERRSV) || (SvPOK(ERRSV) && SvCUR(ERRSV));
    const IV status = has_died ? ended(aTHX_ f, sv_mortalcopy(ERRSV)) : status_of(aTHX_ said);
    LEAVE;
    return status;
}

/* Passes printed output to the next filter, followed by the mark. */
static IV send_on(pTHX_ SV *f, HV *filter, HV *run, int mark)
{
    SV **const out = FIELD(run, "out");
    if (!is_last(aTHX_ filter))
        return send_brigade(aTHX_ f, run, mark);
    if (out && SvPOK(*out) && SvCUR(*out))
        write_answer(aTHX_ filter, SvPVX(*out), SvCUR(*out));
    if (mark == APRXS_FLUSH)
        apache_check(aTHX_ apache_flush_filtered(number_in(aTHX_ FIELD(filter, "number"))));
    return OK;
}

/* Makes the hash for one call of the handler: its input and its printed output. */
static HV *new_run(pTHX_ HV *filter, SV *brigade)
{
    if (hash_behind(FIELD(filter, "run")))
        croak("a filter has passed a brigade to itself: pass it to $f->next\n");
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
    HV *const run = new_run(aTHX_ filter, brigade);
    IV status = run_handler(aTHX_ f, filter, run, brigade);
    SV **const next = FIELD(filter, "next");
    if (status == DECLINED && next)
        return pass_brigade(aTHX_ *next, brigade);
    if (status != OK)
        return status;
    const int has_flush = IS_TRUE(run, "flush");
    if (has_flush || SvCUR(printed(aTHX_ run)))
        status = send_on(aTHX_ f, filter, run, has_flush ? APRXS_FLUSH : APRXS_NOTHING);
    if (status != OK || !IS_TRUE(run, "eos"))
        return status;
    (void)hv_stores(filter, "has_ended", newSViv(1));
    (void)hv_stores(run, "out", newSVpvs(""));
    return send_on(aTHX_ f, filter, run, APRXS_EOS);
}

/* Each filter of a chain uses the C stack, and a handler may add further filters. */
static IV filter_answer(pTHX_ SV *f, HV *filter, SV *brigade)
{
    static I32 depth;
    ENTER;
    SAVEI32(depth);
    if (++depth > DEEPEST)
        croak("more than %d filters in a chain: does a filter add itself?", DEEPEST);
    const IV status = filter_once(aTHX_ f, filter, brigade);
    LEAVE;
    return status;
}

static void print_one(pTHX_ HV *filter, HV *run, apache_text text)
{
    SV *const out = printed(aTHX_ run);
    if (!text.length)
        return;
    if (!SvCUR(out) && text.length >= PIECE && is_last(aTHX_ filter))
        write_answer(aTHX_ filter, text.bytes, text.length);
    else
        sv_catpvn(out, text.bytes, text.length);
}

MODULE = Apache2::Filter    PACKAGE = Apache2::Filter

# Reads up to `length` bytes of the current brigade; returns 0 when all of it is read.
IV
read(f, buffer, length = &PL_sv_undef)
    SV *f
    SV *buffer
    SV *length
  CODE:
    const STRLEN wanted = length_of(aTHX_ length);
    HV *const filter = filter_of(aTHX_ f);
    RETVAL = read_some(aTHX_ filter, run_of(aTHX_ filter, "read"), buffer, wanted);
    if (RETVAL < 0)
        RETVAL = ask(aTHX_ "Apache2::Filter::_read_on", ax, items);
  OUTPUT:
    RETVAL

# Returns the number of bytes. A response filter passes output on when it reaches PIECE.
UV
print(f, ...)
    SV *f
  ALIAS:
    PRINT = 1
  CODE:
    PERL_UNUSED_VAR(ix);
    HV *const filter = filter_of(aTHX_ f);
    RETVAL = 0;
    for (I32 i = 1; i < items; i++) {
        const apache_text text = apache_bytes_of(aTHX_ ST(i));
        print_one(aTHX_ filter, run_of(aTHX_ filter, "print"), text);
        RETVAL += text.length;
    }
    SV *const out = printed(aTHX_ run_of(aTHX_ filter, "print"));
    if (SvCUR(out) >= PIECE && is_last(aTHX_ filter)) {
        write_answer(aTHX_ filter, SvPVX(out), SvCUR(out));
        SvCUR_set(out, 0);
    } else if (SvCUR(out) >= PIECE && is_for_answers(aTHX_ filter)) {
        ask(aTHX_ "Apache2::Filter::_send_on", ax, 1);
    }
    if (is_for_answers(aTHX_ filter) && apache_is_gone(aTHX_ number_in(aTHX_ FIELD(filter, "number"))))
        cml_said_to_nobody(aTHX_ NULL);
  OUTPUT:
    RETVAL

# Makes a brigade of a text and a mark: see api.h.
SV *
_text_brigade(text, mark, r)
    SV *text
    int mark
    SV *r
  CODE:
    RETVAL = apache_text_brigade(aTHX_ text, mark, r);
  OUTPUT:
    RETVAL

void
_empty_brigade(brigade)
    SV *brigade
  CODE:
    apache_empty_brigade(aTHX_ brigade);

# Has the server write such a brigade; returns the mark. Returns undef, and does nothing, if the brigade has
# buckets.
SV *
_write_text(core, brigade)
    SV *core
    SV *brigade
  CODE:
    int mark;
    SV *const text = apache_brigade_text(aTHX_ brigade, &mark);
    if (!text)
        XSRETURN_UNDEF;
    if (SvPOK(text) && SvCUR(text))
        write_answer(aTHX_ filter_of(aTHX_ core), SvPVX(text), SvCUR(text));
    apache_empty_brigade(aTHX_ brigade);
    RETVAL = newSViv(mark);
  OUTPUT:
    RETVAL

# Calls a body filter for a brigade. Returns a status, and the hash with its input and output.
void
_run(f, brigade, ...)
    SV *f
    SV *brigade
  PPCODE:
    HV *const filter = filter_of(aTHX_ f);
    HV *const run = new_run(aTHX_ filter, brigade);
    AV *const how = newAV();
    (void)hv_stores(run, "how", newRV_noinc((SV *)how));
    for (I32 i = 2; i < items; i++)
        av_push(how, newSVsv(ST(i)));
    PUTBACK;
    const IV status = run_handler(aTHX_ f, filter, run, brigade);
    SPAGAIN;
    EXTEND(SP, 2);
    mPUSHi(status);
    mPUSHs(newRV_inc((SV *)run));

# Passes a brigade to a response filter; returns a status.
IV
_filter_answer(f, brigade)
    SV *f
    SV *brigade
  CODE:
    RETVAL = filter_answer(aTHX_ f, filter_of(aTHX_ f), brigade);
  OUTPUT:
    RETVAL

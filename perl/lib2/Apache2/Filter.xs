#include "filter.h"

/* The functions that a streaming filter calls often: read and print. Unusual cases are left to Filter.pm. */

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
    IV returned = 0;
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
        returned = POPi;
    PUTBACK;
    FREETMPS;
    LEAVE;
    return returned;
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
    HV *const filter = xs_filter_of(aTHX_ f);
    RETVAL = xs_filter_read(aTHX_ filter, xs_filter_run_of(aTHX_ filter, "read"), buffer, wanted);
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
    HV *const filter = xs_filter_of(aTHX_ f);
    RETVAL = 0;
    for (I32 i = 1; i < items; i++) {
        const apache_text text = apache_bytes_of(aTHX_ ST(i));
        xs_filter_print(aTHX_ filter, xs_filter_run_of(aTHX_ filter, "print"), text);
        RETVAL += text.length;
    }
    SV *const out = xs_filter_printed(aTHX_ xs_filter_run_of(aTHX_ filter, "print"));
    if (SvCUR(out) >= PIECE && xs_filter_is_last(aTHX_ filter)) {
        xs_filter_write(aTHX_ filter, SvPVX(out), SvCUR(out));
        SvCUR_set(out, 0);
    } else if (SvCUR(out) >= PIECE && xs_filter_is_of_responses(aTHX_ filter)) {
        ask(aTHX_ "Apache2::Filter::_send_on", ax, 1);
    }
    if (xs_filter_is_of_responses(aTHX_ filter) && apache_is_gone(aTHX_ number_in(aTHX_ FIELD(filter, "number"))))
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
        xs_filter_write(aTHX_ xs_filter_of(aTHX_ core), SvPVX(text), SvCUR(text));
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
    HV *const filter = xs_filter_of(aTHX_ f);
    HV *const run = xs_filter_new_run(aTHX_ filter, brigade);
    AV *const how = newAV();
    (void)hv_stores(run, "how", newRV_noinc((SV *)how));
    for (I32 i = 2; i < items; i++)
        av_push(how, newSVsv(ST(i)));
    PUTBACK;
    const IV status = xs_filter_run_handler(aTHX_ f, filter, run, brigade);
    SPAGAIN;
    EXTEND(SP, 2);
    mPUSHi(status);
    mPUSHs(newRV_inc((SV *)run));

# Passes a brigade to a response filter; returns a status.
IV
_filter_response(f, brigade)
    SV *f
    SV *brigade
  CODE:
    RETVAL = xs_filter_response(aTHX_ f, xs_filter_of(aTHX_ f), brigade);
  OUTPUT:
    RETVAL

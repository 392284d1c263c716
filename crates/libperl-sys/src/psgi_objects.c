#include "internal.h"

/* Objects of a PSGI call: psgi.input, psgix.informational, cameleer.extend_timeout, and the request number
 * of responders and writers. After the request they refuse to work.
 *
 * They are made once and reused, unless the application has kept a reference. */

static IV request = 1;
static GV *input;
static CV *inform, *extend;

enum { IS_OVER = 1 };

/* Whether the application holds a reference; a weak one counts, too. */
static int is_kept(const SV *sv)
{
    return SvREFCNT(sv) > 1 || (SvTYPE(sv) >= SVt_PVMG && SvMAGIC(sv));
}

static int is_input_kept(void)
{
    return is_kept((SV *)input) || GvREFCNT(input) > 1;
}

/* perl's messages name the handle by its glob: <STDIN>, line 1. */
static GV *new_input(pTHX)
{
    GV *const gv = (GV *)newSV(0);
    gv_init(gv, PL_defstash, "STDIN", 5, FALSE);
    GvIOp(gv) = (IO *)SvREFCNT_inc((SV *)GvIOn(cml_stdin_gv));
    return gv;
}

SV *cml_psgi_input(pTHX)
{
    if (!input)
        input = new_input(aTHX);
    return newRV_inc((SV *)input);
}

int cml_psgi_shares_input(void)
{
    return input ? 1 : 0;
}

/* Replaces a psgi.input that the application has retained, which must not read the next request's body. */
void cml_psgi_forget_input(pTHX)
{
    if (!input)
        return;
    if (is_input_kept()) {
        IO *const io = GvIOp(input);
        GvIOp(input) = cml_closed_input(aTHX);
        SvREFCNT_dec((SV *)io);
    }
    SvREFCNT_dec((SV *)input);
    input = NULL;
}

static void refuse_if_over(pTHX_ const CV *cv, const char *name)
{
    if (CvXSUBANY(cv).any_i32 == IS_OVER)
        croak("%s: this request is over: its code reference was kept and called later", name);
}

static void send_informational(pTHX_ SV *status_value, SV *list)
{
    static const char usage[] = "psgix.informational: expected a status from 100 to 199 and an array of headers";
    if (!SvROK(list) || SvTYPE(SvRV(list)) != SVt_PVAV)
        croak(usage);
    AV *const headers = (AV *)sv_2mortal(SvREFCNT_inc(SvRV(list)));
    const IV status = SvIV(status_value);
    if (status < 100 || status > 199)
        croak(usage);
    cml_hooks_table.head((int)status);
    cml_psgi_headers(aTHX_ headers);
    cml_hooks_table.flush();
}

XS(cml_xs_inform)
{
    dXSARGS;
    refuse_if_over(aTHX_ cv, "psgix.informational");
    if (items != 2)
        croak("usage: psgix.informational(status, headers)");
    send_informational(aTHX_ ST(0), ST(1));
    XSRETURN_EMPTY;
}

/* `$env->{'cameleer.extend_timeout'}->(seconds)` */
XS(cml_xs_extend)
{
    dXSARGS;
    refuse_if_over(aTHX_ cv, "cameleer.extend_timeout");
    const NV seconds = items == 1 ? SvNV(ST(0)) : 0;
    if (!(seconds > 0))
        croak("cameleer.extend_timeout: expected a number of seconds");
    cml_hooks_table.extend(seconds);
    XSRETURN_EMPTY;
}

static SV *reference(pTHX_ CV **cv, XSUBADDR_t body)
{
    if (!*cv)
        *cv = newXS(NULL, body, __FILE__);
    return newRV_inc((SV *)*cv);
}

SV *cml_psgi_inform(pTHX)
{
    return reference(aTHX_ &inform, cml_xs_inform);
}

SV *cml_psgi_extend(pTHX)
{
    return reference(aTHX_ &extend, cml_xs_extend);
}

static void forget(pTHX_ CV **cv)
{
    if (!*cv || !is_kept((SV *)*cv))
        return;
    CvXSUBANY(*cv).any_i32 = IS_OVER;
    SvREFCNT_dec((SV *)*cv);
    *cv = NULL;
}

/* Ends the client's request, after the application's cleanup handlers. */
void cml_psgi_end(pTHX)
{
    request++;
    if (input && is_input_kept())
        cml_psgi_forget_input(aTHX);
    forget(aTHX_ &inform);
    forget(aTHX_ &extend);
}

/* The number of this request, for responders and writers. */
XS(cml_xs_request)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    XSRETURN_IV(request);
}

void cml_psgi_objects_boot(pTHX)
{
    newXS("Cameleer::PSGI::request", cml_xs_request, __FILE__);
}

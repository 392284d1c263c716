#include "xs.h"

/* STDIN's own handle, below whatever it was tied to: Apache's READ and READLINE stand behind such ties. */
static PerlIO *body(pTHX)
{
    IO *const io = PL_stdingv ? GvIO(PL_stdingv) : NULL;
    return io ? IoIFP(io) : NULL;
}

/* More than the body's length is never there: a caller's larger number must not become memory. */
static STRLEN wanted(pTHX_ Request r, IV length)
{
    int64_t whole;
    apache_check(aTHX_ apache_get_number(r, APACHE_BODY_LENGTH, &whole));
    return length < 0 ? 0 : length > whole ? (STRLEN)whole : (STRLEN)length;
}

/* The buffer's bytes before `offset` stay; what lacks before it becomes NUL, as with perl's read. */
static char *room_at(pTHX_ SV *buffer, STRLEN offset, STRLEN length)
{
    STRLEN have;
    if (!SvOK(buffer))
        sv_setpvs(buffer, "");
    (void)SvPVbyte_force(buffer, have);
    char *const start = SvGROW(buffer, offset + length + 1);
    if (have < offset)
        Zero(start + have, offset - have, char);
    return start + offset;
}

MODULE = Apache::Body    PACKAGE = Apache

IV
read_body(r, buffer, length, offset = 0)
    Request r
    SV *buffer
    IV length
    UV offset
  ALIAS:
    READ = 1
    get_client_block = 2
    read_client_block = 3
  CODE:
    PERL_UNUSED_VAR(ix);
    PerlIO *const from = body(aTHX);
    const STRLEN count = wanted(aTHX_ r, length);
    char *const to = room_at(aTHX_ buffer, offset, count);
    const SSize_t got = from ? PerlIO_read(from, to, count) : 0;
    RETVAL = got < 0 ? 0 : got;
    SvCUR_set(buffer, offset + (STRLEN)RETVAL);
    *SvEND(buffer) = '\0';
    SvPOK_only(buffer);
    SvTAINTED_on(buffer);
    SvSETMAGIC(buffer);
  OUTPUT:
    RETVAL

void
READLINE(r)
    Request r
  PPCODE:
    PERL_UNUSED_VAR(r);
    PerlIO *const from = body(aTHX);
    const int all = GIMME_V == G_LIST;
    SV *line = sv_newmortal();
    while (from && sv_gets(line, from, 0)) {
        SvTAINTED_on(line);
        XPUSHs(line);
        if (!all)
            XSRETURN(1);
        line = sv_newmortal();
    }
    if (!all)
        XSRETURN_UNDEF;

SV *
GETC(r)
    Request r
  CODE:
    PERL_UNUSED_VAR(r);
    PerlIO *const from = body(aTHX);
    const int c = from ? PerlIO_getc(from) : EOF;
    const char byte = (char)c;
    RETVAL = c == EOF ? newSV(0) : newSVpvn(&byte, 1);
  OUTPUT:
    RETVAL

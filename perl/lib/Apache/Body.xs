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

/* Where in the buffer the piece begins: as perl's read, from its end when negative. */
static STRLEN start_of(pTHX_ SV *buffer, IV offset)
{
    STRLEN have;
    if (!SvOK(buffer))
        sv_setpvs(buffer, "");
    (void)SvPVbyte_force(buffer, have);
    if (offset < 0 && have < (STRLEN)-offset)
        croak("Offset outside string");
    return offset < 0 ? have - (STRLEN)-offset : (STRLEN)offset;
}

/* The buffer's bytes before `start` stay; what lacks before it becomes NUL, as with perl's read. */
static void put_at(pTHX_ SV *buffer, STRLEN start, const char *bytes, STRLEN length)
{
    STRLEN have;
    (void)SvPVbyte_force(buffer, have);
    char *const text = SvGROW(buffer, start + length + 1);
    if (have < start)
        Zero(text + have, start - have, char);
    Copy(bytes, text + start, length, char);
    SvCUR_set(buffer, start + length);
    *SvEND(buffer) = '\0';
    SvPOK_only(buffer);
}

/* In pieces of our own: STDIN may have layers that are Perl code, which may get at the buffer. */
static STRLEN read_into(pTHX_ SV *buffer, STRLEN start, PerlIO *from, STRLEN count)
{
    char piece[32768];
    STRLEN done = 0;
    put_at(aTHX_ buffer, start, "", 0);
    while (from && done < count) {
        const SSize_t got = PerlIO_read(from, piece, count - done < sizeof piece ? count - done : sizeof piece);
        if (got <= 0)
            break;
        put_at(aTHX_ buffer, start + done, piece, (STRLEN)got);
        done += (STRLEN)got;
    }
    return done;
}

MODULE = Apache::Body    PACKAGE = Apache

IV
read_body(r, buffer, length, offset = 0)
    Request r
    SV *buffer
    IV length
    IV offset
  ALIAS:
    READ = 1
    get_client_block = 2
    read_client_block = 3
  CODE:
    PERL_UNUSED_VAR(ix);
    const STRLEN count = wanted(aTHX_ r, length);
    const STRLEN start = start_of(aTHX_ buffer, offset);
    RETVAL = (IV)read_into(aTHX_ buffer, start, body(aTHX), count);
    SvSETMAGIC(buffer); /* which takes an earlier mark of taint away */
    SvTAINTED_on(buffer);
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
    if (c != EOF)
        SvTAINTED_on(RETVAL);
  OUTPUT:
    RETVAL

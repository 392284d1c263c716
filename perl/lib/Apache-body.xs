#include "xs.h"

/* STDIN's own handle, below any tie: Apache's READ and READLINE are called by such ties. */
static PerlIO *body(pTHX)
{
    IO *const io = PL_stdingv ? GvIO(PL_stdingv) : NULL;
    return io ? IoIFP(io) : NULL;
}

/* Limits a length to the body's: a caller's large number must not allocate memory. */
static STRLEN wanted(pTHX_ Request r, IV length)
{
    int64_t whole;
    apache_check(aTHX_ apache_get_number(r, APACHE_BODY_LENGTH, &whole));
    return length < 0 ? 0 : length > whole ? (STRLEN)whole : (STRLEN)length;
}

/* The offset at which the piece is stored in the buffer: as in perl's read, a negative one counts from the
 * end. */
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

/* Stores bytes at `start`; as in perl's read, a gap before is filled with NULs. */
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

/* Reads into a local buffer first: STDIN's layers may be Perl code that changes the caller's buffer. */
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
    READ = 1   get_client_block = 2   read_client_block = 3
  CODE:
    PERL_UNUSED_VAR(ix);
    const STRLEN count = wanted(aTHX_ r, length);
    const STRLEN start = start_of(aTHX_ buffer, offset);
    RETVAL = (IV)read_into(aTHX_ buffer, start, body(aTHX), count);
    SvSETMAGIC(buffer); /* removes an earlier mark of taint */
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

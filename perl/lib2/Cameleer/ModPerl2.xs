#include "xs.h"

/* Functions that mod_perl 2's modules call in nearly every request. The others are in Perl. */

/* Hashes of finished requests are removed when this many hashes are stored. */
enum { MANY = 16 };

/* Data of the modules about a request, by the bytes of its number. */
static HV *of_requests(pTHX)
{
    return get_hv("Cameleer::ModPerl2::OF_REQUEST", GV_ADD);
}

static int is_over(Request r)
{
    int64_t status;
    return apache_get_number(r, APACHE_STATUS, &status) == APACHE_STALE;
}

static Request request_of(pTHX_ HE *entry)
{
    I32 length;
    Request r = 0;
    const char *const key = hv_iterkey(entry, &length);
    if (length == sizeof r)
        memcpy(&r, key, sizeof r);
    return r;
}

/* Hashes of most requests need no action at their end: they are removed during a later request. */
static void sweep(pTHX_ HV *all)
{
    HE *entry;
    hv_iterinit(all);
    while ((entry = hv_iternext(all))) {
        const Request r = request_of(aTHX_ entry);
        /* Mortal: a DESTROY must not run in the middle of this loop. */
        if (is_over(r))
            (void)hv_delete(all, (const char *)&r, sizeof r, 0);
    }
}

static HV *found(pTHX_ Request r)
{
    SV **const slot = hv_fetch(of_requests(aTHX), (const char *)&r, sizeof r, 0);
    return slot && SvROK(*slot) && SvTYPE(SvRV(*slot)) == SVt_PVHV ? (HV *)SvRV(*slot) : NULL;
}

static HV *kept(pTHX_ Request r)
{
    if (is_over(r))
        apache_check(aTHX_ APACHE_STALE);
    HV *const there = found(aTHX_ r);
    if (there)
        return there;
    HV *const all = of_requests(aTHX);
    if (HvUSEDKEYS(all) > MANY)
        sweep(aTHX_ all);
    HV *const fields = newHV();
    (void)hv_store(all, (const char *)&r, sizeof r, newRV_noinc((SV *)fields), 0);
    return fields;
}

static int64_t number_of_request(pTHX_ Request r, int field)
{
    int64_t number = 0;
    apache_check(aTHX_ apache_get_number(r, field, &number));
    return number;
}

static int is_unbuffered(pTHX)
{
    return PL_defoutgv && GvIO(PL_defoutgv) && IoFLAGS(GvIOp(PL_defoutgv)) & IOf_FLUSH;
}

/* Writes all arguments after the first; returns the number of bytes. */
static UV write_all(pTHX_ Request r, I32 ax, I32 items, const char *method)
{
    UV count = 0;
    /* Before the response phase, it is undecided who responds. */
    if (number_of_request(aTHX_ r, APACHE_IS_EARLY))
        croak("$r->%s can't be called before the response phase", method);
    for (I32 i = 1; i < items; i++)
        count += apache_print(aTHX_ r, ST(i));
    return count;
}

static void replace_table(pTHX_ SV *table, SV *other)
{
    dSP;
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(table);
    PUSHs(other);
    PUTBACK;
    call_pv("Cameleer::ModPerl2::replace", G_VOID | G_DISCARD);
}

MODULE = Cameleer::ModPerl2    PACKAGE = Cameleer::ModPerl2

# The hash that ends with the request; dies if the request is over.
SV *
of_request(r)
    Request r
  CODE:
    RETVAL = newRV_inc((SV *)kept(aTHX_ r));
  OUTPUT:
    RETVAL

# The same hash if it exists, also after the request; else undef.
SV *
kept_of(r)
    Request r
  CODE:
    HV *const fields = found(aTHX_ r);
    RETVAL = fields ? newRV_inc((SV *)fields) : newSV(0);
  OUTPUT:
    RETVAL

# Whether a phase before the response runs.
int
is_early(r)
    Request r
  CODE:
    RETVAL = number_of_request(aTHX_ r, APACHE_IS_EARLY) != 0;
  OUTPUT:
    RETVAL

# Methods that Apache2:: modules lend to the request, so that a class has only the methods of loaded modules.
MODULE = Cameleer::ModPerl2    PACKAGE = Cameleer::ModPerl2::RequestRec

# Returns the number of bytes, `0E0` for none: always a true value.
void
print(r, ...)
    Request r
  PPCODE:
    const UV count = write_all(aTHX_ r, ax, items, "print");
    if (is_unbuffered(aTHX))
        apache_check(aTHX_ apache_rflush(r));
    if (apache_is_gone(aTHX_ r))
        cml_said_to_nobody(aTHX_ "Apache2::RequestIO::print");
    if (count)
        mXPUSHu(count);
    else
        mXPUSHp("0E0", 3);

UV
puts(r, ...)
    Request r
  CODE:
    RETVAL = write_all(aTHX_ r, ax, items, "puts");
    if (apache_is_gone(aTHX_ r))
        cml_said_to_nobody(aTHX_ "Apache2::RequestIO::puts");
  OUTPUT:
    RETVAL

# Returns a table; with an argument, replaces its pairs by another table's.
SV *
headers_in(r, other = NULL)
    Request r
    SV *other
  ALIAS:
    headers_in = APACHE_HEADERS_IN   headers_out = APACHE_HEADERS_OUT   err_headers_out = APACHE_ERR_HEADERS_OUT
    notes = APACHE_NOTES
  CODE:
    RETVAL = sv_2mortal(apache_table_object(aTHX_ r, ix));
    if (other)
        replace_table(aTHX_ RETVAL, other);
    SvREFCNT_inc(RETVAL);
  OUTPUT:
    RETVAL

void
set_content_length(r, length)
    Request r
    SV *length
  CODE:
    SV *const copy = sv_mortalcopy(length);
    const apache_text name = {"Content-Length", strlen("Content-Length")};
    apache_table_store(aTHX_ r, APACHE_HEADERS_OUT, APACHE_TABLE_SET, name, copy);
    apache_check(aTHX_ apache_set_number(r, APACHE_CLENGTH, SvIV(copy)));

# The last argument of set_content_length; 0 before.
IV
clength(r)
    Request r
  CODE:
    RETVAL = (IV)number_of_request(aTHX_ r, APACHE_CLENGTH);
  OUTPUT:
    RETVAL

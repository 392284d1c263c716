#include "xs.h"

/* The innermost object: a subclass stores an object in {r} or {_r}, possibly nested. */
static HV *innermost(pTHX_ SV *self)
{
    HV *found = NULL;
    (void)apache_request_of(aTHX_ self); /* croaks for an object that contains itself */
    SvGETMAGIC(self);
    while (self && SvROK(self) && SvTYPE(SvRV(self)) == SVt_PVHV) {
        found = (HV *)SvRV(self);
        self = apache_inner(aTHX_ found);
    }
    if (!found)
        croak("not an Apache::Request object");
    return found;
}

/* The table of parameters; its first use reads the body. */
static Table parameters(pTHX_ SV *self)
{
    HV *const object = (HV *)sv_2mortal(SvREFCNT_inc((SV *)innermost(aTHX_ self)));
    SV **slot = hv_fetchs(object, "parms", 0);
    if (!slot) {
        dSP;
        ENTER;
        SAVETMPS;
        PUSHMARK(SP);
        mXPUSHs(newRV_inc((SV *)object));
        PUTBACK;
        call_pv("Apache::Request::parse", G_VOID | G_DISCARD);
        FREETMPS;
        LEAVE;
        slot = hv_fetchs(object, "parms", 0);
    }
    if (!slot)
        croak("Apache::Request: the parameters were not parsed");
    return apache_table_of(aTHX_ *slot);
}

static SV **push_names(pTHX_ SV **sp, Table table)
{
    HV *const seen = (HV *)sv_2mortal((SV *)newHV());
    apache_text name, value;
    for (size_t at = 0;; at++) {
        apache_check(aTHX_ apache_table_entry(table.request, table.number, at, &name, &value));
        if (!name.bytes)
            return sp;
        SV *const key = sv_2mortal(apache_client_sv_of(aTHX_ name));
        SV *const folded = sv_2mortal(apache_client_sv_of(aTHX_ name));
        for (char *c = SvPVX(folded), *end = SvEND(folded); c < end; c++)
            *c = toLOWER_A(*c);
        if (hv_exists_ent(seen, folded, 0))
            continue;
        (void)hv_store_ent(seen, folded, &PL_sv_yes, 0);
        XPUSHs(key);
    }
}

MODULE = Apache::Request    PACKAGE = Apache::Request

void
param(self, name = NULL, value = NULL)
    SV *self
    SV *name
    SV *value
  PPCODE:
    Table table;
    PUTBACK;
    table = parameters(aTHX_ self);
    SPAGAIN;
    if (value)
        apache_table_store(aTHX_ table.request, table.number, APACHE_TABLE_SET, apache_kept_text_of(aTHX_ name), value);
    if (name) {
        const SSize_t first = SP - PL_stack_base + 1;
        SP = apache_push_values(aTHX_ SP, table, name);
        for (SV **sv = PL_stack_base + first; sv <= SP; sv++)
            if (SvOK(*sv))
                SvTAINTED_on(*sv);
    } else if (GIMME_V == G_LIST)
        SP = push_names(aTHX_ SP, table);
    else
        mXPUSHs(apache_table_object(aTHX_ table.request, table.number));

SV *
innermost(self)
    SV *self
  CODE:
    RETVAL = newRV_inc((SV *)innermost(aTHX_ self));
  OUTPUT:
    RETVAL

IV
parse_form(table, text)
    Table table
    SV *text
  CODE:
    int64_t count;
    apache_check(aTHX_ apache_parse_form(table.request, table.number, apache_text_of(aTHX_ text), &count));
    RETVAL = (IV)count;
  OUTPUT:
    RETVAL

IV
multipart_begin(r, content_type)
    Request r
    SV *content_type
  CODE:
    int64_t is_one;
    apache_check(aTHX_ apache_multipart_begin(r, apache_text_of(aTHX_ content_type), &is_one));
    RETVAL = (IV)is_one;
  OUTPUT:
    RETVAL

void
multipart_feed(r, piece)
    Request r
    SV *piece
  CODE:
    apache_check(aTHX_ apache_multipart_feed(r, apache_text_of(aTHX_ piece)));

# Returns (kind, text, file name, headers); nothing when it needs more of the body.
void
multipart_next(r)
    Request r
  PPCODE:
    apache_part part;
    apache_check(aTHX_ apache_multipart_next(r, &part));
    if (part.kind == APACHE_PART_MORE)
        XSRETURN_EMPTY;
    EXTEND(SP, 4);
    mPUSHu(part.kind);
    PUSHs(sv_2mortal(apache_client_sv_of(aTHX_ part.text)));
    PUSHs(sv_2mortal(apache_client_sv_of(aTHX_ part.filename)));
    PUSHs(part.kind == APACHE_PART_BEGIN ? sv_2mortal(apache_table_object(aTHX_ r, part.table)) : &PL_sv_undef);

int
memory_file(text)
    SV *text
  CODE:
    RETVAL = apache_memory_file(apache_text_of(aTHX_ text));
  OUTPUT:
    RETVAL

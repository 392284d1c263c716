#include "xs.h"

/* The code may do anything, also to this table: so it gets copies, and nothing is held while it runs. */
static int wants_more(pTHX_ SV *code, SV *name, SV *value)
{
    dSP;
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(name);
    PUSHs(value);
    PUTBACK;
    call_sv(code, G_SCALAR);
    SPAGAIN;
    SV *const answer = POPs;
    PUTBACK;
    return SvTRUE(answer);
}

static int is_among(pTHX_ apache_text name, SV **names, I32 count)
{
    for (I32 i = 0; i < count; i++)
        if (apache_same_name(name, apache_text_of(aTHX_ names[i])))
            return 1;
    return count == 0;
}

MODULE = Apache::Table    PACKAGE = Apache::Table

SV *
new(class, r, size = 10)
    SV *class
    Request r
    IV size
  CODE:
    PERL_UNUSED_VAR(class);
    PERL_UNUSED_VAR(size);
    uint32_t number;
    apache_check(aTHX_ apache_table_new(r, &number));
    RETVAL = apache_table_object(aTHX_ r, number);
  OUTPUT:
    RETVAL

void
get(table, name)
    Table *table
    SV *name
  PPCODE:
    SP = apache_push_values(aTHX_ SP, table, name);

void
FETCH(table, name)
    Table *table
    SV *name
  PPCODE:
    XPUSHs(apache_first_value(aTHX_ table, name));

void
EXISTS(table, name)
    Table *table
    SV *name
  PPCODE:
    XPUSHs(boolSV(SvOK(apache_first_value(aTHX_ table, name))));

void
set(table, name, value)
    Table *table
    SV *name
    SV *value
  ALIAS:
    set = APACHE_TABLE_SET
    STORE = APACHE_TABLE_SET
    add = APACHE_TABLE_ADD
    merge = APACHE_TABLE_MERGE
  CODE:
    apache_table_store(aTHX_ table->request, table->number, ix, name, value);

void
unset(table, name)
    Table *table
    SV *name
  ALIAS:
    DELETE = 1
  PPCODE:
    SV *const before = apache_first_value(aTHX_ table, name);
    apache_table_store(aTHX_ table->request, table->number, APACHE_TABLE_UNSET, name, &PL_sv_undef);
    if (ix)
        XPUSHs(before);

void
clear(table)
    Table *table
  ALIAS:
    CLEAR = 1
  CODE:
    PERL_UNUSED_VAR(ix);
    const apache_text none = {NULL, 0};
    apache_check(aTHX_ apache_table_change(table->request, table->number, APACHE_TABLE_CLEAR, none, none));

void
FIRSTKEY(table, ...)
    Table *table
  ALIAS:
    NEXTKEY = 1
  PPCODE:
    apache_text name, value;
    table->cursor = ix ? table->cursor + 1 : 0;
    apache_check(aTHX_ apache_table_entry(table->request, table->number, table->cursor, &name, &value));
    mXPUSHs(apache_sv_of(aTHX_ name));

void
do(table, code, ...)
    Table *table
    SV *code
  CODE:
    const Table at = *table;
    apache_text name, value;
    for (size_t i = 0;; i++) {
        apache_check(aTHX_ apache_table_entry(at.request, at.number, i, &name, &value));
        if (!name.bytes)
            break;
        if (!is_among(aTHX_ name, &ST(2), items - 2))
            continue;
        ENTER;
        SAVETMPS;
        SV *const key = sv_2mortal(apache_sv_of(aTHX_ name));
        SV *const text = sv_2mortal(apache_sv_of(aTHX_ value));
        const int more = wants_more(aTHX_ code, key, text);
        FREETMPS;
        LEAVE;
        if (!more)
            break;
    }

#include "xs.h"

/* The program's code may change the table: it gets copies, and no pointer into the table is held while it
 * runs. */
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

/* Converts the values to texts first: the conversion may run code that changes the table. */
static apache_text *kept_texts(pTHX_ SV **values, I32 count)
{
    SV *const room = sv_2mortal(newSV(count * sizeof(apache_text) + 1));
    apache_text *const texts = (apache_text *)SvPVX(room);
    for (I32 i = 0; i < count; i++)
        texts[i] = apache_kept_text_of(aTHX_ values[i]);
    return texts;
}

static int is_among(pTHX_ apache_text name, const apache_text *names, I32 count)
{
    for (I32 i = 0; i < count; i++)
        if (names[i].bytes && apache_same_name(aTHX_ name, names[i]))
            return 1;
    return count == 0;
}

static size_t length_of(pTHX_ Table table)
{
    apache_text name, value;
    for (size_t length = 0;; length++) {
        apache_check(aTHX_ apache_table_entry(table.request, table.number, length, &name, &value));
        if (!name.bytes)
            return length;
    }
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
    Table table
    SV *name
  PPCODE:
    SP = apache_push_values(aTHX_ SP, table, name);

void
FETCH(table, name)
    Table table
    SV *name
  PPCODE:
    XPUSHs(apache_value(aTHX_ table.request, table.number, apache_text_of(aTHX_ name)));

void
EXISTS(table, name)
    Table table
    SV *name
  PPCODE:
    XPUSHs(boolSV(SvOK(apache_value(aTHX_ table.request, table.number, apache_text_of(aTHX_ name)))));

void
set(table, name, value)
    Table table
    SV *name
    SV *value
  ALIAS:
    set = APACHE_TABLE_SET   STORE = APACHE_TABLE_SET   add = APACHE_TABLE_ADD   merge = APACHE_TABLE_MERGE
  CODE:
    apache_table_store(aTHX_ table.request, table.number, ix, apache_kept_text_of(aTHX_ name), value);

void
unset(table, name)
    Table table
    SV *name
  ALIAS:
    DELETE = 1
  PPCODE:
    const apache_text key = apache_text_of(aTHX_ name);
    SV *const before = apache_value(aTHX_ table.request, table.number, key);
    apache_table_store(aTHX_ table.request, table.number, APACHE_TABLE_UNSET, key, &PL_sv_undef);
    if (ix)
        XPUSHs(before);

void
clear(table)
    Table table
  ALIAS:
    CLEAR = 1
  CODE:
    PERL_UNUSED_VAR(ix);
    const apache_text none = {NULL, 0};
    apache_check(aTHX_ apache_table_change(table.request, table.number, APACHE_TABLE_CLEAR, none, none));

SV *
apr(table)
    Table table
  CODE:
    RETVAL = apache_apr_table_object(aTHX_ table.request, table.number);
  OUTPUT:
    RETVAL

void
FIRSTKEY(self, ...)
    SV *self
  ALIAS:
    NEXTKEY = 1
  PPCODE:
    apache_text name, value;
    Table *const table = apache_table_at(aTHX_ self);
    table->cursor = ix ? table->cursor + 1 : 0;
    apache_check(aTHX_ apache_table_entry(table->request, table->number, table->cursor, &name, &value));
    mXPUSHs(apache_sv_of(aTHX_ name));

void
do(table, code, ...)
    Table table
    SV *code
  CODE:
    apache_text name, value;
    /* The code may change the variable that it came from. */
    code = sv_mortalcopy(code);
    const apache_text *const names = kept_texts(aTHX_ &ST(2), items - 2);
    /* Entries that the code adds are not visited: they could make the loop endless. */
    const size_t length = length_of(aTHX_ table);
    for (size_t i = 0; i < length; i++) {
        apache_check(aTHX_ apache_table_entry(table.request, table.number, i, &name, &value));
        if (!name.bytes)
            break;
        if (!is_among(aTHX_ name, names, items - 2))
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

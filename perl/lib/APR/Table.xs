#include "xs.h"

#include "table.h"

/* Calls the program's code, which may change the table: names and values are copies, and no pointer into the
 * table is held. */
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

/* Converts the arguments to texts first: the conversion may run code that changes the table. */
static aprxs_text *kept_texts(pTHX_ I32 ax, I32 count)
{
    SV *const room = sv_2mortal(newSV(count * sizeof(aprxs_text) + 1));
    aprxs_text *const texts = (aprxs_text *)SvPVX(room);
    for (I32 i = 0; i < count; i++)
        texts[i] = aprxs_text_of(aTHX_ sv_mortalcopy(ST(i)));
    return texts;
}

static int is_among(aprxs_text name, const aprxs_text *names, I32 count)
{
    for (I32 i = 0; i < count; i++)
        if (aprxs_same_name(name, names[i]))
            return 1;
    return count == 0;
}

/* A key that each(), keys or values returned carries its entry's position, because perl may ask for the
 * value after it has moved on. The position is stored as a negative number in the key's unused integer slot. */
static SV *key_at(pTHX_ aprxs_text name, UV at)
{
    SV *const key = sv_2mortal(aprxs_sv_of_text(aTHX_ name));
    if (!looks_like_number(key)) {
        SvUPGRADE(key, SVt_PVIV);
        SvIV_set(key, -(IV)at - 1);
        SvFLAGS(key) |= SVp_IOK;
    }
    return key;
}

/* The position behind the key's entry; 0 if the key has none. */
static UV place_in(SV *key)
{
    return SvPOK(key) && SvIOKp(key) && !SvIOK(key) && SvIVX(key) < 0 ? (UV)-SvIVX(key) : 0;
}

/* The position of the key, otherwise that of each(). */
static UV place_of(aprxs_object *table, SV *key)
{
    const UV place = place_in(key);
    return place ? place : *aprxs_table_cursor(table);
}

/* The value of a name; during each(), that of the current entry. */
static SV *value_of(pTHX_ aprxs_object *table, aprxs_text wanted, UV place)
{
    aprxs_text name, value;
    if (place && aprxs_table_entry(aTHX_ table, place - 1, &name, &value) && aprxs_same_name(name, wanted))
        return aprxs_sv_of_text(aTHX_ value);
    return aprxs_sv_of_text(aTHX_ aprxs_table_first(aTHX_ table, wanted));
}

static size_t length_of(pTHX_ aprxs_object *table)
{
    aprxs_text name, value;
    size_t length = 0;
    while (aprxs_table_entry(aTHX_ table, length, &name, &value))
        length++;
    return length;
}

MODULE = APR::Table    PACKAGE = APR::Table

SV *
make(p, nelts)
    IV nelts
    PoolOf p
  CODE:
    RETVAL = aprxs_table_make(aTHX_ p, nelts);
  OUTPUT:
    RETVAL

SV *
copy(t, p)
    Table t
    PoolOf p
  CODE:
    RETVAL = sv_2mortal(aprxs_table_make(aTHX_ p, 0));
    aprxs_table_append(aTHX_ aprxs_table_get(aTHX_ RETVAL), t);
    SvREFCNT_inc(RETVAL);
  OUTPUT:
    RETVAL

SV *
overlay(base, overlay, p)
    Table base
    Table overlay
    PoolOf p
  CODE:
    RETVAL = sv_2mortal(aprxs_table_make(aTHX_ p, 0));
    aprxs_table_append(aTHX_ aprxs_table_get(aTHX_ RETVAL), overlay);
    aprxs_table_append(aTHX_ aprxs_table_get(aTHX_ RETVAL), base);
    SvREFCNT_inc(RETVAL);
  OUTPUT:
    RETVAL

void
overlap(a, b, flags)
    IV flags
    Table a
    Table b
  CODE:
    if (a != b)
        aprxs_table_append(aTHX_ a, b);
    aprxs_table_compress(aTHX_ a, flags);

void
compress(t, flags)
    IV flags
    Table t
  CODE:
    aprxs_table_compress(aTHX_ t, flags);

void
get(...)
  PPCODE:
    aprxs_text name, value;
    if (items != 2)
        croak("Usage: $table->get($key)");
    aprxs_fix_arguments(aTHX_ ax, items);
    /* The conversion of the key may run code, so it comes before the table is used. */
    const aprxs_text wanted = aprxs_text_of(aTHX_ ST(1));
    aprxs_object *const table = aprxs_table_get(aTHX_ ST(0));
    /* The conversion may have moved the stack. */
    SPAGAIN;
    SP -= items;
    if (GIMME_V != G_LIST) {
        mXPUSHs(aprxs_sv_of_text(aTHX_ aprxs_table_first(aTHX_ table, wanted)));
        XSRETURN(1);
    }
    for (size_t at = 0; aprxs_table_entry(aTHX_ table, at, &name, &value); at++)
        if (aprxs_same_name(name, wanted))
            mXPUSHs(aprxs_sv_of_text(aTHX_ value));

SV *
FETCH(self, key)
    Fixed self
    SV *key
  CODE:
    const aprxs_text wanted = aprxs_text_of(aTHX_ key);
    aprxs_object *const table = aprxs_table_get(aTHX_ self);
    RETVAL = value_of(aTHX_ table, wanted, place_of(table, key));
  OUTPUT:
    RETVAL

int
EXISTS(self, key)
    Fixed self
    SV *key
  CODE:
    const aprxs_text wanted = aprxs_text_of(aTHX_ key);
    RETVAL = aprxs_table_first(aTHX_ aprxs_table_get(aTHX_ self), wanted).bytes != NULL;
  OUTPUT:
    RETVAL

void
set(t, key, val)
    Fixed t
    SV *key
    SV *val
  ALIAS:
    set = APRXS_TABLE_SET   STORE = APRXS_TABLE_SET   add = APRXS_TABLE_ADD   merge = APRXS_TABLE_MERGE
  CODE:
    const aprxs_text name = aprxs_text_of(aTHX_ sv_mortalcopy(key));
    const aprxs_text value = aprxs_text_of(aTHX_ val);
    aprxs_table_change(aTHX_ aprxs_table_get(aTHX_ t), ix, name, value);

void
unset(t, key)
    Fixed t
    SV *key
  CODE:
    const aprxs_text name = aprxs_text_of(aTHX_ key);
    aprxs_table_unset(aTHX_ aprxs_table_get(aTHX_ t), name);

SV *
DELETE(t, key)
    Fixed t
    SV *key
  CODE:
    const aprxs_text name = aprxs_text_of(aTHX_ key);
    aprxs_object *const table = aprxs_table_get(aTHX_ t);
    RETVAL = value_of(aTHX_ table, name, place_of(table, key));
    aprxs_table_unset(aTHX_ table, name);
  OUTPUT:
    RETVAL

void
clear(t)
    Table t
  ALIAS:
    CLEAR = 1
  CODE:
    const aprxs_text none = {NULL, 0};
    PERL_UNUSED_VAR(ix);
    *aprxs_table_cursor(t) = 0;
    aprxs_table_change(aTHX_ t, APRXS_TABLE_CLEAR, none, none);

void
FIRSTKEY(t, ...)
    Table t
  ALIAS:
    NEXTKEY = 1
  PPCODE:
    aprxs_text name, value;
    UV *const next = aprxs_table_cursor(t);
    const UV at = ix ? *next : 0;
    const int is_there = aprxs_table_entry(aTHX_ t, at, &name, &value);
    *next = is_there ? at + 1 : 0;
    XPUSHs(is_there ? key_at(aTHX_ name, at) : &PL_sv_undef);

# For tables in Perl: a key with its position, and the position behind a key's entry (0 if it has none).
SV *
_key(name, at)
    SV *name
    UV at
  CODE:
    RETVAL = SvREFCNT_inc(key_at(aTHX_ aprxs_text_of(aTHX_ name), at));
  OUTPUT:
    RETVAL

UV
_place(key)
    SV *key
  CODE:
    RETVAL = place_in(key);
  OUTPUT:
    RETVAL

void
do(t, sub, ...)
    Fixed t
    SV *sub
  CODE:
    aprxs_text name, value;
    /* The code may change the variables that it and the table came from. */
    sub = sv_mortalcopy(sub);
    SV *const held = sv_mortalcopy(t);
    const aprxs_text *const names = kept_texts(aTHX_ ax + 2, items - 2);
    const I32 count = items - 2;
    /* Entries that the code adds are not visited: they could make the loop endless. */
    const size_t length = length_of(aTHX_ aprxs_table_get(aTHX_ held));
    for (size_t i = 0; i < length; i++) {
        /* The code may destroy the table's pool, so the table is looked up again each time. */
        if (!aprxs_table_entry(aTHX_ aprxs_table_get(aTHX_ held), i, &name, &value))
            break;
        if (!is_among(name, names, count))
            continue;
        ENTER;
        SAVETMPS;
        SV *const key = sv_2mortal(aprxs_sv_of_text(aTHX_ name));
        SV *const text = sv_2mortal(aprxs_sv_of_text(aTHX_ value));
        const int more = wants_more(aTHX_ sub, key, text);
        FREETMPS;
        LEAVE;
        if (!more)
            break;
    }

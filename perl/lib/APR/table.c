/* Operations on tables of any store, and the store for apr's own tables. */
#include "xs.h"

#include <apr_strings.h>
#include <apr_tables.h>

#include "table.h"

enum { STORE_SIZE = 32, MAX_FORESEEN = 4096 };

/* The structure behind a table's object. */
typedef struct {
    const aprxs_table_ops *ops;
    union {
        char bytes[STORE_SIZE];
        apr_table_t *table;
    } store;
} TableData;

static TableData *data_of(aprxs_object *table)
{
    return table->it;
}

static void free_data(pTHX_ aprxs_object *table)
{
    Safefree(table->it);
}

const aprxs_kind aprxs_kind_Table = {"APR::Table", free_data, free_data};

int aprxs_same_name(aprxs_text a, aprxs_text b)
{
    size_t at = 0;
    // Not foldEQ, which needs the interpreter in a perl 5.40 with threads.
    while (at < a.length && at < b.length && toLOWER(a.bytes[at]) == toLOWER(b.bytes[at])) at++;
    return a.length == b.length && at == a.length;
}

SV *aprxs_sv_of_text(pTHX_ aprxs_text text)
{
    return text.bytes ? newSVpvn(text.bytes, text.length) : newSV(0);
}

static aprxs_text text_of(const char *string)
{
    return (aprxs_text){string, string ? strlen(string) : 0};
}

/* apr's texts end at a NUL. */
static aprxs_text get_in_pool(pTHX_ void *store, aprxs_text name)
{
    return text_of(apr_table_get(*(apr_table_t **)store, name.bytes));
}

static int entry_in_pool(pTHX_ void *store, size_t at, aprxs_text *name, aprxs_text *value)
{
    const apr_array_header_t *const entries = apr_table_elts(*(apr_table_t **)store);
    if (at >= (size_t)entries->nelts)
        return 0;
    const apr_table_entry_t *const entry = (const apr_table_entry_t *)entries->elts + at;
    *name = text_of(entry->key);
    *value = text_of(entry->val);
    return 1;
}

static void change_in_pool(pTHX_ void *store, int verb, aprxs_text name, aprxs_text value)
{
    apr_table_t *const table = *(apr_table_t **)store;
    switch (verb) {
    case APRXS_TABLE_SET: apr_table_set(table, name.bytes, value.bytes); break;
    case APRXS_TABLE_ADD: apr_table_add(table, name.bytes, value.bytes); break;
    case APRXS_TABLE_MERGE: apr_table_merge(table, name.bytes, value.bytes); break;
    case APRXS_TABLE_UNSET: apr_table_unset(table, name.bytes); break;
    default: apr_table_clear(table);
    }
}

static const aprxs_table_ops IN_POOL = {get_in_pool, entry_in_pool, change_in_pool};

/* The returned hash is tied to the object: mod_perl has both $table->get('x') and $table->{x}. */
static SV *tied_to(pTHX_ SV *object)
{
    HV *const hash = newHV();
    sv_magic((SV *)hash, object, PERL_MAGIC_tied, NULL, 0);
    SvREFCNT_dec(object);
    return sv_bless(newRV_noinc((SV *)hash), gv_stashpvs("APR::Table", GV_ADD));
}

static SV *make(pTHX_ const aprxs_table_ops *ops, const void *store, size_t size, aprxs_object *home)
{
    TableData *data;
    Newxz(data, 1, TableData);
    data->ops = ops;
    memcpy(&data->store, store, size < STORE_SIZE ? size : STORE_SIZE);
    return tied_to(aTHX_ aprxs_new(aTHX_ &aprxs_kind_Table, data, home));
}

SV *aprxs_table_over(pTHX_ const aprxs_table_ops *ops, const void *store, size_t size)
{
    return make(aTHX_ ops, store, size, NULL);
}

SV *aprxs_table_make(pTHX_ aprxs_object *pool, IV size)
{
    apr_table_t *const table = apr_table_make(pool->it, size < 1 ? 1 : size > MAX_FORESEEN ? MAX_FORESEEN : (int)size);
    return make(aTHX_ &IN_POOL, &table, sizeof table, pool);
}

aprxs_object *aprxs_table_get(pTHX_ SV *sv)
{
    SvGETMAGIC(sv);
    if (SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVHV) {
        MAGIC *const magic = mg_find(SvRV(sv), PERL_MAGIC_tied);
        if (magic && magic->mg_obj)
            sv = magic->mg_obj;
    }
    return aprxs_expect(aTHX_ sv, &aprxs_kind_Table);
}

UV *aprxs_table_cursor(aprxs_object *table)
{
    return &table->flags;
}

aprxs_text aprxs_table_first(pTHX_ aprxs_object *table, aprxs_text name)
{
    TableData *const data = data_of(table);
    return data->ops->get(aTHX_ &data->store, name);
}

int aprxs_table_entry(pTHX_ aprxs_object *table, size_t at, aprxs_text *name, aprxs_text *value)
{
    TableData *const data = data_of(table);
    return data->ops->entry(aTHX_ &data->store, at, name, value);
}

void aprxs_table_change(pTHX_ aprxs_object *table, int verb, aprxs_text name, aprxs_text value)
{
    TableData *const data = data_of(table);
    data->ops->change(aTHX_ &data->store, verb, name, value);
}

void aprxs_table_unset(pTHX_ aprxs_object *table, aprxs_text wanted)
{
    aprxs_text name, value;
    UV *const next = aprxs_table_cursor(table);
    UV before = 0;
    for (UV at = 0; at < *next && aprxs_table_entry(aTHX_ table, at, &name, &value); at++)
        before += aprxs_same_name(name, wanted);
    *next -= before;
    aprxs_table_change(aTHX_ table, APRXS_TABLE_UNSET, wanted, (aprxs_text){NULL, 0});
}

/* Copies the entries first: adding may move their texts, and both may be the same table. */
static AV *entries_of(pTHX_ aprxs_object *table)
{
    aprxs_text name, value;
    AV *const entries = (AV *)sv_2mortal((SV *)newAV());
    for (size_t at = 0; aprxs_table_entry(aTHX_ table, at, &name, &value); at++) {
        av_push(entries, aprxs_sv_of_text(aTHX_ name));
        av_push(entries, aprxs_sv_of_text(aTHX_ value));
    }
    return entries;
}

static void add_all(pTHX_ aprxs_object *table, AV *entries)
{
    for (SSize_t i = 0; i < av_top_index(entries); i += 2)
        aprxs_table_change(aTHX_ table, APRXS_TABLE_ADD, aprxs_text_of(aTHX_ AvARRAY(entries)[i]),
                           aprxs_text_of(aTHX_ AvARRAY(entries)[i + 1]));
}

void aprxs_table_append(pTHX_ aprxs_object *table, aprxs_object *from)
{
    add_all(aTHX_ table, entries_of(aTHX_ from));
}

static SV *lower_case(pTHX_ SV *name)
{
    SV *const lower = sv_2mortal(newSVsv(name));
    for (char *c = SvPVX(lower); c < SvEND(lower); c++)
        *c = toLOWER_A(*c);
    return lower;
}

void aprxs_table_compress(pTHX_ aprxs_object *table, IV how)
{
    AV *const entries = entries_of(aTHX_ table);
    AV *const left = (AV *)sv_2mortal((SV *)newAV());
    HV *const values = (HV *)sv_2mortal((SV *)newHV());
    if (how != APR_OVERLAP_TABLES_SET && how != APR_OVERLAP_TABLES_MERGE)
        return;
    for (SSize_t i = 0; i < av_top_index(entries); i += 2) {
        SV *const name = AvARRAY(entries)[i];
        SV *const value = AvARRAY(entries)[i + 1];
        HE *const seen = hv_fetch_ent(values, lower_case(aTHX_ name), 1, 0);
        if (!SvOK(HeVAL(seen))) {
            sv_setsv(HeVAL(seen), value);
            av_push(left, SvREFCNT_inc(name));
            av_push(left, SvREFCNT_inc(HeVAL(seen)));
        } else if (how == APR_OVERLAP_TABLES_MERGE) {
            sv_catpvs(HeVAL(seen), ", ");
            sv_catsv(HeVAL(seen), value);
        } else {
            sv_setsv(HeVAL(seen), value);
        }
    }
    if (av_count(left) == av_count(entries))
        return;
    *aprxs_table_cursor(table) = 0;
    aprxs_table_change(aTHX_ table, APRXS_TABLE_CLEAR, (aprxs_text){NULL, 0}, (aprxs_text){NULL, 0});
    add_all(aTHX_ table, left);
}

/* A request's tables as APR::Table, and brigades, through the functions that APR.so registers in
 * PL_modglobal when it is loaded. */
#include "xs.h"

#include "../APR/api.h"

static const aprxs_api *api(pTHX)
{
    SV **slot = hv_fetchs(PL_modglobal, APRXS_API, 0);
    if (!slot) {
        load_module(PERL_LOADMOD_NOIMPORT, newSVpvs("APR::Table"), NULL);
        slot = hv_fetchs(PL_modglobal, APRXS_API, 0);
    }
    if (!slot)
        croak("APR.so belongs to another version of the server; install the matching one");
    return INT2PTR(const aprxs_api *, SvIV(*slot));
}

static apache_text to_server(aprxs_text text)
{
    return (apache_text){text.bytes, text.length};
}

static aprxs_text from_server(apache_text text)
{
    return (aprxs_text){text.bytes, text.length};
}

static aprxs_text get(pTHX_ void *store, aprxs_text name)
{
    const Table *const table = store;
    apache_text value;
    apache_check(aTHX_ apache_table_get(table->request, table->number, to_server(name), &value));
    return from_server(value);
}

static int entry(pTHX_ void *store, size_t at, aprxs_text *name, aprxs_text *value)
{
    const Table *const table = store;
    apache_text key, text;
    apache_check(aTHX_ apache_table_entry(table->request, table->number, at, &key, &text));
    *name = from_server(key);
    *value = from_server(text);
    return key.bytes != NULL;
}

static void change(pTHX_ void *store, int verb, aprxs_text name, aprxs_text value)
{
    static const uint32_t VERBS[] = {
        [APRXS_TABLE_SET] = APACHE_TABLE_SET,
        [APRXS_TABLE_ADD] = APACHE_TABLE_ADD,
        [APRXS_TABLE_MERGE] = APACHE_TABLE_MERGE,
        [APRXS_TABLE_UNSET] = APACHE_TABLE_UNSET,
        [APRXS_TABLE_CLEAR] = APACHE_TABLE_CLEAR,
    };
    const Table *const table = store;
    apache_check(aTHX_ apache_table_change(table->request, table->number, VERBS[verb], to_server(name), to_server(value)));
}

static const aprxs_table_ops OF_REQUEST = {get, entry, change};

SV *apache_apr_table_object(pTHX_ Request r, uint32_t number)
{
    const Table table = {r, number, 0};
    return api(aTHX)->table(aTHX_ &OF_REQUEST, &table, sizeof table);
}

SV *apache_text_brigade(pTHX_ SV *text, int mark, SV *r)
{
    return api(aTHX)->text_brigade(aTHX_ text, mark, r);
}

SV *apache_brigade_text(pTHX_ SV *brigade, int *mark)
{
    return api(aTHX)->brigade_text(aTHX_ brigade, mark);
}

void apache_empty_brigade(pTHX_ SV *brigade)
{
    api(aTHX)->empty_brigade(aTHX_ brigade);
}

/* The interface of APR.so for the server's C code. APR.so is loaded like any XS module; the server uses none of its
 * symbols, only a table of functions in PL_modglobal. Both sides include this file, which uses no names of apr. */
#ifndef APR_API_H
#define APR_API_H

#include <stddef.h>

typedef struct {
    const char *bytes; /* NULL: no text */
    size_t length;
} aprxs_text;

/* Operations that change a table, for any store. */
enum { APRXS_TABLE_SET, APRXS_TABLE_ADD, APRXS_TABLE_MERGE, APRXS_TABLE_UNSET, APRXS_TABLE_CLEAR };

/* The store of an APR::Table's entries. `store` is a copy of the argument of aprxs_api.table. Each function
 * croaks when the store is gone. Texts are valid until the table changes. */
typedef struct {
    /* Returns the first value of a name. */
    aprxs_text (*get)(pTHX_ void *store, aprxs_text name);
    /* Returns the pair at a position, in the table's order; 0 behind the last one. */
    int (*entry)(pTHX_ void *store, size_t at, aprxs_text *name, aprxs_text *value);
    void (*change)(pTHX_ void *store, int verb, aprxs_text name, aprxs_text value);
} aprxs_table_ops;

/* Marks that may follow the text of a brigade. */
enum { APRXS_NOTHING, APRXS_FLUSH, APRXS_EOS };

/* Each function returns a new reference. Objects of a pool end with it; they throw when used later. */
typedef struct {
    /* Makes an APR::Table over another store of at most 32 bytes. */
    SV *(*table)(pTHX_ const aprxs_table_ops *ops, const void *store, size_t size);
    /* Makes an APR::Pool below another one (NULL: the process's). Its methods do not destroy it: `end_pool`
     * does. */
    SV *(*pool)(pTHX_ SV *parent);
    void (*end_pool)(pTHX_ SV *pool);
    /* Makes an APR::SockAddr of a numeric address; undef if the text is not an address. */
    SV *(*address)(pTHX_ SV *pool, const char *ip, int port);
    /* Makes an APR::Socket over a duplicate of the descriptor. */
    SV *(*socket)(pTHX_ SV *pool, int descriptor);
    /* Throws an APR::Error. */
    void (*fail)(pTHX_ int status, const char *function);
    /* Makes an APR::Brigade of a scalar and a mark. Pool and buckets are made when they are needed, from the
     * request `r`. */
    SV *(*text_brigade)(pTHX_ SV *text, int mark, SV *r);
    /* The scalar of a brigade without buckets, without a new reference, and the mark; NULL if it has
     * buckets. */
    SV *(*brigade_text)(pTHX_ SV *brigade, int *mark);
    /* Empties a brigade, as its method cleanup does. */
    void (*empty_brigade)(pTHX_ SV *brigade);
} aprxs_api;

/* The key in PL_modglobal under which the address of an aprxs_api is stored, once APR.pm is loaded. */
#define APRXS_API "APR::api 2"

#endif

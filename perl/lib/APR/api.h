/* What the server's C code asks of APR.so, which is loaded like any XS module and known to the server by no symbol: the
 * functions stand in a table that PL_modglobal leads to. APR.so includes this, and so does who calls it; nothing of apr is named. */
#ifndef APR_API_H
#define APR_API_H

#include <stddef.h>

typedef struct {
    const char *bytes; /* NULL: none */
    size_t length;
} aprxs_text;

/* What can be done to a table, whoever keeps it. */
enum { APRXS_TABLE_SET, APRXS_TABLE_ADD, APRXS_TABLE_MERGE, APRXS_TABLE_UNSET, APRXS_TABLE_CLEAR };

/* Where the names and values of an APR::Table are kept. `store` is what aprxs_api.table was given, as a copy. Each croaks when the store
 * is gone. Texts are good until the table is changed. */
typedef struct {
    /* The first value of a name. */
    aprxs_text (*get)(pTHX_ void *store, aprxs_text name);
    /* The pair at a place, in the order of the table; 0 behind the last. */
    int (*entry)(pTHX_ void *store, size_t at, aprxs_text *name, aprxs_text *value);
    void (*change)(pTHX_ void *store, int verb, aprxs_text name, aprxs_text value);
} aprxs_table_ops;

/* What may stand behind the text of a brigade. */
enum { APRXS_NOTHING, APRXS_FLUSH, APRXS_EOS };

/* Each returns a new reference; objects of a pool live as long as that, or say that they are over. */
typedef struct {
    /* An APR::Table over somebody else's store of at most 32 bytes. */
    SV *(*table)(pTHX_ const aprxs_table_ops *ops, const void *store, size_t size);
    /* An APR::Pool below another one (NULL: the process's) that its methods do not destroy: `end_pool` does. */
    SV *(*pool)(pTHX_ SV *parent);
    void (*end_pool)(pTHX_ SV *pool);
    /* APR::SockAddr of an address in digits; undef when it is none. */
    SV *(*address)(pTHX_ SV *pool, const char *ip, int port);
    /* APR::Socket with a descriptor of its own, a copy of this one. */
    SV *(*socket)(pTHX_ SV *pool, int descriptor);
    /* Throws an APR::Error. */
    void (*fail)(pTHX_ int status, const char *function);
    /* An APR::Brigade of that scalar and a mark. It gets a pool and buckets when somebody asks it for one: `r` is whose request it is. */
    SV *(*text_brigade)(pTHX_ SV *text, int mark, SV *r);
    /* The scalar of one that nobody has asked yet, not counted, and the mark; NULL: the buckets tell. */
    SV *(*brigade_text)(pTHX_ SV *brigade, int *mark);
    /* What its method cleanup does. */
    void (*empty_brigade)(pTHX_ SV *brigade);
} aprxs_api;

/* Under which PL_modglobal has the address of an aprxs_api, once APR.pm is loaded. */
#define APRXS_API "APR::api 2"

#endif

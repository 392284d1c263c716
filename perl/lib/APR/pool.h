/* The ends of pools: the interface between pool.c and the methods of APR::Pool. */
#ifndef APR_POOL_H
#define APR_POOL_H

/* Flags of a pool's object. */
enum {
    APRXS_OWNED = 1,   /* made by Perl: destroyed with its last object */
    APRXS_GLOBAL = 2,  /* the process's own */
    APRXS_CLOSING = 4, /* its cleanups are running */
};

void aprxs_boot_pool(pTHX);
void aprxs_clone_pool(pTHX);
SV *aprxs_pool_new(pTHX_ aprxs_object *parent, UV flags);
/* Return 0 when the pool, or one below it, is already being ended. */
int aprxs_pool_destroy(pTHX_ aprxs_object *object);
int aprxs_pool_clear(pTHX_ aprxs_object *object);

#endif

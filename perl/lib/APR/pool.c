/* Finds a pool's object from the pool, and handles the pool's end, which Perl, the parent pool or the server
 * causes. */
#include "xs.h"

#include <apr_general.h>

#include "pool.h"

static const char KEY[] = "APR::Pool";

apr_pool_t *aprxs_pool(aprxs_object *object)
{
    return object->it;
}

/* Registered before all other cleanups, so it runs after them: objects in the pool still exist during its
 * cleanups. */
static apr_status_t is_ending(void *data)
{
    dTHX;
    aprxs_lose(aTHX_ (aprxs_object *)data);
    return APR_SUCCESS;
}

/* Runs first at the end of a pool, before its child pools end: apr ends those itself, and a cleanup must not end one
 * again. */
static apr_status_t begins_to_end(void *data)
{
    ((aprxs_object *)data)->flags |= APRXS_CLOSING;
    return APR_SUCCESS;
}

static void watch(aprxs_object *object)
{
    apr_pool_userdata_setn(object, KEY, NULL, object->it);
    apr_pool_cleanup_register(object->it, object, is_ending, apr_pool_cleanup_null);
    apr_pool_pre_cleanup_register(object->it, object, begins_to_end);
}

static void unwatch(aprxs_object *object)
{
    apr_pool_cleanup_kill(object->it, object, is_ending);
    apr_pool_cleanup_kill(object->it, object, begins_to_end);
}

/* Pools that are being destroyed now, innermost first: their cleanups must not destroy them, or outer pools, again. */
typedef struct {
    aprxs_object *closing;
} my_cxt_t;
#define MY_CXT_KEY "APR::Pool::closing"
START_MY_CXT

void aprxs_boot_pool(pTHX)
{
    MY_CXT_INIT;
    MY_CXT.closing = NULL;
}

void aprxs_clone_pool(pTHX)
{
    MY_CXT_CLONE;
    MY_CXT.closing = NULL;
}

static void take_out(pTHX_ aprxs_object *object)
{
    dMY_CXT;
    for (aprxs_object **at = &MY_CXT.closing; *at; at = &(*at)->link) {
        if (*at == object) {
            *at = object->link;
            break;
        }
    }
    object->flags &= ~(UV)APRXS_CLOSING;
}

static int holds_one_that_ends(pTHX_ apr_pool_t *pool)
{
    dMY_CXT;
    for (aprxs_object *at = MY_CXT.closing; at; at = at->link)
        if (at->it && apr_pool_is_ancestor(pool, at->it))
            return 1;
    return 0;
}

/* `end` is apr_pool_destroy or apr_pool_clear. exit in a cleanup causes a longjmp: the pool then remains marked, and is
 * not ended again. */
static int end_by(pTHX_ aprxs_object *object, void (*end)(apr_pool_t *))
{
    dMY_CXT;
    apr_pool_t *const pool = object->it;
    if ((object->flags & APRXS_CLOSING) || holds_one_that_ends(aTHX_ pool))
        return 0;
    SV *const kept = SvREFCNT_inc_simple(object->inner);
    object->flags |= APRXS_CLOSING;
    object->link = MY_CXT.closing;
    MY_CXT.closing = object;
    end(pool);
    take_out(aTHX_ object);
    SvREFCNT_dec(kept);
    return 1;
}

int aprxs_pool_destroy(pTHX_ aprxs_object *object)
{
    return end_by(aTHX_ object, apr_pool_destroy);
}

int aprxs_pool_clear(pTHX_ aprxs_object *object)
{
    apr_pool_t *const pool = object->it;
    if (!end_by(aTHX_ object, apr_pool_clear))
        return 0;
    object->it = pool;
    watch(object);
    return 1;
}

/* Called when the last Perl object of a pool is freed. A pool made by Perl is destroyed (DESTROY has usually done so);
 * other pools live on. */
static void is_unused(pTHX_ aprxs_object *object)
{
    if (object->flags & APRXS_CLOSING) {
        take_out(aTHX_ object);
        unwatch(object);
    } else if (object->flags & APRXS_OWNED) {
        unwatch(object);
        apr_pool_destroy(object->it);
    } else if (!(object->flags & APRXS_GLOBAL)) {
        unwatch(object);
        apr_pool_userdata_setn(NULL, KEY, NULL, object->it);
    }
}

const aprxs_kind aprxs_kind_Pool = {"APR::Pool", NULL, is_unused};

/* All threads share the process's own pool, which never ends: each thread has an object of its own. */
SV *aprxs_pool_reference(pTHX_ apr_pool_t *pool)
{
    void *known = NULL;
    const int is_global = !apr_pool_parent_get(pool);
    if (!is_global)
        apr_pool_userdata_get(&known, KEY, pool);
    if (known)
        return aprxs_reference(aTHX_ (aprxs_object *)known);
    SV *const reference = aprxs_new(aTHX_ &aprxs_kind_Pool, pool, NULL);
    aprxs_object *const object = aprxs_find(aTHX_ reference);
    if (is_global)
        object->flags = APRXS_GLOBAL;
    else
        watch(object);
    return reference;
}

SV *aprxs_pool_new(pTHX_ aprxs_object *parent, UV flags)
{
    apr_pool_t *pool = NULL;
    if (parent && (parent->flags & APRXS_CLOSING))
        croak("this pool is being destroyed: it cannot have a new subpool");
    if (apr_pool_create(&pool, parent ? parent->it : NULL) != APR_SUCCESS)
        aprxs_fail(aTHX_ APR_ENOPOOL, "APR::Pool::new");
    SV *const reference = aprxs_pool_reference(aTHX_ pool);
    aprxs_object *const object = aprxs_find(aTHX_ reference);
    object->flags = flags;
    if (parent)
        aprxs_settle(aTHX_ object, parent);
    return reference;
}

apr_pool_t *aprxs_scratch_pool(pTHX)
{
    apr_pool_t *pool = NULL;
    if (apr_pool_create(&pool, NULL) != APR_SUCCESS)
        aprxs_fail(aTHX_ APR_ENOPOOL, "APR::Pool::new");
    return pool;
}

SV *aprxs_native_pool(pTHX_ SV *parent)
{
    return aprxs_pool_new(aTHX_ parent ? aprxs_pool_get(aTHX_ parent, "parent") : NULL, 0);
}

void aprxs_end_pool(pTHX_ SV *pool)
{
    aprxs_object *const object = aprxs_find(aTHX_ pool);
    if (object && object->kind == &aprxs_kind_Pool && object->it)
        aprxs_pool_destroy(aTHX_ object);
}

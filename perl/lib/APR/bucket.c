/* Maps buckets to their Perl objects and back, so that the end of a bucket reaches its object, whatever
 * caused it. */
#include "xs.h"

#include "bucket.h"

/* Objects of buckets by the address of the bucket, objects of brigades by the address of the end mark. */
typedef struct {
    HV *objects;
} my_cxt_t;
#define MY_CXT_KEY "APR::Bucket::objects"
START_MY_CXT

void aprxs_boot_buckets(pTHX)
{
    MY_CXT_INIT;
    MY_CXT.objects = newHV();
}

void aprxs_clone_buckets(pTHX)
{
    MY_CXT_CLONE;
    MY_CXT.objects = newHV();
}

static aprxs_object *known(pTHX_ const void *address)
{
    dMY_CXT;
    SV **const slot = hv_fetch(MY_CXT.objects, (const char *)&address, sizeof address, 0);
    return slot ? INT2PTR(aprxs_object *, SvUV(*slot)) : NULL;
}

static void know(pTHX_ const void *address, aprxs_object *object)
{
    dMY_CXT;
    (void)hv_store(MY_CXT.objects, (const char *)&address, sizeof address, newSVuv(PTR2UV(object)), 0);
}

static void forget(pTHX_ const void *address)
{
    dMY_CXT;
    if (!PL_dirty || SvTYPE(MY_CXT.objects) == SVt_PVHV)
        (void)hv_delete(MY_CXT.objects, (const char *)&address, sizeof address, G_DISCARD);
}

int aprxs_is_end(pTHX_ const apr_bucket *bucket)
{
    aprxs_object *const object = known(aTHX_ bucket);
    return object && object->kind == &aprxs_kind_Brigade;
}

int aprxs_is_loose(const apr_bucket *bucket)
{
    return APR_BUCKET_NEXT(bucket) == bucket;
}

void aprxs_take_out(apr_bucket *bucket)
{
    APR_BUCKET_REMOVE(bucket);
    APR_BUCKET_INIT(bucket);
}

void aprxs_check_can_join(pTHX_ apr_bucket *bucket, apr_bucket_alloc_t *list)
{
    if (!aprxs_is_loose(bucket))
        croak("this bucket is in a brigade already; remove it from there first");
    if (bucket->list != list)
        croak("this bucket is of another APR::BucketAlloc than the brigade");
}

/* apr calls this at the end of a bucket that has an object. */
static void free_bucket(void *bucket)
{
    dTHX;
    aprxs_object *const object = known(aTHX_ bucket);
    if (object) {
        forget(aTHX_ bucket);
        object->it = NULL;
    }
    apr_bucket_free(bucket);
}

static void bucket_lost(pTHX_ aprxs_object *object)
{
    apr_bucket *const bucket = object->it;
    if (!aprxs_is_loose(bucket))
        APR_BUCKET_REMOVE(bucket);
    apr_bucket_destroy(bucket);
}

/* A bucket outside of brigades and without an object is unreachable: destroy it. */
static void bucket_unused(pTHX_ aprxs_object *object)
{
    apr_bucket *const bucket = object->it;
    forget(aTHX_ bucket);
    bucket->free = apr_bucket_free;
    if (aprxs_is_loose(bucket))
        apr_bucket_destroy(bucket);
}

const aprxs_kind aprxs_kind_Bucket = {"APR::Bucket", bucket_lost, bucket_unused};

SV *aprxs_bucket_reference(pTHX_ apr_bucket *bucket, aprxs_object *allocator)
{
    aprxs_object *const there = known(aTHX_ bucket);
    if (there)
        return aprxs_reference(aTHX_ there);
    SV *const reference = aprxs_new(aTHX_ &aprxs_kind_Bucket, bucket, allocator);
    know(aTHX_ bucket, aprxs_find(aTHX_ reference));
    bucket->free = free_bucket;
    return reference;
}

/* Brigades. */

static apr_bucket *end_of(apr_bucket_brigade *brigade)
{
    return APR_BRIGADE_SENTINEL(brigade);
}

static void brigade_lost(pTHX_ aprxs_object *object)
{
    forget(aTHX_ end_of(object->it));
}

void aprxs_brigade_destroy(pTHX_ aprxs_object *object)
{
    apr_bucket_brigade *const brigade = object->it;
    forget(aTHX_ end_of(brigade));
    object->it = NULL;
    apr_brigade_destroy(brigade);
}

/* Brigades that consist of one text. Most filters read a brigade as a stream, without its buckets; then no
 * pool is needed. */

enum { ITS_TEXT, ITS_MARK, ITS_REQUEST };

static SV *recipe_of(pTHX_ SV *text, int mark, SV *r)
{
    AV *const recipe = newAV();
    av_extend(recipe, ITS_REQUEST);
    av_store(recipe, ITS_TEXT, SvREFCNT_inc_simple(text));
    av_store(recipe, ITS_MARK, newSViv(mark));
    av_store(recipe, ITS_REQUEST, newSVsv(r));
    return (SV *)recipe;
}

/* Leaves mortal results, and the stack unchanged. */
static void ask_for_home(pTHX_ SV *r, SV **pool, SV **allocator)
{
    dSP;
    PUSHMARK(SP);
    XPUSHs(r);
    PUTBACK;
    const int count = call_pv("Cameleer::Filters::_home", G_LIST);
    SPAGAIN;
    *allocator = count == 2 ? POPs : &PL_sv_undef;
    *pool = count == 2 ? POPs : &PL_sv_undef;
    PUTBACK;
}

static void make_brigade(pTHX_ aprxs_object *object)
{
    AV *const recipe = (AV *)sv_2mortal(object->recipe);
    SV *const text = *av_fetch(recipe, ITS_TEXT, 1);
    const IV mark = SvIV(*av_fetch(recipe, ITS_MARK, 1));
    SV *pool, *allocator;
    object->recipe = NULL;
    ask_for_home(aTHX_ *av_fetch(recipe, ITS_REQUEST, 1), &pool, &allocator);
    aprxs_object *const home = aprxs_expect(aTHX_ pool, &aprxs_kind_Pool);
    aprxs_object *const list = aprxs_expect(aTHX_ allocator, &aprxs_kind_BucketAlloc);
    apr_bucket_brigade *const brigade = apr_brigade_create(home->it, list->it);
    object->it = brigade;
    object->also = SvREFCNT_inc(list->inner);
    aprxs_settle(aTHX_ object, home);
    know(aTHX_ end_of(brigade), object);
    if (SvPOK(text) && SvCUR(text))
        APR_BRIGADE_INSERT_TAIL(brigade, aprxs_sv_bucket(aTHX_ text, 0, SvCUR(text), list->it));
    if (mark != APRXS_NOTHING)
        APR_BRIGADE_INSERT_TAIL(brigade, mark == APRXS_EOS ? apr_bucket_eos_create(list->it) : apr_bucket_flush_create(list->it));
}

const aprxs_kind aprxs_kind_Brigade = {"APR::Brigade", brigade_lost, aprxs_brigade_destroy, make_brigade};

SV *aprxs_text_brigade(pTHX_ SV *text, int mark, SV *r)
{
    SV *const reference = aprxs_new(aTHX_ &aprxs_kind_Brigade, NULL, NULL);
    aprxs_find(aTHX_ reference)->recipe = recipe_of(aTHX_ text, mark, r);
    return reference;
}

/* Returns NULL for a brigade that has buckets, and for other objects. */
static AV *recipe_in(pTHX_ SV *brigade)
{
    aprxs_object *const object = aprxs_find(aTHX_ brigade);
    const int is_brigade = object && object->kind == &aprxs_kind_Brigade;
    return is_brigade ? (AV *)object->recipe : NULL;
}

SV *aprxs_brigade_text(pTHX_ SV *brigade, int *mark)
{
    AV *const recipe = recipe_in(aTHX_ brigade);
    if (!recipe)
        return NULL;
    *mark = (int)SvIV(*av_fetch(recipe, ITS_MARK, 1));
    return *av_fetch(recipe, ITS_TEXT, 1);
}

void aprxs_empty_brigade(pTHX_ SV *brigade)
{
    AV *const recipe = recipe_in(aTHX_ brigade);
    aprxs_object *const object = aprxs_find(aTHX_ brigade);
    if (recipe) {
        av_store(recipe, ITS_TEXT, newSVpvs(""));
        av_store(recipe, ITS_MARK, newSViv(APRXS_NOTHING));
    } else if (object && object->kind == &aprxs_kind_Brigade && object->it) {
        apr_brigade_cleanup(object->it);
    }
}

SV *aprxs_brigade_reference(pTHX_ apr_bucket_brigade *brigade, aprxs_object *pool, SV *allocator)
{
    SV *const reference = aprxs_new(aTHX_ &aprxs_kind_Brigade, brigade, pool);
    aprxs_object *const object = aprxs_find(aTHX_ reference);
    object->also = SvREFCNT_inc(allocator);
    know(aTHX_ end_of(brigade), object);
    return reference;
}

/* Allocators. */

static aprxs_object *a_brigade_of(pTHX_ apr_bucket_alloc_t *list)
{
    dMY_CXT;
    HE *entry;
    hv_iterinit(MY_CXT.objects);
    while ((entry = hv_iternext(MY_CXT.objects))) {
        aprxs_object *const object = INT2PTR(aprxs_object *, SvUV(HeVAL(entry)));
        if (object->kind == &aprxs_kind_Brigade && ((apr_bucket_brigade *)object->it)->bucket_alloc == list)
            return object;
    }
    return NULL;
}

/* Registered after apr's own cleanup, so that it runs while the allocator's memory still exists. */
static apr_status_t allocator_ends(void *data)
{
    dTHX;
    aprxs_object *const object = data;
    apr_bucket_alloc_t *const list = object->it;
    aprxs_object *brigade;
    while ((brigade = a_brigade_of(aTHX_ list)))
        aprxs_brigade_destroy(aTHX_ brigade);
    aprxs_lose(aTHX_ object);
    return APR_SUCCESS;
}

void aprxs_allocator_destroy(pTHX_ aprxs_object *object)
{
    apr_bucket_alloc_t *const list = object->it;
    aprxs_object *const home = aprxs_home(aTHX_ object);
    if (home && home->it)
        apr_pool_cleanup_kill(home->it, object, allocator_ends);
    allocator_ends(object);
    apr_bucket_alloc_destroy(list);
}

const aprxs_kind aprxs_kind_BucketAlloc = {"APR::BucketAlloc", NULL, aprxs_allocator_destroy};

SV *aprxs_allocator_new(pTHX_ aprxs_object *pool)
{
    apr_bucket_alloc_t *const list = apr_bucket_alloc_create(pool->it);
    SV *const reference = aprxs_new(aTHX_ &aprxs_kind_BucketAlloc, list, pool);
    apr_pool_cleanup_register(pool->it, aprxs_find(aTHX_ reference), allocator_ends, apr_pool_cleanup_null);
    return reference;
}

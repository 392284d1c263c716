#include "xs.h"

#include "bucket.h"

enum { NEXT, PREV };

static apr_bucket_brigade *brigade_of(aprxs_object *object)
{
    return object->it;
}

/* The Perl object of a bucket; undef for the end of the brigade. */
static SV *reference(pTHX_ aprxs_object *brigade, apr_bucket *bucket)
{
    if (bucket == APR_BRIGADE_SENTINEL(brigade_of(brigade)))
        return newSV(0);
    return aprxs_bucket_reference(aTHX_ bucket, aprxs_behind(aTHX_ brigade->also));
}

/* The next or previous bucket; `from` must be in this brigade. */
static apr_bucket *step(pTHX_ aprxs_object *brigade, apr_bucket *from, I32 which)
{
    if (aprxs_is_loose(from))
        croak("this bucket is in no brigade: it was removed");
    apr_bucket *const to = which == NEXT ? APR_BUCKET_NEXT(from) : APR_BUCKET_PREV(from);
    if (to != APR_BRIGADE_SENTINEL(brigade_of(brigade)) && aprxs_is_end(aTHX_ to))
        croak("this bucket is in another brigade");
    return to;
}

static int has(apr_bucket_brigade *brigade, const apr_bucket *wanted)
{
    for (apr_bucket *at = APR_BRIGADE_FIRST(brigade); at != APR_BRIGADE_SENTINEL(brigade); at = APR_BUCKET_NEXT(at))
        if (at == wanted)
            return 1;
    return 0;
}

/* A bucket that cannot be copied directly can be copied once it was read. */
static apr_status_t copy_of(apr_bucket *from, apr_bucket **copy)
{
    const char *bytes;
    apr_size_t length;
    apr_status_t status = apr_bucket_copy(from, copy);
    if (status != APR_ENOTIMPL)
        return status;
    status = apr_bucket_read(from, &bytes, &length, APR_BLOCK_READ);
    return status == APR_SUCCESS ? apr_bucket_copy(from, copy) : status;
}

/* Removes the buckets before `end` and returns their bytes. */
static SV *taken(pTHX_ CV *cv, apr_bucket_brigade *brigade, const apr_bucket *end)
{
    const char *bytes;
    apr_size_t length;
    SV *const text = sv_2mortal(newSVpvs(""));
    while (APR_BRIGADE_FIRST(brigade) != end) {
        apr_bucket *const bucket = APR_BRIGADE_FIRST(brigade);
        if (!APR_BUCKET_IS_METADATA(bucket)) {
            aprxs_check(aTHX_ cv, apr_bucket_read(bucket, &bytes, &length, APR_BLOCK_READ));
            sv_catpvn(text, bytes, length);
        }
        apr_bucket_delete(bucket);
    }
    SvTAINTED_on(text);
    return SvREFCNT_inc(text);
}

/* The bucket behind the first line feed, or the end of the brigade. */
static apr_bucket *behind_line(pTHX_ CV *cv, apr_bucket_brigade *brigade)
{
    const char *bytes;
    apr_size_t length;
    for (apr_bucket *at = APR_BRIGADE_FIRST(brigade); at != APR_BRIGADE_SENTINEL(brigade); at = APR_BUCKET_NEXT(at)) {
        if (APR_BUCKET_IS_METADATA(at))
            continue;
        aprxs_check(aTHX_ cv, apr_bucket_read(at, &bytes, &length, APR_BLOCK_READ));
        const char *const feed = memchr(bytes, '\n', length);
        if (!feed)
            continue;
        if (feed + 1 < bytes + length)
            aprxs_check(aTHX_ cv, apr_bucket_split(at, (apr_size_t)(feed + 1 - bytes)));
        return APR_BUCKET_NEXT(at);
    }
    return APR_BRIGADE_SENTINEL(brigade);
}

/* The bucket after `count` bytes; for -1, the bucket after the first one with bytes. */
static apr_bucket *behind_bytes(pTHX_ CV *cv, apr_bucket_brigade *brigade, IV count)
{
    const char *bytes;
    apr_size_t length = 0;
    apr_bucket *at = APR_BRIGADE_FIRST(brigade);
    if (count >= 0) {
        const apr_status_t status = apr_brigade_partition(brigade, count, &at);
        if (status != APR_INCOMPLETE)
            aprxs_check(aTHX_ cv, status);
        return at;
    }
    for (; at != APR_BRIGADE_SENTINEL(brigade) && !length; at = APR_BUCKET_NEXT(at))
        if (!APR_BUCKET_IS_METADATA(at))
            aprxs_check(aTHX_ cv, apr_bucket_read(at, &bytes, &length, APR_BLOCK_READ));
    return at;
}

MODULE = APR::Brigade    PACKAGE = APR::Brigade

SV *
new(CLASS, p, list)
    SV *CLASS
    PoolOf p
    BucketAlloc list
  CODE:
    PERL_UNUSED_VAR(CLASS);
    RETVAL = aprxs_brigade_reference(aTHX_ apr_brigade_create(p->it, list->it), p, list->inner);
  OUTPUT:
    RETVAL

SV *
pool(brigade)
    Brigade brigade
  ALIAS:
    bucket_alloc = 1
  CODE:
    RETVAL = newRV_inc(ix ? brigade->also : brigade->home);
  OUTPUT:
    RETVAL

void
insert_head(brigade, b)
    Brigade brigade
    Bucket b
  ALIAS:
    insert_tail = 1
  CODE:
    apr_bucket_brigade *const bb = brigade->it;
    apr_bucket *const bucket = b->it;
    aprxs_check_can_join(aTHX_ bucket, bb->bucket_alloc);
    if (ix)
        APR_BRIGADE_INSERT_TAIL(bb, bucket);
    else
        APR_BRIGADE_INSERT_HEAD(bb, bucket);

void
concat(a, b)
    Brigade a
    Brigade b
  CODE:
    /* The conversion of b may have run code that destroyed a. */
    a = aprxs_get(aTHX_ cv, ST(0), &aprxs_kind_Brigade, "a");
    if (a == b)
        croak("a brigade cannot be joined to itself");
    if (brigade_of(a)->bucket_alloc != brigade_of(b)->bucket_alloc)
        croak("these brigades have different APR::BucketAllocs");
    APR_BRIGADE_CONCAT(brigade_of(a), brigade_of(b));

SV *
first(brigade)
    Brigade brigade
  ALIAS:
    last = 1
  CODE:
    apr_bucket_brigade *const bb = brigade->it;
    RETVAL = reference(aTHX_ brigade, ix ? APR_BRIGADE_LAST(bb) : APR_BRIGADE_FIRST(bb));
  OUTPUT:
    RETVAL

SV *
next(brigade, bucket)
    Brigade brigade
    Bucket bucket
  ALIAS:
    next = NEXT
    prev = PREV
  CODE:
    RETVAL = reference(aTHX_ brigade, step(aTHX_ brigade, bucket->it, ix));
  OUTPUT:
    RETVAL

int
is_empty(brigade)
    Brigade brigade
  CODE:
    RETVAL = APR_BRIGADE_EMPTY(brigade_of(brigade));
  OUTPUT:
    RETVAL

SV *
split(b, e)
    Brigade b
    Bucket e
  CODE:
    if (!has(b->it, e->it))
        croak("this bucket is not in the brigade that is to be split");
    RETVAL = aprxs_brigade_reference(aTHX_ apr_brigade_split(b->it, e->it), aprxs_home(aTHX_ b), b->also);
  OUTPUT:
    RETVAL

IV
length(b)
    Brigade b
  CODE:
    apr_off_t length = 0;
    aprxs_check(aTHX_ cv, apr_brigade_length(b->it, 1, &length));
    RETVAL = (IV)length;
  OUTPUT:
    RETVAL

IV
flatten(...)
  CODE:
    aprxs_object *const object = items > 1 ? aprxs_find(aTHX_ ST(0)) : NULL;
    if (!object || object->kind != &aprxs_kind_Brigade || items > 3)
        croak("usage: $bb->flatten($buf, [$wanted])");
    const IV wanted = items == 3 && SvOK(ST(2)) ? SvIV(ST(2)) : -1;
    apr_bucket_brigade *const brigade = aprxs_get(aTHX_ cv, ST(0), &aprxs_kind_Brigade, "bb")->it;
    apr_off_t there = 0;
    aprxs_check(aTHX_ cv, apr_brigade_length(brigade, 1, &there));
    apr_size_t length = wanted >= 0 && wanted < there ? (apr_size_t)wanted : (apr_size_t)there;
    SV *const room = aprxs_room(aTHX_ cv, length);
    if (length)
        aprxs_check(aTHX_ cv, apr_brigade_flatten(brigade, SvPVX(room), &length));
    aprxs_hand_over(aTHX_ room, length, ST(1));
    RETVAL = (IV)length;
  OUTPUT:
    RETVAL

void
cleanup(brigade)
    Brigade brigade
  CODE:
    aprxs_check(aTHX_ cv, apr_brigade_cleanup(brigade->it));

void
destroy(brigade)
    Brigade brigade
  CODE:
    aprxs_brigade_destroy(aTHX_ brigade);

# For APR::Request: a new brigade with the same content.
SV *
_copy(brigade)
    Brigade brigade
  CODE:
    apr_bucket_brigade *const from = brigade->it;
    apr_bucket_brigade *const to = apr_brigade_create(from->p, from->bucket_alloc);
    RETVAL = sv_2mortal(aprxs_brigade_reference(aTHX_ to, aprxs_home(aTHX_ brigade), brigade->also));
    for (apr_bucket *at = APR_BRIGADE_FIRST(from); at != APR_BRIGADE_SENTINEL(from); at = APR_BUCKET_NEXT(at)) {
        apr_bucket *copy;
        aprxs_check(aTHX_ cv, copy_of(at, &copy));
        APR_BRIGADE_INSERT_TAIL(to, copy);
    }
    SvREFCNT_inc(RETVAL);
  OUTPUT:
    RETVAL

# For APR::Request: `length` bytes of a file, read when the buckets are read.
void
_insert_file(brigade, name, length)
    UV length
    Brigade brigade
    SV *name
  CODE:
    const aprxs_text path = aprxs_text_of(aTHX_ name);
    apr_bucket_brigade *const bb = (brigade = aprxs_get(aTHX_ cv, ST(0), &aprxs_kind_Brigade, "brigade"))->it;
    apr_file_t *file;
    aprxs_check(aTHX_ cv, apr_file_open(&file, path.bytes, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_OS_DEFAULT, bb->p));
    /* The file is not mapped into memory: truncating it would kill the process. */
    apr_bucket_file_enable_mmap(apr_brigade_insert_file(bb, file, 0, (apr_off_t)length, bb->p), 0);

# Removes and returns `count` bytes, or the first bucket's (-1), or a line; undef for an empty brigade.
SV *
_take(brigade, count)
    IV count
    Brigade brigade
  CODE:
    apr_bucket_brigade *const bb = brigade->it;
    if (APR_BRIGADE_EMPTY(bb))
        XSRETURN_UNDEF;
    RETVAL = taken(aTHX_ cv, bb, behind_bytes(aTHX_ cv, bb, count));
  OUTPUT:
    RETVAL

SV *
_line(brigade)
    Brigade brigade
  CODE:
    apr_bucket_brigade *const bb = brigade->it;
    if (APR_BRIGADE_EMPTY(bb))
        XSRETURN_UNDEF;
    RETVAL = taken(aTHX_ cv, bb, behind_line(aTHX_ cv, bb));
  OUTPUT:
    RETVAL

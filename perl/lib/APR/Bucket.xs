#include "xs.h"

#include "bucket.h"

/* Plain variables are referenced; variables with magic, or without bytes of their own, are copied. */
static SV *kept(pTHX_ SV *sv)
{
    if (SvPOK(sv) && !SvROK(sv) && !SvMAGICAL(sv) && !SvUTF8(sv) && !SvPADTMP(sv) && !SvTEMP(sv))
        return sv;
    const aprxs_text text = aprxs_text_of(aTHX_ sv);
    return newSVpvn_flags(text.bytes, text.length, SVs_TEMP);
}

/* The bucket beside which another one is inserted: it must be in a brigade. */
static apr_bucket *neighbour(pTHX_ aprxs_object *object)
{
    apr_bucket *const bucket = object->it;
    if (aprxs_is_loose(bucket))
        croak("this bucket is in no brigade: nothing can be inserted beside it");
    return bucket;
}

static void destroy(apr_bucket *bucket)
{
    if (!aprxs_is_loose(bucket))
        APR_BUCKET_REMOVE(bucket);
    apr_bucket_destroy(bucket);
}

MODULE = APR::Bucket    PACKAGE = APR::Bucket

SV *
new(classname, list, sv, offset = 0, len = 0)
    SV *classname
    BucketAlloc list
    SV *sv
    IV offset
    IV len
  CODE:
    PERL_UNUSED_VAR(classname);
    SV *const own = kept(aTHX_ sv);
    const IV full = (IV)SvCUR(own);
    if (offset < 0 || offset > full)
        croak("APR::Bucket::new: the offset argument can't be negative or bigger than the total buffer length");
    if (len < 0 || len > full - offset)
        croak("APR::Bucket::new: the length argument can't be bigger than the total buffer length minus offset");
    /* The conversion of a text may have run code that destroyed the allocator. */
    list = aprxs_get(aTHX_ cv, ST(1), &aprxs_kind_BucketAlloc, "list");
    RETVAL = aprxs_bucket_reference(aTHX_ aprxs_sv_bucket(aTHX_ own, offset, len ? len : full - offset, list->it), list);
  OUTPUT:
    RETVAL

SV *
eos_create(list)
    BucketAlloc list
  ALIAS:
    flush_create = 1
  CODE:
    apr_bucket *const bucket = ix ? apr_bucket_flush_create(list->it) : apr_bucket_eos_create(list->it);
    RETVAL = aprxs_bucket_reference(aTHX_ bucket, list);
  OUTPUT:
    RETVAL

IV
read(bucket, buffer, block = APR_BLOCK_READ)
    SV *buffer
    Bucket bucket
    IV block
  CODE:
    bucket = aprxs_get(aTHX_ cv, ST(0), &aprxs_kind_Bucket, "bucket");
    const char *bytes = "";
    apr_size_t length = 0;
    const apr_status_t status =
        apr_bucket_read((apr_bucket *)bucket->it, &bytes, &length, block == APR_NONBLOCK_READ ? APR_NONBLOCK_READ : APR_BLOCK_READ);
    if (!APR_STATUS_IS_EOF(status))
        aprxs_check(aTHX_ cv, status);
    SV *const room = aprxs_room(aTHX_ cv, length);
    memcpy(SvPVX(room), bytes, length);
    aprxs_hand_over(aTHX_ room, length, buffer);
    RETVAL = (IV)length;
  OUTPUT:
    RETVAL

IV
length(bucket)
    Bucket bucket
  ALIAS:
    length = 0   start = 1   data = 2
  CODE:
    const apr_bucket *const it = bucket->it;
    RETVAL = ix == 0 ? (IV)it->length : ix == 1 ? (IV)it->start : PTR2IV(it->data);
  OUTPUT:
    RETVAL

SV *
type(bucket)
    Bucket bucket
  CODE:
    RETVAL = aprxs_new(aTHX_ &aprxs_kind_BucketType, (void *)((apr_bucket *)bucket->it)->type, NULL);
  OUTPUT:
    RETVAL

int
is_eos(bucket)
    Bucket bucket
  ALIAS:
    is_flush = 1
  CODE:
    const apr_bucket *const it = bucket->it;
    RETVAL = ix ? APR_BUCKET_IS_FLUSH(it) : APR_BUCKET_IS_EOS(it);
  OUTPUT:
    RETVAL

void
insert_after(a, b)
    Bucket a
    Bucket b
  ALIAS:
    insert_before = 1
  CODE:
    apr_bucket *const there = neighbour(aTHX_ a);
    apr_bucket *const added = b->it;
    aprxs_check_can_join(aTHX_ added, there->list);
    if (ix)
        APR_BUCKET_INSERT_BEFORE(there, added);
    else
        APR_BUCKET_INSERT_AFTER(there, added);

void
remove(bucket)
    Bucket bucket
  CODE:
    if (!aprxs_is_loose(bucket->it))
        aprxs_take_out(bucket->it);

void
destroy(bucket)
    Bucket bucket
  ALIAS:
    delete = 1
  CODE:
    PERL_UNUSED_VAR(ix);
    destroy(bucket->it);

IV
setaside(bucket, p)
    Bucket bucket
    PoolOf p
  CODE:
    RETVAL = apr_bucket_setaside((apr_bucket *)bucket->it, p->it);
    if (GIMME_V == G_VOID)
        aprxs_check(aTHX_ cv, (apr_status_t)RETVAL);
  OUTPUT:
    RETVAL

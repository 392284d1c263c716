/* Bucket and brigade objects: the interface between bucket.c and the methods. */
#ifndef APR_BUCKET_H
#define APR_BUCKET_H

#include <apr_buckets.h>

void aprxs_boot_buckets(pTHX);
void aprxs_clone_buckets(pTHX);

SV *aprxs_allocator_new(pTHX_ aprxs_object *pool);
/* Empties the brigades that have buckets of this allocator, destroys the buckets, and frees the allocator. */
void aprxs_allocator_destroy(pTHX_ aprxs_object *allocator);

/* The object of a bucket; creates one if necessary. */
SV *aprxs_bucket_reference(pTHX_ apr_bucket *bucket, aprxs_object *allocator);
/* Makes a bucket over a scalar. */
apr_bucket *aprxs_sv_bucket(pTHX_ SV *sv, size_t offset, size_t length, apr_bucket_alloc_t *list);
int aprxs_is_loose(const apr_bucket *bucket);
void aprxs_take_out(apr_bucket *bucket);
/* Croaks unless the bucket is in no brigade and belongs to this allocator. */
void aprxs_check_can_join(pTHX_ apr_bucket *bucket, apr_bucket_alloc_t *list);

SV *aprxs_brigade_reference(pTHX_ apr_bucket_brigade *brigade, aprxs_object *pool, SV *allocator);
void aprxs_brigade_destroy(pTHX_ aprxs_object *object);
/* Whether the bucket is the end mark of a brigade. */
int aprxs_is_end(pTHX_ const apr_bucket *bucket);

#endif

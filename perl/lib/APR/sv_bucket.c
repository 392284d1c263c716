/* Buckets over scalars. The bytes are not copied: changes to the scalar change the bucket, until setaside
 * copies them. */
#include "xs.h"

#include "bucket.h"

typedef struct {
    apr_bucket_refcount refcount; /* must be first, for apr's functions for shared data */
    SV *sv;
} ScalarData;

/* A DESTROY of the scalar runs at the end of the statement: it may change a brigade that is being walked. In
 * the interpreter's final destruction there is no statement. */
static void destroy(void *data)
{
    ScalarData *const scalar = data;
    if (apr_bucket_shared_destroy(scalar)) {
        dTHX;
        if (PL_phase == PERL_PHASE_DESTRUCT)
            SvREFCNT_dec(scalar->sv);
        else
            sv_2mortal(scalar->sv);
        apr_bucket_free(scalar);
    }
}

/* The program may have replaced the value by an object since: reading must not run the object's code. */
static apr_status_t read_scalar(apr_bucket *bucket, const char **bytes, apr_size_t *length, apr_read_type_e block)
{
    dTHX;
    SV *const sv = ((ScalarData *)bucket->data)->sv;
    PERL_UNUSED_VAR(block);
    if (!SvPOK(sv) || SvCUR(sv) < (size_t)bucket->start + bucket->length)
        return APR_EGENERAL;
    *bytes = SvPVX(sv) + bucket->start;
    *length = bucket->length;
    return APR_SUCCESS;
}

static apr_status_t set_aside(apr_bucket *bucket, apr_pool_t *pool)
{
    ScalarData *const scalar = bucket->data;
    const char *bytes;
    apr_size_t length;
    const apr_status_t status = read_scalar(bucket, &bytes, &length, APR_BLOCK_READ);
    PERL_UNUSED_VAR(pool);
    if (status != APR_SUCCESS)
        return status;
    if (!apr_bucket_heap_make(bucket, bytes, length, NULL))
        return APR_ENOMEM;
    destroy(scalar);
    return APR_SUCCESS;
}

/* mod_perl's name of this type, for $bucket->type->name. */
static const apr_bucket_type_t SCALAR = {
    "mod_perl SV bucket", 5, APR_BUCKET_DATA, destroy, read_scalar, set_aside, apr_bucket_shared_split, apr_bucket_shared_copy,
};

apr_bucket *aprxs_sv_bucket(pTHX_ SV *sv, size_t offset, size_t length, apr_bucket_alloc_t *list)
{
    apr_bucket *const bucket = apr_bucket_alloc(sizeof *bucket, list);
    ScalarData *const scalar = apr_bucket_alloc(sizeof *scalar, list);
    APR_BUCKET_INIT(bucket);
    bucket->free = apr_bucket_free;
    bucket->list = list;
    bucket->type = &SCALAR;
    scalar->sv = SvREFCNT_inc(sv);
    return apr_bucket_shared_make(bucket, scalar, (apr_off_t)offset, length);
}

#include "xs.h"

#include "bucket.h"

const aprxs_kind aprxs_kind_BucketType = {"APR::BucketType", NULL, NULL};

MODULE = APR::BucketType    PACKAGE = APR::BucketType

SV *
name(type)
    BucketType type
  CODE:
    RETVAL = aprxs_sv_of(aTHX_ ((const apr_bucket_type_t *)type->it)->name);
  OUTPUT:
    RETVAL

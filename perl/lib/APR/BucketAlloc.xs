#include "xs.h"

#include "bucket.h"

MODULE = APR::BucketAlloc    PACKAGE = APR::BucketAlloc

SV *
new(classname, p)
    SV *classname
    PoolOf p
  CODE:
    PERL_UNUSED_VAR(classname);
    RETVAL = aprxs_allocator_new(aTHX_ p);
  OUTPUT:
    RETVAL

void
destroy(list)
    BucketAlloc list
  CODE:
    aprxs_allocator_destroy(aTHX_ list);

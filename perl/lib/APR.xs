#include "APR/xs.h"

#include <apr_general.h>

#include "APR/bucket.h"
#include "APR/pool.h"

#define PACKAGES(each)                                                                                                                     \
    each(APR__Base64) each(APR__Brigade) each(APR__Bucket) each(APR__BucketAlloc) each(APR__BucketType) each(APR__Const)                   \
    each(APR__Date) each(APR__Error) each(APR__Finfo) each(APR__IpSubnet) each(APR__OS) each(APR__PerlIO) each(APR__Pool)                  \
    each(APR__SockAddr) each(APR__Socket) each(APR__Status) each(APR__String) each(APR__Table) each(APR__ThreadMutex)                      \
    each(APR__ThreadRWLock) each(APR__URI) each(APR__UUID) each(APR__Util)

#define DECLARE(name) XS_EXTERNAL(boot_##name);
PACKAGES(DECLARE)

static void boot(pTHX_ CV *cv, XSUBADDR_t function)
{
    dSP;
    PUSHMARK(SP);
    function(aTHX_ cv);
    SPAGAIN;
    PL_stack_sp = SP;
}

/* apr calls this when an allocation fails, before it has changed anything. */
static int out_of_memory(int status)
{
    dTHX;
    PERL_UNUSED_VAR(status);
    croak("apr: out of memory");
    return 0;
}

/* Pools below the global pool inherit its abort function. */
static void set_abort(void)
{
    apr_pool_t *pool = NULL;
    if (apr_pool_create(&pool, NULL) != APR_SUCCESS)
        return;
    apr_pool_abort_set(out_of_memory, apr_pool_parent_get(pool));
    apr_pool_destroy(pool);
}

static const aprxs_api API = {aprxs_table_over, aprxs_native_pool, aprxs_end_pool, aprxs_address, aprxs_socket, aprxs_fail,
                               aprxs_text_brigade, aprxs_brigade_text, aprxs_empty_brigade};

/* The only symbol that APR.so exports. */
__attribute__((visibility("default"))) XS_EXTERNAL(boot_Cameleer__APR);

MODULE = Cameleer::APR    PACKAGE = APR

BOOT:
{
    if (apr_initialize() != APR_SUCCESS)
        croak("the Apache Portable Runtime does not start");
    set_abort();
    aprxs_boot_pool(aTHX);
    aprxs_boot_buckets(aTHX);
    (void)hv_stores(PL_modglobal, APRXS_API, newSViv(PTR2IV(&API)));
#define BOOT_IT(name) boot(aTHX_ cv, boot_##name);
    PACKAGES(BOOT_IT)
}

void
CLONE(...)
  CODE:
    PERL_UNUSED_VAR(items);
    aprxs_clone_pool(aTHX);
    aprxs_clone_buckets(aTHX);

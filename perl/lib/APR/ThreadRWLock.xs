#include "xs.h"

#include <apr_thread_rwlock.h>

static void destroy(pTHX_ aprxs_object *object)
{
    apr_thread_rwlock_destroy(object->it);
}

/* The pool's cleanup destroys a lock that is left. */
const aprxs_kind aprxs_kind_ThreadRWLock = {"APR::ThreadRWLock", NULL, destroy};

enum { RDLOCK, TRYRDLOCK, WRLOCK, TRYWRLOCK, UNLOCK };

MODULE = APR::ThreadRWLock    PACKAGE = APR::ThreadRWLock

SV *
new(classname, p)
    SV *classname
    PoolOf p
  CODE:
    apr_thread_rwlock_t *lock = NULL;
    PERL_UNUSED_VAR(classname);
    aprxs_check(aTHX_ cv, apr_thread_rwlock_create(&lock, p->it));
    RETVAL = aprxs_new(aTHX_ &aprxs_kind_ThreadRWLock, lock, p);
  OUTPUT:
    RETVAL

IV
rdlock(rwlock)
    ThreadRWLock rwlock
  ALIAS:
    rdlock = RDLOCK   tryrdlock = TRYRDLOCK   wrlock = WRLOCK   trywrlock = TRYWRLOCK   unlock = UNLOCK
  CODE:
    switch (ix) {
    case RDLOCK: RETVAL = apr_thread_rwlock_rdlock(rwlock->it); break;
    case TRYRDLOCK: RETVAL = apr_thread_rwlock_tryrdlock(rwlock->it); break;
    case WRLOCK: RETVAL = apr_thread_rwlock_wrlock(rwlock->it); break;
    case TRYWRLOCK: RETVAL = apr_thread_rwlock_trywrlock(rwlock->it); break;
    default: RETVAL = apr_thread_rwlock_unlock(rwlock->it);
    }
  OUTPUT:
    RETVAL

SV *
pool_get(rwlock)
    ThreadRWLock rwlock
  CODE:
    RETVAL = newRV_inc(rwlock->home);
  OUTPUT:
    RETVAL

#include "xs.h"

#include <apr_thread_mutex.h>

static void destroy(pTHX_ aprxs_object *object)
{
    apr_thread_mutex_destroy(object->it);
}

/* The pool's cleanup destroys a mutex that is left. */
const aprxs_kind aprxs_kind_ThreadMutex = {"APR::ThreadMutex", NULL, destroy};

enum { LOCK, TRYLOCK, UNLOCK };

MODULE = APR::ThreadMutex    PACKAGE = APR::ThreadMutex

SV *
new(classname, p, flags = 0)
    SV *classname
    PoolOf p
    UV flags
  CODE:
    apr_thread_mutex_t *mutex = NULL;
    PERL_UNUSED_VAR(classname);
    p = aprxs_expect(aTHX_ ST(1), &aprxs_kind_Pool);
    aprxs_check(aTHX_ cv, apr_thread_mutex_create(&mutex, (unsigned)flags, p->it));
    RETVAL = aprxs_new(aTHX_ &aprxs_kind_ThreadMutex, mutex, p);
  OUTPUT:
    RETVAL

IV
lock(mutex)
    ThreadMutex mutex
  ALIAS:
    lock = LOCK   trylock = TRYLOCK   unlock = UNLOCK
  CODE:
    RETVAL = ix == LOCK      ? apr_thread_mutex_lock(mutex->it)
             : ix == TRYLOCK ? apr_thread_mutex_trylock(mutex->it)
                             : apr_thread_mutex_unlock(mutex->it);
  OUTPUT:
    RETVAL

SV *
pool_get(mutex)
    ThreadMutex mutex
  CODE:
    RETVAL = newRV_inc(mutex->home);
  OUTPUT:
    RETVAL

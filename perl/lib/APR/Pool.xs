#include "xs.h"

#include <apr_strings.h>

#include "pool.h"

typedef struct {
    SV *code;
    SV *argument; /* NULL: no argument */
} Cleanup;

/* The Perl half catches exceptions: a longjmp must not cross apr, which is ending the pool. */
static apr_status_t run(void *data)
{
    dTHX;
    Cleanup *const cleanup = data;
    dSP;
    ENTER;
    SAVETMPS;
    save_scalar(PL_errgv);
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(sv_2mortal(cleanup->code));
    if (cleanup->argument)
        PUSHs(sv_2mortal(cleanup->argument));
    PUTBACK;
    call_pv("APR::Pool::_run_cleanup", G_VOID | G_DISCARD | G_EVAL);
    FREETMPS;
    LEAVE;
    return APR_SUCCESS;
}

/* Longest name of a sub, in bytes: perl's lookup of a long name takes memory by the square of its packages. */
enum { MAX_NAME_BYTES = 4096 };

/* A name without a package belongs to the calling package. */
static SV *code_of(pTHX_ SV *code)
{
    if (SvROK(code))
        return newSVsv(code);
    STRLEN length;
    const char *const name = SvPV(code, length);
    if (length > MAX_NAME_BYTES)
        croak("APR::Pool::cleanup_register: expected code or the name of a sub, got a text of %lu bytes", (unsigned long)length);
    if (memchr(name, ':', length) || memchr(name, '\'', length))
        return newSVsv(code);
    return newSVpvf("%s::%s", CopSTASHPV(PL_curcop), name);
}

static aprxs_object *parent_of(pTHX_ SV *sv)
{
    aprxs_object *const object = aprxs_find(aTHX_ sv);
    if (SvROK(sv) && (!object || object->kind != &aprxs_kind_Pool))
        croak("parent_pool_obj is not of type APR::Pool");
    /* A destroyed parent counts as none. */
    return object && object->it ? object : NULL;
}

MODULE = APR::Pool    PACKAGE = APR::Pool    PREFIX = pool_

SV *
new(parent_pool_obj)
    SV *parent_pool_obj
  CODE:
    RETVAL = aprxs_pool_new(aTHX_ parent_of(aTHX_ parent_pool_obj), APRXS_OWNED);
    if (!SvROK(parent_pool_obj) && sv_derived_from(parent_pool_obj, "APR::Pool"))
        sv_bless(RETVAL, gv_stashsv(parent_pool_obj, GV_ADD));
  OUTPUT:
    RETVAL

SV *
_native(parent)
    SV *parent
  CODE:
    RETVAL = aprxs_native_pool(aTHX_ SvOK(parent) ? parent : NULL);
  OUTPUT:
    RETVAL

void
_end(pool)
    SV *pool
  CODE:
    aprxs_end_pool(aTHX_ pool);

void
destroy(obj)
    SV *obj
  ALIAS:
    DESTROY = 1
  CODE:
    aprxs_object *const object = aprxs_find(aTHX_ obj);
    const int is_pool = object && object->kind == &aprxs_kind_Pool;
    if (!is_pool && !ix)
        croak("obj is not of type APR::Pool");
    if (is_pool && object->it && (object->flags & APRXS_OWNED))
        aprxs_pool_destroy(aTHX_ object);

void
clear(obj)
    Pool obj
  CODE:
    /* Only the server clears its own pools. */
    if ((obj->flags & APRXS_OWNED) && !aprxs_pool_clear(aTHX_ obj))
        croak("this pool, or one of its subpools, is being destroyed: it cannot be cleared");

void
cleanup_register(p, cv, arg = NULL)
    Pool p
    SV *cv
    SV *arg
  CODE:
    SV *const code = sv_2mortal(code_of(aTHX_ cv));
    SV *const argument = arg ? sv_mortalcopy(arg) : NULL;
    /* The conversion of the name may have run code that destroyed the pool. */
    p = aprxs_pool_get(aTHX_ ST(0), "p");
    Cleanup *const cleanup = apr_palloc(p->it, sizeof *cleanup);
    cleanup->code = SvREFCNT_inc(code);
    cleanup->argument = SvREFCNT_inc(argument);
    apr_pool_cleanup_register(p->it, cleanup, run, apr_pool_cleanup_null);

int
is_ancestor(a, b)
    Pool a
    Pool b
  CODE:
    RETVAL = apr_pool_is_ancestor(a->it, b->it);
  OUTPUT:
    RETVAL

SV *
parent_get(child_pool)
    Pool child_pool
  CODE:
    apr_pool_t *const parent = apr_pool_parent_get(child_pool->it);
    RETVAL = parent ? aprxs_pool_reference(aTHX_ parent) : newSV(0);
  OUTPUT:
    RETVAL

void
tag(pool, tag)
    Pool pool
    SV *tag
  CODE:
    SV *const name = sv_2mortal(newSV(0));
    if (SvOK(tag)) {
        const aprxs_text text = aprxs_text_of(aTHX_ tag);
        sv_setpvn(name, text.bytes, text.length);
    }
    pool = aprxs_pool_get(aTHX_ ST(0), "pool");
    /* apr stores the pointer, so the text must live in the pool. */
    apr_pool_tag(pool->it, aprxs_string_in(aTHX_ pool->it, name));

void
cleanup_for_exec(...)
  CODE:
    /* exec itself closes the descriptors of pools. apr's function is not called: it would drop the cleanups of every
     * pool of the process, and objects would not be notified of the end of their pool. */
    PERL_UNUSED_VAR(items);

#include "xs.h"

static void leave_home(aprxs_object *object)
{
    if (!object->slot)
        return;
    *object->slot = object->next;
    if (object->next)
        object->next->slot = object->slot;
    object->next = NULL;
    object->slot = NULL;
}

void aprxs_settle(pTHX_ aprxs_object *object, aprxs_object *home)
{
    object->home = SvREFCNT_inc_simple(home->inner);
    object->next = home->first;
    object->slot = &home->first;
    if (object->next)
        object->next->slot = &object->next;
    home->first = object;
}

/* Removes each object from the list before its `lost` function, which may run Perl code. */
void aprxs_lose(pTHX_ aprxs_object *object)
{
    while (object->first) {
        aprxs_object *const inhabitant = object->first;
        leave_home(inhabitant);
        aprxs_lose(aTHX_ inhabitant);
    }
    if (object->it && object->kind->lost)
        object->kind->lost(aTHX_ object);
    object->it = NULL;
}

static void make(pTHX_ aprxs_object *object)
{
    if (object->it || !object->recipe)
        return;
    /* `make` runs code, which may drop the last reference to the object. */
    sv_2mortal(SvREFCNT_inc_simple(object->inner));
    object->kind->make(aTHX_ object);
}

static int is_going(pTHX_ SV *inner, MAGIC *magic)
{
    aprxs_object *const object = (aprxs_object *)magic->mg_ptr;
    if (!object)
        return 0;
    magic->mg_ptr = NULL;
    if (object->it && object->kind->unused)
        object->kind->unused(aTHX_ object);
    object->inner = NULL;
    /* Objects hold their home, so children are left only in the interpreter's final destruction, which
     * ignores references. */
    while (object->first) {
        object->first->home = NULL;
        leave_home(object->first);
    }
    leave_home(object);
    SvREFCNT_dec(object->home);
    SvREFCNT_dec(object->also);
    SvREFCNT_dec(object->recipe);
    Safefree(object);
    return 0;
}

/* Not cloned into a new thread (CLONE_SKIP; a subclass may override it): the copy has no structure. */
static int is_cloned(pTHX_ MAGIC *magic, CLONE_PARAMS *parameters)
{
    PERL_UNUSED_VAR(parameters);
    magic->mg_ptr = NULL;
    return 0;
}

static MGVTBL TABLE = {NULL, NULL, NULL, NULL, is_going, NULL, is_cloned, NULL};

SV *aprxs_new(pTHX_ const aprxs_kind *kind, void *it, aprxs_object *home)
{
    aprxs_object *object;
    SV *const inner = newSV_type(SVt_PVMG);
    Newxz(object, 1, aprxs_object);
    object->kind = kind;
    object->it = it;
    object->inner = inner;
    MAGIC *const magic = sv_magicext(inner, NULL, PERL_MAGIC_ext, &TABLE, (const char *)object, 0);
    magic->mg_flags |= MGf_DUP;
    if (home)
        aprxs_settle(aTHX_ object, home);
    return sv_bless(newRV_noinc(inner), gv_stashpv(kind->class, GV_ADD));
}

SV *aprxs_reference(pTHX_ aprxs_object *object)
{
    return newRV_inc(object->inner);
}

aprxs_object *aprxs_behind(pTHX_ SV *inner)
{
    MAGIC *const magic = inner && SvTYPE(inner) >= SVt_PVMG ? mg_findext(inner, PERL_MAGIC_ext, &TABLE) : NULL;
    return magic ? (aprxs_object *)magic->mg_ptr : NULL;
}

aprxs_object *aprxs_find(pTHX_ SV *sv)
{
    SvGETMAGIC(sv);
    return SvROK(sv) ? aprxs_behind(aTHX_ SvRV(sv)) : NULL;
}

void aprxs_fix_arguments(pTHX_ I32 ax, I32 items)
{
    for (I32 i = 0; i < items; i++) {
        if (!SvGMAGICAL(ST(i)))
            continue;
        SV *const copy = sv_mortalcopy(ST(i));
        /* The copy may have moved the stack. */
        ST(i) = copy;
    }
}

aprxs_object *aprxs_home(pTHX_ aprxs_object *object)
{
    return aprxs_behind(aTHX_ object->home);
}

static void is_over(pTHX_ const char *class)
{
    croak("invalid %s object: the pool or allocator that it lived in was destroyed or cleared", class);
}

aprxs_object *aprxs_get(pTHX_ CV *cv, SV *sv, const aprxs_kind *kind, const char *argument)
{
    aprxs_object *const object = aprxs_find(aTHX_ sv);
    GV *const gv = CvGV(cv);
    if (!object || object->kind != kind)
        croak("%s::%s: Expected %s to be of type %s; got %s%" SVf " instead", HvNAME(GvSTASH(gv)), GvNAME(gv), argument, kind->class,
              SvROK(sv) ? "" : "scalar ", SVfARG(sv));
    make(aTHX_ object);
    if (!object->it)
        is_over(aTHX_ kind->class);
    return object;
}

aprxs_object *aprxs_expect(pTHX_ SV *sv, const aprxs_kind *kind)
{
    aprxs_object *const object = aprxs_find(aTHX_ sv);
    if (!object || object->kind != kind)
        croak("argument is not a blessed reference (expecting an %s derived object)", kind->class);
    make(aTHX_ object);
    if (!object->it && kind == &aprxs_kind_Pool)
        croak("invalid pool object (already destroyed?)");
    if (!object->it)
        is_over(aTHX_ kind->class);
    return object;
}

aprxs_object *aprxs_pool_get(pTHX_ SV *sv, const char *argument)
{
    aprxs_object *const object = aprxs_find(aTHX_ sv);
    if (!SvROK(sv) || !SvOBJECT(SvRV(sv)))
        croak("%s is not a blessed reference", argument);
    if (!object || object->kind != &aprxs_kind_Pool)
        croak("%s is not of type APR::Pool", argument);
    if (!object->it)
        croak("invalid pool object (already destroyed?)");
    return object;
}

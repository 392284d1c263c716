/* What the files of APR.so share: objects over structures of apr, texts, and the exceptions that follow a status. */
#ifndef APR_XS_H
#define APR_XS_H

#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>

#include <apr_errno.h>
#include <apr_pools.h>

#include "api.h"

typedef struct aprxs_object aprxs_object;

/* A kind of object: its class, and what is done when one goes. */
typedef struct {
    const char *class;
    /* What it lived in is going; the structure is there for the last time. */
    void (*lost)(pTHX_ aprxs_object *object);
    /* The last reference to it is going while the structure is there. */
    void (*unused)(pTHX_ aprxs_object *object);
    /* Somebody asks for the structure of one that has only a recipe; NULL: there are none. */
    void (*make)(pTHX_ aprxs_object *object);
} aprxs_kind;

/* What a Perl object stands for. It hangs on the scalar behind the references as magic, where no Perl code can forge it. An object keeps
 * what it lives in (its home: a pool, a bucket allocator) alive; when the home ends all the same, by destroy or clear, all in
 * it are told and have no structure any more. */
struct aprxs_object {
    const aprxs_kind *kind;
    void *it;   /* the structure; NULL when that is gone */
    SV *inner;  /* the scalar that it hangs on, not counted */
    SV *home;   /* the scalar of what it lives in, counted */
    SV *also;   /* a second one that must not go before it, counted */
    UV flags;   /* the kind's own */
    SV *recipe; /* what the structure will be made of, counted; NULL: it has been made */
    aprxs_object *link; /* the kind's own */
    /* Who lives in it; who lives beside it in the same home; the pointer that leads to it in that list. */
    aprxs_object *first, *next, **slot;
};

/* A new object of the kind's class; `home` may be NULL. */
SV *aprxs_new(pTHX_ const aprxs_kind *kind, void *it, aprxs_object *home);
/* One more reference to an object that is there. */
SV *aprxs_reference(pTHX_ aprxs_object *object);
/* The object behind a reference, NULL when it is none of ours. */
aprxs_object *aprxs_find(pTHX_ SV *sv);
/* That of an inner scalar. */
aprxs_object *aprxs_behind(pTHX_ SV *inner);
/* The same of the wanted kind and with its structure, or a croak that names the function and the argument. */
aprxs_object *aprxs_get(pTHX_ CV *cv, SV *sv, const aprxs_kind *kind, const char *argument);
/* Magical arguments become copies of what they say now: looking at them again runs no code. */
void aprxs_fix_arguments(pTHX_ I32 ax, I32 items);
/* Where the classes' own constructors say it in other words. */
aprxs_object *aprxs_expect(pTHX_ SV *sv, const aprxs_kind *kind);
/* The object has no structure from now on, nor have those who live in it. */
void aprxs_lose(pTHX_ aprxs_object *object);
/* `a` goes with `home` from now on; before it lived in nothing. */
void aprxs_settle(pTHX_ aprxs_object *a, aprxs_object *home);

extern const aprxs_kind aprxs_kind_Pool, aprxs_kind_Table, aprxs_kind_BucketAlloc, aprxs_kind_Bucket, aprxs_kind_BucketType,
    aprxs_kind_Brigade, aprxs_kind_Finfo, aprxs_kind_IpSubnet, aprxs_kind_SockAddr, aprxs_kind_Socket, aprxs_kind_ThreadMutex,
    aprxs_kind_ThreadRWLock, aprxs_kind_URI, aprxs_kind_UUID;

/* The names of types in .xs files: typemap checks the kind and that the structure is there. */
typedef aprxs_object *Pool, *PoolOf, *Table, *BucketAlloc, *Bucket, *BucketType, *Brigade, *Finfo, *IpSubnet, *SockAddr, *Socket,
    *ThreadMutex, *ThreadRWLock, *URI, *UUID;
/* An argument that the function looks at itself, after the texts. */
typedef SV *Fixed;

/* The pool as an object, the one that is there already where there is one. */
SV *aprxs_pool_reference(pTHX_ apr_pool_t *pool);
apr_pool_t *aprxs_pool(aprxs_object *object);
/* That of what an object lives in. */
aprxs_object *aprxs_home(pTHX_ aprxs_object *object);
/* For what is needed for a moment: the caller destroys it, and runs no Perl code before. */
apr_pool_t *aprxs_scratch_pool(pTHX);

/* A method's object or a pool as an argument: p is not of type APR::Pool. */
aprxs_object *aprxs_pool_get(pTHX_ SV *sv, const char *argument);

/* Throws an APR::Error. */
void aprxs_fail(pTHX_ apr_status_t status, const char *function) __attribute__noreturn__;
/* The same when it is not APR_SUCCESS, for the sub that runs. */
void aprxs_check(pTHX_ CV *cv, apr_status_t status);

/* Bytes: characters where they fit, UTF-8 where they do not. They end with a NUL that does not count, and stay until the statement
 * ends. */
aprxs_text aprxs_text_of(pTHX_ SV *sv);
/* The same copied into a pool up to its first NUL; NULL for undef. */
char *aprxs_string_in(pTHX_ apr_pool_t *pool, SV *sv);
/* undef for NULL. */
SV *aprxs_sv_of(pTHX_ const char *string);
/* An empty mortal scalar with room for so many bytes: an APR::Error where memory is short. */
SV *aprxs_room(pTHX_ CV *cv, size_t bytes);
/* The scalar's bytes become the caller's variable, tainted as all that comes from outside. */
void aprxs_hand_over(pTHX_ SV *bytes, size_t length, SV *variable);

/* For aprxs_api. */
SV *aprxs_table_over(pTHX_ const aprxs_table_ops *ops, const void *store, size_t size);
SV *aprxs_native_pool(pTHX_ SV *parent);
void aprxs_end_pool(pTHX_ SV *pool);
SV *aprxs_address(pTHX_ SV *pool, const char *ip, int port);
SV *aprxs_socket(pTHX_ SV *pool, int descriptor);
SV *aprxs_text_brigade(pTHX_ SV *text, int mark, SV *r);
SV *aprxs_brigade_text(pTHX_ SV *brigade, int *mark);
void aprxs_empty_brigade(pTHX_ SV *brigade);

/* What boots with the interpreter, and the layer for files. */
void aprxs_register_layer(pTHX);

#endif

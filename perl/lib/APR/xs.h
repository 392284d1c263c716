/* Shared by the files of APR.so: objects over apr's structures, texts, and exceptions for statuses. */
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

/* A class of objects, with its callbacks. */
typedef struct {
    const char *class;
    /* Called when the object's home (see aprxs_object) ends; the structure still exists during the call. */
    void (*lost)(pTHX_ aprxs_object *object);
    /* Called when perl frees the object and its structure exists. */
    void (*unused)(pTHX_ aprxs_object *object);
    /* Called when an object that has only a recipe needs its structure. NULL: the class has no recipes. */
    void (*make)(pTHX_ aprxs_object *object);
} aprxs_kind;

/* A Perl object's structure. It is attached to the scalar behind the references as magic, which Perl code cannot forge.
 * An object holds its home (a pool, a bucket allocator). When the home ends nevertheless, by destroy or clear, all
 * objects in it lose their structure. */
struct aprxs_object {
    const aprxs_kind *kind;
    void *it;   /* the structure; NULL when it has ended */
    SV *inner;  /* the scalar with the magic, without a reference */
    SV *home;   /* the home's scalar, with a reference */
    SV *also;   /* a second scalar that must outlive the object, with a reference */
    UV flags;   /* meaning depends on the kind */
    SV *recipe; /* code that creates the structure, with a reference; NULL: the structure exists */
    aprxs_object *link; /* meaning depends on the kind */
    /* The objects in this home; the next object in the same home; the pointer to this object in that list. */
    aprxs_object *first, *next, **slot;
};

/* Makes an object of the kind's class; `home` may be NULL. */
SV *aprxs_new(pTHX_ const aprxs_kind *kind, void *it, aprxs_object *home);
/* Makes another reference to an object. */
SV *aprxs_reference(pTHX_ aprxs_object *object);
/* The object behind a reference; NULL for other values. */
aprxs_object *aprxs_find(pTHX_ SV *sv);
/* The object of an inner scalar. */
aprxs_object *aprxs_behind(pTHX_ SV *inner);
/* The object of the expected kind, with its structure; else croaks with the function's and the argument's
 * name. */
aprxs_object *aprxs_get(pTHX_ CV *cv, SV *sv, const aprxs_kind *kind, const char *argument);
/* Replaces magical arguments by copies of their values, so that reading them again runs no code. */
void aprxs_fix_arguments(pTHX_ I32 ax, I32 items);
/* Like aprxs_get, with the error messages of mod_perl's constructors. */
aprxs_object *aprxs_expect(pTHX_ SV *sv, const aprxs_kind *kind);
/* Takes the structure from the object and from all objects in it. */
void aprxs_lose(pTHX_ aprxs_object *object);
/* Sets the home of an object that has none. */
void aprxs_settle(pTHX_ aprxs_object *a, aprxs_object *home);

extern const aprxs_kind aprxs_kind_Pool, aprxs_kind_Table, aprxs_kind_BucketAlloc, aprxs_kind_Bucket, aprxs_kind_BucketType,
    aprxs_kind_Brigade, aprxs_kind_Finfo, aprxs_kind_IpSubnet, aprxs_kind_SockAddr, aprxs_kind_Socket, aprxs_kind_ThreadMutex,
    aprxs_kind_ThreadRWLock, aprxs_kind_URI, aprxs_kind_UUID;

/* The types of arguments in .xs files: typemap checks the kind and the structure. */
typedef aprxs_object *Pool, *PoolOf, *Table, *BucketAlloc, *Bucket, *BucketType, *Brigade, *Finfo, *IpSubnet, *SockAddr, *Socket,
    *ThreadMutex, *ThreadRWLock, *URI, *UUID;
/* An argument that the function converts itself, after the texts. */
typedef SV *Fixed;

/* The object of a pool; creates one if necessary. */
SV *aprxs_pool_reference(pTHX_ apr_pool_t *pool);
apr_pool_t *aprxs_pool(aprxs_object *object);
/* The pool that an object lives in. */
aprxs_object *aprxs_home(pTHX_ aprxs_object *object);
/* A temporary pool: the caller destroys it, and runs no Perl code before. */
apr_pool_t *aprxs_scratch_pool(pTHX);

/* Converts a method's object or a pool argument; the message is mod_perl's: p is not of type APR::Pool. */
aprxs_object *aprxs_pool_get(pTHX_ SV *sv, const char *argument);

/* Throws an APR::Error. */
void aprxs_fail(pTHX_ apr_status_t status, const char *function) __attribute__noreturn__;
/* Throws an APR::Error for the running sub, unless the status is APR_SUCCESS. */
void aprxs_check(pTHX_ CV *cv, apr_status_t status);

/* The bytes of a value: Latin-1 where possible, else UTF-8. They end with a NUL that does not count, and are
 * valid until the statement ends. */
aprxs_text aprxs_text_of(pTHX_ SV *sv);
/* Copies the text into a pool, up to its first NUL; NULL for undef. */
char *aprxs_string_in(pTHX_ apr_pool_t *pool, SV *sv);
/* Returns undef for NULL. */
SV *aprxs_sv_of(pTHX_ const char *string);
/* Makes an empty mortal scalar with room for that many bytes; throws an APR::Error if memory is short. */
SV *aprxs_room(pTHX_ CV *cv, size_t bytes);
/* Moves the scalar's bytes into the caller's variable, tainted like all external input. */
void aprxs_hand_over(pTHX_ SV *bytes, size_t length, SV *variable);

/* Functions of aprxs_api. */
SV *aprxs_table_over(pTHX_ const aprxs_table_ops *ops, const void *store, size_t size);
SV *aprxs_native_pool(pTHX_ SV *parent);
void aprxs_end_pool(pTHX_ SV *pool);
SV *aprxs_address(pTHX_ SV *pool, const char *ip, int port);
SV *aprxs_socket(pTHX_ SV *pool, int descriptor);
SV *aprxs_text_brigade(pTHX_ SV *text, int mark, SV *r);
SV *aprxs_brigade_text(pTHX_ SV *brigade, int *mark);
void aprxs_empty_brigade(pTHX_ SV *brigade);

/* Called when the interpreter boots; and the PerlIO layer. */
void aprxs_register_layer(pTHX);

#endif

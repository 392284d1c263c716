#include "xs.h"

#include <apr_uuid.h>

static void free_uuid(pTHX_ aprxs_object *object)
{
    Safefree(object->it);
}

const aprxs_kind aprxs_kind_UUID = {"APR::UUID", NULL, free_uuid};

static SV *object_of(pTHX_ const apr_uuid_t *uuid)
{
    apr_uuid_t *own;
    Newx(own, 1, apr_uuid_t);
    *own = *uuid;
    return aprxs_new(aTHX_ &aprxs_kind_UUID, own, NULL);
}

MODULE = APR::UUID    PACKAGE = APR::UUID

SV *
new(class)
    SV *class
  CODE:
    apr_uuid_t uuid;
    PERL_UNUSED_VAR(class);
    apr_uuid_get(&uuid);
    RETVAL = object_of(aTHX_ &uuid);
  OUTPUT:
    RETVAL

SV *
parse(class, buf)
    SV *class
    SV *buf
  CODE:
    apr_uuid_t uuid;
    PERL_UNUSED_VAR(class);
    aprxs_check(aTHX_ cv, apr_uuid_parse(&uuid, aprxs_text_of(aTHX_ buf).bytes));
    RETVAL = object_of(aTHX_ &uuid);
  OUTPUT:
    RETVAL

SV *
format(uuid)
    UUID uuid
  CODE:
    char text[APR_UUID_FORMATTED_LENGTH + 1];
    apr_uuid_format(text, uuid->it);
    RETVAL = newSVpv(text, 0);
  OUTPUT:
    RETVAL

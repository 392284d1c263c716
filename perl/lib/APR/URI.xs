#include "xs.h"

#include <apr_strings.h>
#include <apr_uri.h>

/* apr's structure, and the end of the path in the sense of Apache2::RequestRec. */
typedef struct {
    apr_uri_t uri;
    char *path_info;
} ParsedURI;

const aprxs_kind aprxs_kind_URI = {"APR::URI", NULL, NULL};

enum { SCHEME, HOSTINFO, USER, PASSWORD, HOSTNAME, PORT, PATH, QUERY, FRAGMENT, PATH_INFO };

static char **field_of(ParsedURI *parsed, I32 which)
{
    apr_uri_t *const uri = &parsed->uri;
    switch (which) {
    case SCHEME: return &uri->scheme;
    case HOSTINFO: return &uri->hostinfo;
    case USER: return &uri->user;
    case PASSWORD: return &uri->password;
    case HOSTNAME: return &uri->hostname;
    case PORT: return &uri->port_str;
    case PATH: return &uri->path;
    case QUERY: return &uri->query;
    case FRAGMENT: return &uri->fragment;
    default: return &parsed->path_info;
    }
}

static apr_port_t number_of(const char *port)
{
    const apr_int64_t number = port ? apr_atoi64(port) : 0;
    return number > 0 && number <= 65535 ? (apr_port_t)number : 0;
}

MODULE = APR::URI    PACKAGE = APR::URI

SV *
parse(classname, p, uri_string)
    SV *classname
    PoolOf p
    SV *uri_string
  CODE:
    const aprxs_text text = aprxs_text_of(aTHX_ uri_string);
    PERL_UNUSED_VAR(classname);
    p = aprxs_expect(aTHX_ ST(1), &aprxs_kind_Pool);
    ParsedURI *const parsed = apr_pcalloc(p->it, sizeof *parsed);
    /* An invalid URI has the parts that could be parsed, as in mod_perl. */
    (void)apr_uri_parse(p->it, text.bytes, &parsed->uri);
    RETVAL = aprxs_new(aTHX_ &aprxs_kind_URI, parsed, p);
  OUTPUT:
    RETVAL

SV *
scheme(obj, val = NULL)
    URI obj
    SV *val
  ALIAS:
    scheme = SCHEME   hostinfo = HOSTINFO   user = USER   password = PASSWORD   hostname = HOSTNAME   port = PORT
    path = PATH   query = QUERY   fragment = FRAGMENT   path_info = PATH_INFO
  CODE:
    RETVAL = sv_2mortal(aprxs_sv_of(aTHX_ *field_of(obj->it, ix)));
    if (val) {
        const char *const text = SvOK(val) ? aprxs_text_of(aTHX_ val).bytes : NULL;
        /* The conversion of the value may have run code that destroyed the pool, or replaced the object. */
        obj = aprxs_get(aTHX_ cv, ST(0), &aprxs_kind_URI, "obj");
        ParsedURI *const parsed = obj->it;
        char **const field = field_of(parsed, ix);
        *field = text ? apr_pstrdup(aprxs_home(aTHX_ obj)->it, text) : NULL;
        if (ix == PORT)
            parsed->uri.port = number_of(*field);
    }
    SvREFCNT_inc(RETVAL);
  OUTPUT:
    RETVAL

SV *
rpath(obj)
    URI obj
  CODE:
    /* The path without the path_info at the end. */
    ParsedURI *const parsed = obj->it;
    const char *const path = parsed->uri.path;
    const size_t length = path ? strlen(path) : 0;
    const size_t rest = parsed->path_info ? strlen(parsed->path_info) : 0;
    RETVAL = !path ? newSV(0)
             : rest <= length && !strcmp(path + length - rest, parsed->path_info ? parsed->path_info : "") ? newSVpvn(path, length - rest)
                                                                                                         : newSVpvn(path, length);
  OUTPUT:
    RETVAL

SV *
unparse(uptr, flags = APR_URI_UNP_OMITPASSWORD)
    URI uptr
    UV flags
  CODE:
    uptr = aprxs_get(aTHX_ cv, ST(0), &aprxs_kind_URI, "uptr");
    apr_pool_t *const scratch = aprxs_scratch_pool(aTHX);
    RETVAL = aprxs_sv_of(aTHX_ apr_uri_unparse(scratch, &((ParsedURI *)uptr->it)->uri, (unsigned)flags));
    apr_pool_destroy(scratch);
  OUTPUT:
    RETVAL

UV
port_of_scheme(scheme_str)
    SV *scheme_str
  CODE:
    RETVAL = apr_uri_port_of_scheme(aprxs_text_of(aTHX_ scheme_str).bytes);
  OUTPUT:
    RETVAL

#include "xs.h"

#include <arpa/inet.h>

#include <apr_network_io.h>

const aprxs_kind aprxs_kind_SockAddr = {"APR::SockAddr", NULL, NULL};

/* Numeric addresses only: a name would need a DNS lookup. */
static int is_address(const char *ip)
{
    char bytes[16];
    return inet_pton(AF_INET, ip, bytes) == 1 || inet_pton(AF_INET6, ip, bytes) == 1;
}

static apr_status_t make(apr_sockaddr_t **address, apr_pool_t *pool, const char *ip, IV port)
{
    if (!is_address(ip))
        return APR_EBADIP;
    if (port < 0 || port > 65535)
        return APR_EINVAL;
    return apr_sockaddr_info_get(address, ip, APR_UNSPEC, (apr_port_t)port, 0, pool);
}

SV *aprxs_address(pTHX_ SV *pool, const char *ip, int port)
{
    apr_sockaddr_t *address = NULL;
    aprxs_object *const home = aprxs_pool_get(aTHX_ pool, "p");
    if (make(&address, home->it, ip, port) != APR_SUCCESS)
        return newSV(0);
    return aprxs_new(aTHX_ &aprxs_kind_SockAddr, address, home);
}

MODULE = APR::SockAddr    PACKAGE = APR::SockAddr

SV *
new(class, p, ip, port = 0)
    SV *class
    PoolOf p
    SV *ip
    IV port
  CODE:
    apr_sockaddr_t *address = NULL;
    const aprxs_text digits = aprxs_text_of(aTHX_ ip);
    PERL_UNUSED_VAR(class);
    /* The conversion of the text may have run code that destroyed the pool. */
    p = aprxs_expect(aTHX_ ST(1), &aprxs_kind_Pool);
    aprxs_check(aTHX_ cv, make(&address, p->it, digits.bytes, port));
    RETVAL = aprxs_new(aTHX_ &aprxs_kind_SockAddr, address, p);
  OUTPUT:
    RETVAL

SV *
ip_get(sockaddr)
    SockAddr sockaddr
  CODE:
    char ip[64];
    aprxs_check(aTHX_ cv, apr_sockaddr_ip_getbuf(ip, sizeof ip, sockaddr->it));
    RETVAL = newSVpv(ip, 0);
  OUTPUT:
    RETVAL

UV
port(sockaddr)
    SockAddr sockaddr
  CODE:
    RETVAL = ((apr_sockaddr_t *)sockaddr->it)->port;
  OUTPUT:
    RETVAL

int
equal(addr1, addr2)
    SockAddr addr1
    SockAddr addr2
  CODE:
    RETVAL = apr_sockaddr_equal(addr1->it, addr2->it);
  OUTPUT:
    RETVAL

#include "xs.h"

#include <apr_network_io.h>

const aprxs_kind aprxs_kind_IpSubnet = {"APR::IpSubnet", NULL, NULL};

MODULE = APR::IpSubnet    PACKAGE = APR::IpSubnet

SV *
new(CLASS, p, ipstr, mask_or_numbits = NULL)
    SV *CLASS
    PoolOf p
    SV *ipstr
    SV *mask_or_numbits
  CODE:
    apr_ipsubnet_t *subnet = NULL;
    /* Copied first, because the conversion of the other text may run code that changes this variable or destroys the
     * pool. */
    const char *const mask =
        mask_or_numbits && SvOK(mask_or_numbits) ? aprxs_text_of(aTHX_ sv_mortalcopy(mask_or_numbits)).bytes : NULL;
    const aprxs_text address = aprxs_text_of(aTHX_ ipstr);
    PERL_UNUSED_VAR(CLASS);
    p = aprxs_expect(aTHX_ ST(1), &aprxs_kind_Pool);
    aprxs_check(aTHX_ cv, apr_ipsubnet_create(&subnet, address.bytes, mask, p->it));
    RETVAL = aprxs_new(aTHX_ &aprxs_kind_IpSubnet, subnet, p);
  OUTPUT:
    RETVAL

int
test(ipsub, sa)
    IpSubnet ipsub
    SockAddr sa
  CODE:
    RETVAL = apr_ipsubnet_test(ipsub->it, sa->it);
  OUTPUT:
    RETVAL

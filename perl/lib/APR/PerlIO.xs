#include "xs.h"

MODULE = APR::PerlIO    PACKAGE = APR::PerlIO

BOOT:
    aprxs_register_layer(aTHX);

int
PERLIO_LAYERS_ARE_ENABLED()
  CODE:
    RETVAL = 1;
  OUTPUT:
    RETVAL

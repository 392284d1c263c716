#include "xs.h"

MODULE = Apache::Leak    PACKAGE = Apache::Leak

IV
NoteSV(...)
  ALIAS:
    count = 1
  CODE:
    PERL_UNUSED_VAR(ix);
    RETVAL = (IV)PL_sv_count;
    if (items > 0 && !SvREADONLY(ST(0)))
        sv_setiv(ST(0), RETVAL);
  OUTPUT:
    RETVAL

IV
arenas()
  PREINIT:
    SV *arena;
  CODE:
    RETVAL = 0;
    for (arena = PL_sv_arenaroot; arena; arena = MUTABLE_SV(SvANY(arena)))
        RETVAL++;
  OUTPUT:
    RETVAL

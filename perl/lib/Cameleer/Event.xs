#include "xs.h"

static void add(void *into, int stream)
{
    dTHX;
    av_push((AV *)into, newSViv(stream));
}

MODULE = Cameleer::Event    PACKAGE = Cameleer::Event

int
descriptor()
  CODE:
    RETVAL = cameleer_event_descriptor();
  OUTPUT:
    RETVAL

void
ready()
  CODE:
    cameleer_event_ready();

void
orders()
  PPCODE:
    AV *const streams = (AV *)sv_2mortal((SV *)newAV());
    const int leave = cameleer_event_orders(add, streams);
    EXTEND(SP, av_len(streams) + 2);
    PUSHs(boolSV(leave));
    for (SSize_t i = 0; i <= av_len(streams); i++)
        PUSHs(sv_mortalcopy(*av_fetch(streams, i, 0)));

#include "xs.h"

static void add_stream(void *into, int stream)
{
    dTHX;
    av_push((AV *)into, newSViv(stream));
}

static void add_message(void *into, apache_text channel, apache_text message)
{
    dTHX;
    av_push((AV *)into, newSVpvn(channel.bytes, channel.length));
    av_push((AV *)into, newSVpvn(message.bytes, message.length));
}

static apache_text text_of(pTHX_ SV *sv)
{
    apache_text text = {"", 0};
    if (SvOK(sv))
        text.bytes = SvPV(sv, text.length);
    return text;
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
begins(SV *method, SV *host, SV *client, SV *target, int is_more = 0)
  CODE:
    cameleer_event_begins(text_of(aTHX_ method), text_of(aTHX_ host), text_of(aTHX_ client), text_of(aTHX_ target),
                          is_more);

void
ends()
  CODE:
    cameleer_event_ends();

void
tick()
  CODE:
    cameleer_event_tick();

void
_orders()
  PPCODE:
    AV *const streams = (AV *)sv_2mortal((SV *)newAV());
    AV *const messages = (AV *)sv_2mortal((SV *)newAV());
    const int leave = cameleer_event_orders(add_stream, streams, add_message, messages);
    EXTEND(SP, av_len(streams) + 3);
    PUSHs(sv_2mortal(newSViv(leave)));
    PUSHs(sv_2mortal(newRV_inc((SV *)messages)));
    for (SSize_t i = 0; i <= av_len(streams); i++)
        PUSHs(sv_mortalcopy(*av_fetch(streams, i, 0)));

#include "xs.h"

static void failed(void *into, apache_text reason)
{
    dTHX;
    sv_setpvn((SV *)into, reason.bytes, reason.length);
}

/* The bytes of a value; croaks for characters that are no bytes. */
static apache_text bytes_of(pTHX_ SV *sv, const char *what)
{
    SV *const copy = sv_mortalcopy(sv);
    STRLEN length;
    SvPV_force(copy, length);
    if (SvUTF8(copy) && !sv_utf8_downgrade(copy, TRUE))
        croak("%s has wide characters: encode it first", what);
    const char *const bytes = SvPV(copy, length);
    return (apache_text){bytes, length};
}

MODULE = Cameleer::Broadcast    PACKAGE = Cameleer::Broadcast

SV *
_publish(SV *channel, SV *message)
  CODE:
    const apache_text to = bytes_of(aTHX_ channel, "the name of a channel");
    const apache_text text = bytes_of(aTHX_ message, "a message");
    RETVAL = newSV(0);
    cameleer_broadcast_publish(to, text, failed, RETVAL);
  OUTPUT:
    RETVAL

SV *
_subscribed(SV *channel, unsigned count)
  CODE:
    const apache_text to = bytes_of(aTHX_ channel, "the name of a channel");
    RETVAL = newSV(0);
    cameleer_broadcast_subscribed(to, count, failed, RETVAL);
  OUTPUT:
    RETVAL

SV *
_presence(SV *channel)
  CODE:
    const int64_t count = cameleer_broadcast_presence(bytes_of(aTHX_ channel, "the name of a channel"));
    RETVAL = count < 0 ? newSV(0) : newSViv(count);
  OUTPUT:
    RETVAL

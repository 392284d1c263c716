#include "xs.h"

static const char *entity(char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

/* Characters that httpd does not escape in a path. */
static int is_plain(unsigned char c)
{
    return isALNUM_A(c) || (c && strchr("$-_.+!*'(),:@&=/~", c));
}

MODULE = Apache::Util    PACKAGE = Apache::Util

SV *
escape_html(text)
    SV *text
  CODE:
    STRLEN length;
    const char *const from = SvPV(text, length);
    STRLEN room = length;
    for (STRLEN i = 0; i < length; i++)
        if (entity(from[i]))
            room += strlen(entity(from[i])) - 1;
    RETVAL = newSV(room + 1);
    char *to = SvPVX(RETVAL);
    for (STRLEN i = 0; i < length; i++) {
        const char *const name = entity(from[i]);
        if (name)
            to = stpcpy(to, name);
        else
            *to++ = from[i];
    }
    *to = '\0';
    SvCUR_set(RETVAL, room);
    SvPOK_only(RETVAL);
    if (SvUTF8(text))
        SvUTF8_on(RETVAL);
  OUTPUT:
    RETVAL

SV *
escape_uri(segment)
    SV *segment
  CODE:
    const apache_text from = apache_text_of(aTHX_ segment);
    RETVAL = newSV(from.length * 3 + 1);
    char *to = SvPVX(RETVAL);
    for (size_t i = 0; i < from.length; i++) {
        const unsigned char c = (unsigned char)from.bytes[i];
        if (is_plain(c))
            *to++ = (char)c;
        else
            to += sprintf(to, "%%%02x", c);
    }
    *to = '\0';
    SvCUR_set(RETVAL, to - SvPVX(RETVAL));
    SvPOK_only(RETVAL);
  OUTPUT:
    RETVAL

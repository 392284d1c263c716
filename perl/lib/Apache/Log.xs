#include "xs.h"

MODULE = Apache::Log    PACKAGE = Apache::Log

void
write(level, text, context = APACHE_CONTEXT_LEADS)
    U32 level
    SV *text
    U32 context
  CODE:
    apache_log(level, context, apache_text_of(aTHX_ text));

#include "xs.h"

MODULE = Apache::Log    PACKAGE = Apache::Log

void
write(level, text)
    U32 level
    SV *text
  CODE:
    apache_log(level, apache_text_of(aTHX_ text));

#include "xs.h"

int cml_go_home(void);

MODULE = Apache::Registry    PACKAGE = Apache::Registry

int
go_home()
  CODE:
    RETVAL = cml_go_home();
  OUTPUT:
    RETVAL

void
take_end_blocks(file)
    SV *file
  PPCODE:
    STRLEN length;
    const char *const name = SvPV(file, length);
    const SSize_t last = PL_endav ? av_top_index(PL_endav) : -1;
    AV *const kept = newAV();
    for (SSize_t i = 0; i <= last; i++) {
        SV **const slot = av_fetch(PL_endav, i, 0);
        CV *const cv = slot ? (CV *)*slot : NULL;
        if (cv && CvFILE(cv) && strEQ(CvFILE(cv), name))
            mXPUSHs(newRV_inc((SV *)cv));
        else if (cv)
            av_push(kept, SvREFCNT_inc((SV *)cv));
    }
    if (PL_endav) {
        AV *const all = PL_endav;
        PL_endav = kept;
        SvREFCNT_dec((SV *)all);
    } else {
        SvREFCNT_dec((SV *)kept);
    }

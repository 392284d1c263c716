#include "xs.h"

#include <sys/time.h>

/* Whether a value of the program is this number, or a text with it. Values with magic are perl's own, as `$$` is. */
static bool has_number(const SV *sv, IV number, const char *digits, STRLEN length)
{
    if (SvTYPE(sv) == (svtype)SVTYPEMASK || !SvREFCNT(sv) || SvTYPE(sv) > SVt_PVMG || SvMAGICAL(sv) || SvROK(sv))
        return FALSE;
    if (SvIOK(sv) && SvIVX(sv) == number)
        return TRUE;
    return SvPOK(sv) && SvCUR(sv) >= length
        && memmem(SvPVX_const(sv), SvCUR(sv), digits, length) != NULL;
}

MODULE = Cameleer::Preload    PACKAGE = Cameleer::Preload

UV
_values_with(number)
    IV number
  CODE:
    char digits[32];
    const int length = snprintf(digits, sizeof digits, "%" IVdf, number);
    const SV *const own = ST(0);
    RETVAL = 0;
    for (const SV *arena = PL_sv_arenaroot; arena; arena = (const SV *)SvANY(arena)) {
        const SV *const end = &arena[SvREFCNT(arena)];
        for (const SV *sv = arena + 1; sv < end; sv++)
            if (sv != own && has_number(sv, number, digits, (STRLEN)length))
                RETVAL++;
    }
  OUTPUT:
    RETVAL

bool
_reads_pid()
  CODE:
    /* perl stores the process id in the variable each time that it is read (mg.c). */
    GV *const gv = gv_fetchpvs("$", GV_ADD | GV_NOTQUAL, SVt_PV);
    SV *const sv = GvSVn(gv);
    RETVAL = SvTYPE(sv) >= SVt_PVIV && SvIVX(sv) != 0;
    if (RETVAL)
        SvIV_set(sv, 0);
  OUTPUT:
    RETVAL

bool
_draws()
  CODE:
    RETVAL = cBOOL(PL_srand_called);
    PL_srand_called = FALSE;
  OUTPUT:
    RETVAL

bool
_stops_timers()
  CODE:
    static const int timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    static const struct itimerval none;
    struct itimerval before;
    RETVAL = FALSE;
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        if (setitimer(timers[i], &none, &before) == 0 && (before.it_value.tv_sec || before.it_value.tv_usec))
            RETVAL = TRUE;
  OUTPUT:
    RETVAL

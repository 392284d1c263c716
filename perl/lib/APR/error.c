#include "xs.h"

static void put(pTHX_ HV *hash, const char *key, SV *value)
{
    (void)hv_store(hash, key, (I32)strlen(key), value, 0);
}

void aprxs_fail(pTHX_ apr_status_t status, const char *function)
{
    HV *const hash = newHV();
    SV *const error = sv_2mortal(newRV_noinc((SV *)hash));
    put(aTHX_ hash, "rc", newSViv(status));
    put(aTHX_ hash, "file", newSVpv(CopFILE(PL_curcop), 0));
    put(aTHX_ hash, "line", newSVuv(CopLINE(PL_curcop)));
    put(aTHX_ hash, "func", newSVpv(function, 0));
    sv_bless(error, gv_stashpvs("APR::Error", GV_ADD));
    croak_sv(error);
}

void aprxs_check(pTHX_ CV *cv, apr_status_t status)
{
    if (status == APR_SUCCESS)
        return;
    GV *const gv = CvGV(cv);
    aprxs_fail(aTHX_ status, SvPVX(sv_2mortal(newSVpvf("%s::%s", HvNAME(GvSTASH(gv)), GvNAME(gv)))));
}

#include "xs.h"

#include <apr_strings.h>

/* Whether the bytes can be read without Perl code, warnings or conversion. */
static int is_plain(const SV *sv)
{
    return SvPOK(sv) && !SvGMAGICAL(sv) && !SvUTF8(sv);
}

aprxs_text aprxs_text_of(pTHX_ SV *sv)
{
    aprxs_text text;
    if (!is_plain(sv)) {
        SV *const own = newSVpvs_flags("", SVs_TEMP);
        sv_copypv(own, sv);
        if (SvUTF8(own) && !sv_utf8_downgrade(own, TRUE))
            SvUTF8_off(own);
        sv = own;
    }
    text.bytes = SvPV_nomg(sv, text.length);
    return text;
}

char *aprxs_string_in(pTHX_ apr_pool_t *pool, SV *sv)
{
    SvGETMAGIC(sv);
    return SvOK(sv) ? apr_pstrdup(pool, aprxs_text_of(aTHX_ sv).bytes) : NULL;
}

SV *aprxs_sv_of(pTHX_ const char *string)
{
    return string ? newSVpv(string, 0) : newSV(0);
}

/* perl ends the process when an allocation fails, so try with malloc first. */
SV *aprxs_room(pTHX_ CV *cv, size_t bytes)
{
    void *const probe = bytes < SSIZE_MAX - 64 ? malloc(bytes + 64) : NULL;
    if (!probe)
        aprxs_check(aTHX_ cv, APR_ENOMEM);
    free(probe);
    SV *const room = sv_2mortal(newSV(bytes + 1));
    SvPOK_only(room);
    return room;
}

void aprxs_hand_over(pTHX_ SV *bytes, size_t length, SV *variable)
{
    SvCUR_set(bytes, length);
    *SvEND(bytes) = '\0';
    sv_setsv(variable, bytes);
    SvSETMAGIC(variable);
    SvTAINTED_on(variable);
}

#include "../internal.h"

#include <locale.h>
#include <sys/prctl.h>

/* perl's global variables, and the locale. */

/* Plain variables, by name. */
static struct plain {
    const char *name;
    unsigned left;
    GV *gv;
    SV *kept;
} plain[] = {
    {",", CML_LEFT_FIELD_SEPARATOR, NULL, NULL},
    {";", CML_LEFT_SUBSCRIPT_SEPARATOR, NULL, NULL},
    {"\"", CML_LEFT_LIST_SEPARATOR, NULL, NULL},
    {"0", CML_LEFT_NAME, NULL, NULL},
    {"_", 0, NULL, NULL}, /* code does not rely on this value, so a change needs no log line */
};

static SV *input_separator, *output_separator; /* copies of $/ and $\; NULL: undef */
static int home_system_fd;
static unsigned home_warnings;
static char process_name[16];
static char *home_locale;

/* Objects and tied values count as changed: reading them would run their code. */
static int is_kept(pTHX_ SV *now, SV *kept)
{
    if (SvRMAGICAL(now) && mg_find(now, PERL_MAGIC_tiedscalar))
        return 0;
    return cml_is_same(aTHX_ now, kept);
}

/* Skips values that the mold has stored already: a write would un-share the page. */
static void remember_plain(pTHX_ struct plain *p)
{
    p->gv = gv_fetchpv(p->name, GV_ADD, SVt_PV);
    SV *const now = GvSVn(p->gv);
    if (p->kept && is_kept(aTHX_ now, p->kept))
        return;
    SvREFCNT_dec(p->kept);
    p->kept = newSVsv(now);
}

static void remember_locale(pTHX)
{
    const char *const now = Perl_setlocale(LC_ALL, NULL);
    if (now && home_locale && strEQ(now, home_locale))
        return;
    Safefree(home_locale);
    home_locale = savepv(now);
}

/* PL_rs and PL_ors_sv are perl's own copies of $/ and $\. */
static void remember_separator(pTHX_ SV **home, SV *now)
{
    SvREFCNT_dec(*home);
    *home = now ? newSVsv(now) : NULL;
}

void cml_remember_globals(pTHX)
{
    remember_separator(aTHX_ &input_separator, PL_rs);
    remember_separator(aTHX_ &output_separator, PL_ors_sv);
    for (size_t i = 0; i < C_ARRAY_LENGTH(plain); i++)
        remember_plain(aTHX_ &plain[i]);
    home_system_fd = PL_maxsysfd;
    home_warnings = PL_dowarn & G_WARN_ON;
    prctl(PR_GET_NAME, process_name);
    remember_locale(aTHX);
}

/* Restores the value without the magic of the variable: that of $0 would truncate the title in the output of ps. */
static unsigned restore_plain(pTHX_ const struct plain *p)
{
    SV *const now = GvSVn(p->gv);
    if (is_kept(aTHX_ now, p->kept))
        return 0;
    if (SvREADONLY(now)) { /* `*, = \"x"` */
        GvSV(p->gv) = newSVsv(p->kept);
        SvREFCNT_dec(now);
        return p->left;
    }
    sv_unmagic(now, PERL_MAGIC_tiedscalar);
    sv_setsv(now, p->kept);
    if (p->left == CML_LEFT_NAME)
        prctl(PR_SET_NAME, process_name);
    return p->left;
}

static unsigned restore_separator(pTHX_ const char *name, SV *now, SV *home, unsigned left)
{
    if (now && home ? cml_is_same(aTHX_ now, home) : now == home)
        return 0;
    SV *const variable = get_sv(name, GV_ADD);
    sv_setsv(variable, home ? home : &PL_sv_undef);
    SvSETMAGIC(variable);
    return left;
}

static unsigned restore_locale(pTHX)
{
    if (!(cml_touched & CML_LEFT_LOCALE))
        return 0;
    const char *const now = Perl_setlocale(LC_ALL, NULL);
    if (now && home_locale && strEQ(now, home_locale))
        return 0;
    Perl_setlocale(LC_ALL, home_locale);
    return CML_LEFT_LOCALE;
}

unsigned cml_restore_globals(pTHX)
{
    unsigned left = restore_locale(aTHX);
    left |= restore_separator(aTHX_ "/", PL_rs, input_separator, CML_LEFT_INPUT_SEPARATOR);
    left |= restore_separator(aTHX_ "\\", PL_ors_sv, output_separator, CML_LEFT_OUTPUT_SEPARATOR);
    for (size_t i = 0; i < C_ARRAY_LENGTH(plain); i++)
        left |= restore_plain(aTHX_ &plain[i]);
    if (PL_maxsysfd != home_system_fd) {
        PL_maxsysfd = home_system_fd;
        left |= CML_LEFT_SYSTEM_FD;
    }
    if ((PL_dowarn & G_WARN_ON) != home_warnings) {
        PL_dowarn ^= G_WARN_ON;
        left |= CML_LEFT_WARNINGS;
    }
    /* srand in one request must not make the next request's numbers repeat. */
    if (cml_touched & CML_SEEDED)
        PL_srand_called = FALSE;
    return left;
}

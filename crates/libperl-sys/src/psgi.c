#include "internal.h"

/* PSGI, the hot path in C: the environment, and responses of the form [status, [headers], [strings]]. Everything else
 * (handles, objects, delayed and streaming responses, cleanup) is Cameleer::PSGI's, in Perl. */

/* Of the call that is being prepared. An application may lead to another, so a call that runs holds its own. */
static HV *env;
/* The environments whose cleanup handlers wait for the end of the client's request. */
static AV *waiting;
static AV *version;
static SV *input_ref, *errors_ref, *extend_ref;

static void put(pTHX_ const char *key, I32 length, SV *value)
{
    (void)hv_store(env, key, length, value, 0);
}
#define PUT(key, value) put(aTHX_ "" key, sizeof(key) - 1, value)

void cml_psgi_begin(int https, int entries)
{
    dTHXa(cml_perl);
    if (!input_ref) {
        input_ref = newRV_inc((SV *)cml_stdin_gv);
        errors_ref = newRV_inc((SV *)cml_stderr_gv);
    }
    SvREFCNT_dec(env);
    env = newHV();
    hv_ksplit(env, entries + 16);
    version = newAV();
    av_push(version, newSViv(1));
    av_push(version, newSViv(1));
    PUT("psgi.version", newRV_noinc((SV *)version));
    PUT("psgi.url_scheme", https ? newSVpvs("https") : newSVpvs("http"));
    PUT("psgi.input", newSVsv(input_ref));
    PUT("psgi.errors", newSVsv(errors_ref));
    PUT("psgi.multithread", newSVsv(&PL_sv_no));
    PUT("psgi.multiprocess", newSVsv(&PL_sv_yes));
    PUT("psgi.run_once", newSVsv(&PL_sv_no));
    PUT("psgi.nonblocking", newSVsv(&PL_sv_no));
    PUT("psgi.streaming", newSVsv(&PL_sv_yes));
    PUT("psgix.input.buffered", newSVsv(&PL_sv_yes));
    PUT("psgix.harakiri", newSVsv(&PL_sv_yes));
    PUT("psgix.cleanup", newSVsv(&PL_sv_yes));
    PUT("psgix.cleanup.handlers", newRV_noinc((SV *)newAV()));
    PUT("cameleer.extend_timeout", newSVsv(extend_ref));
    SV *const informational = get_sv("Cameleer::PSGI::INFORMATIONAL", 0);
    if (informational)
        PUT("psgix.informational", newSVsv(informational));
}

void cml_psgi_put(const char *key, size_t key_length, const char *value, size_t value_length)
{
    dTHXa(cml_perl);
    SV *const sv = newSVpvn(value, value_length);
    SvTAINTED_on(sv);
    put(aTHX_ key, (I32)key_length, sv);
}

static AV *array_at(pTHX_ AV *list, SSize_t index)
{
    SV **const slot = av_fetch(list, index, 0);
    return slot && SvROK(*slot) && SvTYPE(SvRV(*slot)) == SVt_PVAV && !SvOBJECT(SvRV(*slot)) ? (AV *)SvRV(*slot) : NULL;
}

/* A chunk as bytes; characters above 255 are the application's error (PSGI wants bytes). */
static const char *bytes_of(pTHX_ SV *chunk, STRLEN *length)
{
    const char *text = SvPV(chunk, *length);
    if (SvUTF8(chunk)) {
        SV *const copy = sv_mortalcopy(chunk);
        if (!sv_utf8_downgrade(copy, TRUE))
            croak("PSGI: wide character in the response: encode it to bytes first");
        text = SvPV(copy, *length);
    }
    return text;
}

static void send_headers(pTHX_ AV *headers)
{
    const SSize_t last = av_top_index(headers);
    for (SSize_t i = 0; i < last; i += 2) {
        STRLEN name_length, value_length;
        SV **const name = av_fetch(headers, i, 0);
        SV **const value = av_fetch(headers, i + 1, 0);
        const char *const n = bytes_of(aTHX_ name ? *name : &PL_sv_no, &name_length);
        const char *const v = bytes_of(aTHX_ value && SvOK(*value) ? *value : &PL_sv_no, &value_length);
        cml_hooks_table.header(n, name_length, v, value_length);
    }
}

/* An informational one comes before an answer, and is none. */
static int final_status(pTHX_ SV *said)
{
    const IV status = SvIV(said);
    if (status >= 100 && status < 200)
        croak("PSGI: the application answered with status %d, which is no answer's: psgix.informational sends such ones",
              (int)status);
    return (int)status;
}

/* Sends the plain form; says whether it was one. */
static int send_plain(pTHX_ SV *response)
{
    if (!SvROK(response) || SvTYPE(SvRV(response)) != SVt_PVAV)
        return 0;
    AV *const triple = (AV *)SvRV(response);
    if (av_top_index(triple) != 2)
        return 0;
    AV *const headers = array_at(aTHX_ triple, 1);
    AV *const body = array_at(aTHX_ triple, 2);
    SV **const status = av_fetch(triple, 0, 0);
    if (!headers || !body || !status)
        return 0;
    cml_hooks_table.head(final_status(aTHX_ *status));
    send_headers(aTHX_ headers);
    const SSize_t last = av_top_index(body);
    for (SSize_t i = 0; i <= last; i++) {
        STRLEN length;
        SV **const chunk = av_fetch(body, i, 0);
        if (!chunk || !SvOK(*chunk))
            continue;
        const char *const text = bytes_of(aTHX_ *chunk, &length);
        cml_hooks_table.write(text, length);
    }
    return 1;
}

static void call_two(pTHX_ const char *sub, SV *first, SV *second)
{
    dSP;
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(first);
    if (second)
        PUSHs(second);
    PUTBACK;
    call_pv(sub, G_VOID | G_DISCARD); /* no G_EVAL of its own: the caller's catches */
}

XS(cml_xs_psgi)
{
    dXSARGS;
    if (items != 2)
        croak("usage: Cameleer::PSGI::run(app, env)");
    SV *const app = ST(0);
    SV *const environment = ST(1);
    PUSHMARK(SP);
    EXTEND(SP, 1);
    PUSHs(environment);
    PUTBACK;
    const I32 count = call_sv(app, G_SCALAR);
    SPAGAIN;
    SV *const response = count == 1 ? POPs : &PL_sv_undef;
    PUTBACK;
    if (!send_plain(aTHX_ response))
        call_two(aTHX_ "Cameleer::PSGI::respond", response, environment);
    XSRETURN_EMPTY;
}

/* The primitives of Cameleer::PSGI. */
XS(cml_xs_head)
{
    dXSARGS;
    if (items != 2 || !SvROK(ST(1)) || SvTYPE(SvRV(ST(1))) != SVt_PVAV)
        croak("PSGI: expected a status and an array of headers");
    cml_hooks_table.head(final_status(aTHX_ ST(0)));
    send_headers(aTHX_ (AV *)SvRV(ST(1)));
    XSRETURN_EMPTY;
}

XS(cml_xs_inform)
{
    dXSARGS;
    if (items != 2 || SvIV(ST(0)) < 100 || SvIV(ST(0)) > 199 || !SvROK(ST(1)) || SvTYPE(SvRV(ST(1))) != SVt_PVAV)
        croak("psgix.informational: expected a status from 100 to 199 and an array of headers");
    cml_hooks_table.head((int)SvIV(ST(0)));
    send_headers(aTHX_ (AV *)SvRV(ST(1)));
    XSRETURN_EMPTY;
}

XS(cml_xs_write)
{
    dXSARGS;
    STRLEN length;
    if (items != 1)
        croak("usage: emit(bytes)");
    const char *const text = bytes_of(aTHX_ ST(0), &length);
    cml_hooks_table.write(text, length);
    XSRETURN_EMPTY;
}

/* `$env->{'cameleer.extend_timeout'}->(seconds)` */
XS(cml_xs_extend)
{
    dXSARGS;
    if (items != 1 || !(SvNV(ST(0)) > 0))
        croak("cameleer.extend_timeout: expected a number of seconds");
    cml_hooks_table.extend(SvNV(ST(0)));
    XSRETURN_EMPTY;
}

XS(cml_xs_flush)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    if (cml_hooks_table.flush())
        XSRETURN_YES;
    XSRETURN_NO;
}

void cml_psgi_boot(pTHX)
{
    newXS("Cameleer::PSGI::head", cml_xs_head, __FILE__);
    newXS("Cameleer::PSGI::inform", cml_xs_inform, __FILE__);
    newXS("Cameleer::PSGI::emit", cml_xs_write, __FILE__);
    newXS("Cameleer::PSGI::flush", cml_xs_flush, __FILE__);
    extend_ref = newRV_noinc((SV *)newXS("Cameleer::PSGI::extend_timeout", cml_xs_extend, __FILE__));
}

static CV *run_cv;

typedef struct {
    SV *app;
    HV *env;
} call;

static void psgi_body(pTHX_ void *argument)
{
    const call *const c = argument;
    dSP;
    if (!run_cv)
        run_cv = newXS("Cameleer::PSGI::run", cml_xs_psgi, __FILE__);
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    EXTEND(SP, 2);
    PUSHs(c->app);
    PUSHs(sv_2mortal(newRV_inc((SV *)c->env)));
    PUTBACK;
    call_sv((SV *)run_cv, G_VOID | G_DISCARD | G_EVAL);
    FREETMPS;
    LEAVE;
}

static int harakiri(pTHX_ HV *of)
{
    SV **const commit = hv_fetchs(of, "psgix.harakiri.commit", 0);
    return commit && SvTRUE(*commit);
}

cml_status cml_psgi_run(void *app, int *needs_cleanup, int *leave)
{
    dTHXa(cml_perl);
    call c = {(SV *)app, env};
    cml_inc_is_apps();
    env = NULL;
    const cml_status status = cml_guarded(aTHX_ psgi_body, &c);
    SV **const handlers = hv_fetchs(c.env, "psgix.cleanup.handlers", 0);
    *needs_cleanup = handlers && SvROK(*handlers) && SvTYPE(SvRV(*handlers)) == SVt_PVAV
        && av_top_index((AV *)SvRV(*handlers)) >= 0;
    *leave = harakiri(aTHX_ c.env);
    if (!*needs_cleanup) {
        SvREFCNT_dec(c.env);
        return status;
    }
    if (!waiting)
        waiting = newAV();
    av_push(waiting, (SV *)c.env);
    return status;
}

static void cleanup_body(pTHX_ void *of)
{
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    XPUSHs(sv_2mortal(newRV_inc((SV *)of)));
    PUTBACK;
    call_pv("Cameleer::PSGI::cleanup", G_VOID | G_DISCARD | G_EVAL);
    FREETMPS;
    LEAVE;
}

cml_status cml_psgi_cleanup(int *leave)
{
    dTHXa(cml_perl);
    cml_status status = CML_OK;
    *leave = 0;
    while (waiting && av_top_index(waiting) >= 0) {
        HV *const of = (HV *)av_shift(waiting);
        const cml_status said = cml_guarded(aTHX_ cleanup_body, of);
        status = status == CML_OK ? said : status;
        *leave |= harakiri(aTHX_ of);
        SvREFCNT_dec(of);
    }
    return status;
}

typedef struct {
    SV *source;
    int is_file;
    SV *app;
} loading;

static void load_body(pTHX_ void *argument)
{
    loading *l = argument;
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    XPUSHs(l->source);
    PUTBACK;
    const I32 count = call_pv(l->is_file ? "Cameleer::PSGI::load_file" : "Cameleer::PSGI::load_code", G_SCALAR | G_EVAL);
    SPAGAIN;
    if (count == 1)
        l->app = newSVsv(POPs);
    PUTBACK;
    FREETMPS;
    LEAVE;
}

cml_status cml_load_psgi(const char *source, size_t length, int is_file, void **app)
{
    dTHXa(cml_perl);
    loading l = {newSVpvn(source, length), is_file, NULL};
    cml_inc_is_apps();
    const cml_status status = cml_guarded(aTHX_ load_body, &l);
    SvREFCNT_dec(l.source);
    *app = l.app;
    return status;
}

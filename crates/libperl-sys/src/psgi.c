#include "internal.h"

/* The hot path of PSGI in C: the environment, and responses of the form [status, [headers], [strings]]. Cameleer::PSGI,
 * in Perl, handles the other cases: handles, objects, delayed and streaming responses, cleanup. */

/* The environment of the call under preparation. An application may cause another call, so a running call
 * has its own reference. */
static HV *env;
/* Environments whose cleanup handlers run at the end of the client's request. */
static AV *waiting;
static AV *version;
static SV *errors_ref;

#define PUT(key, value) cml_store(aTHX_ env, "" key, sizeof(key) - 1, value)

void cml_psgi_begin(int https, int entries)
{
    dTHXa(cml_perl);
    if (!errors_ref)
        errors_ref = newRV_inc((SV *)cml_stderr_gv);
    SvREFCNT_dec(env);
    env = newHV();
    hv_ksplit(env, entries + 16);
    version = newAV();
    av_push(version, newSViv(1));
    av_push(version, newSViv(1));
    PUT("psgi.version", newRV_noinc((SV *)version));
    PUT("psgi.url_scheme", https ? newSVpvs("https") : newSVpvs("http"));
    PUT("psgi.input", cml_psgi_input(aTHX));
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
    PUT("cameleer.extend_timeout", cml_psgi_extend(aTHX));
    PUT("psgix.informational", cml_psgi_inform(aTHX));
}

void cml_psgi_put(const char *key, size_t key_length, const char *value, size_t value_length)
{
    dTHXa(cml_perl);
    SV *const sv = newSVpvn(value, value_length);
    SvTAINTED_on(sv);
    cml_store(aTHX_ env, key, key_length, sv);
}

static AV *array_at(pTHX_ AV *list, SSize_t index)
{
    SV **const slot = av_fetch(list, index, 0);
    return slot && SvROK(*slot) && SvTYPE(SvRV(*slot)) == SVt_PVAV && !SvOBJECT(SvRV(*slot)) ? (AV *)SvRV(*slot) : NULL;
}

/* Holds a value until the statement ends, whatever the application does to its response. */
static SV *held(pTHX_ SV *sv)
{
    return sv_2mortal(SvREFCNT_inc(sv));
}

/* Whether the value's text needs no code and no warning: it is defined, neither an object nor tied. */
static int is_quiet(const SV *sv)
{
    return !SvROK(sv) && !SvGMAGICAL(sv) && SvOK(sv);
}

/* A copy of the value as bytes; code of an object or tied value runs once, in this call. NULL for undef and for a
 * missing value. Characters above 255 are an error of the application (PSGI requires bytes). */
static SV *bytes_of(pTHX_ SV *value)
{
    SV *text = value;
    if (!is_quiet(value)) {
        SV *const own = sv_mortalcopy(value);
        if (!SvOK(own))
            return NULL;
        text = newSVpvs_flags("", SVs_TEMP);
        sv_copypv(text, own);
    }
    if (!SvUTF8(text))
        return text;
    if (text == value)
        text = sv_mortalcopy(value);
    if (!sv_utf8_downgrade(text, TRUE))
        croak("PSGI: wide character in the response: encode it to bytes first");
    return text;
}

static SV *bytes_at(pTHX_ AV *list, SSize_t index)
{
    SV **const slot = av_fetch(list, index, 0);
    return slot ? bytes_of(aTHX_ *slot) : NULL;
}

/* Whether the value at `index` is quiet. Code of a value may change the array or its neighbour: then the
 * name must be copied. */
static int is_quiet_at(pTHX_ AV *list, SSize_t index)
{
    SV **const slot = SvRMAGICAL(list) ? NULL : av_fetch(list, index, 0);
    return slot && is_quiet(*slot);
}

void cml_psgi_headers(pTHX_ AV *headers)
{
    for (SSize_t i = 0; i < av_top_index(headers); i += 2) {
        STRLEN name_length = 0, value_length = 0;
        const int is_plain = is_quiet_at(aTHX_ headers, i + 1);
        SV *name = bytes_at(aTHX_ headers, i);
        if (name && !is_plain)
            name = sv_mortalcopy(name);
        SV *const value = bytes_at(aTHX_ headers, i + 1);
        const char *const n = name ? SvPV(name, name_length) : "";
        const char *const v = value ? SvPV(value, value_length) : "";
        cml_hooks_table.header(n, name_length, v, value_length);
    }
}

/* The status of a response, which must not be informational. */
static int final_status(pTHX_ SV *outcome)
{
    const IV status = SvIV(outcome);
    if (status >= 100 && status < 200)
        croak("PSGI: the application answered with status %d, which is informational; send it with psgix.informational",
              (int)status);
    return (int)status;
}

static void send_chunk(pTHX_ SV *value)
{
    STRLEN length;
    SV *const bytes = bytes_of(aTHX_ value);
    if (!bytes)
        return;
    const char *const text = SvPV(bytes, length);
    cml_hooks_table.write(text, length);
}

/* Sends a response of the plain form; returns whether it was one. */
static int send_plain(pTHX_ SV *response)
{
    if (!SvROK(response) || SvTYPE(SvRV(response)) != SVt_PVAV)
        return 0;
    AV *const triple = (AV *)held(aTHX_ SvRV(response));
    if (SvRMAGICAL(triple) || av_top_index(triple) != 2)
        return 0;
    AV *const headers = array_at(aTHX_ triple, 1);
    AV *const body = array_at(aTHX_ triple, 2);
    SV **const status = av_fetch(triple, 0, 0);
    if (!headers || !body || !status)
        return 0;
    held(aTHX_ (SV *)headers);
    held(aTHX_ (SV *)body);
    cml_hooks_table.head(final_status(aTHX_ held(aTHX_ *status)));
    cml_psgi_headers(aTHX_ headers);
    for (SSize_t i = 0; i <= av_top_index(body); i++) {
        SV **const chunk = av_fetch(body, i, 0);
        if (chunk)
            send_chunk(aTHX_ *chunk);
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
    call_pv(sub, G_VOID | G_DISCARD); /* without G_EVAL: the caller's eval catches errors */
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

/* XS primitives of Cameleer::PSGI. */
XS(cml_xs_head)
{
    dXSARGS;
    if (items != 2 || !SvROK(ST(1)) || SvTYPE(SvRV(ST(1))) != SVt_PVAV)
        croak("PSGI: expected a status and an array of headers");
    AV *const headers = (AV *)held(aTHX_ SvRV(ST(1)));
    cml_hooks_table.head(final_status(aTHX_ ST(0)));
    cml_psgi_headers(aTHX_ headers);
    XSRETURN_EMPTY;
}

XS(cml_xs_write)
{
    dXSARGS;
    if (items != 1)
        croak("usage: emit(bytes)");
    send_chunk(aTHX_ ST(0));
    XSRETURN_EMPTY;
}

XS(cml_xs_flush)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    const cml_audience audience = cml_hooks_table.flush();
    if (audience == CML_HERE)
        XSRETURN_YES;
    if (audience == CML_GONE)
        cml_written_to_nobody(aTHX);
    XSRETURN_NO;
}

void cml_psgi_boot(pTHX)
{
    newXS("Cameleer::PSGI::head", cml_xs_head, __FILE__);
    newXS("Cameleer::PSGI::emit", cml_xs_write, __FILE__);
    newXS("Cameleer::PSGI::flush", cml_xs_flush, __FILE__);
    cml_psgi_objects_boot(aTHX);
}

static CV *run_cv;

typedef struct {
    SV *app;
    HV *env;
    int needs_cleanup, leave;
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

/* Reads the application's settings for the time after the response. The keys may have any values, and the hash may be
 * tied. */
static void wishes_body(pTHX_ void *argument)
{
    call *const c = argument;
    SV **const handlers = hv_fetchs(c->env, "psgix.cleanup.handlers", 0);
    if (handlers)
        SvGETMAGIC(*handlers);
    c->needs_cleanup = handlers && SvROK(*handlers) && SvTYPE(SvRV(*handlers)) == SVt_PVAV
        && av_top_index((AV *)SvRV(*handlers)) >= 0;
    SV **const commit = hv_fetchs(c->env, "psgix.harakiri.commit", 0);
    c->leave = commit && SvTRUE(*commit);
}

/* Whether `psgix.cleanup.handlers` and `psgix.harakiri.commit` are as the server set them: reading them then runs no
   Perl code. */
static int is_plain(pTHX_ HV *of)
{
    SV **const handlers = SvRMAGICAL(of) ? NULL : hv_fetchs(of, "psgix.cleanup.handlers", 0);
    return handlers && SvROK(*handlers) && SvTYPE(SvRV(*handlers)) == SVt_PVAV && !SvRMAGICAL(SvRV(*handlers))
        && AvFILLp((AV *)SvRV(*handlers)) < 0 && !hv_exists(of, "psgix.harakiri.commit", 21);
}

static void ask_wishes(pTHX_ call *c)
{
    if (!is_plain(aTHX_ c->env) && cml_guarded_whole(aTHX_ wishes_body, c) == CML_DIED)
        cml_log_error();
}

cml_status cml_psgi_run(void *app, int *needs_cleanup, int *leave)
{
    dTHXa(cml_perl);
    call c = {(SV *)app, env, 0, 0};
    cml_inc_is_apps();
    env = NULL;
    const int was_log = cml_stdout_is_log(1);
    const cml_status status = cml_guarded(aTHX_ psgi_body, &c);
    SV *const error = cml_take_error();
    ask_wishes(aTHX_ &c);
    *needs_cleanup = c.needs_cleanup;
    *leave = c.leave;
    if (!c.needs_cleanup) {
        cml_drop(aTHX_ (SV *)c.env);
    } else {
        if (!waiting)
            waiting = newAV();
        av_push(waiting, (SV *)c.env);
    }
    cml_stdout_is_log(was_log);
    cml_put_error(aTHX_ error);
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
    const int was_log = cml_stdout_is_log(1);
    *leave = 0;
    while (waiting && av_top_index(waiting) >= 0) {
        call c = {NULL, (HV *)av_shift(waiting), 0, 0};
        const cml_status outcome = cml_guarded(aTHX_ cleanup_body, c.env);
        status = status == CML_OK ? outcome : status;
        SV *const error = cml_take_error();
        ask_wishes(aTHX_ &c);
        *leave |= c.leave;
        cml_drop(aTHX_ (SV *)c.env);
        cml_put_error(aTHX_ error);
    }
    cml_stdout_is_log(was_log);
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
    const I32 count = call_pv(l->is_file ? "Cameleer::PSGI::load_file" : "Cameleer::PSGI::load_code", G_SCALAR);
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
    TAINT_NOT;
    loading l = {newSVpvn(source, length), is_file, NULL};
    cml_inc_is_apps();
    const cml_status status = cml_guarded_whole(aTHX_ load_body, &l);
    SvREFCNT_dec(l.source);
    *app = l.app;
    return status;
}

#include "internal.h"

static void eval_body(pTHX_ void *code)
{
    eval_sv((SV *)code, G_VOID | G_DISCARD);
}

cml_status cml_eval(const char *code, size_t length, const char *file, unsigned line)
{
    dTHXa(cml_perl);
    TAINT_NOT;
    SV *text = newSVpvf("#line %u \"%s\"\n", line, file);
    sv_catpvn(text, code, length);
    const cml_status status = cml_guarded(aTHX_ eval_body, text);
    SvREFCNT_dec(text);
    return status;
}

/* Makes an untainted text of the server's own: perl taints new values while the calling statement is
 * tainted. */
static SV *argument_of(pTHX_ const char *text, size_t length)
{
    TAINT_NOT;
    return newSVpvn(text, length);
}

/* A call of `sub` with one string. */
typedef struct {
    const char *sub;
    SV *argument;
    SV *result; /* NULL: the result is discarded */
} named_call;

static void call_name_body(pTHX_ void *argument)
{
    named_call *call = argument;
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    if (call->argument)
        XPUSHs(call->argument);
    PUTBACK;
    if (call->result) {
        call_pv(call->sub, G_SCALAR);
        SPAGAIN;
        SV *const returned = POPs;
        if (SvOK(returned))
            sv_copypv(call->result, returned);
        PUTBACK;
    } else {
        call_pv(call->sub, G_VOID | G_DISCARD);
    }
    FREETMPS;
    LEAVE;
}

cml_status cml_call_name(const char *sub, const char *argument, size_t length)
{
    dTHXa(cml_perl);
    named_call call = {sub, argument ? argument_of(aTHX_ argument, length) : NULL, NULL};
    const cml_status status = cml_guarded_whole(aTHX_ call_name_body, &call);
    SvREFCNT_dec(call.argument);
    return status;
}

/* Calls the sub as perl runs a file, in a process that runs no other code: die writes to STDERR and ends the process,
 * $^S is 0 in handlers, exit is perl's own. Returns the exit status. */
int cml_call_as_program(const char *sub, const char *bytes, size_t length)
{
    dTHXa(cml_perl);
    named_call call = {sub, argument_of(aTHX_ bytes, length), NULL};
    int status = 0, jump;
    dJMPENV;
    JMPENV_PUSH(jump);
    if (jump == 0)
        call_name_body(aTHX_ &call);
    else
        status = STATUS_EXIT;
    JMPENV_POP;
    return status;
}

/* Calls the sub in the middle of another operation of perl, such as its own print: perl's stack is
 * preserved. */
cml_status cml_call_aside(const char *sub, const char *bytes, size_t length)
{
    dTHXa(cml_perl);
    dSP;
    named_call call = {sub, argument_of(aTHX_ bytes, length), NULL};
    const int is_within = cml_is_guarded();
    if (is_within)
        PUSHSTACKi(PERLSI_MAGIC);
    const cml_status status = cml_guarded_whole(aTHX_ call_name_body, &call);
    if (is_within)
        POPSTACK;
    SvREFCNT_dec(call.argument);
    return status;
}

/* Calls a sub that returns text. The bytes are valid until the next such call. */
cml_status cml_ask_name(const char *sub, const char *argument, size_t length, cml_bytes *out)
{
    dTHXa(cml_perl);
    static SV *answer;
    if (!answer)
        answer = newSVpvs("");
    sv_setpvs(answer, "");
    named_call call = {sub, argument_of(aTHX_ argument, length), answer};
    const cml_status status = cml_guarded_whole(aTHX_ call_name_body, &call);
    SvREFCNT_dec(call.argument);
    STRLEN got;
    out->bytes = SvPV(answer, got);
    out->length = got;
    return status;
}

cml_status cml_require(const char *file, size_t length)
{
    return cml_call_name("Cameleer::require_file", file, length);
}

cml_status cml_require_module(const char *name, size_t length)
{
    return cml_call_name("Cameleer::require_module", name, length);
}

/* Cameleer::resolve_handler returns (code, invocant or undef). */
typedef struct {
    SV *name;
    SV *code, *invocant;
} resolving;

static void resolve_body(pTHX_ void *argument)
{
    resolving *r = argument;
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    XPUSHs(r->name);
    PUTBACK;
    const I32 count = call_pv("Cameleer::resolve_handler", G_LIST);
    SPAGAIN;
    if (count == 2) {
        SV *const invocant = POPs;
        SV *const code = POPs;
        r->code = newSVsv(code);
        r->invocant = SvOK(invocant) ? newSVsv(invocant) : NULL;
    } else {
        SP -= count;
    }
    PUTBACK;
    FREETMPS;
    LEAVE;
}

cml_status cml_resolve_handler(const char *name, size_t length, void **code, void **invocant)
{
    dTHXa(cml_perl);
    resolving r = {argument_of(aTHX_ name, length), NULL, NULL};
    const cml_status status = cml_guarded_whole(aTHX_ resolve_body, &r);
    SvREFCNT_dec(r.name);
    *code = r.code;
    *invocant = r.invocant;
    return status;
}

typedef struct {
    SV *code, *invocant;
    uint64_t request;
    int result;
} handling;

static HV *request_class;

void cml_request_class(const char *name)
{
    dTHXa(cml_perl);
    request_class = gv_stashpv(name, GV_ADD);
}

/* Makes a $r: a reference to the request's record number, blessed into the API's class. */
static SV *new_request_sv(pTHX_ uint64_t request)
{
    if (!request_class)
        request_class = gv_stashpvs("Apache", GV_ADD);
    return sv_bless(newRV_noinc(newSVuv(request)), request_class);
}

static void handler_body(pTHX_ void *argument)
{
    handling *h = argument;
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    EXTEND(SP, 2);
    if (h->invocant)
        PUSHs(h->invocant);
    PUSHs(sv_2mortal(new_request_sv(aTHX_ h->request)));
    PUTBACK;
    const I32 count = call_sv(h->code, G_SCALAR | G_EVAL);
    SPAGAIN;
    if (count == 1) {
        SV *const result = POPs;
        /* A handler without a numeric result (undef, the value of a final statement) has returned OK, as in
         * mod_perl 1. */
        h->result = SvOK(result) && looks_like_number(result) ? (int)SvIV(result) : 0;
    }
    PUTBACK;
    FREETMPS;
    LEAVE;
}

cml_status cml_call_handler(void *code, void *invocant, uint64_t request, int *result)
{
    dTHXa(cml_perl);
    handling h = {code, invocant, request, 0};
    const cml_status status = cml_guarded(aTHX_ handler_body, &h);
    *result = h.result;
    return status;
}

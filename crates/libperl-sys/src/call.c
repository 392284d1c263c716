#include "internal.h"

#include <unistd.h>

static SV *last_error;
static int last_exit;
static int gave_up;

/* How many guards are at work: a handler may start a subrequest, whose handlers are guarded in turn. */
static int depth;
/* What exit throws when Perl code below this guard must go on. */
static SV *exit_exception;

int cml_is_guarded(void)
{
    return depth > 0;
}

/* perl's own exit unwinds every Perl frame there is, also those of the handler that started this subrequest. There it
 * becomes an exception, as in mod_perl 1. */
int cml_exit_is_exception(void)
{
    return depth > 1 && !cml_forked_child;
}

void cml_throw_exit(pTHX_ int code)
{
    last_exit = code;
    if (!exit_exception)
        exit_exception = sv_bless(newRV_noinc(newSVpvs("exit")), gv_stashpvs("Cameleer::Exit", GV_ADD));
    SAVESPTR(PL_diehook); /* it is no error */
    PL_diehook = NULL;
    croak_sv(exit_exception);
}

static cml_status status_of_error(pTHX)
{
    SV *const error = ERRSV;
    /* An exception counts as one whatever its own idea of truth is: to ask it would run its code. */
    if (!SvROK(error) && !(SvPOK(error) && SvCUR(error) > 0))
        return CML_OK;
    if (exit_exception && SvROK(error) && SvRV(error) == SvRV(exit_exception))
        return CML_EXITED;
    return CML_DIED;
}

/* perl's exit does not stop at an eval: it unwinds to the innermost JMPENV, which is this one (then the result is 2), and
 * leaves the stacks where they were: put them back, or a few bytes leak per exit. What `body` made mortal goes here, too,
 * because that may run destructors. */
static int stopped_by(pTHX_ cml_body body, void *argument)
{
    dJMPENV;
    int jump;
    OP *const op = PL_op;
    COP *const cop = PL_curcop;
    const SSize_t stack = PL_stack_sp - PL_stack_base;
    const SSize_t mark = PL_markstack_ptr - PL_markstack;
    const I32 scope = PL_scopestack_ix;

    JMPENV_PUSH(jump);
    if (jump == 0) {
        body(aTHX_ argument);
        FREETMPS;
    }
    JMPENV_POP;
    if (jump != 0) {
        while (PL_scopestack_ix > scope)
            LEAVE;
        PL_stack_sp = PL_stack_base + stack;
        PL_markstack_ptr = PL_markstack + mark;
        PL_curcop = cop;
    }
    PL_op = op;
    return jump;
}

typedef struct {
    cml_body body;
    void *argument;
    cml_status status;
} guarding;

static void guarded_body(pTHX_ void *argument)
{
    guarding *const g = argument;
    g->body(aTHX_ g->argument);
    g->status = status_of_error(aTHX);
}

static void to_text(pTHX_ void *error)
{
    ENTER; /* a reference's text is put on the savestack */
    sv_copypv(last_error, (SV *)error);
    LEAVE;
}

static void release(pTHX_ void *sv)
{
    SvREFCNT_dec((SV *)sv);
}

static void forget_error(pTHX_ void *nothing)
{
    PERL_UNUSED_VAR(nothing);
    CLEAR_ERRSV();
}

/* An exception's text is its own code's, which may die or exit in its turn. */
static void keep_error(pTHX)
{
    SV *const error = newSVsv(ERRSV);
    if (!last_error)
        last_error = newSV(0);
    sv_setpvs(last_error, "an exception whose text could not be had: its own code died or called exit");
    CLEAR_ERRSV();
    if (SvROK(error))
        stopped_by(aTHX_ cml_in_eval, &(cml_evaluation){to_text, error});
    else
        to_text(aTHX_ error);
    stopped_by(aTHX_ forget_error, NULL);
    stopped_by(aTHX_ release, error);
    cml_exit_asked = 0;
}

/* Runs `body` with G_EVAL calls inside it, so that neither die nor exit passes. */
cml_status cml_guarded(pTHX_ cml_body body, void *argument)
{
    guarding g = {body, argument, CML_DIED};

    TAINT_NOT; /* what was read before this call says nothing of what it does */
    if (depth++ > 0) {
        ENTER;
        SAVETMPS;
        save_scalar(PL_errgv);
    }
    CLEAR_ERRSV();
    const int jump = stopped_by(aTHX_ guarded_body, &g);
    if (jump == 2) {
        last_exit = STATUS_EXIT;
        STATUS_ALL_SUCCESS;
        g.status = cml_exit_asked ? CML_EXITED : CML_DIED;
        gave_up |= !cml_exit_asked;
        cml_exit_asked = 0;
    }
    /* A forked child's exit, or perl's own for lack of memory: the frames to return to are gone. */
    if (jump == 2 && depth > 1) {
        cml_end(0);
        _exit(last_exit);
    }
    if (jump == 2 && g.status == CML_DIED)
        sv_setpvs(ERRSV, "perl gave this call up: out of memory");
    if (g.status == CML_DIED)
        keep_error(aTHX);
    if (g.status != CML_OK)
        stopped_by(aTHX_ forget_error, NULL); /* and what was mortal when it was stopped */
    if (--depth > 0)
        LEAVE;
    return g.status;
}

/* An XSUB, so that G_EVAL has a call to stand around. */
static cml_evaluation *evaluation;

XS(cml_xs_evaluation)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    cml_evaluation *const mine = evaluation;
    mine->body(aTHX_ mine->argument);
    XSRETURN_EMPTY;
}

/* For what may run Perl code in the middle of C: values that are objects or tied, destructors, layers. Such code may die,
 * and without an eval of ours around it that would end at an eval of the site's, far below Rust. */
void cml_in_eval(pTHX_ void *argument)
{
    static CV *cv;
    dSP;
    if (!cv)
        cv = newXS("Cameleer::evaluation", cml_xs_evaluation, __FILE__);
    PUSHMARK(SP);
    evaluation = argument;
    call_sv((SV *)cv, G_VOID | G_DISCARD | G_EVAL);
}

cml_status cml_guarded_whole(pTHX_ cml_body body, void *argument)
{
    cml_evaluation e = {body, argument};
    return cml_guarded(aTHX_ cml_in_eval, &e);
}

/* The last reference may be this one, and what it refers to may have a destructor. */
void cml_drop(pTHX_ SV *sv)
{
    if (!sv)
        return;
    if (SvREFCNT(sv) > 1)
        SvREFCNT_dec_NN(sv);
    else
        cml_guarded(aTHX_ release, sv);
}

void cml_error(cml_bytes *out)
{
    dTHXa(cml_perl);
    STRLEN length = 0;
    out->bytes = last_error ? SvPV(last_error, length) : "";
    out->length = length;
}

/* For whoever runs more Perl code before the error is asked for. */
SV *cml_take_error(void)
{
    SV *const error = last_error;
    last_error = NULL;
    return error;
}

void cml_put_error(pTHX_ SV *error)
{
    SvREFCNT_dec(last_error); /* a plain text */
    last_error = error;
}

/* For what nobody waits for. */
void cml_log_error(void)
{
    cml_bytes error;
    cml_error(&error);
    cml_hooks_table.log(error.bytes, error.length);
}

/* Whether perl itself once ended a call, which it does when it gets no memory. */
int cml_gave_up(void)
{
    return gave_up;
}

int cml_exit_code(void)
{
    return last_exit;
}

void cml_release(void *sv)
{
    dTHXa(cml_perl);
    cml_drop(aTHX_ (SV *)sv);
}

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

/* A text of the server's own for Perl code. Perl taints new values while the statement that it was called in is tainted. */
static SV *argument_of(pTHX_ const char *text, size_t length)
{
    TAINT_NOT;
    return newSVpvn(text, length);
}

/* Calls `sub` with one string; the sub's text, not the argument's, decides what is done with it. */
typedef struct {
    const char *sub;
    SV *argument;
    SV *result; /* NULL: nobody wants it */
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

/* The same for a sub that returns text: bytes that stay until the next such call. */
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

/* A fresh $r: a reference to the request's generation number, blessed into Apache. */
static SV *new_request_sv(pTHX_ uint64_t request)
{
    static HV *stash;
    if (!stash)
        stash = gv_stashpvs("Apache", GV_ADD);
    return sv_bless(newRV_noinc(newSVuv(request)), stash);
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
        /* A handler that falls off its end with print's 1, or with nothing, means OK, as in mod_perl 1. */
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

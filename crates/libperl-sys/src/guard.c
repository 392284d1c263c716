#include "internal.h"

#include <unistd.h>

static SV *last_error;
static int last_exit;
static int gave_up;

unsigned cml_turn;

/* Nesting depth of guards: a handler may start a subrequest, whose handlers are guarded in turn. */
static int depth;
/* The exception that exit throws when Perl code below this guard must continue. */
static SV *exit_exception;

int cml_is_guarded(void)
{
    return depth > 0;
}

/* perl's own exit unwinds all Perl frames, including those of a handler that started this subrequest. In a subrequest
 * exit throws an exception instead, as in mod_perl 1. */
int cml_exit_is_exception(void)
{
    return depth > 1 && !cml_forked_child;
}

void cml_throw_exit(pTHX_ int code)
{
    last_exit = code;
    if (!exit_exception)
        exit_exception = sv_bless(newRV_noinc(newSVpvs("exit")), gv_stashpvs("Cameleer::Exit", GV_ADD));
    SAVESPTR(PL_diehook); /* exit must not call the handler for errors */
    PL_diehook = NULL;
    croak_sv(exit_exception);
}

/* Whether an error is the exception of mod_perl 2's exit, which the site may catch and rethrow:
 * ModPerl::Const::EXIT. */
static bool is_exit_of_mod_perl_2(pTHX_ SV *error)
{
    enum { EXIT = 120000 };
    HV *const object = SvROK(error) && SvOBJECT(SvRV(error)) && SvTYPE(SvRV(error)) == SVt_PVHV ? (HV *)SvRV(error) : NULL;
    const char *const class = object ? HvNAME(SvSTASH((SV *)object)) : NULL;
    if (!class || strNE(class, "APR::Error") || SvMAGICAL((SV *)object))
        return false;
    SV **const code = hv_fetchs(object, "rc", 0);
    return code && SvIOK(*code) && SvIVX(*code) == EXIT;
}

static cml_status status_of_error(pTHX)
{
    SV *const error = ERRSV;
    /* Any reference counts as an error: its own boolean overload would run its code. */
    if (!SvROK(error) && !(SvPOK(error) && SvCUR(error) > 0))
        return CML_OK;
    if (exit_exception && SvROK(error) && SvRV(error) == SvRV(exit_exception))
        return CML_EXITED;
    if (is_exit_of_mod_perl_2(aTHX_ error)) {
        last_exit = 0;
        return CML_EXITED;
    }
    return CML_DIED;
}

/* Runs `body` under a JMPENV. perl's exit does not stop at an eval: it unwinds to the innermost JMPENV, which is this
 * one (result 2), but does not reset the stacks. They are restored here, otherwise each exit would leak a few bytes.
 * Mortals of `body` are freed here, too, because that may run destructors. */
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
    ENTER; /* the text of a reference is put on the savestack */
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

/* An exception's text comes from its own code, which may die or exit in turn. */
static void keep_error(pTHX)
{
    SV *const error = newSVsv(ERRSV);
    if (!last_error)
        last_error = newSV(0);
    sv_setpvs(last_error, "an exception without a text: the code that makes the text died or called exit");
    CLEAR_ERRSV();
    if (SvROK(error))
        stopped_by(aTHX_ cml_in_eval, &(cml_evaluation){to_text, error});
    else
        to_text(aTHX_ error);
    stopped_by(aTHX_ forget_error, NULL);
    stopped_by(aTHX_ release, error);
    cml_exit_asked = 0;
}

/* Runs `body`, which calls Perl with G_EVAL, so that neither die nor exit passes. */
cml_status cml_guarded(pTHX_ cml_body body, void *argument)
{
    guarding g = {body, argument, CML_DIED};

    TAINT_NOT; /* the taint of earlier reads does not apply to this call */
    cml_turn++;
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
    /* exit in a forked child, or perl's own exit for lack of memory: the frames to return to do not exist. */
    if (jump == 2 && depth > 1) {
        cml_end(0);
        _exit(last_exit);
    }
    if (jump == 2 && g.status == CML_DIED)
        sv_setpvs(ERRSV, "perl ended this call: out of memory");
    if (g.status == CML_DIED)
        keep_error(aTHX);
    if (g.status != CML_OK)
        stopped_by(aTHX_ forget_error, NULL); /* frees the mortals of the interrupted body */
    if (g.status == CML_EXITED && cml_was_ended())
        g.status = CML_UNHEARD;
    if (--depth > 0)
        LEAVE;
    cml_turn++;
    return g.status;
}

/* An XSUB, so that G_EVAL has a call to protect. */
static cml_evaluation *evaluation;

XS(cml_xs_evaluation)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    cml_evaluation *const mine = evaluation;
    mine->body(aTHX_ mine->argument);
    XSRETURN_EMPTY;
}

/* Runs code that may call Perl in the middle of C: objects, tied values, destructors, layers. Without an
 * eval here, a die would end at an eval of the site's, far below Rust frames. */
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

/* Drops a reference. It may be the last one to a value with a destructor. */
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

/* Takes the error, for code that runs more Perl before the error is read. */
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

/* Logs the error of code that has no caller to handle it. */
void cml_log_error(void)
{
    cml_bytes error;
    cml_error(&error);
    cml_hooks_table.log(error.bytes, error.length);
}

/* Whether perl itself once ended a call, for lack of memory. */
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

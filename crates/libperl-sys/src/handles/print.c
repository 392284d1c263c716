#include "../internal.h"

/* perl's operators that print. On STDOUT print and say behave as in mod_perl 1: for a reference to a text they print
 * the text. mod_perl 1 ties STDOUT to $r, whose PRINT does this; Cameleer uses a plain handle, which is faster. */

static Perl_ppaddr_t print_of_perl, say_of_perl, printf_of_perl, syswrite_of_perl, write_of_perl;

/* Whether print sends the text behind a reference: by the rule of is_plain_scalar_ref in the API's xs.c. */
static int is_text_ref(SV *sv)
{
    return SvROK(sv) && !SvOBJECT(SvRV(sv)) && SvTYPE(SvRV(sv)) < SVt_PVGV && !SvROK(SvRV(sv));
}

/* The arguments of the current op: they follow the handle, where one is named. */
static void follow_references(pTHX)
{
    SV **at = PL_stack_base + TOPMARK + 1;
    const GV *gv = PL_defoutgv;
    if (PL_op->op_flags & OPf_STACKED)
        gv = (GV *)*at++;
    int is_needed = 0;
    for (SV **arg = at; arg <= PL_stack_sp && !is_needed; arg++)
        is_needed = is_text_ref(*arg);
    if (!is_needed || !gv || !isGV_with_GP(gv) || !cml_is_response(GvIO(gv)))
        return;
    for (; at <= PL_stack_sp; at++)
        if (is_text_ref(*at))
            *at = SvRV(*at);
}

/* The descriptor of the operator's handle if it is a copy of STDOUT, whose output joins the response; else -1. */
static int copy_of_output(pTHX_ int is_named)
{
    const GV *const gv = is_named ? (GV *)PL_stack_base[TOPMARK + 1] : PL_defoutgv;
    if (!(cml_touched & (CML_COPIED | CML_WROTE)) && !cml_start_up_writes())
        return -1;
    const IO *const io = gv && isGV_with_GP(gv) ? GvIO(gv) : NULL;
    PerlIO *const f = io ? IoOFP(io) : NULL;
    const int fd = PerlIOValid(f) && f != cml_out_handle ? PerlIO_fileno(f) : -1;
    return fd == 1 || cml_is_output(fd) ? fd : -1;
}

/* Output through a copy of STDOUT joins the response immediately: otherwise an endless program would fill the memory,
 * and never notice that its client has disconnected. */
static OP *printed(pTHX_ OP *next, int copy)
{
    if (copy >= 0) {
        dSAVE_ERRNO;
        cml_drain_fd1();
        RESTORE_ERRNO;
    }
    if (cml_output_failed(aTHX) && copy >= 0)
        *PL_stack_sp = &PL_sv_undef; /* the operator itself succeeded */
    return next;
}

static int is_named(pTHX)
{
    return (PL_op->op_flags & OPf_STACKED) != 0;
}

static OP *print_op(pTHX)
{
    const int copy = copy_of_output(aTHX_ is_named(aTHX));
    follow_references(aTHX);
    return printed(aTHX_ print_of_perl(aTHX), copy);
}

static OP *say_op(pTHX)
{
    const int copy = copy_of_output(aTHX_ is_named(aTHX));
    follow_references(aTHX);
    return printed(aTHX_ say_of_perl(aTHX), copy);
}

static OP *printf_op(pTHX)
{
    const int copy = copy_of_output(aTHX_ is_named(aTHX));
    return printed(aTHX_ printf_of_perl(aTHX), copy);
}

/* syswrite to STDOUT uses the descriptor, like output through a copy. */
static OP *syswrite_op(pTHX)
{
    cml_touched |= CML_WROTE;
    const GV *const gv = (GV *)PL_stack_base[TOPMARK + 1];
    const int is_stdout = isGV_with_GP(gv) && GvIO(gv) && IoOFP(GvIO(gv)) == cml_out_handle;
    const int copy = is_stdout ? 1 : copy_of_output(aTHX_ 1);
    return printed(aTHX_ syswrite_of_perl(aTHX), copy);
}

/* The operator `write`, for formats. */
static OP *write_op(pTHX)
{
    return printed(aTHX_ write_of_perl(aTHX), -1);
}

static void wrap(int op, Perl_ppaddr_t *original, Perl_ppaddr_t with)
{
    *original = PL_ppaddr[op];
    PL_ppaddr[op] = with;
}

void cml_print_boot(pTHX)
{
    wrap(OP_PRINT, &print_of_perl, print_op);
    wrap(OP_SAY, &say_of_perl, say_op);
    wrap(OP_PRTF, &printf_of_perl, printf_op);
    wrap(OP_SYSWRITE, &syswrite_of_perl, syswrite_op);
    wrap(OP_LEAVEWRITE, &write_of_perl, write_op);
}

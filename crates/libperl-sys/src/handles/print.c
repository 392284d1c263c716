#include "../internal.h"

/* print and say on STDOUT as in mod_perl 1: for a reference to a text they print the text. mod_perl 1 ties
 * STDOUT to $r, whose PRINT does this; here STDOUT is a plain handle, which is faster. */

static OP *(*print_of_perl)(pTHX);
static OP *(*say_of_perl)(pTHX);

/* Same rule as is_plain_scalar_ref in the API's xs.c. */
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
    if (!is_needed || !gv || !isGV_with_GP(gv) || !cml_is_answer(GvIO(gv)))
        return;
    for (; at <= PL_stack_sp; at++)
        if (is_text_ref(*at))
            *at = SvRV(*at);
}

static OP *print_op(pTHX)
{
    follow_references(aTHX);
    return print_of_perl(aTHX);
}

static OP *say_op(pTHX)
{
    follow_references(aTHX);
    return say_of_perl(aTHX);
}

void cml_print_boot(pTHX)
{
    print_of_perl = PL_ppaddr[OP_PRINT];
    say_of_perl = PL_ppaddr[OP_SAY];
    PL_ppaddr[OP_PRINT] = print_op;
    PL_ppaddr[OP_SAY] = say_op;
}

#include "internal.h"

#include <malloc.h>

/* Finds the memory ranges and names of Perl's values: the bytes that a value takes, the values that it refers to, and
 * the names of values. Perl's memory is not written to. No function recurses: the caller walks from value to value. See
 * perlguts for the layout of each kind. */

/* Exported by perl, but declared in regcomp.h, which only perl itself can include. */
extern const regexp_engine PL_core_reg_engine;

static void span(const cml_spans *of, const void *start, size_t length)
{
    if (start && length)
        of->span(of->to, start, length);
}

/* Reports a malloc block, whose length malloc knows. */
static void block(const cml_spans *of, const void *start)
{
    if (start)
        span(of, start, malloc_usable_size((void *)start));
}

static void child(const cml_spans *of, const void *sv)
{
    dTHXa(cml_perl);
    if (sv && sv != &PL_sv_placeholder)
        of->child(of->to, sv);
}

/* Size of a body of this type. perl omits leading unused fields and points before the allocation; `skipped`
 * is their size. */
static size_t body(int type, size_t *skipped)
{
    const size_t before = STRUCT_OFFSET(XPV, xpv_cur);
    *skipped = type == SVt_PV || type == SVt_INVLIST || type == SVt_PVIV || type == SVt_PVNV ? before : 0;
    switch (type) {
    case SVt_PV: return sizeof(XPV) - before;
    case SVt_INVLIST: return sizeof(XINVLIST) - before;
    case SVt_PVIV: return sizeof(XPVIV) - before;
    case SVt_PVNV: return sizeof(XPVNV) - before;
    case SVt_PVMG: return sizeof(XPVMG);
    case SVt_REGEXP: return sizeof(regexp);
    case SVt_PVGV: return sizeof(XPVGV);
    case SVt_PVLV: return sizeof(XPVLV);
    case SVt_PVAV: return sizeof(XPVAV);
    case SVt_PVHV: return sizeof(XPVHV);
    case SVt_PVCV: return sizeof(XPVCV);
    case SVt_PVFM: return sizeof(XPVFM);
    case SVt_PVIO: return sizeof(XPVIO);
    default: return 0; /* the value is stored in the head */
    }
}

size_t cml_body_size(int type)
{
    size_t skipped;
    const size_t size = body(type, &skipped);
    return size + skipped;
}

/* Reports a shared hash key with its entry in the string table: the entry begins with the reference count. */
static void key(const cml_spans *of, const HEK *hek)
{
    const char *const entry = (const char *)hek - STRUCT_OFFSET(struct shared_he, shared_he_hek);
    span(of, entry, STRUCT_OFFSET(struct shared_he, shared_he_hek) + HEK_BASESIZE + (size_t)HEK_LEN(hek) + 2);
}

static void scalar(const cml_spans *of, const SV *sv)
{
    if (SvROK(sv)) {
        child(of, SvRV(sv));
    } else if (SvTYPE(sv) >= SVt_PV && !isREGEXP(sv) && SvPVX_const(sv)) {
        STRLEN skipped = 0;
        if (SvOOK(sv))
            SvOOK_offset(sv, skipped);
        if (SvLEN(sv))
            span(of, SvPVX_const(sv) - skipped, SvLEN(sv) + skipped);
        else if (SvIsCOW_shared_hash(sv))
            key(of, SvSHARED_HEK_FROM_PV(SvPVX_const(sv)));
    }
}

static void pattern(const cml_spans *of, const REGEXP *sv)
{
    dTHXa(cml_perl);
    const regexp *const r = ReANY(sv);
    if (r->engine != &PL_core_reg_engine || r->mother_re)
        return; /* the regexp of another engine, or a copy that shares its data */
    block(of, r->offs);
    block(of, r->pprivate);
    block(of, r->substrs);
}

static void array(const cml_spans *of, const AV *av)
{
    const SSize_t before = AvARRAY(av) - AvALLOC(av);
    if (!AvALLOC(av))
        return;
    span(of, AvALLOC(av), (size_t)(before + AvMAX(av) + 1) * sizeof(SV *));
    for (SSize_t i = 0; AvREAL(av) && i <= AvFILLp(av); i++)
        child(of, AvARRAY(av)[i]);
}

/* The name of the package whose symbol table this is; NULL for other hashes. */
static const HEK *package_of(const HV *hv)
{
    return hv ? HvNAME_HEK(hv) : NULL;
}

static void hash(const cml_spans *of, const HV *hv)
{
    dTHXa(cml_perl);
    if (!HvARRAY(hv))
        return;
    block(of, HvARRAY(hv));
    if (hv == PL_strtab || package_of(hv))
        return; /* shared keys and globs belong to other owners */
    for (STRLEN i = 0; i <= HvMAX(hv); i++) {
        for (const HE *entry = HvARRAY(hv)[i]; entry; entry = HeNEXT(entry)) {
            span(of, entry, sizeof(HE));
            if (HeKLEN(entry) == HEf_SVKEY)
                child(of, HeKEY_sv(entry));
            else if (HvSHAREKEYS(hv))
                key(of, HeKEY_hek(entry));
            else
                block(of, HeKEY_hek(entry));
            child(of, HeVAL(entry));
        }
    }
}

static void glob(const cml_spans *of, const GV *gv)
{
    const GP *const gp = isGV_with_GP(gv) ? GvGP(gv) : NULL;
    if (!gp)
        return;
    span(of, gp, sizeof *gp);
    child(of, gp->gp_sv);
    child(of, gp->gp_av);
    child(of, gp->gp_hv);
    child(of, gp->gp_cv);
    child(of, gp->gp_io);
    child(of, gp->gp_form);
}

static size_t size_of_op(const OP *op)
{
    switch (PL_opargs[op->op_type] & OA_CLASS_MASK) {
    case OA_UNOP: case OA_BASEOP_OR_UNOP: case OA_FILESTATOP: case OA_LOOPEXOP: return sizeof(UNOP);
    case OA_BINOP: return sizeof(BINOP);
    case OA_LOGOP: return sizeof(LOGOP);
    case OA_LISTOP: return sizeof(LISTOP);
    case OA_PMOP: return sizeof(PMOP);
    case OA_LOOP: return sizeof(LOOP);
    case OA_COP: return sizeof(COP);
    case OA_METHOP: return sizeof(METHOP);
    case OA_UNOP_AUX: return sizeof(UNOP_AUX);
    default: return sizeof(SVOP);
    }
}

/* The next operator of a tree: the first kid, a sibling, or an ancestor's sibling. */
static const OP *next_op(const OP *op, const OP *root)
{
    if ((op->op_flags & OPf_KIDS) && cUNOPx(op)->op_first)
        return cUNOPx(op)->op_first;
    while (op && op != root && !OpHAS_SIBLING(op))
        op = op->op_sibparent;
    return op && op != root ? OpSIBLING(op) : NULL;
}

static void code(const cml_spans *of, const CV *cv)
{
    if (CvISXSUB(cv)) {
        if (CvCONST(cv))
            child(of, CvXSUBANY(cv).any_ptr);
        return;
    }
    for (const OP *op = CvROOT(cv); op; op = next_op(op, CvROOT(cv)))
        span(of, op, size_of_op(op));
    const PADLIST *const pads = CvPADLIST(cv);
    if (!pads)
        return;
    span(of, pads, sizeof *pads);
    block(of, PadlistARRAY(pads));
    const PADNAMELIST *const names = PadlistNAMES(pads);
    if (names) {
        span(of, names, sizeof *names);
        block(of, PadnamelistARRAY(names));
    }
    for (SSize_t depth = 1; depth <= PadlistMAX(pads); depth++)
        child(of, PadlistARRAY(pads)[depth]);
}

static void magic(const cml_spans *of, const SV *sv)
{
    for (const MAGIC *mg = SvMAGIC(sv); mg; mg = mg->mg_moremagic) {
        span(of, mg, sizeof *mg);
        if (mg->mg_len > 0 && mg->mg_ptr)
            span(of, mg->mg_ptr, (size_t)mg->mg_len);
        else if (mg->mg_len == HEf_SVKEY)
            child(of, mg->mg_ptr);
        if (mg->mg_flags & MGf_REFCOUNTED)
            child(of, mg->mg_obj);
    }
}

/* Reports the ranges of a value, its head first, and the values that it refers to. Entries of a symbol table
 * are reported by name. */
void cml_spans_of(const void *value, const cml_spans *of)
{
    const SV *const sv = value;
    const int type = SvTYPE(sv);
    size_t skipped;
    const size_t length = body(type, &skipped);
    span(of, sv, sizeof *sv);
    if (length)
        span(of, (const char *)SvANY(sv) + skipped, length);
    if (type >= SVt_PVMG)
        magic(of, sv);
    switch (type) {
    case SVt_PVAV: array(of, (const AV *)sv); break;
    case SVt_PVHV: hash(of, (const HV *)sv); break;
    case SVt_PVCV: case SVt_PVFM: code(of, (const CV *)sv); break;
    case SVt_PVIO: break;
    case SVt_REGEXP: pattern(of, (const REGEXP *)sv); break;
    case SVt_PVLV:
        child(of, LvTARG(sv));
        if (isGV_with_GP(sv))
            glob(of, (const GV *)sv);
        else
            scalar(of, sv);
        break;
    case SVt_PVGV: glob(of, (const GV *)sv); break;
    default: scalar(of, sv);
    }
}

void cml_each_value(void (*tell)(void *to, const void *value), void *to)
{
    dTHXa(cml_perl);
    for (const SV *arena = PL_sv_arenaroot; arena; arena = (const SV *)SvANY(arena)) {
        const SV *const end = &arena[SvREFCNT(arena)];
        for (const SV *sv = arena + 1; sv < end; sv++)
            if (SvTYPE(sv) != (svtype)SVTYPEMASK && SvREFCNT(sv))
                tell(to, sv);
    }
}

static void name(const cml_names *of, const void *value, char sigil, cml_naming naming, const HEK *hek)
{
    if (value && hek)
        of->name(of->to, value, sigil, naming, (cml_bytes){ HEK_KEY(hek), (size_t)HEK_LEN(hek) });
}

/* Reports the names that a glob gives; a value imported from another package has its name there. */
static void names_of_glob(const cml_names *of, const GV *gv)
{
    const GP *const gp = isGV_with_GP(gv) ? GvGP(gv) : NULL;
    const HEK *const package = gp ? package_of(GvSTASH(gv)) : NULL;
    if (!package)
        return;
    of->within(of->to, HEK_KEY(package), (size_t)HEK_LEN(package), NULL, 0);
    const HEK *const hek = GvNAME_HEK(gv);
    name(of, gv, '*', CML_OWN, hek);
    name(of, gp->gp_sv, '$', GvIMPORTED_SV(gv) ? CML_ALSO : CML_OWN, hek);
    name(of, gp->gp_av, '@', GvIMPORTED_AV(gv) ? CML_ALSO : CML_OWN, hek);
    name(of, gp->gp_cv, '&', GvIMPORTED_CV(gv) ? CML_ALSO : CML_OWN, hek);
    if (!package_of(gp->gp_hv))
        name(of, gp->gp_hv, '%', GvIMPORTED_HV(gv) ? CML_ALSO : CML_OWN, hek);
}

/* The name of a sub, without CvGV, which would create a glob for a sub that has none. */
static const HEK *name_of_code(const CV *cv)
{
    if (CvNAMED(cv))
        return ((const XPVCV *)SvANY(cv))->xcv_gv_u.xcv_hek;
    const GV *const gv = ((const XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv;
    return gv && isGV_with_GP(gv) ? GvNAME_HEK(gv) : NULL;
}

/* Reports a sub's own lexicals, and the outer ones that it uses. */
static void names_of_code(const cml_names *of, const CV *cv)
{
    const HEK *const package = package_of(CvSTASH(cv));
    const PADLIST *const pads = CvISXSUB(cv) ? NULL : CvPADLIST(cv);
    if (!package || !pads || PadlistMAX(pads) < 1)
        return;
    const HEK *const sub = name_of_code(cv);
    of->within(of->to, HEK_KEY(package), (size_t)HEK_LEN(package), sub ? HEK_KEY(sub) : NULL,
               sub ? (size_t)HEK_LEN(sub) : 0);
    if (CvANON(cv) && CvFILE(cv))
        of->name(of->to, cv, '&', CML_ALSO, (cml_bytes){ CvFILE(cv), strlen(CvFILE(cv)) });
    const PADNAMELIST *const names = PadlistNAMES(pads);
    AV *const pad = PadlistARRAY(pads)[1];
    for (SSize_t i = 1; names && pad && i <= PadnamelistMAX(names) && i <= AvFILLp(pad); i++) {
        const PADNAME *const padname = PadnamelistARRAY(names)[i];
        const SV *const value = AvARRAY(pad)[i];
        if (padname && value && PadnamePV(padname) && PadnameLEN(padname) > 1 && !PadnameIsOUR(padname))
            of->name(of->to, value, *PadnamePV(padname), PadnameOUTER(padname) ? CML_OUTER : CML_LEXICAL,
                     (cml_bytes){ PadnamePV(padname) + 1, (size_t)PadnameLEN(padname) - 1 });
    }
}

/* Reports the names that a glob or a sub gives to values. */
void cml_names_by(const void *value, const cml_names *of)
{
    const SV *const sv = value;
    if (SvTYPE(sv) == SVt_PVGV)
        names_of_glob(of, (const GV *)sv);
    else if (SvTYPE(sv) == SVt_PVCV)
        names_of_code(of, (const CV *)sv);
    else if (SvTYPE(sv) == SVt_PVHV)
        name(of, sv, ':', CML_OWN, package_of((const HV *)sv));
}

/* The class of an unnamed value, or its type. */
void cml_kind_of(const void *value, void (*tell)(void *to, const char *name, size_t length), void *to)
{
    const SV *const sv = value;
    const HEK *const class = SvTYPE(sv) >= SVt_PVMG && SvOBJECT(sv) ? package_of(SvSTASH(sv)) : NULL;
    const char *const kind = cml_name_of_type(SvTYPE(sv));
    tell(to, class ? HEK_KEY(class) : kind, class ? (size_t)HEK_LEN(class) : strlen(kind));
}

/* Reports the interpreter's stacks. */
void cml_spans_of_stacks(const cml_spans *of)
{
    dTHXa(cml_perl);
    for (const PERL_SI *si = PL_curstackinfo; si; si = si->si_prev) {
        block(of, si);
        block(of, si->si_cxstack);
        span(of, AvALLOC(si->si_stack), (size_t)(AvMAX(si->si_stack) + 1) * sizeof(SV *));
    }
    block(of, PL_savestack);
    block(of, PL_markstack);
    block(of, PL_scopestack);
    block(of, PL_tmps_stack);
    block(of, HvARRAY(PL_strtab));
    block(of, cml_perl);
}

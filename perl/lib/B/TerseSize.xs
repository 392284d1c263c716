#include "xs.h"

size_t cml_body_size(int type);

/* Size of the value's own data, without referenced values. */
static UV held(pTHX_ SV *sv)
{
    switch (SvTYPE(sv)) {
    case SVt_PVAV: return AvALLOC((AV *)sv) ? (UV)(AvMAX((AV *)sv) + 1) * sizeof(SV *) : 0;
    case SVt_PVHV: {
        UV bytes = (UV)(HvMAX((HV *)sv) + 1) * sizeof(HE *);
        return bytes + (UV)HvTOTALKEYS((HV *)sv) * (sizeof(HE) + sizeof(HEK));
    }
    case SVt_PVGV: return isGV_with_GP(sv) ? sizeof(GP) : 0;
    case SVt_PVCV: return 0;
    default: return SvTYPE(sv) >= SVt_PV && SvPVX_const(sv) && !SvROK(sv) && SvLEN(sv) ? (UV)SvLEN(sv) : 0;
    }
}

MODULE = B::TerseSize    PACKAGE = B::TerseSize

UV
value_size(reference)
    SV *reference
  CODE:
    SV *const sv = SvROK(reference) ? SvRV(reference) : reference;
    RETVAL = sizeof(SV) + (UV)cml_body_size(SvTYPE(sv)) + held(aTHX_ sv);
  OUTPUT:
    RETVAL

void
op_sizes()
  PPCODE:
    static const struct { const char *name; UV size; } sizes[] = {
        {"OP", sizeof(OP)}, {"UNOP", sizeof(UNOP)}, {"UNOP_AUX", sizeof(UNOP_AUX)}, {"BINOP", sizeof(BINOP)},
        {"LOGOP", sizeof(LOGOP)}, {"LISTOP", sizeof(LISTOP)}, {"METHOP", sizeof(METHOP)}, {"PMOP", sizeof(PMOP)},
        {"SVOP", sizeof(SVOP)}, {"PADOP", sizeof(PADOP)}, {"PVOP", sizeof(PVOP)}, {"LOOP", sizeof(LOOP)},
        {"COP", sizeof(COP)},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        mXPUSHp(sizes[i].name, strlen(sizes[i].name));
        mXPUSHu(sizes[i].size);
    }

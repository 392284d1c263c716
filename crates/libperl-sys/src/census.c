#include "internal.h"

#include <stdlib.h>

/* Counts the values in Perl's arenas: objects by class, unblessed values by type, and their approximate
 * size. Nothing is written into Perl's memory, which a worker shares with the mold. */

typedef struct {
    const HV *stash; /* NULL: unblessed */
    int type;        /* type of an unblessed value */
    size_t count, bytes;
} kind;

enum { KINDS = 8192 }; /* size of the table, a power of two */

/* Size of a hash's key: its entry, and the string that hashes share. */
enum { KEY = 3 * sizeof(void *) + 32 };

static size_t size_of(const SV *sv)
{
    const int type = SvTYPE(sv);
    size_t size = sizeof(SV) + cml_body_size(type);
    if (type == SVt_PVAV) {
        const AV *const av = (const AV *)sv;
        size += AvALLOC(av) ? (size_t)(AvARRAY(av) - AvALLOC(av) + AvMAX(av) + 1) * sizeof(SV *) : 0;
    } else if (type == SVt_PVHV) {
        const HV *const hv = (const HV *)sv;
        size += HvARRAY(hv) ? (HvMAX(hv) + 1) * sizeof(HE *) + HvTOTALKEYS(hv) * KEY : 0;
    } else if (type >= SVt_PV && type <= SVt_PVMG && SvLEN(sv)) {
        size += SvLEN(sv); /* 0: the string belongs to another value */
    }
    return size;
}

static kind *find(kind *kinds, const HV *stash, int type)
{
    const size_t start = stash ? (size_t)stash / sizeof(SV) : (size_t)type;
    for (size_t i = 0; i < KINDS; i++) {
        kind *const k = &kinds[(start + i) % KINDS];
        if (k->count == 0 || (k->stash == stash && k->type == type))
            return k;
    }
    return NULL; /* programs have fewer classes */
}

static void count(void *kinds, const void *value)
{
    const SV *const sv = value;
    const int is_object = SvTYPE(sv) >= SVt_PVMG && SvOBJECT(sv) && SvSTASH(sv);
    const HV *const stash = is_object ? SvSTASH(sv) : NULL;
    kind *const k = find(kinds, stash, stash ? 0 : SvTYPE(sv));
    if (!k)
        return;
    k->stash = stash;
    k->type = stash ? 0 : SvTYPE(sv);
    k->count++;
    k->bytes += size_of(sv);
}

const char *cml_name_of_type(int type)
{
    switch (type) {
    case SVt_PVAV: return "ARRAY";
    case SVt_PVHV: return "HASH";
    case SVt_PVCV: return "CODE";
    case SVt_PVGV: return "GLOB";
    case SVt_PVIO: return "IO";
    case SVt_PVFM: return "FORMAT";
    case SVt_REGEXP: return "REGEXP";
    default: return "SCALAR";
    }
}

/* Reports each kind; scalars of several types are reported separately. */
void cml_census(void (*tell)(void *to, const char *name, size_t length, size_t count, size_t bytes), void *to)
{
    kind *const kinds = calloc(KINDS, sizeof *kinds);
    if (!kinds)
        return;
    cml_each_value(count, kinds);
    for (size_t i = 0; i < KINDS; i++) {
        const kind *const k = &kinds[i];
        const char *const class = k->stash ? HvNAME(k->stash) : NULL;
        if (k->count == 0)
            continue;
        if (class)
            tell(to, class, (size_t)HvNAMELEN(k->stash), k->count, k->bytes);
        else if (!k->stash)
            tell(to, cml_name_of_type(k->type), strlen(cml_name_of_type(k->type)), k->count, k->bytes);
    }
    free(kinds);
}

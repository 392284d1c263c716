#include "../internal.h"

/* Reads the stack of another process's perl from its memory while it runs. All data may be torn, or be gone
 * when a pointer is followed: each address may be invalid, each number is bounded, and only the reader's
 * copies are used. See perlguts and cop.h for the layout. */

#ifdef USE_ITHREADS

/* Maximum number of contexts read, from the innermost one. */
#define MAX_CONTEXTS 400
/* Maximum number of stacks: a sort, a tie or a signal begins another. */
#define MAX_STACKS 32

static int fetch(const cml_memory *memory, const void *address, void *into, size_t length)
{
    return address && memory->read(memory->from, (uintptr_t)address, into, length);
}

typedef struct {
    cml_frame *frames;
    size_t count, room;
    const COP *place; /* place of the next frame */
} walk;

static void add(walk *w, cml_frame_kind kind, const void *sub)
{
    if (w->count < w->room)
        w->frames[w->count++] = (cml_frame){.kind = kind, .sub = (uintptr_t)sub, .place = (uintptr_t)w->place};
}

static void add_context(walk *w, const PERL_CONTEXT *cx)
{
    switch (CxTYPE(cx)) {
    case CXt_SUB:
        add(w, CML_FRAME_SUB, cx->blk_sub.cv);
        w->place = cx->blk_oldcop;
        break;
    case CXt_FORMAT:
        add(w, CML_FRAME_SUB, cx->blk_format.cv);
        w->place = cx->blk_oldcop;
        break;
    case CXt_EVAL: /* an eval block belongs to its sub; an eval of a string or a file is a frame of its own */
        if (CxTRYBLOCK(cx))
            break;
        add(w, CxOLD_OP_TYPE(cx) == OP_ENTEREVAL ? CML_FRAME_EVAL : CML_FRAME_FILE, NULL);
        w->place = cx->blk_oldcop;
        break;
    default: break;
    }
}

static int add_stack(walk *w, const cml_memory *memory, const PERL_SI *si)
{
    static PERL_CONTEXT contexts[MAX_CONTEXTS];
    if (si->si_cxix < 0)
        return 1;
    const I32 first = si->si_cxix >= MAX_CONTEXTS ? si->si_cxix - MAX_CONTEXTS + 1 : 0;
    const size_t count = (size_t)(si->si_cxix - first) + 1;
    if (!fetch(memory, si->si_cxstack + first, contexts, count * sizeof *contexts))
        return 0;
    for (size_t i = count; i-- > 0;)
        add_context(w, &contexts[i]);
    return 1;
}

/* A sub written in C has no context. While it runs, the calling operator is still current, and its arguments
 * lie above the stack's end. */
static const void *called_in_c(const cml_memory *memory, const PerlInterpreter *perl)
{
    const SV *called;
    SV head;
    XPVCV body;
    if (!fetch(memory, perl->Istack_sp + 1, &called, sizeof called) || !fetch(memory, called, &head, sizeof head))
        return NULL;
    if (SvTYPE(&head) == SVt_PVGV && isGV_with_GP(&head)) {
        GP gp;
        if (!fetch(memory, head.sv_u.svu_gp, &gp, sizeof gp) || !(called = (const SV *)gp.gp_cv))
            return NULL;
    } else if (SvROK(&head)) {
        called = head.sv_u.svu_rv;
    }
    if (!fetch(memory, called, &head, sizeof head) || SvTYPE(&head) != SVt_PVCV || !fetch(memory, head.sv_any, &body, sizeof body))
        return NULL;
    return body.xcv_flags & CVf_ISXSUB ? called : NULL;
}

/* Maximum number of arguments skipped on the way to the called method. */
#define MAX_ARGUMENTS 200

/* The method of a method call: the operator that finds it is the call's last. */
static const SV *method_of(const cml_memory *memory, const PerlInterpreter *perl, const UNOP *call)
{
    METHOP op;
    const void *next = call->op_first;
    for (int i = 0; i < MAX_ARGUMENTS && fetch(memory, next, &op, sizeof(UNOP)); i++) {
        if (op.op_moresib)
            next = op.op_sibparent;
        else if (i == 0 && op.op_flags & OPf_KIDS) /* a list that perl has optimized away */
            next = op.op_u.op_first;
        else
            break;
    }
    const SV *name = NULL;
    if (!fetch(memory, next, &op, sizeof op) || op.op_type != OP_METHOD_NAMED)
        return NULL;
    if (!op.op_u.op_meth_sv)
        fetch(memory, perl->Icurpad + op.op_targ, &name, sizeof name);
    return op.op_u.op_meth_sv ? op.op_u.op_meth_sv : name;
}

static void add_operator(walk *w, const cml_memory *memory, const PerlInterpreter *perl)
{
    UNOP op;
    const void *name;
    if (!fetch(memory, perl->Iop, &op, sizeof(OP)) || op.op_type >= MAXO)
        return;
    if (op.op_type != OP_ENTERSUB)
        return add(w, CML_FRAME_OPERATOR, (const void *)(uintptr_t)op.op_type);
    if ((name = called_in_c(memory, perl)))
        return add(w, CML_FRAME_C, name);
    if (fetch(memory, perl->Iop, &op, sizeof op) && (name = method_of(memory, perl, &op)))
        add(w, CML_FRAME_METHOD, name);
}

/* Reads at most `room` frames, innermost first. Returns 0 if the stack could not be read. */
size_t cml_stack_of(const cml_memory *memory, uintptr_t address, cml_frame *frames, size_t room)
{
    static PerlInterpreter perl;
    walk w = {.frames = frames, .room = room};
    if (!fetch(memory, (const void *)address, &perl, sizeof perl))
        return 0;
    w.place = perl.Icurcop;
    add_operator(&w, memory, &perl);
    const PERL_SI *next = perl.Icurstackinfo;
    for (int stacks = 0; next && stacks < MAX_STACKS; stacks++) {
        PERL_SI si;
        if (!fetch(memory, next, &si, sizeof si) || !add_stack(&w, memory, &si))
            return 0;
        next = si.si_prev;
    }
    return w.count;
}

/* Functions for names: each writes a terminated name into `into`, of `room` bytes. */

static size_t key(const cml_memory *memory, const HEK *hek, char *into, size_t room)
{
    I32 length;
    into[0] = '\0';
    if (!hek || !fetch(memory, (const char *)hek + STRUCT_OFFSET(HEK, hek_len), &length, sizeof length) || length < 0)
        return 0;
    const size_t kept = (size_t)length < room ? (size_t)length : room - 1;
    if (!fetch(memory, (const char *)hek + STRUCT_OFFSET(HEK, hek_key), into, kept))
        return 0;
    into[kept] = '\0';
    return kept;
}

static const HEK *package_of(const cml_memory *memory, const HV *stash)
{
    HV head;
    struct xpvhv_with_aux body;
    const HEK *first = NULL;
    if (!fetch(memory, stash, &head, sizeof head) || SvTYPE((SV *)&head) != SVt_PVHV || !(head.sv_flags & SVf_OOK))
        return NULL;
    if (!fetch(memory, head.sv_any, &body, sizeof body))
        return NULL;
    if (!body.xhv_aux.xhv_name_count)
        return body.xhv_aux.xhv_name_u.xhvnameu_name;
    fetch(memory, body.xhv_aux.xhv_name_u.xhvnameu_names, &first, sizeof first);
    return first;
}

static size_t qualified(const cml_memory *memory, const HV *stash, const HEK *name, char *into, size_t room)
{
    size_t length = key(memory, package_of(memory, stash), into, room);
    if (length + 3 < room) {
        memcpy(into + length, "::", 2);
        length += 2;
    }
    return length + key(memory, name, into + length, room - length);
}

/* `Package::sub`; returns 0 if the name could not be read. */
size_t cml_sub_name_of(const cml_memory *memory, uintptr_t sub, char *into, size_t room)
{
    SV head;
    XPVCV body;
    XPVGV glob;
    if (!fetch(memory, (const void *)sub, &head, sizeof head) || !fetch(memory, head.sv_any, &body, sizeof body))
        return 0;
    if (SvTYPE(&head) != SVt_PVCV && SvTYPE(&head) != SVt_PVFM)
        return 0;
    if (body.xcv_flags & CVf_NAMED)
        return qualified(memory, body.xcv_stash, body.xcv_gv_u.xcv_hek, into, room);
    if (!fetch(memory, body.xcv_gv_u.xcv_gv, &head, sizeof head) || SvTYPE(&head) != SVt_PVGV)
        return 0;
    if (!fetch(memory, head.sv_any, &glob, sizeof glob))
        return 0;
    return qualified(memory, glob.xnv_u.xgv_stash, glob.xiv_u.xivu_namehek, into, room);
}

/* The name of a method; returns 0 if it could not be read. */
size_t cml_method_name_of(const cml_memory *memory, uintptr_t name, char *into, size_t room)
{
    SV head;
    XPV body;
    if (!fetch(memory, (const void *)name, &head, sizeof head) || !fetch(memory, head.sv_any, &body, sizeof body))
        return 0;
    if ((head.sv_flags & (SVf_IsCOW | SVppv_STATIC)) != SVf_IsCOW || body.xpv_len_u.xpvlenu_len)
        return 0; /* not a shared string, although perl's compiler shares these names */
    return key(memory, SvSHARED_HEK_FROM_PV(head.sv_u.svu_pv), into, room);
}

/* Reads a terminated text in pieces that do not cross a page: the next page may not exist. */
static size_t text(const cml_memory *memory, const char *from, char *into, size_t room)
{
    for (size_t length = 0; length + 1 < room;) {
        const size_t on_page = 64 - ((uintptr_t)(from + length) & 63), left = room - 1 - length;
        const size_t piece = on_page < left ? on_page : left;
        if (!fetch(memory, from + length, into + length, piece))
            return 0;
        const char *const end = memchr(into + length, '\0', piece);
        if (end)
            return (size_t)(end - into);
        length += piece;
    }
    into[room - 1] = '\0';
    return room - 1;
}

/* File and line; returns 0 if they could not be read. */
size_t cml_place_of(const cml_memory *memory, uintptr_t place, char *into, size_t room, unsigned *line)
{
    COP cop;
    if (!fetch(memory, (const void *)place, &cop, sizeof cop) || !cop.cop_file)
        return 0;
    *line = cop.cop_line;
    return text(memory, cop.cop_file, into, room);
}

#else

/* Without threads, perl's state lies in static variables, whose addresses are unknown. */
size_t cml_stack_of(const cml_memory *memory, uintptr_t address, cml_frame *frames, size_t room)
{
    return 0;
}

size_t cml_sub_name_of(const cml_memory *memory, uintptr_t sub, char *into, size_t room)
{
    return 0;
}

size_t cml_method_name_of(const cml_memory *memory, uintptr_t name, char *into, size_t room)
{
    return 0;
}

size_t cml_place_of(const cml_memory *memory, uintptr_t place, char *into, size_t room, unsigned *line)
{
    return 0;
}

#endif

/* perl's name of an operator, such as `sleep` or `match`. */
const char *cml_operator_name(size_t operator)
{
    return operator < MAXO ? PL_op_name[operator] : "";
}

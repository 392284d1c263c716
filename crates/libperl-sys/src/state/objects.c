#include "../internal.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Destruction of objects at a process's end. Each process destroys the objects that it has made: a worker's
 * temporary folders go with the worker, start-up code's with the mold. perl_destruct would write to every
 * page that refers to an object, which un-shares the mold's memory; here most pages are only read. */

typedef struct {
    const SV *object;
    const HV *class;
} known;

/* Objects of the process that forked, in the order of the arenas; its children do not destroy them. */
static known *inherited;
static size_t inherited_count;
/* The process that has started perl: it has made all objects. */
static pid_t first;

typedef struct {
    SV **objects;
    size_t count, room;
} list;

static int is_object(const SV *sv)
{
    const int is_value = SvTYPE(sv) != (svtype)SVTYPEMASK && SvREFCNT(sv);
    return is_value && SvTYPE(sv) >= SVt_PVMG && SvOBJECT(sv) && SvSTASH(sv);
}

/* New arenas are inserted before old ones: a second walk meets the values of the first in the same order. */
static void each_value(pTHX_ void (*visit)(SV *sv, void *to), void *to)
{
    for (SV *arena = PL_sv_arenaroot; arena; arena = (SV *)SvANY(arena)) {
        SV *const end = &arena[SvREFCNT(arena)];
        for (SV *sv = arena + 1; sv < end; sv++)
            visit(sv, to);
    }
}

static void count_object(SV *sv, void *to)
{
    *(size_t *)to += is_object(sv);
}

static void know_object(SV *sv, void *to)
{
    const size_t room = *(size_t *)to;
    if (is_object(sv) && inherited_count < room)
        inherited[inherited_count++] = (known){sv, SvSTASH(sv)};
}

/* Runs in the process that is about to fork workers. */
void cml_know_objects(pTHX)
{
    size_t count = 0;
    free(inherited);
    inherited_count = 0;
    each_value(aTHX_ count_object, &count);
    inherited = malloc((count + 1) * sizeof *inherited);
    if (!inherited)
        count = 0;
    each_value(aTHX_ know_object, &count);
}

void cml_first_process(void)
{
    first = getpid();
}

typedef struct {
    list *own;
    size_t next, end; /* of the inherited objects */
} search;

/* Whether the object is an inherited one. The address of an inherited object that was freed may hold a new
 * one, of another class. */
static int is_inherited(SV *sv, search *s)
{
    if (s->next >= s->end || inherited[s->next].object != sv)
        return 0;
    return inherited[s->next++].class == (SvTYPE(sv) >= SVt_PVMG && SvOBJECT(sv) ? SvSTASH(sv) : NULL);
}

static int has_room(list *own)
{
    if (own->count < own->room)
        return 1;
    const size_t room = own->room ? 2 * own->room : 256;
    SV **const more = realloc(own->objects, room * sizeof *more);
    if (!more)
        return 0;
    own->objects = more;
    own->room = room;
    return 1;
}

static void find_own(SV *sv, void *to)
{
    search *const s = to;
    if (!is_inherited(sv, s) && is_object(sv) && SvTYPE(sv) != SVt_PVIO && has_room(s->own))
        s->own->objects[s->own->count++] = SvREFCNT_inc_simple_NN(sv);
}

static void destroy(pTHX_ void *object)
{
    SV *const sv = object;
    HV *const class = SvOBJECT(sv) ? SvSTASH(sv) : NULL;
    const char *const name = class ? HvNAME(class) : NULL;
    if (!name || !gv_fetchmethod_autoload(class, "DESTROY", TRUE))
        return;
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    XPUSHs(sv_2mortal(newRV_inc(sv)));
    PUTBACK;
    call_method("DESTROY", G_VOID | G_DISCARD);
    FREETMPS;
    LEAVE;
}

static void destroy_own(pTHX)
{
    list own = {NULL, 0, 0};
    each_value(aTHX_ find_own, &(search){&own, 0, getpid() == first ? 0 : inherited_count});
    PERL_SET_PHASE(PERL_PHASE_DESTRUCT);
    for (size_t i = 0; i < own.count; i++)
        if (cml_guarded_whole(aTHX_ destroy, own.objects[i]) == CML_DIED)
            cml_log_error();
    free(own.objects);
}

/* A signal that Perl programs do not use by accident. */
static int bound_signal(void)
{
    return SIGRTMAX - 4;
}

static void give_up(int signal)
{
    static const char text[] = "cameleer: END blocks and destructors took longer than 3 s; the process ends without completing them\n";
    PERL_UNUSED_VAR(signal);
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(0);
    _exit(0);
}

/* Ends the process after 3 s, whatever Perl code does: a destructor must not delay the server's stop. */
void cml_bound_end(void)
{
    const struct itimerspec bound = {.it_value = {.tv_sec = 3}};
    struct sigaction action = {.sa_handler = give_up};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = bound_signal()};
    timer_t timer;
    sigset_t that;
    sigaction(bound_signal(), &action, NULL);
    sigemptyset(&that);
    sigaddset(&that, bound_signal());
    sigprocmask(SIG_UNBLOCK, &that, NULL);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &bound, NULL);
}

/* Runs at the end of a process; only the flush of its handles follows. */
void cml_end_objects(pTHX)
{
    cml_bound_end();
    destroy_own(aTHX);
    PerlIO_flush(NULL);
}

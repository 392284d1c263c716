#include "internal.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

PerlInterpreter *cml_perl;
cml_hooks cml_hooks_table;

static void (*extra_xs)(void *);

EXTERN_C void boot_DynaLoader(pTHX_ CV *cv);

static void xs_init(pTHX)
{
    newXS("DynaLoader::boot_DynaLoader", boot_DynaLoader, __FILE__);
    if (extra_xs)
        extra_xs(cml_perl); /* aTHX is empty in a perl without MULTIPLICITY */
}

/* The area that ps shows: the kernel lays out argv's strings and then the environment's, without gaps. */
static char *title_area;
static size_t title_room;

static char *past(char *end, char *const *strings)
{
    for (; *strings && *strings == end; strings++)
        end += strlen(end) + 1;
    return end;
}

/* Moves the environment away, so that the title may take its room; only in processes that the master has
 * given a title. */
__attribute__((constructor)) static void find_title_area(int argc, char **argv, char **envp)
{
    static const char ours[] = "cameleer:";
    if (argc < 1 || strncmp(argv[0], ours, sizeof ours - 1) != 0)
        return;
    char *const end = past(past(argv[0], argv), envp);
    for (char **variable = envp; *variable; variable++) {
        char *const copy = strdup(*variable);
        if (!copy)
            return;
        *variable = copy;
    }
    title_area = argv[0];
    title_room = (size_t)(end - argv[0]);
}

void cml_set_title(const char *title)
{
    if (title_room > 1) {
        memset(title_area, 0, title_room);
        strncpy(title_area, title, title_room - 1);
    }
    prctl(PR_SET_NAME, title);
}

/* Sets $^X to perl's own path: scripts that run "$^X script.pl" expect perl, not the server's binary. */
static void set_perl_path(pTHX)
{
    sv_setpvs(get_sv("\030", GV_ADD), CML_PERL_PATH);
    /* perl taints both because a program's caller controls argv; in a worker the server does */
    SvTAINTED_off(get_sv("\030", GV_ADD));
    SvTAINTED_off(get_sv("0", GV_ADD));
}

static void nothing(int signal)
{
    (void)signal;
}

/* Signals that a worker ignores: the terminal sends them to the whole group, and a parent may have set
 * others to be ignored. */
static const int not_ours[] = {SIGPIPE, SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGTTIN, SIGTTOU};

/* An empty handler instead of SIG_IGN: writes to a closed socket fail with EPIPE, and exec restores the
 * default for children. */
static void set_signals(void)
{
    struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof not_ours / sizeof *not_ours; i++)
        sigaction(not_ours[i], &action, NULL);
    signal(SIGCHLD, SIG_DFL);
}

int cml_is_workers_signal(int number)
{
    for (size_t i = 0; i < sizeof not_ours / sizeof *not_ours; i++)
        if (not_ours[i] == number)
            return 1;
    return number == SIGCHLD;
}

/* Restores the signal actions that a child of perl expects; kill must end it. Async-signal-safe. */
void cml_default_signals(void)
{
    for (size_t i = 0; i < sizeof not_ours / sizeof *not_ours; i++) {
        struct sigaction now;
        if (sigaction(not_ours[i], NULL, &now) == 0 && now.sa_handler == nothing)
            signal(not_ours[i], SIG_DFL);
    }
}

int cml_boot(const cml_hooks *hooks, void (*init)(void *), int taint)
{
    static char *plain[] = {"cameleer", "-e", "0", NULL};
    static char *tainting[] = {"cameleer", "-T", "-e", "0", NULL};
    char **const arguments = taint ? tainting : plain;
    int count = taint ? 4 : 3;
    char **argv = arguments;
    char **env = environ;

    cml_hooks_table = *hooks;
    cml_first_process();
    extra_xs = init;
    PERL_SYS_INIT3(&count, &argv, &env);
    cml_perl = perl_alloc();
    if (!cml_perl)
        return -1;
    dTHXa(cml_perl);
    PERL_SET_CONTEXT(cml_perl);
    perl_construct(cml_perl);
    PL_perl_destruct_level = 0;
    /* Assigning to $0 writes as many bytes as perl believes argv has: this argv is not real. */
    PL_origalen = 1;
    PL_exit_flags |= PERL_EXIT_DESTRUCT_END;
    cml_operators_boot(aTHX); /* must precede the compilation of the first operator */
    cml_print_boot(aTHX);
    cml_watch_operators(aTHX);
    if (perl_parse(cml_perl, xs_init, count, argv, NULL) != 0)
        return -1;
    PL_origalen = 1;
    if (perl_run(cml_perl) != 0)
        return -1;
    set_perl_path(aTHX);
    cml_watch_variables(aTHX);
    set_signals();
    cml_io_boot(aTHX);
    cml_psgi_boot(aTHX);
    return 0;
}

/* Runs in a fresh worker: resets state that must differ from its siblings'. */
void cml_after_fork(void)
{
    dTHXa(cml_perl);
    PL_srand_called = FALSE; /* otherwise all workers would draw the same numbers */
    cml_forked_child = cml_stdout_logs = 0;
    set_signals();
    cml_reopen_files();
    cml_worker_boot(aTHX);
    cml_remember_state();
}

/* Runs END blocks, destroys the process's own objects, or does all that perl does at its end. CML_END_ALL
 * also frees memory, which un-shares the mold's pages; CML_END_PROCESS is enough at the end of a process. */
void cml_end(cml_ending what)
{
    dTHXa(cml_perl);
    cml_turn++;
    if (what == CML_END_PROCESS || what == CML_END_ALL) {
        PL_perl_destruct_level = what == CML_END_ALL;
        perl_destruct(cml_perl);
        return;
    }
    if (what == CML_END_OBJECTS) {
        cml_end_objects(aTHX);
        return;
    }
    if (what == CML_END_BLOCKS_SOON)
        cml_bound_end();
    dJMPENV;
    int jump;
    JMPENV_PUSH(jump);
    if (jump == 0 && PL_endav && !PL_minus_c) {
        PERL_SET_PHASE(PERL_PHASE_END);
        call_list(PL_scopestack_ix, PL_endav);
    }
    JMPENV_POP;
    PerlIO_flush(NULL);
}

void cml_version(cml_bytes *out)
{
    out->bytes = PERL_VERSION_STRING;
    out->length = strlen(PERL_VERSION_STRING);
}

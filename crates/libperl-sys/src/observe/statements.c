#include "../internal.h"

#include <time.h>

/* Records a request's database statements, for its trace: DBI method, start, duration, text. DBI's methods
 * are C functions; while a request is traced, a wrapper replaces each. Of nested methods only the outermost
 * is recorded. */

#define MAX_STATEMENTS 64
#define MAX_TEXT_BYTES 300

static struct {
    uint64_t begun_us, taken_us;
    const char *method;
    size_t length;
    char text[MAX_TEXT_BYTES];
} statements[MAX_STATEMENTS];
static size_t count, depth;
static int is_traced;

static struct method {
    const char *name;
    CV *cv; /* NULL: DBI is not loaded, or has no such method */
    XSUBADDR_t original;
} methods[] = {
    {"DBI::db::do", NULL, NULL},
    {"DBI::db::prepare", NULL, NULL},
    {"DBI::db::selectrow_array", NULL, NULL},
    {"DBI::db::selectrow_arrayref", NULL, NULL},
    {"DBI::db::selectrow_hashref", NULL, NULL},
    {"DBI::db::selectall_arrayref", NULL, NULL},
    {"DBI::db::selectall_hashref", NULL, NULL},
    {"DBI::db::selectcol_arrayref", NULL, NULL},
    {"DBI::db::begin_work", NULL, NULL},
    {"DBI::db::commit", NULL, NULL},
    {"DBI::db::rollback", NULL, NULL},
    {"DBI::db::ping", NULL, NULL},
    {"DBI::st::execute", NULL, NULL},
    {"DBI::st::execute_array", NULL, NULL},
    {"DBI::st::fetchall_arrayref", NULL, NULL},
    {"DBI::st::fetchall_hashref", NULL, NULL},
};

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* DBI stores the statement in the handle's inner hash. */
static SV *statement_of(pTHX_ SV *handle)
{
    SV *hash = SvROK(handle) ? SvRV(handle) : NULL;
    MAGIC *const tie = hash && SvRMAGICAL(hash) ? mg_find(hash, PERL_MAGIC_tied) : NULL;
    if (tie && tie->mg_obj && SvROK(tie->mg_obj))
        hash = SvRV(tie->mg_obj);
    if (!hash || SvTYPE(hash) != SVt_PVHV)
        return NULL;
    SV **const found = hv_fetchs((HV *)hash, "Statement", 0);
    return found ? *found : NULL;
}

static int is_of_name(char c)
{
    return isALNUM(c) || c == '_' || c == '$';
}

/* Copies a statement without its values, which may be visitors' data. */
static size_t without_values(const char *from, size_t length, char *into)
{
    size_t used = 0;
    for (size_t i = 0; i < length && used < MAX_TEXT_BYTES; i++) {
        const char c = from[i];
        if (c == '\'' || c == '"') {
            for (i++; i < length && from[i] != c; i++)
                i += from[i] == '\\';
            into[used++] = '?';
        } else if (isDIGIT(c) && (i == 0 || !is_of_name(from[i - 1]))) {
            while (i + 1 < length && (is_of_name(from[i + 1]) || from[i + 1] == '.'))
                i++;
            into[used++] = '?';
        } else {
            into[used++] = isSPACE(c) ? ' ' : c;
        }
    }
    return used;
}

static void ended(pTHX_ void *at)
{
    const size_t number = (size_t)at;
    depth--;
    if (number < count)
        statements[number].taken_us = now_us() - statements[number].begun_us;
}

static void begin(pTHX_ const struct method *method, SV *handle, SV *argument)
{
    SV *text = strncmp(method->name, "DBI::st::", 9) == 0 ? statement_of(aTHX_ handle) : argument;
    if (text && SvROK(text)) /* a prepared statement */
        text = statement_of(aTHX_ text);
    statements[count].method = method->name;
    statements[count].length = text && SvPOK(text) ? without_values(SvPVX_const(text), SvCUR(text), statements[count].text) : 0;
    statements[count].taken_us = 0;
    statements[count].begun_us = now_us();
    count++;
}

static void timed(pTHX_ CV *cv)
{
    const struct method *method = methods;
    while (method->cv != cv)
        method++;
    if (!is_traced || depth || count == MAX_STATEMENTS || cml_forked_child) {
        method->original(aTHX_ cv);
        return;
    }
    dSP;
    SV **const first = PL_stack_base + TOPMARK + 1;
    begin(aTHX_ method, first <= SP ? first[0] : &PL_sv_undef, first + 1 <= SP ? first[1] : NULL);
    depth++;
    ENTER;
    SAVEDESTRUCTOR_X(ended, (void *)(count - 1));
    method->original(aTHX_ cv);
    LEAVE;
}

/* Finds DBI's methods: the mold may have loaded DBI, or the worker itself. */
static void find_methods(pTHX)
{
    for (size_t i = 0; i < C_ARRAY_LENGTH(methods); i++) {
        CV *const cv = methods[i].cv ? NULL : get_cv(methods[i].name, 0);
        if (!cv || !CvISXSUB(cv) || CvXSUB(cv) == timed)
            continue;
        methods[i].original = CvXSUB(cv);
        methods[i].cv = (CV *)SvREFCNT_inc((SV *)cv);
        CvXSUB(cv) = timed;
    }
}

/* Starts or stops the recording, at the beginning and end of a request. */
void cml_trace_statements(int traced)
{
    dTHXa(cml_perl);
    is_traced = traced;
    count = depth = 0;
    if (traced)
        find_methods(aTHX);
}

/* Passes the recorded statements of the request. */
void cml_each_statement(cml_tell_statement tell, void *to)
{
    for (size_t i = 0; i < count; i++)
        tell(to, statements[i].method, statements[i].begun_us, statements[i].taken_us,
             (cml_bytes){ statements[i].text, statements[i].length });
}

/* Filters of mod_perl 2: a filter is a hash; {run} is a second hash that exists while its handler runs. */

#ifndef APACHE2_FILTER_H
#define APACHE2_FILTER_H

#include "xs.h"

#include "../../lib/APR/api.h"

/* Printed output of this size, in bytes, is passed to the next filter. */
enum { PIECE = 8192 };

#define FIELD(hash, name) hv_fetchs((hash), name, 0)
#define IS_TRUE(hash, name) is_true(aTHX_ FIELD(hash, name))

static inline HV *hash_behind(SV **slot)
{
    return slot && SvROK(*slot) && SvTYPE(SvRV(*slot)) == SVt_PVHV ? (HV *)SvRV(*slot) : NULL;
}

/* Fields are read without running code: objects and magical values are not the module's own. */
static inline int is_plain(const SV *sv)
{
    return !SvROK(sv) && !SvGMAGICAL(sv);
}

static inline int is_true(pTHX_ SV **slot)
{
    /* {next} is an object of this module. */
    return slot && (SvROK(*slot) || (is_plain(*slot) && SvTRUE(*slot)));
}

static inline UV number_in(pTHX_ SV **slot)
{
    return slot && is_plain(*slot) && SvIOK(*slot) ? SvUV(*slot) : 0;
}

/* filter_io.c */
HV *xs_filter_of(pTHX_ SV *f);
HV *xs_filter_run_of(pTHX_ HV *filter, const char *method);
int xs_filter_is_of_responses(pTHX_ HV *filter);
int xs_filter_is_last(pTHX_ HV *filter);
IV xs_filter_read(pTHX_ HV *filter, HV *run, SV *buffer, STRLEN wanted);
void xs_filter_write(pTHX_ HV *filter, const char *bytes, STRLEN length);
SV *xs_filter_printed(pTHX_ HV *run);
void xs_filter_print(pTHX_ HV *filter, HV *run, apache_text text);

/* filter_run.c */
IV xs_filter_run_handler(pTHX_ SV *f, HV *filter, HV *run, SV *brigade);
HV *xs_filter_new_run(pTHX_ HV *filter, SV *brigade);
IV xs_filter_response(pTHX_ SV *f, HV *filter, SV *brigade);

#endif

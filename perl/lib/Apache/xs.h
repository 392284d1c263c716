/* What the .xs files share: Perl values to texts and back, and the croak that follows a status. */
#ifndef APACHE_XS_H
#define APACHE_XS_H

#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>

#include "apache.h"

/* The number that $r holds. */
typedef uint64_t Request;

/* The number that $s holds: 0 is the main server. */
typedef uint32_t Server;

/* What an Apache::Table holds: the request it belongs to, its number there, and where each() stands. */
typedef struct {
    uint64_t request;
    uint32_t number;
    uint32_t cursor;
} Table;

Request apache_request_of(pTHX_ SV *sv);
/* The same for that method, which its error names. */
Request apache_request_given(pTHX_ SV *sv, CV *method);
Server apache_server_of(pTHX_ SV *sv);
SV *apache_inner(pTHX_ HV *object);
Table apache_table_of(pTHX_ SV *sv);
/* Where the object keeps it: only until Perl code may run. */
Table *apache_table_at(pTHX_ SV *sv);

/* What objects are called, in each of mod_perl's APIs. */
typedef enum { APACHE_REQUEST, APACHE_SUBREQUEST, APACHE_CONNECTION, APACHE_SERVER } apache_class;
/* From now on objects have the names of that API, 1 or 2. */
void apache_speak(int api);
/* A new object of the class, holding the request's number. */
SV *apache_object(pTHX_ apache_class class, Request r);
SV *apache_table_object(pTHX_ Request r, uint32_t number);
/* The same table as an APR::Table, which is loaded when it is not. */
SV *apache_apr_table_object(pTHX_ Request r, uint32_t number);

/* A brigade of one text, as long as nobody has asked it for a bucket: see api.h. */
SV *apache_text_brigade(pTHX_ SV *text, int mark, SV *r);
SV *apache_brigade_text(pTHX_ SV *brigade, int *mark);
void apache_empty_brigade(pTHX_ SV *brigade);

/* Croaks for a status that is not APACHE_OK. */
void apache_check(pTHX_ int status);

SV *apache_sv_of(pTHX_ apache_text text);
/* The same, tainted under PerlTaintCheck: for what mod_perl 1.31 taints, no more and no less. */
SV *apache_client_sv_of(pTHX_ apache_text text);
/* undef is no text. Characters become bytes where they fit, UTF-8 where they do not. */
apache_text apache_text_of(pTHX_ SV *sv);
apache_text apache_kept_text_of(pTHX_ SV *sv);
/* What mod_perl prints: the bytes that Perl keeps, so that a decoded string leaves as UTF-8, whatever its characters. */
apache_text apache_bytes_of(pTHX_ SV *sv);

/* Gets a field, and sets it when there is a value. */
SV *apache_text_field(pTHX_ Request r, I32 field, SV *value);
SV *apache_number_field(pTHX_ Request r, I32 field, SV *value);

/* The lines of Require as references to hashes; undef when there is none. */
SV *apache_requirements(pTHX_ Request r);

int apache_same_name(apache_text a, apache_text b);
/* Of that name: the first value, mortal; pushes all values in list context, else the first. */
SV *apache_value(pTHX_ Request r, uint32_t number, apache_text name);
SV **apache_push_values(pTHX_ SV **sp, Table table, SV *name);
/* Pushes all names and values of a table. */
SV **apache_push_table(pTHX_ SV **sp, Request r, uint32_t number);
/* Changes a table; an array of values counts as several. The name is a kept one. */
void apache_table_store(pTHX_ Request r, uint32_t number, uint32_t verb, apache_text name, SV *value);

/* What $r->print does with one argument; how many bytes that were. */
STRLEN apache_print(pTHX_ Request r, SV *sv);
/* %XX decoded, in place; returns the new length. `+` is a space in a form's data only. */
STRLEN apache_unescape(char *text, STRLEN length, int is_form);
/* Pushes names and values of a query string. */
SV **apache_push_arguments(pTHX_ SV **sp, const char *query, STRLEN length);

#endif

/* Shared by the .xs files: conversion of Perl values, and the croak for a status. */
#ifndef APACHE_XS_H
#define APACHE_XS_H

#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>
#include <XSUB.h>

#include "apache.h"

/* The number inside $r. */
typedef uint64_t Request;

/* The number inside $s: 0 is the main server. */
typedef uint32_t Server;

/* The content of an Apache::Table: the request that it belongs to, its number there, and the position of
 * each(). */
typedef struct {
    uint64_t request;
    uint32_t number;
    uint32_t cursor;
} Table;

Request apache_request_of(pTHX_ SV *sv);
/* apache_request for a method, which the error message names. */
Request apache_request_given(pTHX_ SV *sv, CV *method);
Server apache_server_of(pTHX_ SV *sv);
SV *apache_inner(pTHX_ HV *object);
Table apache_table_of(pTHX_ SV *sv);
/* The table inside the object; valid until Perl code runs. */
Table *apache_table_at(pTHX_ SV *sv);

/* The kinds of objects; their class names depend on mod_perl's API. */
typedef enum { APACHE_REQUEST, APACHE_SUBREQUEST, APACHE_CONNECTION, APACHE_SERVER } apache_class;
/* Sets the API, 1 or 2, whose class names objects get. */
void apache_speak(int api);
/* Makes an object of the class with the request's number. */
SV *apache_object(pTHX_ apache_class class, Request r);
SV *apache_table_object(pTHX_ Request r, uint32_t number);
/* The table as an APR::Table; loads APR if necessary. */
SV *apache_apr_table_object(pTHX_ Request r, uint32_t number);

/* A brigade of one text, until its buckets are needed: see api.h. */
SV *apache_text_brigade(pTHX_ SV *text, int mark, SV *r);
SV *apache_brigade_text(pTHX_ SV *brigade, int *mark);
void apache_empty_brigade(pTHX_ SV *brigade);

/* Croaks unless the status is APACHE_OK. */
void apache_check(pTHX_ int status);

SV *apache_sv_of(pTHX_ apache_text text);
/* apache_sv_of, tainted under PerlTaintCheck: for exactly the values that mod_perl 1.31 taints. */
SV *apache_client_sv_of(pTHX_ apache_text text);
/* The text of a value: characters as Latin-1 where possible, else as UTF-8. undef is no text. */
apache_text apache_text_of(pTHX_ SV *sv);
apache_text apache_kept_text_of(pTHX_ SV *sv);
/* The bytes that mod_perl prints: perl's internal ones, so a decoded string is sent as UTF-8. */
apache_text apache_bytes_of(pTHX_ SV *sv);

/* Gets a field, and sets it if there is a value. */
SV *apache_text_field(pTHX_ Request r, I32 field, SV *value);
SV *apache_number_field(pTHX_ Request r, I32 field, SV *value);

/* The lines of Require as references to hashes; undef when there are none. */
SV *apache_requirements(pTHX_ Request r);

int apache_same_name(pTHX_ apache_text a, apache_text b);
/* The first value of a name, mortal; push_values pushes all values in list context, else the first. */
SV *apache_value(pTHX_ Request r, uint32_t number, apache_text name);
SV **apache_push_values(pTHX_ SV **sp, Table table, SV *name);
/* Pushes all names and values of a table. */
SV **apache_push_table(pTHX_ SV **sp, Request r, uint32_t number);
/* Changes a table; an array of values counts as several. The name must be one of apache_kept_text_of. */
void apache_table_store(pTHX_ Request r, uint32_t number, uint32_t verb, apache_text name, SV *value);

/* Prints one argument of $r->print; returns the number of bytes. */
STRLEN apache_print(pTHX_ Request r, SV *sv);
/* Whether the client left before it had the whole response. */
int apache_is_gone(pTHX_ Request r);
/* libperl-sys, handles/unheard.c: `method` has written to a disconnected client. May die, or end the program. */
void cml_said_to_nobody(pTHX_ const char *method);
void cml_printing_dies(void);
/* Decodes %XX in place; returns the new length. `+` is a space only in form data. */
STRLEN apache_unescape(char *text, STRLEN length, int is_form);
/* Pushes the names and values of a query string. */
SV **apache_push_arguments(pTHX_ SV **sp, const char *query, STRLEN length);

#endif

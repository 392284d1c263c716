/* A table's object over whatever store it has, between table.c and the methods of APR::Table. */
#ifndef APR_TABLE_H
#define APR_TABLE_H

/* The object behind the hash, or behind what it is tied to. */
aprxs_object *aprxs_table_get(pTHX_ SV *sv);
/* A new one in a pool, by apr's own tables. */
SV *aprxs_table_make(pTHX_ aprxs_object *pool, IV size);
/* Which entry each() comes to next; 0 when it is not under way. */
UV *aprxs_table_cursor(aprxs_object *table);

aprxs_text aprxs_table_first(pTHX_ aprxs_object *table, aprxs_text name);
int aprxs_table_entry(pTHX_ aprxs_object *table, size_t at, aprxs_text *name, aprxs_text *value);
void aprxs_table_change(pTHX_ aprxs_object *table, int verb, aprxs_text name, aprxs_text value);
/* Takes the name away, and each() stays where it is. */
void aprxs_table_unset(pTHX_ aprxs_object *table, aprxs_text name);
/* Adds all of `from`. */
void aprxs_table_append(pTHX_ aprxs_object *table, aprxs_object *from);
/* Of a name's values the last stays, or all joined, where its first was: by APR_OVERLAP_TABLES_SET and _MERGE. */
void aprxs_table_compress(pTHX_ aprxs_object *table, IV how);

/* ASCII case is ignored. */
int aprxs_same_name(aprxs_text a, aprxs_text b);
SV *aprxs_sv_of_text(pTHX_ aprxs_text text);

#endif

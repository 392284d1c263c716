/* Table objects over any store: the interface between table.c and the methods of APR::Table. */
#ifndef APR_TABLE_H
#define APR_TABLE_H

/* The object of a table, given as the hash or as the object itself. */
aprxs_object *aprxs_table_get(pTHX_ SV *sv);
/* Makes a table in a pool, with apr's own store. */
SV *aprxs_table_make(pTHX_ aprxs_object *pool, IV size);
/* The position of the next entry of each(); 0 when it is not under way. */
UV *aprxs_table_cursor(aprxs_object *table);

aprxs_text aprxs_table_first(pTHX_ aprxs_object *table, aprxs_text name);
int aprxs_table_entry(pTHX_ aprxs_object *table, size_t at, aprxs_text *name, aprxs_text *value);
void aprxs_table_change(pTHX_ aprxs_object *table, int verb, aprxs_text name, aprxs_text value);
/* Removes a name; each() retains its position. */
void aprxs_table_unset(pTHX_ aprxs_object *table, aprxs_text name);
/* Adds all of `from`. */
void aprxs_table_append(pTHX_ aprxs_object *table, aprxs_object *from);
/* Compresses each name to its last value (APR_OVERLAP_TABLES_SET) or to all values joined (_MERGE), at the
 * place of its first. */
void aprxs_table_compress(pTHX_ aprxs_object *table, IV how);

/* Compares names; ASCII case is ignored. */
int aprxs_same_name(aprxs_text a, aprxs_text b);
SV *aprxs_sv_of_text(pTHX_ aprxs_text text);

#endif

#include "internal.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

/* A mold that has loaded a site has thousands of small holes of free memory between used memory. A worker
 * that allocated there would get a copy of each page; new memory is contiguous. */

enum { PAGE = 4096, SMALLEST = 24, GRAIN = 16 };

/* Allocates the holes of one size permanently. `holes` is the free memory of the heap; returns the remaining free
 * memory. A piece from the end of the heap is freed again. */
static size_t fill_holes(size_t size, const char *end, size_t holes)
{
    for (; holes >= size; holes -= size) {
        char *const piece = malloc(size);
        if (!piece || piece >= end) {
            free(piece);
            return holes;
        }
    }
    return holes;
}

/* Flushes all handles: each worker would write their buffers once more, into a response. A layer may be Perl
 * code. */
static void flush_all(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    PerlIO_flush(NULL);
}

/* Runs in the mold, when all code is loaded. */
void cml_before_forks(void)
{
    dTHXa(cml_perl);
    cml_guarded_whole(aTHX_ flush_all, NULL);
    fflush(stdout);
    cml_remember_state(); /* otherwise each worker would write the same data */
    cml_know_objects(aTHX);
    cml_know_files();
    /* Perl's free lists run through all of its arenas: without them perl allocates new arenas. */
    PL_sv_root = NULL;
    Zero(PL_body_roots, PERL_ARENA_ROOTS_SIZE, void *);
    malloc_trim(0);
    const char *const end = (char *)sbrk(0) - PAGE;
    /* mallinfo2 covers only the C library's allocator. With another one preloaded, whose pieces may all be below `end`,
     * it reports no free memory. */
    size_t holes = mallinfo2().fordblks;
    for (size_t size = PAGE; size >= SMALLEST; size -= GRAIN)
        holes = fill_holes(size, end, holes);
}

/* Flushes a worker's handles before it forks the next mold: their buffers would be written twice. */
void cml_before_promotion(void)
{
    dTHXa(cml_perl);
    PerlIO_flush(NULL);
}

/* Runs in the fork of a worker that is a mold from now on. */
void cml_is_promoted(void)
{
    cml_forked_child = 0;
    cml_drop_descriptors();
    cml_stdout_logs = 1; /* for output before the program's next fork */
}

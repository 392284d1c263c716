#include "internal.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

/* A mold that has loaded a site has free memory in thousands of small holes between what is in use. A worker that took
 * what it needs from there would get a copy of the page around each; new memory stands together. */

enum { PAGE = 4096, SMALLEST = 24, GRAIN = 16 };

/* Takes the holes of one size for good; all of them have so many bytes, of which what is left is told. What comes from the end of the heap
 * goes back there. */
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

/* What handles still hold each worker would write once more, into an answer. A layer may be Perl code. */
static void flush_all(pTHX_ void *unused)
{
    PERL_UNUSED_ARG(unused);
    PerlIO_flush(NULL);
}

/* In the mold, when all is loaded. */
void cml_before_forks(void)
{
    dTHXa(cml_perl);
    cml_guarded_whole(aTHX_ flush_all, NULL);
    fflush(stdout);
    cml_remember_state(); /* each worker would write the same */
    cml_know_objects(aTHX);
    cml_know_files();
    /* Perl's own lists of free places run through all of its arenas: without them it begins new ones. */
    PL_sv_root = NULL;
    Zero(PL_body_roots, PERL_ARENA_ROOTS_SIZE, void *);
    malloc_trim(0);
    const char *const end = (char *)sbrk(0) - PAGE;
    /* The C library's own: where another allocator is preloaded, whose pieces may all lie below `end`, it knows of none. */
    size_t holes = mallinfo2().fordblks;
    for (size_t size = PAGE; size >= SMALLEST; size -= GRAIN)
        holes = fill_holes(size, end, holes);
}

/* In a worker that is about to fork the next mold: what its handles have not written yet would be written twice. */
void cml_before_promotion(void)
{
    dTHXa(cml_perl);
    PerlIO_flush(NULL);
}

/* In the fork of a worker that is a mold from now on. */
void cml_is_promoted(void)
{
    cml_forked_child = 0;
    cml_drop_descriptors();
    cml_stdout_logs = 1; /* what the program prints before its next fork */
}

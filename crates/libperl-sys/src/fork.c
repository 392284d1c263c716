#include "internal.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

/* A mold that has loaded a site has free memory in thousands of small holes between what is in use. A worker that took
 * what it needs from there would get a copy of the page around each; new memory stands together. */

enum { PAGE = 4096, SMALLEST = 24, GRAIN = 16 };

/* Takes the holes of one size for good. What comes from the end of the heap goes back there. */
static void fill_holes(size_t size, const char *end)
{
    char *piece;
    do
        piece = malloc(size);
    while (piece && piece < end);
    free(piece);
}

/* In the mold, when all is loaded. */
void cml_before_forks(void)
{
    dTHXa(cml_perl);
    cml_look(aTHX); /* each worker would write the same */
    /* Perl's own lists of free places run through all of its arenas: without them it begins new ones. */
    PL_sv_root = NULL;
    Zero(PL_body_roots, PERL_ARENA_ROOTS_SIZE, void *);
    malloc_trim(0);
    const char *const end = (char *)sbrk(0) - PAGE;
    for (size_t size = PAGE; size >= SMALLEST; size -= GRAIN)
        fill_holes(size, end);
}

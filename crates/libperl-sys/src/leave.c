#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

/* What cannot be put back: the worker leaves before the next request meets it. */

/* Without a free descriptor a worker loses the request whose body comes as one. The kernel gives the lowest that is free:
 * while `brink` is free so are those that a request may need. While even the one `FAR_OFF` below it is free, that many have
 * to be opened first. */
enum { SPARE = 32, TURN = 8, FAR_OFF = 256, FAR_TURN = FAR_OFF / (SPARE / TURN) };
static int brink = -1;

/* Or -1 when there is none. */
static int lowest_free(void)
{
    const int fd = fcntl(0, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd < 0 && errno != EMFILE ? 0 : fd;
}

static int is_short(void)
{
    const int lowest = lowest_free();
    return lowest < 0 || lowest >= brink;
}

/* Only root's worker can become somebody else, and not always come back. */
typedef struct {
    uid_t user[3];
    gid_t group[3];
} identity;
static identity home_identity;
static int is_roots;

static identity identity_now(void)
{
    identity now;
    memset(&now, 0, sizeof now);
    getresuid(&now.user[0], &now.user[1], &now.user[2]);
    getresgid(&now.group[0], &now.group[1], &now.group[2]);
    return now;
}

static int is_somebody_else(pTHX)
{
    if (!is_roots || !(cml_touched & CML_IDENTITY || cml_has_foreign_code(aTHX)))
        return 0;
    const identity now = identity_now();
    cml_touched &= ~CML_IDENTITY;
    return memcmp(&now, &home_identity, sizeof now) != 0;
}

/* A site whose start-up opens nearly all that there are would gain nothing from other workers. */
void cml_remember_bounds(void)
{
    struct rlimit limit;
    cml_remember_birth();
    home_identity = identity_now();
    is_roots = home_identity.user[0] == 0 || home_identity.user[1] == 0 || home_identity.user[2] == 0;
    brink = -1;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX)
        return;
    brink = (int)limit.rlim_cur - (limit.rlim_cur / 8 < SPARE ? (int)limit.rlim_cur / 8 : SPARE);
    if (is_short())
        brink = -1;
}

/* One system call after requests that opened something with an operator of perl's, and now and then for what C code
 * opens: what leaks slowly is seen in time. */
static int lacks_descriptors(void)
{
    static unsigned turn;
    static int is_far_off;
    if (brink < 0 || (!(cml_touched & CML_OPENED) && ++turn % (is_far_off ? FAR_TURN : TURN) != 0))
        return 0;
    is_far_off = brink > FAR_OFF && fcntl(brink - FAR_OFF, F_GETFD) < 0;
    return !is_far_off && fcntl(brink, F_GETFD) >= 0 && is_short();
}

/* Children may change their parent, and what C code of others does is seen now and then. */
static int may_differ_from_birth(pTHX)
{
    static unsigned turn;
    if (cml_touched & (CML_BOUNDS | CML_IDENTITY | CML_BORE))
        return 1;
    return cml_has_foreign_code(aTHX) && ++turn % FAR_TURN == 0;
}

/* Asked before the request's end is told, so that no other is sent here. */
cml_reason cml_must_leave(void)
{
    dTHXa(cml_perl);
    cml_look(aTHX);
    if (cml_touched & CML_CHROOTED)
        return CML_OTHER_ROOT;
    /* Before the identity, which is no reason to look any more once it was found to be the same. */
    const cml_reason differs = may_differ_from_birth(aTHX) ? cml_differs_from_birth() : CML_MAY_STAY;
    cml_touched &= ~CML_BOUNDS;
    if (differs != CML_MAY_STAY)
        return differs;
    if (is_somebody_else(aTHX))
        return CML_OTHER_USER;
    if (lacks_descriptors())
        return CML_NO_DESCRIPTORS;
    return CML_MAY_STAY;
}

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

/* Finds changes that cannot be reverted: the worker exits before its next request. */

/* Without a free descriptor a worker loses a request whose body is a descriptor. The kernel returns the lowest free
 * number: a free `brink` shows that a request finds enough free numbers. While the number `FAR_OFF` below `brink`
 * is free, checks are rarer. */
enum { SPARE = 32, TURN = 8, FAR_OFF = 256, FAR_TURN = FAR_OFF / (SPARE / TURN) };
static int brink = -1;

/* Returns -1 when no descriptor is free. */
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

/* Only a worker of root can change its user, and it cannot always change back. */
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

/* Stores the bounds at the worker's birth. If start-up code opens nearly all descriptors, new workers would not
 * help. */
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

/* Whether descriptors are short. Costs one system call after requests whose Perl operators opened files, and
 * occasionally for C code, so that slow leaks are found early. */
static int lacks_descriptors(void)
{
    static unsigned turn;
    static int is_far_off;
    if (brink < 0 || (!(cml_touched & CML_OPENED) && ++turn % (is_far_off ? FAR_TURN : TURN) != 0))
        return 0;
    is_far_off = brink > FAR_OFF && fcntl(brink - FAR_OFF, F_GETFD) < 0;
    return !is_far_off && fcntl(brink, F_GETFD) >= 0 && is_short();
}

/* Children may change their parent's limits; C code of other modules is checked from time to time. */
static int may_differ_from_birth(pTHX)
{
    static unsigned turn;
    if (cml_touched & (CML_BOUNDS | CML_IDENTITY | CML_BORE))
        return 1;
    return cml_has_foreign_code(aTHX) && ++turn % FAR_TURN == 0;
}

/* Called before the request's end is sent, so that the front sends no other request. */
cml_reason cml_must_leave(void)
{
    dTHXa(cml_perl);
    cml_look(aTHX);
    if (cml_touched & CML_CHROOTED)
        return CML_OTHER_ROOT;
    if (cml_lost_home())
        return CML_NO_HOME;
    /* Comes before the check of the identity, which clears the bits that cause this check. */
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

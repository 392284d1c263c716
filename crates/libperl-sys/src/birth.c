#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The privileges and limits that a worker was forked with: limits, namespaces, root folder, groups,
 * capabilities, seccomp rules, priority. A worker cannot restore one that a request has changed, and later
 * requests would fail. */

static const char *const spaces[] = {"user", "mnt", "net", "ipc", "uts", "pid", "cgroup", "time", "pid_for_children", "time_for_children"};
/* Lines of /proc/self/status that show the account. */
static const char *const who[] = {"Uid:", "Gid:", "Groups:"};
static const char *const may[] = {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:", "NoNewPrivs:", "Seccomp:", "Seccomp_filters:"};

typedef struct {
    dev_t device;
    ino_t inode;
} place;

typedef struct {
    struct rlimit limits[RLIM_NLIMITS];
    place spaces[C_ARRAY_LENGTH(spaces)];
    place root;
    uint64_t who, may; /* hashes of lines of /proc/self/status */
    int has_status;    /* whether /proc could be read */
    int priority, death_signal;
} birth;

static birth born;

static place place_of(const char *path)
{
    struct stat found;
    place at = {0, 0};
    if (stat(path, &found) == 0)
        at = (place){found.st_dev, found.st_ino};
    return at;
}

static int is_same_place(place one, place other)
{
    return one.device == other.device && one.inode == other.inode;
}

static place space_now(size_t number)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/ns/%s", spaces[number]);
    return place_of(path);
}

/* FNV-1a over the lines that begin with one of the names. */
static uint64_t hash_lines(const char *text, const char *const *names, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325;
    while (*text) {
        const size_t length = strcspn(text, "\n");
        for (size_t i = 0; i < count; i++)
            if (strncmp(text, names[i], strlen(names[i])) == 0)
                for (size_t at = 0; at < length; at++)
                    hash = (hash ^ (unsigned char)text[at]) * 0x100000001b3;
        text += length;
        text += *text == '\n';
    }
    return hash;
}

static void read_status(birth *now)
{
    char text[16384];
    const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    now->has_status = length > 0;
    text[length > 0 ? length : 0] = '\0';
    now->who = hash_lines(text, who, C_ARRAY_LENGTH(who));
    now->may = hash_lines(text, may, C_ARRAY_LENGTH(may));
}

/* Excludes RLIMIT_DATA's soft limit, which the worker itself sets to its memory limit. */
static int has_limit(int which)
{
    struct rlimit now;
    if (getrlimit(which, &now) != 0)
        return 0;
    return now.rlim_max == born.limits[which].rlim_max
        && (which == RLIMIT_DATA || now.rlim_cur == born.limits[which].rlim_cur);
}

static int priority_now(void)
{
    errno = 0;
    const int priority = getpriority(PRIO_PROCESS, 0);
    return errno ? INT_MIN : priority;
}

static int death_signal_now(void)
{
    int signal = -1;
    prctl(PR_GET_PDEATHSIG, &signal);
    return signal;
}

/* The kernel clears the parent-death signal of a process that changes its user, even temporarily. */
static void put_death_signal_back(void)
{
    if (born.death_signal > 0 && death_signal_now() != born.death_signal)
        prctl(PR_SET_PDEATHSIG, born.death_signal);
}

void cml_remember_birth(void)
{
    memset(&born, 0, sizeof born);
    for (int which = 0; which < RLIM_NLIMITS; which++)
        getrlimit(which, &born.limits[which]);
    for (size_t i = 0; i < C_ARRAY_LENGTH(spaces); i++)
        born.spaces[i] = space_now(i);
    born.root = place_of("/");
    born.priority = priority_now();
    born.death_signal = death_signal_now();
    read_status(&born);
}

/* Costs some thirty system calls: call it only when something may have changed. */
cml_reason cml_differs_from_birth(void)
{
    for (int which = 0; which < RLIM_NLIMITS; which++)
        if (!has_limit(which))
            return CML_OTHER_LIMITS;
    birth now;
    read_status(&now);
    /* Without a free descriptor /proc cannot be read; the worker then exits because it has no descriptors. */
    if (!now.has_status)
        return born.has_status && errno != EMFILE && errno != ENFILE ? CML_OTHER_ROOT : CML_MAY_STAY;
    if (!is_same_place(place_of("/"), born.root))
        return CML_OTHER_ROOT;
    for (size_t i = 0; i < C_ARRAY_LENGTH(spaces); i++)
        if (!is_same_place(space_now(i), born.spaces[i]))
            return CML_OTHER_NAMESPACE;
    if (born.has_status && now.who != born.who)
        return CML_OTHER_USER;
    if (born.has_status && now.may != born.may)
        return CML_OTHER_RIGHTS;
    if (priority_now() != born.priority)
        return CML_OTHER_PRIORITY;
    put_death_signal_back();
    return CML_MAY_STAY;
}

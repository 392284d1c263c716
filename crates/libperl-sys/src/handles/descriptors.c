#include "../internal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Descriptor 1 is a memfd of this worker: output of system() and other children is added to the response
 * when Perl continues. Descriptor 0 is the request's body.
 *
 * A background child may write to the memfd at any time, so written bytes are never moved or overwritten.
 * Writers append; the worker reads on from `out_read`, and frees the memory of bytes that it has read. After
 * the request the file is sealed against writes. */

static int out_memfd = -1, in_memfd = -1, err_fd = -1;
static dev_t out_device;
static ino_t out_inode;
static off_t out_read; /* bytes up to here are in the response */
static int body_fd_installed;

static int new_memfd(const char *name, int onto)
{
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, 64);
    close(fd);
    dup2(high, onto);
    return high;
}

static void new_out_memfd(void)
{
    struct stat st;
    out_memfd = new_memfd("stdout", 1);
    const int is_there = fstat(out_memfd, &st) == 0;
    out_device = is_there ? st.st_dev : 0;
    out_inode = is_there ? st.st_ino : 0;
    out_read = 0;
    fcntl(out_memfd, F_SETFL, O_APPEND);
}

/* Stores a duplicate of the error log, for scripts that reopen STDERR. */
void cml_stderr_is_log(void)
{
    if (err_fd >= 0)
        close(err_fd);
    err_fd = fcntl(2, F_DUPFD_CLOEXEC, 64);
}

/* Drops the descriptors of a worker that has become a mold. A mold's output goes to the error log; its input
 * is empty. */
void cml_drop_descriptors(void)
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(out_memfd);
    close(in_memfd);
    out_memfd = in_memfd = -1;
    dup2(2, 1);
    dup2(nothing, 0);
    close(nothing);
}

/* Gives a worker its own descriptors. The body of a request without one cannot be written to. */
void cml_new_descriptors(void)
{
    new_out_memfd();
    in_memfd = new_memfd("stdin", 0);
    fcntl(in_memfd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_WRITE);
    cml_stderr_is_log();
}

/* Makes `fd`, or an empty file, descriptor 0; takes ownership of it. */
int cml_stdin_is(int fd)
{
    dTHXa(cml_perl);
    if (fd < 0 && !body_fd_installed)
        return 0;
    if (fd >= 0) {
        if (dup2(fd, 0) < 0)
            return -1;
        close(fd);
    } else if (dup2(in_memfd, 0) < 0) {
        return -1;
    }
    body_fd_installed = fd >= 0;
    cml_rewind_stdin(aTHX);
    return 0;
}

static int is_ours(const struct stat *st)
{
    return st->st_ino == out_inode && st->st_dev == out_device;
}

/* The last check of descriptor 1: perl's turn, and whether a script had replaced the descriptor. */
static unsigned looked_in;
static int was_elsewhere;

/* Whether a script has replaced descriptor 1. */
static int is_elsewhere(struct stat *st)
{
    looked_in = cml_turn;
    was_elsewhere = fstat(1, st) != 0 || !is_ours(st);
    return was_elsewhere;
}

/* is_elsewhere at the end of a request, which is one call into Perl: a check in the turn before is still valid, because
 * no code has run since. */
static int is_elsewhere_at_end(void)
{
    struct stat st;
    return looked_in == cml_turn - 1 ? was_elsewhere : is_elsewhere(&st);
}

/* Whether output to the descriptor is added to the response. */
int cml_is_output(int fd)
{
    struct stat st;
    return fd > 1 && out_memfd >= 0 && fstat(fd, &st) == 0 && is_ours(&st);
}

/* A handle was opened. A non-standard one may lead to the memfd, or to descriptors 0 and 1 themselves. */
void cml_has_opened(pTHX_ GV *gv)
{
    const IO *const io = gv && isGV_with_GP(gv) ? GvIO(gv) : NULL;
    if (!io || !PerlIOValid(IoIFP(io)))
        return;
    const int fd = PerlIO_fileno(IoIFP(io));
    const int is_written = IoOFP(io) && IoTYPE(io) != IoTYPE_RDONLY;
    if (gv == cml_stdout_gv)
        cml_touched |= CML_WROTE;
    else if (gv != cml_stdin_gv && (fd == 0 || fd == 1 || (is_written && cml_is_output(fd))))
        cml_touched |= CML_COPIED;
}

/* Whether descriptor 1 may have been written to or replaced. */
static int may_be_touched(pTHX)
{
    return cml_forked_in_request || cml_start_up_writes() || cml_has_foreign_code(aTHX) || cml_touched & (CML_WROTE | CML_COPIED);
}

/* Whether descriptors were checked in this turn. Between calls into Perl a second check could find no change. */
static int was_looked_at(void)
{
    return !cml_is_guarded() && looked_in == cml_turn;
}

/* Adds the output of children on descriptor 1 to the response. */
void cml_drain_fd1(void)
{
    dTHXa(cml_perl);
    struct stat st;
    char buffer[16384];

    if (cml_forked_child || out_memfd < 0 || !may_be_touched(aTHX) || was_looked_at())
        return;
    if (is_elsewhere(&st) && fstat(out_memfd, &st) != 0)
        return;
    if (st.st_size < out_read)
        out_read = 0; /* a program has opened the file by name and truncated it */
    const off_t from = out_read;
    while (out_read < st.st_size) {
        const ssize_t n = pread(out_memfd, buffer, sizeof buffer, out_read);
        if (n <= 0)
            break;
        if (cml_say(buffer, (size_t)n))
            cml_layer_failed();
        out_read += n;
    }
    if (out_read > from)
        fallocate(out_memfd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, out_read);
}

/* Gives the next request another memfd. A retained handle then has no effect; a background child gets an error, so that
 * its output, which belongs to no request, cannot fill the memory. */
static void renew_out_memfd(void)
{
    if (ftruncate(out_memfd, 0) == 0)
        fcntl(out_memfd, F_ADD_SEALS, F_SEAL_GROW);
    close(out_memfd);
    new_out_memfd();
}

/* While STDOUT is the log: makes descriptor 1 the log for children that are about to start. Returns whether
 * cml_after_child must undo that. */
int cml_before_child(void)
{
    struct stat st;
    return cml_stdout_logs && !cml_forked_child && !is_elsewhere(&st) && dup2(2, 1) == 1;
}

/* Runs in the worker, after the child has started. */
void cml_after_child(int was_moved)
{
    if (was_moved && !cml_forked_child)
        dup2(out_memfd, 1);
}

void cml_put_stderr_back(void)
{
    dup2(err_fd, 2);
}

void cml_put_stdout_back(void)
{
    dTHXa(cml_perl);
    if (cml_forked_in_request || out_read > 0 || cml_touched & CML_COPIED)
        renew_out_memfd();
    else if (may_be_touched(aTHX) && is_elsewhere_at_end())
        dup2(out_memfd, 1);
    cml_forked_in_request = 0;
}

void cml_put_stdin_back(void)
{
    cml_stdin_is(-1);
}

/* Empties the file at descriptor 0, whichever it is. */
void cml_empty_stdin(void)
{
    dup2(in_memfd, 0);
    body_fd_installed = 0;
}

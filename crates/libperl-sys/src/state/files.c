#include "../internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files and folders that start-up code has open for reading, DATA included. Processes that inherit a
 * descriptor share its position. Each worker therefore reopens the file, at the same position and under the
 * same number, so that perl's handles and layers stay valid. */

typedef struct {
    int fd;
    dev_t device;
    ino_t inode;
} file;

static file *files;
static size_t file_count;

static int is_only_read(int fd, struct stat *about)
{
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && (flags & (O_ACCMODE | O_PATH)) == O_RDONLY && fstat(fd, about) == 0 &&
           (S_ISREG(about->st_mode) || S_ISDIR(about->st_mode));
}

static void know_file(int fd)
{
    struct stat about;
    if (fd <= STDERR_FILENO || !is_only_read(fd, &about))
        return;
    file *const more = realloc(files, (file_count + 1) * sizeof *files);
    if (!more)
        return;
    files = more;
    files[file_count++] = (file){fd, about.st_dev, about.st_ino};
}

/* Runs in the process that is about to fork workers. */
void cml_know_files(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    file_count = 0;
    if (!folder)
        return;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (entry->d_name[0] != '.')
            know_file(atoi(entry->d_name));
    closedir(folder);
}

/* Reopens a file. If the file cannot be opened, the descriptor is unchanged: Cameleer::StartUp has logged its name. */
static void reopen(const file *known)
{
    struct stat now;
    char name[64];
    if (!is_only_read(known->fd, &now) || now.st_dev != known->device || now.st_ino != known->inode)
        return;
    const off_t position = lseek(known->fd, 0, SEEK_CUR);
    const int kept = fcntl(known->fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", known->fd);
    const int own = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (own < 0)
        return;
    if (position >= 0 && lseek(own, position, SEEK_SET) == position)
        dup3(own, known->fd, kept);
    close(own);
}

/* Reopens the files; runs in a fresh worker. */
void cml_reopen_files(void)
{
    for (size_t i = 0; i < file_count; i++)
        reopen(&files[i]);
}

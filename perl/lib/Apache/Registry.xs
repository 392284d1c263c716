#include "xs.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

int cml_go_home(void);
int cml_is_forked_child(void);

/* Facts that identify the script and decide whether it may run. */
struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
    int64_t options;
};

/* Modification time in seconds, with a fraction. */
static SV *mtime_of(pTHX_ const struct stat *file)
{
    return newSVnv((NV)file->st_mtim.tv_sec + (NV)file->st_mtim.tv_nsec * 1e-9);
}

/* Pushes the stamp (empty if there is no file) and the mtime. */
static SV **push_stamp(pTHX_ SV **sp, Request r, const char *file)
{
    struct stat now;
    struct stamp stamp;
    EXTEND(sp, 2);
    if (stat(file, &now) != 0) {
        PUSHs(newSVpvs_flags("", SVs_TEMP));
        return sp;
    }
    memset(&stamp, 0, sizeof stamp);
    stamp.device = now.st_dev;
    stamp.inode = now.st_ino;
    stamp.size = now.st_size;
    stamp.changed = now.st_ctim;
    apache_check(aTHX_ apache_get_number(r, APACHE_ALLOW_OPTIONS, &stamp.options));
    PUSHs(newSVpvn_flags((const char *)&stamp, sizeof stamp, SVs_TEMP));
    PUSHs(sv_2mortal(mtime_of(aTHX_ &now)));
    return sp;
}

/* Pushes the words of a query without `=`, as CGI passes them to a script. */
static SV **push_words(pTHX_ SV **sp, const char *word, const char *end)
{
    while (word < end) {
        const char *const plus = memchr(word, '+', (size_t)(end - word));
        const char *const stop = plus ? plus : end;
        SV *const sv = newSVpvn_flags(word, (STRLEN)(stop - word), SVs_TEMP);
        SvCUR_set(sv, apache_unescape(SvPVX(sv), SvCUR(sv), 0));
        *SvEND(sv) = '\0';
        XPUSHs(sv);
        word = stop + 1;
    }
    return sp;
}

/* Whether an END block was compiled from the file. */
static bool is_of_file(pTHX_ CV *cv, const char *file)
{
    return CvFILE(cv) && strEQ(CvFILE(cv), file);
}

/* Whether an END block was compiled into the package. */
static bool is_of_package(pTHX_ CV *cv, const char *package)
{
    const char *const name = CvSTASH(cv) ? HvNAME(CvSTASH(cv)) : NULL;
    return name && strEQ(name, package);
}

/* Removes and pushes the wanted END blocks: perl does not run them at its end. */
static SV **push_end_blocks(pTHX_ SV **sp, bool (*is_wanted)(pTHX_ CV *, const char *), const char *name)
{
    const SSize_t last = PL_endav ? av_top_index(PL_endav) : -1;
    AV *const all = PL_endav;
    AV *const kept = last < 0 ? NULL : newAV();
    for (SSize_t i = 0; i <= last; i++) {
        SV **const slot = av_fetch(all, i, 0);
        CV *const cv = slot ? (CV *)*slot : NULL;
        if (cv && is_wanted(aTHX_ cv, name))
            mXPUSHs(newRV_inc((SV *)cv));
        else if (cv)
            av_push(kept, SvREFCNT_inc((SV *)cv));
    }
    if (kept) {
        PL_endav = kept;
        SvREFCNT_dec((SV *)all);
    }
    return sp;
}

MODULE = Apache::Registry    PACKAGE = Apache::Registry

int
go_home()
  CODE:
    RETVAL = cml_go_home();
  OUTPUT:
    RETVAL

void
look(r, with_host)
    Request r
    bool with_host
  PPCODE:
    apache_text name, file, host = {NULL, 0};
    apache_check(aTHX_ apache_get_text(r, APACHE_SCRIPT_NAME, &name));
    SV *const key = sv_2mortal(apache_sv_of(aTHX_ name));
    if (with_host)
        apache_check(aTHX_ apache_get_text(r, APACHE_VIRTUAL_HOST, &host));
    if (host.length)
        sv_insert(key, 0, 0, host.bytes, host.length);
    apache_check(aTHX_ apache_get_text(r, APACHE_FILENAME, &file));
    SV *const name_of_file = sv_2mortal(apache_sv_of(aTHX_ file));
    EXTEND(SP, 2);
    PUSHs(key);
    PUSHs(name_of_file);
    SP = push_stamp(aTHX_ SP, r, SvPV_nolen(name_of_file));

SV *
mtime(file)
    const char *file
  CODE:
    struct stat now;
    RETVAL = stat(file, &now) == 0 ? mtime_of(aTHX_ &now) : newSV(0);
  OUTPUT:
    RETVAL

void
enter(file)
    SV *file
  CODE:
    STRLEN length;
    const char *const name = SvPV(file, length);
    const char *const slash = strrchr(name, '/');
    SV *const folder = sv_2mortal(newSVpvn(slash > name ? name : "/", slash > name ? (STRLEN)(slash - name) : 1));
    if (chdir(SvPV_nolen(folder)) != 0)
        croak("%" SVf ": %s\n", SVfARG(folder), strerror(errno));

void
words(r)
    Request r
  PPCODE:
    apache_text query;
    int64_t method;
    apache_check(aTHX_ apache_get_text(r, APACHE_ARGS, &query));
    if (!query.length || memchr(query.bytes, '=', query.length))
        XSRETURN_EMPTY;
    apache_check(aTHX_ apache_get_number(r, APACHE_METHOD_NUMBER, &method));
    if (method != 0)
        XSRETURN_EMPTY;
    SP = push_words(aTHX_ SP, query.bytes, query.bytes + query.length);

void
output()
  PPCODE:
    /* The number of the current request, or 0, and whether it has output. */
    const uint64_t r = apache_record_number();
    int64_t sent = 0, sent_header = 0;
    const bool is_known = r && apache_get_number(r, APACHE_BYTES_SENT, &sent) == APACHE_OK
        && apache_get_number(r, APACHE_SENT_HEADER, &sent_header) == APACHE_OK;
    EXTEND(SP, 2);
    mPUSHu((UV)r);
    PUSHs(boolSV(is_known && (sent || sent_header)));

int
_is_forked_child()
  CODE:
    RETVAL = cml_is_forked_child();
  OUTPUT:
    RETVAL

void
take_end_blocks(file)
    const char *file
  PPCODE:
    SP = push_end_blocks(aTHX_ SP, is_of_file, file);

void
_take_end_blocks_of(package)
    const char *package
  PPCODE:
    SP = push_end_blocks(aTHX_ SP, is_of_package, package);

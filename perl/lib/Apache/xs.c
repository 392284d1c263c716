#include "xs.h"

#include <ctype.h>

/* Deepest nesting of wrapped objects; deeper means that an object contains itself. */
enum { MAX_DEPTH = 32 };

/* The request inside a subclass' object. */
SV *apache_inner(pTHX_ HV *object)
{
    SV **slot = hv_fetchs(object, "_r", 0);
    if (!slot)
        slot = hv_fetchs(object, "r", 0);
    if (slot)
        SvGETMAGIC(*slot);
    return slot && SvROK(*slot) ? *slot : NULL;
}

/* Croaks with the called method's name, and the class of the object without a request. */
static void croak_without_request(pTHX_ SV *object, CV *method)
{
    const char *const name = method && CvGV(method) ? GvNAME(CvGV(method)) : "a method";
    const char *const class = SvOBJECT(object) ? sv_reftype(object, TRUE) : "unknown";
    croak("method `%s' invoked by a `%s' object with no `r' key!", name, class); /* mod_perl's words */
}

/* The request of $r, of a hash that holds one under _r or r (as subclasses do), or, called on the class, the
 * current one. */
Request apache_request_given(pTHX_ SV *sv, CV *method)
{
    SvGETMAGIC(sv);
    if (!SvROK(sv)) {
        const Request current = apache_record_number();
        if (!current)
            croak("there is no current request");
        return current;
    }
    for (int depth = 0; SvTYPE(SvRV(sv)) == SVt_PVHV; depth++) {
        SV *const object = SvRV(sv);
        sv = depth < MAX_DEPTH ? apache_inner(aTHX_ (HV *)object) : NULL;
        if (!sv)
            croak_without_request(aTHX_ object, method);
    }
    SV *const inner = SvRV(sv);
    if (!SvOBJECT(inner) || !SvIOK(inner))
        croak("not an Apache request object: a reference of that kind is unsupported");
    return SvUV(inner);
}

Request apache_request_of(pTHX_ SV *sv)
{
    return apache_request_given(aTHX_ sv, NULL);
}

/* The server of $s; called on the class, the main server. */
Server apache_server_of(pTHX_ SV *sv)
{
    SvGETMAGIC(sv);
    if (!SvROK(sv))
        return 0;
    if (!SvIOK(SvRV(sv)))
        croak("not an Apache::Server object");
    return (Server)SvUV(SvRV(sv));
}

Table *apache_table_at(pTHX_ SV *sv)
{
    if (SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVHV) {
        MAGIC *const magic = mg_find(SvRV(sv), PERL_MAGIC_tied);
        if (magic && magic->mg_obj)
            sv = magic->mg_obj;
    }
    if (!SvROK(sv) || !sv_derived_from(sv, "Apache::Table") || !SvPOK(SvRV(sv)) || SvCUR(SvRV(sv)) != sizeof(Table))
        croak("not an Apache::Table object");
    return (Table *)SvPVX(SvRV(sv));
}

/* Returns a copy, because Perl code may destroy the object. */
Table apache_table_of(pTHX_ SV *sv)
{
    Table table;
    memcpy(&table, apache_table_at(aTHX_ sv), sizeof table);
    return table;
}

static const char *const CLASSES[][4] = {
    {"Apache", "Apache::SubRequest", "Apache::Connection", "Apache::Server"},
    {"Apache2::RequestRec", "Apache2::SubRequest", "Apache2::Connection", "Apache2::ServerRec"},
};
static const char *const *classes = CLASSES[0];

void apache_speak(int api)
{
    classes = CLASSES[api == 2];
    if (api == 2)
        cml_printing_dies();
}

SV *apache_object(pTHX_ apache_class class, Request r)
{
    return sv_bless(newRV_noinc(newSVuv(r)), gv_stashpv(classes[class], GV_ADD));
}

/* Makes a blessed reference to a tied hash: mod_perl 1 allows both $t->get('x') and $t->{x}. */
SV *apache_table_object(pTHX_ Request r, uint32_t number)
{
    if (classes != CLASSES[0])
        return apache_apr_table_object(aTHX_ r, number);
    const Table table = {r, number, 0};
    HV *const stash = gv_stashpvs("Apache::Table", GV_ADD);
    HV *const hash = newHV();
    SV *const object = sv_bless(newRV_noinc(newSVpvn((const char *)&table, sizeof table)), stash);
    sv_magic((SV *)hash, object, PERL_MAGIC_tied, NULL, 0);
    SvREFCNT_dec(object);
    return sv_bless(newRV_noinc((SV *)hash), stash);
}

void apache_check(pTHX_ int status)
{
    if (status != APACHE_OK)
        croak("%s", status == APACHE_STALE    ? "this request is over: a request object kept from an earlier request was used"
                    : status == APACHE_FAILED ? "a filter of this response has failed; see the error log"
                                              : "unknown change of a table: program and module are of different versions");
}

SV *apache_sv_of(pTHX_ apache_text text)
{
    return text.bytes ? newSVpvn(text.bytes, text.length) : newSV(0);
}

SV *apache_client_sv_of(pTHX_ apache_text text)
{
    SV *const sv = apache_sv_of(aTHX_ text);
    if (text.bytes)
        SvTAINTED_on(sv);
    return sv;
}

/* Whether the value's text needs no Perl code and no warning: it is defined, no object and not tied. */
static int is_quiet(const SV *sv)
{
    return !SvROK(sv) && !SvGMAGICAL(sv) && SvOK(sv);
}

/* Makes a mortal copy as text; code of an object or tied value runs once, here. NULL for undef. */
static SV *own_text(pTHX_ SV *sv)
{
    SV *const value = sv_mortalcopy(sv);
    if (!SvOK(value))
        return NULL;
    SV *const text = newSVpvs_flags("", SVs_TEMP);
    sv_copypv(text, value);
    return text;
}

/* Converts characters to Latin-1 where possible. */
static void to_bytes(pTHX_ SV *own)
{
    if (SvUTF8(own) && !sv_utf8_downgrade(own, TRUE))
        SvUTF8_off(own);
}

static apache_text bytes_in(pTHX_ SV *sv)
{
    apache_text text;
    text.bytes = SvPV(sv, text.length);
    return text;
}

/* The bytes are valid until the statement ends, unless Perl code changes the plain string that they belong
 * to. */
apache_text apache_text_of(pTHX_ SV *sv)
{
    const apache_text none = {NULL, 0};
    if (is_quiet(sv) && !SvUTF8(sv))
        return bytes_in(aTHX_ sv);
    SV *const own = own_text(aTHX_ sv);
    if (!own)
        return none;
    to_bytes(aTHX_ own);
    return bytes_in(aTHX_ own);
}

apache_text apache_bytes_of(pTHX_ SV *sv)
{
    if (is_quiet(sv))
        return bytes_in(aTHX_ sv);
    SV *const own = own_text(aTHX_ sv);
    /* For undef: perl's warning, and no bytes. */
    return bytes_in(aTHX_ own ? own : sv_newmortal());
}

/* Like apache_text_of, but always a copy: Perl code may run before the text is used. */
apache_text apache_kept_text_of(pTHX_ SV *sv)
{
    return apache_text_of(aTHX_ is_quiet(sv) ? sv_mortalcopy(sv) : sv);
}

SV *apache_text_field(pTHX_ Request r, I32 field, SV *value)
{
    apache_text text;
    const apache_text wanted = value ? apache_text_of(aTHX_ value) : (apache_text){NULL, 0};
    /* In void context the old value is not needed; finding it may need the disk. */
    if (value && GIMME_V == G_VOID) {
        apache_check(aTHX_ apache_set_text(r, field, wanted));
        return &PL_sv_undef;
    }
    apache_check(aTHX_ apache_get_text(r, field, &text));
    SV *const before = sv_2mortal(field == APACHE_ARGS ? apache_client_sv_of(aTHX_ text) : apache_sv_of(aTHX_ text));
    if (value)
        apache_check(aTHX_ apache_set_text(r, field, wanted));
    return SvREFCNT_inc(before);
}

SV *apache_number_field(pTHX_ Request r, I32 field, SV *value)
{
    int64_t before;
    const IV wanted = value ? SvIV(value) : 0;
    apache_check(aTHX_ apache_get_number(r, field, &before));
    if (value)
        apache_check(aTHX_ apache_set_number(r, field, wanted));
    return newSViv(before);
}

SV *apache_requirements(pTHX_ Request r)
{
    AV *const lines = (AV *)sv_2mortal((SV *)newAV());
    int64_t method, mask;
    apache_text text;
    apache_check(aTHX_ apache_get_number(r, APACHE_METHOD_NUMBER, &method));
    for (size_t at = 0;; at++) {
        apache_check(aTHX_ apache_requirement(r, at, &mask, &text));
        if (!text.bytes)
            return at ? newRV_inc((SV *)lines) : newSV(0);
        if (method < 0 || method > 62 || !(mask >> method & 1))
            continue;
        HV *const line = newHV();
        (void)hv_stores(line, "method_mask", newSViv(mask));
        (void)hv_stores(line, "requirement", apache_sv_of(aTHX_ text));
        av_push(lines, newRV_noinc((SV *)line));
    }
}

SV **apache_push_table(pTHX_ SV **sp, Request r, uint32_t number)
{
    apache_text name, value;
    for (size_t at = 0;; at++) {
        apache_check(aTHX_ apache_table_entry(r, number, at, &name, &value));
        if (!name.bytes)
            return sp;
        EXTEND(sp, 2);
        PUSHs(sv_2mortal(apache_sv_of(aTHX_ name)));
        PUSHs(sv_2mortal(number == APACHE_DIR_CONFIG ? apache_sv_of(aTHX_ value) : apache_client_sv_of(aTHX_ value)));
    }
}

int apache_same_name(pTHX_ apache_text a, apache_text b)
{
    return a.length == b.length && foldEQ(a.bytes, b.bytes, (I32)a.length);
}

SV *apache_value(pTHX_ Request r, uint32_t number, apache_text name)
{
    apache_text value;
    apache_check(aTHX_ apache_table_get(r, number, name, &value));
    return sv_2mortal(apache_sv_of(aTHX_ value));
}

SV **apache_push_values(pTHX_ SV **sp, Table table, SV *name)
{
    const apache_text wanted = apache_text_of(aTHX_ name);
    if (GIMME_V != G_LIST) {
        XPUSHs(apache_value(aTHX_ table.request, table.number, wanted));
        return sp;
    }
    apache_text key, value;
    for (size_t at = 0; wanted.bytes; at++) {
        apache_check(aTHX_ apache_table_entry(table.request, table.number, at, &key, &value));
        if (!key.bytes)
            break;
        if (apache_same_name(aTHX_ key, wanted))
            mXPUSHs(apache_sv_of(aTHX_ value));
    }
    return sp;
}

static void store_one(pTHX_ Request r, uint32_t number, uint32_t verb, apache_text name, SV *value)
{
    const apache_text text = apache_text_of(aTHX_ value);
    apache_check(aTHX_ apache_table_change(r, number, text.bytes ? verb : APACHE_TABLE_UNSET, name, text));
}

void apache_table_store(pTHX_ Request r, uint32_t number, uint32_t verb, apache_text key, SV *value)
{
    if (!SvROK(value) || SvTYPE(SvRV(value)) != SVt_PVAV || SvOBJECT(SvRV(value))) {
        store_one(aTHX_ r, number, verb, key, value);
        return;
    }
    AV *const values = (AV *)sv_2mortal(SvREFCNT_inc(SvRV(value)));
    for (SSize_t i = 0; i <= av_top_index(values); i++) {
        SV **const slot = av_fetch(values, i, 0);
        /* Setting several values replaces the old ones with the first, and adds the others. */
        const uint32_t each = verb == APACHE_TABLE_SET && i > 0 ? APACHE_TABLE_ADD : verb;
        store_one(aTHX_ r, number, each, key, slot ? *slot : &PL_sv_undef);
    }
}

static int is_plain_scalar_ref(SV *sv)
{
    return SvROK(sv) && !SvOBJECT(SvRV(sv)) && SvTYPE(SvRV(sv)) < SVt_PVGV && !SvROK(SvRV(sv));
}

STRLEN apache_print(pTHX_ Request r, SV *sv)
{
    const apache_text text = apache_bytes_of(aTHX_ is_plain_scalar_ref(sv) ? SvRV(sv) : sv);
    apache_check(aTHX_ apache_write(r, text.bytes, text.length));
    return text.length;
}

int apache_is_gone(pTHX_ Request r)
{
    int64_t gone;
    apache_check(aTHX_ apache_get_number(r, APACHE_GONE, &gone));
    return gone != 0;
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

STRLEN apache_unescape(char *text, STRLEN length, int is_form)
{
    char *to = text;
    for (const char *from = text, *end = text + length; from < end; from++) {
        if (*from == '%' && end - from > 2 && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
            *to++ = (char)(hex_digit(from[1]) * 16 + hex_digit(from[2]));
            from += 2;
        } else {
            *to++ = is_form && *from == '+' ? ' ' : *from;
        }
    }
    return (STRLEN)(to - text);
}

static SV *unescaped(pTHX_ const char *text, STRLEN length)
{
    SV *const sv = sv_2mortal(newSVpvn(text, length));
    SvCUR_set(sv, apache_unescape(SvPVX(sv), length, 1));
    *SvEND(sv) = '\0';
    return sv;
}

/* A query without any `=` is a list of words (ISINDEX); otherwise pairs, and a lone name has an empty value. */
SV **apache_push_arguments(pTHX_ SV **sp, const char *query, STRLEN length)
{
    const int is_pairs = memchr(query, '=', length) != NULL;
    const char *const end = query + length;
    while (query < end) {
        const char *stop = query;
        const char *equals = NULL;
        for (; stop < end && *stop != '&' && *stop != ';'; stop++)
            if (*stop == '=' && !equals)
                equals = stop;
        const char *const name_end = equals ? equals : stop;
        EXTEND(sp, 2);
        if (stop > query || !is_pairs)
            PUSHs(unescaped(aTHX_ query, (STRLEN)(name_end - query)));
        if (is_pairs && stop > query)
            PUSHs(equals ? unescaped(aTHX_ equals + 1, (STRLEN)(stop - equals - 1)) : sv_2mortal(newSVpvs("")));
        query = stop + 1;
    }
    return sp;
}

#define PACKAGES(each)                                                                                                 \
    each(Apache, Apache)                                                                                               \
    each(Apache__Body, Apache::Body)                                                                                   \
    each(Apache__Connection, Apache::Connection)                                                                       \
    each(Apache__Leak, Apache::Leak)                                                                                   \
    each(Apache__Log, Apache::Log)                                                                                     \
    each(Apache__Registry, Apache::Registry)                                                                           \
    each(Apache__Request, Apache::Request)                                                                             \
    each(Apache__Response, Apache::Response)                                                                           \
    each(Apache__Server, Apache::Server)                                                                               \
    each(Apache__Table, Apache::Table)                                                                                 \
    each(Apache__Util, Apache::Util)                                                                                   \
    each(Apache2__Filter, Apache2::Filter)                                                                             \
    each(B__TerseSize, B::TerseSize)                                                                                   \
    each(Cameleer__Broadcast, Cameleer::Broadcast)                                                                     \
    each(Cameleer__Event, Cameleer::Event)                                                                             \
    each(Cameleer__ModPerl2, Cameleer::ModPerl2)                                                                       \
    each(Cameleer__Preload, Cameleer::Preload)

#define DECLARE(c_name, package) XS_EXTERNAL(boot_##c_name);
PACKAGES(DECLARE)

/* XSLoader::load prefers an existing sub `bootstrap` to a shared object. The subs are in other packages,
 * because modules that check for subs before `require` would take the package for loaded. */
#define REGISTER(c_name, package) newXS("Cameleer::XS::" #package "::bootstrap", boot_##c_name, __FILE__);

void apache_xs_init(void *interpreter)
{
    dTHXa(interpreter);
    PACKAGES(REGISTER)
}

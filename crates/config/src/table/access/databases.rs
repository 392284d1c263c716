//! Databases of users and groups: DBM files, SQL, the cache of passwords, and providers under other names.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::draft::{Draft, OpenedSection, Position};
use crate::model::access::{
    AliasedSource, CacheContext, CacheTimeout, DbmType, PasswordSource, ProviderAlias, Require, SqlDriver, SqlQuery,
    Vocabulary,
};
use crate::model::context::{Rank, Scope, SectionContext};
use crate::syntax::tree::Directive;
use crate::table::row::{AUTH_CONFIG, CONTAINERS, HOSTS, MANY, Row, SERVER, flag, path, rows, section, word, words};

pub static ROWS: &[Row] = rows![
    "mod_authn_dbm.c",
    path("AuthDBMUserFile", AUTH_CONFIG, |d, path| d.settings().access.dbm_users = Some(path))
        .because("no default path for passwords is safe"),
    "The DBM file of the provider `dbm`, as htdbm writes it: user and hash; data after a colon are ignored. For AuthType Digest \
     the keys are `user:realm`. Changes of the file take effect within a second. It must be a regular file of at most 16 MB; \
     otherwise requests that need it are answered 500.",
    word("AuthDBMType", AUTH_CONFIG, "default|SDBM|GDBM|DB", |d, name| {
        d.settings().access.dbm_users_type = Some(DbmType::parse(name)?);
        Ok(())
    })
    .default("default", "Berkeley DB, as in Debian's httpd"),
    "The format of AuthDBMUserFile. SDBM is a pair of files, `name.pag` and `name.dir`; of a single file the first bytes tell \
     whether it is of GDBM or Berkeley DB.",
    path("AuthDBMGroupFile", AUTH_CONFIG, |d, path| d.settings().access.dbm_groups = Some(path))
        .of("mod_authz_dbm.c")
        .because("only `Require dbm-group` needs it"),
    "The DBM file of `Require dbm-group`: user, and groups separated by commas. A file with `hash:groups` may have both passwords \
     and groups.",
    word("AuthzDBMType", AUTH_CONFIG, "default|SDBM|GDBM|DB", |d, name| {
        d.settings().access.dbm_groups_type = Some(DbmType::parse(name)?);
        Ok(())
    })
    .of("mod_authz_dbm.c")
    .default("default", "Berkeley DB, as in Debian's httpd"),
    "The format of AuthDBMGroupFile: see AuthDBMType.",
    word("DBDriver", HOSTS, "sqlite3|pgsql", |d, name| {
        d.settings().access.database_driver = Some(SqlDriver::parse(name)?);
        Ok(())
    })
    .of("mod_dbd.c")
    .because("only `dbd` needs it"),
    "The SQL database of the provider `dbd`, `Require dbd-group` and `RewriteMap dbd:`.",
    word("DBDParams", HOSTS, "file|name=value…", database_params)
        .of("mod_dbd.c")
        .secret()
        .because("only `dbd` needs it"),
    "For sqlite3 the path of the file; for pgsql the parameters of the connection: host, port, dbname, user, password. Without a \
     host the server's socket in /var/run/postgresql is used. sslmode is libpq's: prefer (the default) uses TLS if the server \
     has it, require insists, verify-ca checks the certificate by sslrootcert, a file of authorities, and verify-full also the \
     host, by that file or by the authorities of the system; sslrootcert=system is verify-full. No log and no status shows the parameters.",
    word("DBDInitSQL", HOSTS, "statement", |d, statement| {
        d.settings().access.database_set_up.get_or_insert_default().push(statement.to_owned());
        Ok(())
    })
    .of("mod_dbd.c")
    .because("connections need no preparation"),
    "A statement with which each connection to the database begins. Several lines add up.",
    words("DBDPrepareSQL", HOSTS, "statement label", 2..=2, |d, args| {
        let label = args.get(1).map_or("", String::as_str);
        d.warn(&format!(
            "no directive uses the statement {label} by its label: each query is prepared by the line that has it"
        ));
        Ok(())
    })
    .of("mod_dbd.c")
    .because("queries are prepared without it"),
    "Accepted, with a warning: in httpd modules of others use such statements by their labels.",
    word("AuthDBDUserPWQuery", CONTAINERS, "query", |d, text| {
        d.settings().access.password_query = Some(SqlQuery::parse(text, 1)?);
        Ok(())
    })
    .of("mod_authn_dbd.c")
    .because("only the site knows its tables"),
    "The query of the provider `dbd`: `SELECT password FROM authn WHERE user = %s`. The first column of the first row is the hash. \
     Programs get further columns as AUTHENTICATE_ and the column's name. A query has five seconds; a database that cannot be \
     reached is answered 500.",
    word("AuthDBDUserRealmQuery", CONTAINERS, "query", |d, text| {
        d.settings().access.realm_query = Some(SqlQuery::parse(text, 2)?);
        Ok(())
    })
    .of("mod_authn_dbd.c")
    .because("only the site knows its tables"),
    "The query of the provider `dbd` for AuthType Digest, with places for user and realm: `SELECT hash FROM authn WHERE user = %s \
     AND realm = %s`.",
    word("AuthzDBDQuery", CONTAINERS, "query", |d, text| {
        d.settings().access.group_query = Some(SqlQuery::parse(text, 1)?);
        Ok(())
    })
    .of("mod_authz_dbd.c")
    .because("only `Require dbd-group` and its kin need it"),
    "The query of `Require dbd-group`: `SELECT team FROM authz WHERE user = %s`. The first column of each row is a group. For \
     `Require dbd-login` and `dbd-logout` a statement, which is executed once for each request of a user: `UPDATE authn SET login = 1 \
     WHERE user = %s`. A user for whom it can be executed meets them.",
    word("AuthzDBDRedirectQuery", CONTAINERS, "query", |d, text| {
        d.settings().access.redirect_query = Some(SqlQuery::parse(text, 1)?);
        Ok(())
    })
    .of("mod_authz_dbd.c")
    .because("the page is sent"),
    "Where a user is redirected to after `Require dbd-login` or `dbd-logout`: `SELECT page FROM authn WHERE user = %s`. The \
     first column of the first row is the URL. Places with Perl handlers for access do not redirect.",
    flag("AuthzDBDLoginToReferer", CONTAINERS, |d, on| d.settings().access.login_to_referer = Some(on))
        .of("mod_authz_dbd.c")
        .because("off, as in httpd: AuthzDBDRedirectQuery decides"),
    "On: after `Require dbd-login` or `dbd-logout` a user is redirected to the page that it came from.",
    words("AuthnCacheEnable", SERVER, "", 0..=0, |_, _| Ok(()))
        .of("mod_authn_socache.c")
        .because("the cache is always there"),
    "Accepted for compatibility.",
    word("AuthnCacheSOCache", SERVER, "name[:arguments]", |_, _| Ok(()))
        .of("mod_authn_socache.c")
        .because("the cache is in memory"),
    "Accepted for compatibility. All threads of the front share one cache of 4096 passwords.",
    words("AuthnCacheProvideFor", AUTH_CONFIG, "provider…", 1..=MANY, |d, names| {
        d.settings().access.cached_sources = Some(names.iter().map(|name| name.to_ascii_lowercase()).collect());
        Ok(())
    })
    .of("mod_authn_socache.c")
    .because("passwords of files are found at once"),
    "The providers whose hashes the provider `socache` stores, so that a slow database is asked once in AuthnCacheTimeout. `socache` \
     must stand before them in AuthBasicProvider.",
    word("AuthnCacheContext", AUTH_CONFIG, "directory|server|name", |d, name| {
        d.settings().access.cache_context = Some(match name.to_ascii_lowercase().as_str() {
            "directory" => CacheContext::Directory,
            "server" => CacheContext::Server,
            _ => CacheContext::Named(name.to_owned()),
        });
        Ok(())
    })
    .of("mod_authn_socache.c")
    .default("directory", "as in httpd: other places may have other users"),
    "The places that share cached passwords: those of one folder of URLs, of one host, or all with this name. Places with a \
     .htaccess file share none with others.",
    word("AuthnCacheTimeout", AUTH_CONFIG, "seconds", |d, seconds| {
        let seconds = seconds.parse::<u32>().map_err(|_| format!("expected a number of seconds, got \"{seconds}\""))?;
        d.settings().access.cache_timeout = Some(CacheTimeout(Duration::from_secs(seconds.into())));
        Ok(())
    })
    .of("mod_authn_socache.c")
    .default("300", "as in httpd: a user who is gone has access for five minutes at most"),
    "Time after which a cached password is looked up again.",
    section("AuthnProviderAlias", SERVER, "provider name", 2..=2, authn_alias)
        .of("mod_authn_core.c")
        .because("a place has one file or database of each kind"),
    "A provider with settings of its own, to be named in AuthBasicProvider and AuthDigestProvider below it: one place can ask \
     several files.",
    section("AuthzProviderAlias", SERVER, "requirement name words", 2..=MANY, authz_alias)
        .of("mod_authz_core.c")
        .because("a place has one file or database of each kind"),
    "A requirement with settings of its own, as `dbm-group staff` with another AuthDBMGroupFile. `Require name` below it stands \
     for it.",
];

/// `DBDParams`. A relative path begins at ServerRoot.
fn database_params(draft: &mut Draft, text: &str) -> Result<(), String> {
    let is_path = !text.contains('=') && !text.contains("://") && Path::new(text).is_relative();
    let params = if is_path { draft.path(text).to_string_lossy().into_owned() } else { text.to_owned() };
    draft.settings().access.database_params = Some(params);
    Ok(())
}

/// `<AuthnProviderAlias provider name>`
fn authn_alias(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let [base, name] = args else { return Ok(None) };
    if PasswordSource::named(base).is_none() {
        return Err(format!("expected {} before the name, got \"{base}\"", PasswordSource::names()));
    }
    if PasswordSource::named(name).is_some() {
        return Err(format!("\"{name}\" is the name of a built-in provider; choose another one"));
    }
    let (alias, position) = alias(draft, base, &[])?;
    draft.config.authn_aliases.insert(name.to_ascii_lowercase(), alias);
    Ok(Some(position))
}

/// `<AuthzProviderAlias requirement name words>`
fn authz_alias(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let [base, name, words @ ..] = args else { return Ok(None) };
    let words: Vec<String> = words.iter().flat_map(|word| word.split_ascii_whitespace()).map(str::to_owned).collect();
    if base.eq_ignore_ascii_case("not") {
        return Err("expected a requirement, got \"not\"; write `Require not NAME` where the alias is used".to_owned());
    }
    check_requirement(draft, base, &words)?;
    let (alias, position) = alias(draft, base, &words)?;
    draft.config.authz_aliases.insert(name.to_ascii_lowercase(), alias);
    Ok(Some(position))
}

/// Checks what an alias stands for, so that an error is reported at its line.
fn check_requirement(draft: &mut Draft, base: &str, words: &[String]) -> Result<(), String> {
    let all: Vec<String> = [base.to_owned()].into_iter().chain(words.iter().cloned()).collect();
    let Draft { config, patterns, .. } = draft;
    let (providers, aliases) = (&config.authz_providers, &BTreeMap::new());
    Require::parse(&all, &mut Vocabulary { providers, aliases, any_text: false, patterns }).map(|_| ())
}

/// Opens a section that no request is in.
fn alias(draft: &mut Draft, base: &str, words: &[String]) -> Result<(ProviderAlias, Position), String> {
    let scope = Scope::Location(format!("provider {base}"));
    let section = draft.new_section(scope, None, Rank::LOCATION)?;
    let alias = ProviderAlias { base: base.to_owned(), words: words.to_vec(), section, own: None };
    Ok((alias, Position { context: SectionContext::Location, section, ..draft.position }))
}

/// The alias of `AuthBasicProvider` with this name.
pub fn alias_of(draft: &Draft, name: &str) -> Option<PasswordSource> {
    let alias = draft.config.authn_aliases.get(&name.to_ascii_lowercase())?;
    let own = settled(draft, alias).own?;
    let source = PasswordSource::named(&alias.base)?;
    let alias = AliasedSource { name: name.to_ascii_lowercase(), source, own };
    Some(PasswordSource::Alias(Arc::new(alias)))
}

/// The aliases of `Require`, with their settings.
pub fn authz_aliases(draft: &Draft) -> BTreeMap<String, ProviderAlias> {
    let aliases = draft.config.authz_aliases.iter();
    aliases.map(|(name, alias)| (name.clone(), settled(draft, alias))).collect()
}

/// The alias with its settings, which its section has. In a `.htaccess` file they are known.
fn settled(draft: &Draft, alias: &ProviderAlias) -> ProviderAlias {
    let mut alias = alias.clone();
    if alias.own.is_none() {
        alias.own = draft.config.settings_of_alias(&alias);
    }
    alias
}

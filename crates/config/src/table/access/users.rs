//! Access control by user name and password.

use super::databases::{alias_of, authz_aliases};
use crate::draft::{Draft, OpenedSection};
use crate::model::access::{
    HashLimits, Merging, PasswordProviders, PasswordSource, Require, Requirement, Satisfy, SourcesTurn, Vocabulary,
    host_name,
};
use crate::model::overrides::Class;
use crate::model::response::expr::ExprText;
use crate::model::response::headers::{HeaderChange, HeaderRule, HeaderValue};
use crate::syntax::source::Splitting;
use crate::syntax::tree::{ConfigError, Directive};
use crate::syntax::value::network::Network;
use crate::table;
use crate::table::row::{AUTH_CONFIG, CONTAINERS, MANY, Row, SERVER, flag, path, rows, section, word, words};

pub static ROWS: &[Row] = rows![
    "mod_authz_core.c",
    word("Satisfy", AUTH_CONFIG, "All|Any", satisfy)
        .of("mod_access_compat.c")
        .per_method()
        .because("All: every requirement must be met"),
    "Any: either a permitted address or a permitted user is enough. As in httpd 2.4, a section with its own Order, \
     Allow or Deny and without Satisfy resets it to All. A section with only Satisfy inherits Order, Allow and Deny; \
     httpd 2.4 drops them there, which permits every address: `check` reports such sections.",
    word("AuthType", AUTH_CONFIG, "Basic|Digest|name", auth_type)
        .of("mod_authn_core.c")
        .because("only places with Require need it"),
    "How users authenticate: Basic, Digest, or any name that a PerlAuthenHandler supports.",
    word("AuthName", AUTH_CONFIG, "realm", |d, name| {
        let realm = ExprText::parse(name, &mut d.patterns)?;
        let constant = realm.constant().map(str::to_owned);
        let access = &mut d.settings().access;
        access.auth_name = Some(constant.clone().unwrap_or_else(|| name.to_owned()));
        access.realm = Some(constant.is_none().then_some(realm));
        Ok(())
    })
    .of("mod_authn_core.c")
    .because("only the site knows which of its places share passwords"),
    "The realm. Browsers show it in the password dialog, and send the same password to all places with the same realm. May have expressions such as `%{HTTP_HOST}`.",
    words("AuthBasicFake", AUTH_CONFIG, "off|user [password]", 1..=2, auth_basic_fake)
        .of("mod_auth_basic.c")
        .secret()
        .because("programs see the credentials of the client"),
    "Gives programs and backends these credentials in the Authorization header, in place of the client's. Both may have \
     expressions; the password is `password` by default. Off cancels the line of an outer place.",
    path("AuthUserFile", AUTH_CONFIG, |d, path| d.settings().access.user_file = Some(path))
        .of("mod_authn_file.c")
        .because("no default path for passwords is safe"),
    "A file with lines of `user:hash` as htpasswd writes them: bcrypt, MD5 ($apr1$), SHA-1, crypt. Plain text is never \
     accepted. Changes of the file take effect within a second. It must be a regular file of at most 16 MB (200,000 \
     users with bcrypt); otherwise requests that need it are answered 500.",
    path("AuthGroupFile", AUTH_CONFIG, |d, path| d.settings().access.group_file = Some(path))
        .of("mod_authz_groupfile.c")
        .because("only `Require group` needs it"),
    "A file with lines of `group: user user…`. Changes of the file take effect within a second. It must be a regular \
     file of at most 4 MB.",
    flag("AuthAuthoritative", AUTH_CONFIG, |d, on| d.settings().access.authoritative = Some(on))
        .of("mod_auth.c")
        .aliases(&["AuthBasicAuthoritative"])
        .because("On, as in httpd: users missing in the files are refused"),
    "On: a PerlAuthenHandler or PerlAuthzHandler runs first; AuthUserFile and Require decide. Off: the files decide \
     first; users missing in AuthUserFile, or that no Require names, are left to the Perl handlers. A wrong password \
     is refused at once. A user that neither knows is refused.",
    words("LimitPasswordHash", SERVER, "bcrypt=cost|rounds=number|memory=size …", 1..=3, limit_hash)
        .of("cameleer.c")
        .default(
            "bcrypt=14 rounds=1000000 memory=32M",
            "one guess must not occupy a processor for more than about a second"
        ),
    "The maximum cost of password hashes in an AuthUserFile: cost of bcrypt, rounds of the SHA crypts ($5$, $6$), \
     memory of scrypt and yescrypt. A user whose hash costs more gets a 500, with file, line and limit in the error \
     log. A limit that is not named has its default.",
    words("AuthBasicProvider", AUTH_CONFIG, "file|dbm|dbd|ldap|socache|name …", 1..=MANY, basic_provider)
        .of("mod_auth_basic.c")
        .default("file", "passwords in a file are the most common"),
    "Password providers, in order: `file` (AuthUserFile), `dbm` (AuthDBMUserFile), `dbd` (AuthDBDUserPWQuery), `ldap` (AuthLDAPURL), `socache` \
     (passwords of AuthnCacheProvideFor), names of AuthnProviderAlias and of PerlAddAuthnProvider. The first that knows the \
     user decides. Perl providers must stand before all others or behind them. Without `file`, AuthUserFile is not used.",
    word("AuthBasicUseDigestAlgorithm", AUTH_CONFIG, "MD5|Off", digest_hashes)
        .of("mod_auth_basic.c")
        .because("Off, as in httpd: the hashes of htpasswd cost more to guess"),
    "MD5: AuthType Basic compares passwords with hashes of user, realm and password, as of AuthType Digest, so that both can \
     use one file of htdigest.",
    word("AuthMerging", AUTH_CONFIG, "Off|And|Or", merging)
        .because("Off, as in httpd: an inner section replaces the outer requirements"),
    "How Require of this section combines with the outer section's: Off replaces it, And requires both, Or requires \
     one of them. Applies to this section only.",
    flag("AuthzSendForbiddenOnFailure", CONTAINERS, |d, on| d.settings().access.forbids = Some(on))
        .because("Off, as in httpd: the person may have another account"),
    "On: a user with the right password whom Require does not permit is answered 403 instead of another password \
     dialog (401).",
    words(
        "Require",
        AUTH_CONFIG,
        "user|group|valid-user|all|ip|host|forward-dns|local|env|expr|method|ssl|ssl-verify-client|file-owner|file-group|\
         dbm-group|dbm-file-group|dbd-group|dbd-login|dbd-logout|ldap-…|not …",
        1..=MANY,
        require
    )
    .split(Splitting::Expression)
    .per_method()
    .because("every client has access"),
    "One of a section's Require lines must be met: `user ana`, `group staff`, `valid-user`; as in httpd 2.4 `all \
     granted`, `all denied`, `ip 10.1`, `host example.com`, `local`, `env name`, `method GET`, `expr` with an \
     expression as in SetEnvIfExpr; `ssl`: over TLS; `ssl-verify-client`: with a valid certificate, which SSLVerifyClient asks for; `dbm-group staff` and `dbm-file-group` with AuthDBMGroupFile, `dbd-group staff`, `dbd-login` and `dbd-logout` with \
     AuthzDBDQuery; `forward-dns name`: the client has an address of this name; `file-owner` and `file-group`: the user owns \
     the file, or is in its group; `ldap-user`, `ldap-group`, `ldap-dn`, `ldap-attribute`, `ldap-filter` and `ldap-search` \
     with AuthLDAPURL; names of AuthzProviderAlias. Names may have expressions: `user %{reqenv:OWNER}`. A PerlAuthzHandler \
     may define other words.",
    section("RequireAll", AUTH_CONFIG, "", 0..=0, require_all).per_method().because("see Require"),
    "All lines in this section must be met. Allowed are Require, `Require not`, RequireAny and RequireNone. As in httpd, AuthName \
     and other directives of access control in it apply to the place around it.",
    section("RequireAny", AUTH_CONFIG, "", 0..=0, require_any).per_method().because("see Require"),
    "One of the lines in this section must be met.",
    section("RequireNone", AUTH_CONFIG, "", 0..=0, require_none).because("see Require"),
    "None of the lines in this section may be met. Allowed only within RequireAll.",
];

/// `Satisfy All|Any`
fn satisfy(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.settings().access.satisfy = Some(Some(match text.to_ascii_lowercase().as_str() {
        "all" => Satisfy::All,
        "any" => Satisfy::Any,
        _ => return Err(format!("expected All or Any, got \"{text}\"")),
    }));
    Ok(())
}

/// `AuthType Basic`, or None, which cancels an outer section's. Other names require Perl access handlers.
fn auth_type(draft: &mut Draft, name: &str) -> Result<(), String> {
    let is_known = ["Basic", "Digest", "None"].iter().any(|known| name.eq_ignore_ascii_case(known));
    if !is_known && !draft.config.perl_access {
        return Err(format!(
            "expected Basic or Digest, got \"{name}\": another type needs a PerlAuthenHandler, and this configuration has none"
        ));
    }
    draft.settings().access.auth_type = Some(name.to_owned());
    Ok(())
}

/// `AuthBasicProvider file|name…`. Names are defined by AuthnProviderAlias and PerlAddAuthnProvider.
fn basic_provider(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    let (mut handlers, mut sources, mut is_source) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let handler = draft.config.authn_providers.get(name).cloned();
        is_source.push(handler.is_none());
        match handler {
            Some(handler) => handlers.push(handler),
            None => {
                let source = source(draft, name, "a PerlAddAuthnProvider or AuthnProviderAlias")?;
                // A provider that does not know the user is asked once.
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
    }
    let turn = match is_source.as_slice() {
        _ if sources.is_empty() => SourcesTurn::Never,
        is_source if is_source.is_sorted() => SourcesTurn::Last,
        is_source if is_source.is_sorted_by(|a, b| a >= b) => SourcesTurn::First,
        _ => return Err("expected the names of Perl providers before all others or behind them".to_owned()),
    };
    draft.settings().access.passwords = Some(PasswordProviders { handlers, sources: besides_file(sources), turn });
    Ok(())
}

/// No sources where `file` is the only one, as without the directive.
pub(super) fn besides_file(sources: Vec<PasswordSource>) -> Vec<PasswordSource> {
    if sources == [PasswordSource::File] { Vec::new() } else { sources }
}

/// The built-in provider or the alias with this name. `others` are the directives that define further names.
pub(super) fn source(draft: &Draft, name: &str, others: &str) -> Result<PasswordSource, String> {
    PasswordSource::named(name).or_else(|| alias_of(draft, name)).ok_or_else(|| {
        format!("expected {}, or the name of {others} above this line, got \"{name}\"", PasswordSource::names())
    })
}

/// `AuthBasicUseDigestAlgorithm MD5|Off`
fn digest_hashes(draft: &mut Draft, word: &str) -> Result<(), String> {
    let known = [("MD5", true), ("Off", false)].into_iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
    let (_, are_digests) = known.ok_or_else(|| format!("expected MD5 or Off, got \"{word}\""))?;
    draft.settings().access.digest_hashes = Some(are_digests);
    Ok(())
}

/// `LimitPasswordHash …`
fn limit_hash(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let mut limits = HashLimits::default();
    words.iter().try_for_each(|word| limits.set(word))?;
    draft.config.hash_limits = limits;
    Ok(())
}

/// `AuthMerging Off|And|Or`
fn merging(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.settings().access.requires.merging = match text.to_ascii_lowercase().as_str() {
        "off" => Merging::Off,
        "and" => Merging::And,
        "or" => Merging::Or,
        _ => return Err(format!("expected Off, And or Or, got \"{text}\"")),
    };
    Ok(())
}

/// `Require requirement…`
fn require(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let what = parsed(draft, args)?;
    if matches!(what, Require::Not(_)) {
        return Err("`not` alone permits nobody; put it in <RequireAll> together with a positive Require".to_owned());
    }
    add(draft, joined(args), what);
    Ok(())
}

/// `<RequireAll>`
fn require_all(draft: &mut Draft, _: &[String], inside: &[Directive]) -> OpenedSection {
    requirements(draft, "<RequireAll>", Require::Every, inside)
}

/// `<RequireAny>`
fn require_any(draft: &mut Draft, _: &[String], inside: &[Directive]) -> OpenedSection {
    requirements(draft, "<RequireAny>", Require::Any, inside)
}

/// `<RequireNone>`
fn require_none(_: &mut Draft, _: &[String], _: &[Directive]) -> OpenedSection {
    Err("alone permits nobody; put it in <RequireAll> together with a positive Require".to_owned())
}

fn parsed(draft: &mut Draft, args: &[String]) -> Result<Require, String> {
    if let Some(hosts) = hosts_without_networks(draft, args) {
        return hosts;
    }
    let aliases = authz_aliases(draft);
    let Draft { config, patterns, .. } = draft;
    let (providers, any_text) = (&config.authz_providers, config.perl_access);
    Require::parse(args, &mut Vocabulary { providers, aliases: &aliases, any_text, patterns })
}

/// `Require host` with networks, which is a requirement that no client meets: httpd compares names only. `None`: other
/// lines.
fn hosts_without_networks(draft: &mut Draft, args: &[String]) -> Option<Result<Require, String>> {
    let (kind, words) = args.split_first()?;
    let (networks, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| matches!(Network::parse(word), Some(Ok(_))));
    if !kind.eq_ignore_ascii_case("host") || networks.is_empty() {
        return None;
    }
    draft.warn(&format!("no host has the name {}, as in httpd: for addresses write Require ip", networks[0]));
    Some(names.into_iter().map(|name| host_name(name)).collect::<Result<_, _>>().map(Require::Host))
}

fn requirements(
    draft: &mut Draft,
    name: &str,
    combine: fn(Vec<Require>) -> Require,
    inside: &[Directive],
) -> OpenedSection {
    let parts = parts(draft, inside);
    add(draft, name.to_owned(), combine(parts));
    Ok(None)
}

fn add(draft: &mut Draft, text: String, what: Require) {
    let requirement = Requirement { methods: draft.position.methods, text, what };
    draft.settings().access.requires.lines.get_or_insert_default().push(requirement);
}

/// Joins arguments to a line, with words that contain spaces in quotation marks.
fn joined(args: &[String]) -> String {
    let word = |arg: &String| if arg.contains(' ') { format!("\"{arg}\"") } else { arg.clone() };
    args.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Requirements of a section. Errors are reported at their own lines.
fn parts(draft: &mut Draft, inside: &[Directive]) -> Vec<Require> {
    let mut parts = Vec::new();
    for directive in inside {
        draft.at.clone_from(&directive.at);
        draft.name.clone_from(&directive.name);
        match part(draft, directive) {
            Ok(part) => parts.extend(part),
            Err(message) => {
                draft.errors.push(ConfigError::at(&directive.at, format!("{}: {message}", directive.name)));
            }
        }
    }
    parts
}

/// A requirement; `None` for another directive of access control, which applies to the section outside, as in httpd.
fn part(draft: &mut Draft, directive: &Directive) -> Result<Option<Require>, String> {
    Ok(Some(match (directive.name.to_ascii_lowercase().as_str(), &directive.section) {
        ("require", None) => parsed(draft, &directive.args)?,
        ("requireall", Some(inside)) => Require::Every(parts(draft, inside)),
        ("requireany", Some(inside)) => Require::Any(parts(draft, inside)),
        ("requirenone", Some(inside)) => Require::None(parts(draft, inside)),
        (name, None) if is_of_access(name) => {
            draft.walk(std::slice::from_ref(directive));
            return Ok(None);
        }
        _ => return Err("expected Require, <RequireAll>, <RequireAny> or <RequireNone> in this section".to_owned()),
    }))
}

/// Whether `AllowOverride AuthConfig` allows the directive: httpd takes these, and no others, within requirements.
fn is_of_access(name: &str) -> bool {
    table::find(name).is_some_and(|row| row.contexts.htaccess == Class::AUTH_CONFIG)
}

/// `AuthBasicFake off|user [password]`
fn auth_basic_fake(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [user, password @ ..] = args else { return Ok(()) };
    if user.eq_ignore_ascii_case("off") && password.is_empty() {
        draft.settings().response.basic_fake = Some(None);
        return Ok(());
    }
    let user = ExprText::parse(user, &mut draft.patterns)?;
    let password = ExprText::parse(password.first().map_or("password", String::as_str), &mut draft.patterns)?;
    let value = HeaderValue::of(ExprText::credentials(&user, &password));
    draft.settings().response.basic_fake = Some(Some(HeaderRule {
        action: HeaderChange::Set(value),
        name: "authorization".to_owned(),
        written: "Authorization".to_owned(),
        always: false,
        early: false,
        condition: None,
    }));
    Ok(())
}

//! Users and groups of a directory: LDAP.

use std::sync::Arc;
use std::time::Duration;

use crate::draft::Draft;
use crate::model::access::LdapPlace;
use crate::model::access::ldap::{InitialBind, LdapDereference, LdapSecurity, LdapUrl, Secret};
use crate::syntax::pattern::Case;
use crate::table::row::{AUTH_CONFIG, CONTAINERS, Row, SERVER, flag, number, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_authnz_ldap.c",
    words(
        "AuthLDAPURL",
        AUTH_CONFIG,
        "ldap[s]://host:port/base?attribute?scope?filter [NONE|SSL|TLS|STARTTLS]",
        1..=2,
        url
    )
    .because("only the site knows its directory"),
    "The directory of `AuthBasicProvider ldap` and of `Require ldap-…`: hosts, tried in this order, if they are separated \
     by blanks; the entry where searches begin; the attribute with the user's name (uid), and further ones for variables \
     AUTHENTICATE_NAME of programs; sub, one or base; a filter. The word behind it protects the connection: SSL from the \
     first byte, TLS and STARTTLS by an operation. A section with a directive of this module inherits none of them.",
    word("AuthLDAPBindDN", AUTH_CONFIG, "name", |d, name| {
        place(d).bind_dn = Some(name.to_owned());
        Ok(())
    })
    .because("the server searches anonymously"),
    "The entry as which the server searches and compares.",
    word("AuthLDAPBindPassword", AUTH_CONFIG, "password", bind_password).secret().because("see AuthLDAPBindDN"),
    "The password of AuthLDAPBindDN. No log, dump or report shows it. `exec:` is refused: use `${NAME}` for a variable of \
     the server's environment.",
    flag("AuthLDAPInitialBindAsUser", AUTH_CONFIG, |d, on| place(d).initial_bind_as_user = on)
        .because("off, as in httpd: the server searches as AuthLDAPBindDN"),
    "On: the user's entry is searched with the user's own password, as the name that AuthLDAPInitialBindPattern makes. For \
     directories that allow no anonymous search, without a password of the server in the configuration.",
    words("AuthLDAPInitialBindPattern", CONTAINERS, "regex name", 2..=2, initial_bind)
        .because("the name that the client sent"),
    "The name of the first bind of AuthLDAPInitialBindAsUser. `$1` is the text of the first group that the regular expression \
     finds in the name that the client sent, as in `(.+) $1@example.com`. A name that does not match is used as it is.",
    flag("AuthLDAPSearchAsUser", AUTH_CONFIG, |d, on| place(d).search_as_user = on)
        .because("off, as in httpd: requirements are searched as AuthLDAPBindDN"),
    "On: searches of `Require ldap-…` have the rights of the user, if the directory has checked the password.",
    flag("AuthLDAPCompareAsUser", AUTH_CONFIG, |d, on| place(d).compare_as_user = on)
        .because("off, as in httpd: requirements are compared as AuthLDAPBindDN"),
    "As AuthLDAPSearchAsUser, for comparisons of `Require ldap-…`.",
    flag("AuthLDAPBindAuthoritative", AUTH_CONFIG, |d, on| place(d).bind_authoritative = on)
        .because("on, as in httpd: a wrong password is wrong"),
    "Off: where the directory has the user and refuses the password, the next provider of AuthBasicProvider is asked.",
    flag("AuthLDAPCompareDNOnServer", AUTH_CONFIG, |d, on| place(d).compare_dn_on_server = on)
        .because("on, as in httpd: only the directory knows which names are equal"),
    "Whether the directory compares names for `Require ldap-dn`. Off: they must be written alike.",
    word("AuthLDAPDereferenceAliases", AUTH_CONFIG, "never|searching|finding|always", dereference)
        .because("always, as in httpd"),
    "When searches follow aliases.",
    word("AuthLDAPGroupAttribute", AUTH_CONFIG, "attribute", |d, name| { add(&mut place(d).group_attributes, name) })
        .because("member and uniqueMember, as in httpd"),
    "The attribute of a group that has its members, for `Require ldap-group`. May be written several times.",
    flag("AuthLDAPGroupAttributeIsDN", AUTH_CONFIG, |d, on| place(d).group_attribute_is_dn = on)
        .because("on, as in httpd"),
    "Off: members of groups are names of users (memberUid), and not of entries.",
    number("AuthLDAPMaxSubGroupDepth", AUTH_CONFIG, 0..=20, |d, depth| place(d).sub_group_depth = depth as u32)
        .because("0, as in httpd: groups in groups are not looked at"),
    "Depth to which `Require ldap-group` looks at groups in groups. At most 256 groups are looked at for a request.",
    word("AuthLDAPSubGroupAttribute", AUTH_CONFIG, "attribute", |d, name| {
        add(&mut place(d).sub_group_attributes, name)
    })
    .because("member and uniqueMember, as in httpd"),
    "The attribute of a group that has the groups in it. May be written several times.",
    word("AuthLDAPSubGroupClass", AUTH_CONFIG, "class", |d, name| { add(&mut place(d).sub_group_classes, name) })
        .because("groupOfNames and groupOfUniqueNames, as in httpd"),
    "The class of entries that are groups in groups. May be written several times.",
    word("AuthLDAPRemoteUserAttribute", AUTH_CONFIG, "attribute", |d, name| {
        place(d).remote_user_attribute = Some(attribute(name)?);
        Ok(())
    })
    .because("REMOTE_USER is the name that the client sent"),
    "The attribute whose value becomes REMOTE_USER; without a value, it is the name that the client sent.",
    word("AuthLDAPAuthorizePrefix", AUTH_CONFIG, "prefix", |d, prefix| {
        place(d).authorize_prefix = attribute(prefix)?;
        Ok(())
    })
    .because("AUTHORIZE_, as in httpd"),
    "Prefix of variables that programs get beside those with AUTHENTICATE_, where `Require ldap-…` decides about a user whose \
     password the directory has checked: the attributes of AuthLDAPURL, as AUTHORIZE_MAIL.",
    word("AuthLDAPCharsetConfig", SERVER, "file", |d, _| {
        d.warn("names of users are taken as UTF-8, which browsers send, and are not converted from the charset of a language");
        Ok(())
    })
    .because("directories and browsers use UTF-8"),
    "Accepted, with a warning: names of users are UTF-8.",
    flag("AuthLDAPRemoteUserIsDN", AUTH_CONFIG, |d, on| place(d).remote_user_is_dn = on)
        .because("off: programs expect short names"),
    "On: REMOTE_USER is the name of the user's entry.",
    words("LDAPTrustedMode", SERVER, "NONE|SSL|TLS|STARTTLS", 1..=1, |d, words| {
        d.config.ldap.mode = words.first().map(|word| security(word)).transpose()?;
        Ok(())
    })
    .of("mod_ldap.c")
    .because("the scheme of AuthLDAPURL"),
    "How connections to directories are protected, unless AuthLDAPURL has a word for it. SSL: TLS from the first byte. TLS, \
     STARTTLS: by an operation on a plain connection.",
    words("LDAPTrustedGlobalCert", SERVER, "type path", 2..=3, trusted)
        .of("mod_ldap.c")
        .because("the authorities of the system, in /etc/ssl/certs/ca-certificates.crt"),
    "A file of authorities in PEM, of which one must have signed the directory's certificate: CA_BASE64 and its path. May be \
     written several times. CERT_BASE64 and KEY_BASE64 are as in LDAPTrustedClientCert, for all places. Other types are refused.",
    words("LDAPTrustedClientCert", AUTH_CONFIG, "CERT_BASE64|KEY_BASE64 path", 2..=3, own)
        .of("mod_ldap.c")
        .because("few directories ask for a certificate"),
    "The server's certificate and its key in PEM, for directories that ask for one over TLS. Without KEY_BASE64 the file of \
     CERT_BASE64 has the key, too; KEY_BASE64 alone is the key of the outer certificate. The user that the server runs as reads the files. Other types, and keys with a password, are refused.",
    flag("LDAPVerifyServerCert", SERVER, |d, on| d.config.ldap.verify = on)
        .of("mod_ldap.c")
        .default("on", "without it, anyone between server and directory reads the passwords"),
    "Off: any certificate of a directory is accepted.",
    number("LDAPConnectionTimeout", SERVER, 1..=3600, |d, seconds| {
        d.config.ldap.connection_timeout = Duration::from_secs(seconds);
    })
    .of("mod_ldap.c")
    .default("10", "as in httpd"),
    "Seconds to wait for a connection to a directory.",
    number("LDAPTimeout", SERVER, 1..=3600, |d, seconds| d.config.ldap.timeout = Duration::from_secs(seconds))
        .of("mod_ldap.c")
        .default("60", "as in httpd"),
    "Seconds to wait for all answers of a directory to one question about a user. A directory that did not answer is asked by \
     one request at a time; the others are answered 500 at once, until it answers again.",
    number("LDAPCacheTTL", SERVER, 0..=86_400, |d, seconds| d.config.ldap.cache_life = Duration::from_secs(seconds))
        .of("mod_ldap.c")
        .default("600", "as in httpd"),
    "Seconds for which a thread of the front, or a worker, caches a successful login. 0: the directory is asked for each \
     request.",
    number("LDAPOpCacheTTL", SERVER, 0..=86_400, |d, seconds| {
        d.config.ldap.operation_cache_life = Duration::from_secs(seconds);
    })
    .of("mod_ldap.c")
    .default("600", "as in httpd"),
    "Seconds for which the result of a requirement is known.",
    word("LDAPConnectionPoolTTL", SERVER, "seconds|-1", idle)
        .of("mod_ldap.c")
        .default("-1", "as in httpd: connections are used as long as the directory keeps them"),
    "Time without use after which a connection to a directory is closed instead of used. 0: each question has a connection of \
     its own.",
];

fn place(draft: &mut Draft) -> &mut LdapPlace {
    Arc::make_mut(draft.settings().access.directory.get_or_insert_default())
}

/// `AuthLDAPURL url [word]`
fn url(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [text, word @ ..] = args else { return Ok(()) };
    let url = LdapUrl::parse(text)?;
    let security = word.first().map(|word| security(word)).transpose()?;
    let place = place(draft);
    (place.url, place.security) = (Some(url), security);
    Ok(())
}

fn security(word: &str) -> Result<LdapSecurity, String> {
    match word.to_ascii_lowercase().as_str() {
        "none" => Ok(LdapSecurity::None),
        "ssl" => Ok(LdapSecurity::Tls),
        "tls" | "starttls" => Ok(LdapSecurity::StartTls),
        _ => Err(format!("expected NONE, SSL, TLS or STARTTLS, got \"{word}\"")),
    }
}

/// `AuthLDAPBindPassword password`
fn bind_password(draft: &mut Draft, password: &str) -> Result<(), String> {
    if password.starts_with("exec:") {
        return Err("no program is run for the password; write ${NAME} for a variable of the environment".to_owned());
    }
    place(draft).bind_password = Secret(password.to_owned());
    Ok(())
}

/// `AuthLDAPInitialBindPattern regex name`
fn initial_bind(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [pattern, name] = args else { return Ok(()) };
    let pattern = draft.patterns.compile(pattern, Case::Exact)?;
    place(draft).initial_bind = Some(InitialBind { pattern, name: name.clone() });
    Ok(())
}

/// `AuthLDAPDereferenceAliases word`
fn dereference(draft: &mut Draft, word: &str) -> Result<(), String> {
    place(draft).dereference = match word.to_ascii_lowercase().as_str() {
        "never" | "off" => LdapDereference::Never,
        "searching" => LdapDereference::Searching,
        "finding" => LdapDereference::Finding,
        "always" | "on" => LdapDereference::Always,
        _ => return Err(format!("expected never, searching, finding or always, got \"{word}\"")),
    };
    Ok(())
}

/// Adds to names of which each is a question to the directory.
fn add(names: &mut Vec<String>, name: &str) -> Result<(), String> {
    const MAX_NAMES: usize = 16;
    if names.len() >= MAX_NAMES {
        return Err(format!("expected at most {MAX_NAMES} of these lines"));
    }
    names.push(attribute(name)?);
    Ok(())
}

fn attribute(name: &str) -> Result<String, String> {
    let ordinary = |byte: u8| byte.is_ascii_alphanumeric() || b"-.;_".contains(&byte);
    match !name.is_empty() && name.bytes().all(ordinary) {
        true => Ok(name.to_owned()),
        false => Err(format!("expected a name of letters and digits, got \"{name}\"")),
    }
}

/// `LDAPTrustedGlobalCert type path`
fn trusted(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [kind, path, password @ ..] = args else { return Ok(()) };
    without_password(password)?;
    let path = draft.path(path);
    if kind.eq_ignore_ascii_case("CA_BASE64") {
        draft.config.ldap.authorities.push(path);
    } else if !draft.config.ldap.own.set(kind, path) {
        return Err(format!(
            "expected CA_BASE64, CERT_BASE64 or KEY_BASE64, got \"{kind}\"; convert the file to PEM with openssl"
        ));
    }
    Ok(())
}

/// `LDAPTrustedClientCert type path`
fn own(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [kind, path, password @ ..] = args else { return Ok(()) };
    without_password(password)?;
    let path = draft.path(path);
    match draft.settings().access.directory_identity.get_or_insert_default().set(kind, path) {
        true => Ok(()),
        false => {
            Err(format!("expected CERT_BASE64 or KEY_BASE64, got \"{kind}\"; convert the file to PEM with openssl"))
        }
    }
}

fn without_password(password: &[String]) -> Result<(), String> {
    match password {
        [] => Ok(()),
        _ => Err("files with a password are not read; remove it with `openssl pkey -in OLD -out NEW`".to_owned()),
    }
}

/// `LDAPConnectionPoolTTL seconds`
fn idle(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.config.ldap.idle = match text.parse::<i64>() {
        Ok(seconds @ 0..=86_400) => Some(Duration::from_secs(seconds.unsigned_abs())),
        Ok(-1) => None,
        _ => return Err(format!("expected a number of seconds or -1, got \"{text}\"")),
    };
    Ok(())
}

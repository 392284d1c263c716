//! Certificates that the server gets from an authority by ACME, and renews.

use std::path::PathBuf;
use std::time::Duration;

use crate::draft::{Draft, OpenedSection};
use crate::model::tls::http_proxy::HttpProxy;
use crate::model::tls::managed::{DomainSettings, ManagedDomain, PortMap, check_name};
use crate::syntax::tree::{ConfigError, Directive};
use crate::table::client::managed_settings::{
    SETTERS, Set, account, adds_names, agreement, authorities, challenges, contact, member, members, private_keys,
    renew_mode, renew_window, require_https,
};
use crate::table::client::tls::named;
use crate::table::row::{Effect, MANY, Row, SERVER, duration, flag, number, path, rows, section, word, words};

/// Maximum number of names of a certificate, as of most authorities.
const MAX_NAMES: usize = 100;
/// Maximum number of managed domains.
const MAX_DOMAINS: usize = 65_535;

pub static ROWS: &[Row] = rows![
    "mod_md.c",
    words("MDomain", SERVER, "name… [auto|manual]", 1..=MANY, |d, names| domain(d, names, &[]))
        .because("only the site knows its names"),
    "A managed domain: the server gets a certificate for these names by ACME, and renews it. Virtual hosts with one of \
     the names, with SSLEngine On and without SSLCertificateFile use it. With `auto` further names of these hosts are \
     added; see MDMembers.",
    section("MDomainSet", SERVER, "name…", 1..=MANY, domain_set).because("see MDomain"),
    "As MDomain, with settings for this domain: directives that begin with MD.",
    word("MDCertificateAgreement", SERVER, "accepted", |d, text| outside(d, agreement, text))
        .because("only you can accept the terms of an authority"),
    "`accepted`: you accept the terms of service of the certificate authority. No certificate is requested without it.",
    words("MDCertificateAuthority", SERVER, "URL…", 1..=MANY, |d, args| with_defaults(d, authorities, args))
        .default("letsencrypt", "it is free, and browsers trust it"),
    "The certificate authority: the URL of its directory, `letsencrypt`, or `letsencrypt-test` for attempts that do not \
     count. Of several, the next one is tried after MDRetryFailover failures.",
    word("MDContactEmail", SERVER, "address", |d, text| outside(d, contact, text))
        .because("ServerAdmin, if it is an address"),
    "Where the authority may write to, about the certificates.",
    words("MDCAChallenges", SERVER, "http-01|tls-alpn-01…", 1..=MANY, |d, args| with_defaults(d, challenges, args))
        .because("those that the listeners can answer, tls-alpn-01 first"),
    "How the authority checks that the names lead to this server, in the order in which the ways are tried: `http-01` \
     needs a plain listener for port 80, `tls-alpn-01` a TLS listener for port 443 (MDPortMap). They are answered \
     before any other setting applies.",
    word("MDRenewMode", SERVER, "auto|always|manual", |d, text| outside(d, renew_mode, text))
        .aliases(&["MDDriveMode"])
        .default("auto", "certificates that no host uses cost the authority, not you"),
    "`auto`: certificates are got and renewed for domains that virtual hosts with TLS use. `always`: for all domains. \
     `manual`: never; those in MDStoreDir are used.",
    word("MDRenewWindow", SERVER, "time|percent%", |d, text| outside(d, renew_window, text))
        .default("33%", "a certificate for 90 days is renewed after 60: a month is enough to notice that this fails"),
    "The time before its end at which a certificate is renewed: a part of its life, or a time such as 21d or 12h.",
    words("MDPrivateKeys", SERVER, "secp256r1|secp384r1|RSA [bits]…", 1..=MANY, |d, args| with_defaults(
        d,
        private_keys,
        args
    ))
    .default("secp256r1", "every client of the last ten years knows it, and a signature takes a tenth of RSA's time"),
    "The key types for which certificates are got; `RSA` is RSA with 2048 bits (2048 to 8192), and needs the program \
     openssl. A client gets the first that it supports. Each renewal has a new key.",
    word("MDMembers", SERVER, "auto|manual", |d, text| outside(d, members, text))
        .default("auto", "a name that a host answers to should be in its certificate"),
    "Whether ServerName and ServerAlias of virtual hosts of a managed domain are added to its names.",
    word("MDMember", SERVER, "name|auto|manual", |d, text| outside(d, member, text)).because("see MDomain"),
    "A further name of a `<MDomainSet>`; `auto` and `manual` as MDMembers.",
    word("MDRequireHttps", SERVER, "off|temporary|permanent", |d, text| outside(d, require_https, text))
        .default("off", "only the site knows whether old clients need plain HTTP"),
    "Redirects requests over plain HTTP to https, with 302 (`temporary`) or 301, once there is a certificate. \
     `permanent` also tells browsers to use TLS alone for half a year (Strict-Transport-Security), which cannot be \
     taken back.",
    path("MDCertificateFile", SERVER, outside_of_set).because("the server gets certificates by itself"),
    "A certificate in PEM for the hosts of a `<MDomainSet>`, as SSLCertificateFile of each. It is not renewed.",
    path("MDCertificateKeyFile", SERVER, outside_of_set).because("MDCertificateFile may contain the key"),
    "The private key of MDCertificateFile.",
    words("MDExternalAccountBinding", SERVER, "key-id hmac|file|none", 1..=2, |d, args| with_defaults(
        d, account, args
    ))
    .secret()
    .because("most authorities open accounts for everybody"),
    "Your account with an authority that asks for one: key id and HMAC key, or a file that only root can read, with \
     `{\"kid\": \"…\", \"hmac\": \"…\"}`.",
    path("MDStoreDir", SERVER, |d, path| d.config.managed.store = Some(path))
        .effect(Effect::Start)
        .because("md in systemd's StateDirectory, otherwise in ServerRoot"),
    "Folder of the certificates, keys and accounts, which only the user who starts the server can read. The certificates \
     are laid out as mod_md does.",
    words("MDPortMap", SERVER, "http:port|- [https:port|-]", 1..=2, port_map)
        .because("http:80 https:443, as the internet knows them"),
    "The ports of this machine at which connections to the ports 80 and 443 arrive, where a router maps them; `-`: \
     they do not arrive.",
    word("MDCACertificateFile", SERVER, "file|none", |d, text| {
        let file = d.path(text);
        d.config.managed.trust = (!text.eq_ignore_ascii_case("none")).then(|| named(d, file, "MDCACertificateFile"));
        Ok(())
    })
    .because("the authorities that the system trusts: /etc/ssl/certs"),
    "Certificates in PEM that may sign the certificate of the authority's own server, for an authority of your own.",
    word("MDHttpProxy", SERVER, "http://[user:password@]host:port", |d, url| {
        d.config.managed.proxy = Some(HttpProxy::parse(url)?);
        Ok(())
    })
    .secret()
    .because("most servers reach the authority directly"),
    "An HTTP proxy through which the authority is reached, by CONNECT. The authority itself connects to this server as \
     before. User and password are percent-encoded: `%40` is an @. They go to the proxy without TLS.",
    flag("MDBaseServer", SERVER, |d, on| d.config.managed.base_server = on)
        .default("Off", "as in httpd: the main server answers names of no virtual host"),
    "Whether the main server may belong to a managed domain.",
    duration("MDRetryDelay", SERVER, |d, time| d.config.managed.retry_delay = time.max(Duration::from_millis(100)))
        .default("5s", "as in httpd: most failures are short"),
    "The wait after the first failure to get a certificate. It doubles with each further one, up to a day; a wait that \
     the authority asks for is kept.",
    number("MDRetryFailover", SERVER, 1..=1000, |d, n| d.config.managed.retry_failover = n as u32)
        .default("13", "as in httpd: half a day of failures"),
    "Number of failures after which the next of several authorities is tried.",
    word("MDCertificateProtocol", SERVER, "ACME", |_, text| match text.eq_ignore_ascii_case("acme") {
        true => Ok(()),
        false => Err(format!("expected ACME, got \"{text}\"")),
    })
    .because("there is no other"),
    "Accepted: ACME is the only protocol.",
];

fn with_defaults(draft: &mut Draft, set: Set, args: &[String]) -> Result<(), String> {
    let mut defaults = std::mem::take(&mut draft.config.managed.defaults);
    let done = set(draft, &mut defaults, args);
    draft.config.managed.defaults = defaults;
    done
}

fn outside(draft: &mut Draft, set: Set, text: &str) -> Result<(), String> {
    with_defaults(draft, set, &[text.to_owned()])
}

/// A file of one domain, outside of its section.
fn outside_of_set(draft: &mut Draft, _: PathBuf) {
    draft.warn("is ignored outside of <MDomainSet>; move it there");
}

/// `<MDomainSet name…>`
fn domain_set(draft: &mut Draft, args: &[String], inside: &[Directive]) -> OpenedSection {
    domain(draft, args, inside)?;
    Ok(None)
}

fn domain(draft: &mut Draft, args: &[String], inside: &[Directive]) -> Result<(), String> {
    let mut domain = ManagedDomain {
        names: Vec::new(),
        at: draft.at.clone(),
        settings: DomainSettings::default(),
        challenges: Vec::new(),
        is_renewed: false,
    };
    add_members(&mut domain, args)?;
    for directive in inside {
        let outer = std::mem::replace(&mut draft.at, directive.at.clone());
        let name = std::mem::replace(&mut draft.name, directive.name.clone());
        if let Err(message) = set_in(draft, &mut domain, directive) {
            draft.errors.push(ConfigError::at(&directive.at, format!("{}: {message}", directive.name)));
        }
        (draft.at, draft.name) = (outer, name);
    }
    if domain.names.is_empty() {
        return Err("expected at least one name".to_owned());
    }
    if domain.names.len() > MAX_NAMES {
        return Err(format!("has {} names, and a certificate at most {MAX_NAMES}; use several", domain.names.len()));
    }
    if draft.config.managed.domains.len() >= MAX_DOMAINS {
        return Err(format!("there are more than {MAX_DOMAINS} managed domains; merge some"));
    }
    draft.config.managed.domains.push(domain);
    Ok(())
}

fn set_in(draft: &mut Draft, domain: &mut ManagedDomain, directive: &Directive) -> Result<(), String> {
    let is = |name: &str| directive.name.eq_ignore_ascii_case(name);
    if is("MDMember") {
        return add_members(domain, &directive.args);
    }
    let found = SETTERS.iter().find(|(name, _)| is(name));
    let Some((_, set)) = found else {
        return Err("is not allowed in <MDomainSet>; move it out of the section".to_owned());
    };
    if directive.args.is_empty() {
        return Err("expected an argument".to_owned());
    }
    set(draft, &mut domain.settings, &directive.args)
}

fn add_members(domain: &mut ManagedDomain, args: &[String]) -> Result<(), String> {
    for arg in args {
        if let Some(adds) = adds_names(arg) {
            domain.settings.adds_names = Some(adds);
            continue;
        }
        let name = arg.to_ascii_lowercase();
        check_name(&name)?;
        domain.add_names(std::iter::once(name));
    }
    Ok(())
}

/// `MDPortMap http:80 https:443`
fn port_map(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let mut map = PortMap::default();
    for arg in args {
        let wrong = || format!("expected http: or https: and a port or -, got \"{arg}\"");
        let (scheme, port) = arg.split_once(':').ok_or_else(wrong)?;
        let port = match port {
            "-" => None,
            port => Some(port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?),
        };
        match scheme.to_ascii_lowercase().as_str() {
            "http" | "80" => map.http = port,
            "https" | "443" => map.https = port,
            _ => return Err(wrong()),
        }
    }
    draft.config.managed.ports = map;
    Ok(())
}

//! Modules in C that Cameleer does not have, and what to use instead.

use Need::{Decide, IfUsed, Nothing};

use super::httpd_only::mark;

/// The lines of a module that the administrator must decide about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The LoadModule line, even if no directive of the module is used.
    Decide,
    /// Directives of the module, if there are any.
    IfUsed,
    /// No line: the module can be dropped.
    Nothing,
}

/// A module, or several for the same purpose.
#[derive(Debug)]
pub struct Counterpart {
    /// Name in sentences.
    pub name: &'static str,
    /// Identifiers in LoadModule, without `_module`.
    modules: &'static str,
    /// Prefixes of the module's directives.
    prefixes: &'static str,
    /// The lines that `cameleer migrate` marks as undecided.
    pub need: Need,
    /// Text after "is not part of Cameleer".
    pub advice: &'static str,
}

const fn row(
    name: &'static str,
    modules: &'static str,
    prefixes: &'static str,
    need: Need,
    advice: &'static str,
) -> Counterpart {
    Counterpart { name, modules, prefixes, need, advice }
}

const SIGN_ON: &str = "let a proxy in front sign users in, and take the name from its header, from its address alone: \
    SetEnvIfExpr \"-R '192.0.2.1' && req('X-Remote-User') =~ /(.+)/\" REMOTE_USER=$1 with Require env REMOTE_USER";
const OWN_SERVER: &str = "start the application with its own server and write ProxyPass to it";
const BY_PERL: &str = "check users with AuthUserFile, or with a PerlAuthenHandler";
const ONE_USER: &str = "all programs run as User and Group; start a second Cameleer with the other User and \
    Listen unix:/path, and write ProxyPass unix:/path|http://localhost/ here";
const NO_LIMIT_OF_BYTES: &str = "there is no limit of bandwidth: MaxConcurrentReqs limits a place, \
    MaxConnectionsPerClient a client";

/// The rows. The first that fits counts.
const ROWS: &[Counterpart] = &[
    row(
        "mod_evasive",
        "evasive evasive20 evasive24 dosevasive dosevasive20",
        "DOS",
        Decide,
        "SpeedLimit limits the requests of one client, for instance SpeedLimit requests=100/10s",
    ),
    row(
        "mod_qos",
        "qos",
        "QS_",
        Decide,
        "MaxConcurrentReqs limits a place, SpeedLimit and MaxConnectionsPerClient a client, RequestReadTimeout slow ones",
    ),
    row("mod_throttle", "throttle", "Throttle", Decide, "MaxConcurrentReqs limits a place, SpeedLimit a client"),
    row(
        "mod_limitipconn",
        "limitipconn",
        "MaxConnPerIP NoIPLimit OnlyIPLimit",
        Decide,
        "MaxConnectionsPerClient limits the connections of one client",
    ),
    row(
        "mod_security",
        "security security2 security3",
        "Sec modsecurity",
        Decide,
        "filter requests in a proxy in front, or in a PerlAccessHandler; LimitRequestBody, LimitRequestFields and \
        AllowMethods limit them here",
    ),
    row("mod_auth_openidc", "auth_openidc", "OIDC OAuth2", Decide, SIGN_ON),
    row("Shibboleth", "shib mod_shib shib_22 shib_24", "Shib", Decide, SIGN_ON),
    row("mod_auth_cas", "auth_cas", "CAS", Decide, SIGN_ON),
    row("mod_auth_mellon", "auth_mellon", "Mellon", Decide, SIGN_ON),
    row("Kerberos", "auth_kerb auth_gssapi", "Krb Gssapi", Decide, SIGN_ON),
    row("NTLM", "auth_ntlm_winbind ntlm sspi_auth", "NTLM SSPI", Decide, SIGN_ON),
    row(
        "PHP",
        "php php3 php4 php5 php7 php8",
        "php_",
        Decide,
        "run PHP-FPM and write SetHandler \"proxy:unix:/run/php/php-fpm.sock|fcgi://localhost\" in <FilesMatch \"\\.php$\">",
    ),
    row(
        "mod_dav_svn",
        "dav_svn authz_svn dontdothat",
        "SVN AuthzSVN",
        Decide,
        "leave the repositories to httpd, and write ProxyPass to it; DAV is not there",
    ),
    row("mod_dav", "dav dav_fs dav_lock", "Dav", IfUsed, "leave WebDAV to httpd, and write ProxyPass to it"),
    row("mod_suexec", "suexec", "Suexec", IfUsed, ONE_USER),
    row("mpm_itk", "mpm_itk", "AssignUserID", Decide, ONE_USER),
    row("mod_ruid2", "ruid2", "RMode RUidGid RMinUidGid RDefaultUidGid RGroups RDocumentChRoot", Decide, ONE_USER),
    row("mod_jk", "jk", "Jk", Decide, "write ProxyPass to the HTTP connector of Tomcat; ajp:// is not supported"),
    row("mod_proxy_ajp", "proxy_ajp", "ProxyAJP", IfUsed, "write ProxyPass to the HTTP connector of Tomcat"),
    row("mod_wsgi", "wsgi", "WSGI", Decide, OWN_SERVER),
    row(
        "OpenSRF",
        "xmlent osrf_json_gateway osrf_http_translator osrf_websocket_translator",
        "OSRF XMLEnt",
        Decide,
        "leave these paths to httpd, and write ProxyPass to it",
    ),
    row("mod_python", "python", "Python", Decide, OWN_SERVER),
    row("Passenger", "passenger mod_passenger rails", "Passenger Rails", Decide, OWN_SERVER),
    row(
        "mod_rpaf",
        "rpaf rpaf2.0 extract_forwarded",
        "RPAF MEF",
        Decide,
        "RemoteIPHeader and RemoteIPInternalProxy do the same",
    ),
    row(
        "GeoIP",
        "geoip maxminddb",
        "GeoIP MaxMindDB",
        Decide,
        "look countries up in the program, for instance with GeoIP2 of CPAN; rules that test its variables have no effect",
    ),
    row("mod_bw", "bw bandwidth", "BandWidth MinBandWidth LargeFileLimit", Decide, NO_LIMIT_OF_BYTES),
    row("mod_cband", "cband", "CBand", Decide, NO_LIMIT_OF_BYTES),
    row(
        "mod_xsendfile",
        "xsendfile",
        "XSendFile",
        Decide,
        "the program sends the file itself, or a Location: /path of an Alias",
    ),
    row("mod_pagespeed", "pagespeed", "ModPagespeed Pagespeed", Nothing, "pages leave as they are"),
    row("mod_auth_mysql", "auth_mysql mysql_auth", "AuthMySQL Auth_MySQL", Decide, BY_PERL),
    row("mod_auth_pgsql", "auth_pgsql", "Auth_PG", Decide, BY_PERL),
    row(
        "mod_auth_pam",
        "auth_pam authnz_pam authnz_external",
        "AuthPAM AuthExternal DefineExternalAuth",
        Decide,
        BY_PERL,
    ),
    row(
        "the MPM",
        "mpm_event mpm_worker mpm_prefork",
        "",
        Nothing,
        "workers are processes, and slow clients need none",
    ),
    row("mod_cgid", "cgid", "", Nothing, "CGI programs are started without it"),
    row("mod_systemd", "systemd", "", Nothing, "the unit of systemd needs no module"),
];

/// Directives of these modules whose meaning one directive of Cameleer has, with what to write.
const NEAREST: &[(&str, &str)] = &[
    (
        "DOSPageCount DOSPageInterval DOSSiteCount DOSSiteInterval",
        "write SpeedLimit requests=COUNT/INTERVAL, for instance requests=100/10s, which counts all requests of a client",
    ),
    ("QS_SrvMaxConnPerIP", "write MaxConnectionsPerClient with this number"),
    (
        "QS_LocRequestLimit QS_LocRequestLimitDefault QS_LocRequestLimitMatch",
        "write MaxConcurrentReqs with this number into <Location> or <LocationMatch> of these paths",
    ),
    ("QS_LimitRequestBody", "write LimitRequestBody with this number"),
    (
        "QS_SrvMinDataRate QS_SrvRequestRate",
        "write RequestReadTimeout, for instance header=20-40,MinRate=500 body=20,MinRate=500",
    ),
    (
        "QS_ClientEventPerSecLimit QS_ClientEventRequestLimit QS_EventPerSecLimit QS_LocRequestPerSecLimit",
        "write SpeedLimit, for instance requests=100/10s, which counts the requests of a client",
    ),
    ("SecRequestBodyLimit SecRequestBodyNoFilesLimit", "write LimitRequestBody with this number"),
    ("SecServerSignature", "write ServerTokens Prod"),
    ("SecAuditLog SecAuditLogType", "write CustomLog with the wanted items"),
];

/// Replacements of directives for which the advice about their module is not enough.
pub fn nearest(name: &str) -> Option<&'static str> {
    let is_it = |known: &str| known.eq_ignore_ascii_case(name);
    NEAREST.iter().find(|(names, _)| names.split(' ').any(is_it)).map(|(_, advice)| *advice)
}

/// Further modules of httpd. Their directives, where one is used, have messages of their own.
const OF_HTTPD: &str = "authn_anon authn_default authn_alias authnz_fcgi \
    authz_default authz_owner auth_anon auth_db auth_dbm auth_form buffer cern_meta charset_lite cache_disk data dialup \
    digest disk_cache dumpio echo example ext_filter file_cache heartbeat heartmonitor isapi \
    lbmethod_heartbeat log_agent log_debug log_forensic log_referer lua mem_cache mime_magic mmap_static privileges \
    proxy_express proxy_fdpass proxy_ftp proxy_html proxy_scgi proxy_uwsgi ratelimit reflector sed session \
    session_cookie session_crypto session_dbd slotmem_plain socache_dbm socache_memcache socache_redis socache_dc \
    xml2enc";

/// The counterpart of a module, from its identifier in LoadModule.
pub fn of_module(identifier: &str) -> Option<&'static Counterpart> {
    let name = identifier.trim_end_matches("_module");
    ROWS.iter().find(|row| row.modules.split(' ').any(|known| known == name))
}

/// Whether this is a module of httpd whose directives have messages of their own.
pub fn is_of_httpd(identifier: &str) -> bool {
    let name = identifier.trim_end_matches("_module");
    OF_HTTPD.split_whitespace().any(|known| known == name)
}

/// The counterpart of the module that defines a directive.
pub fn of_directive(name: &str) -> Option<&'static Counterpart> {
    ROWS.iter().find(|row| row.prefixes.split_whitespace().any(|prefix| begins(name, prefix)))
}

/// `Sec` begins SecRule, and not SecretKey.
fn begins(name: &str, prefix: &str) -> bool {
    let starts = name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let is_word = |rest: &str| prefix.ends_with('_') || !rest.starts_with(|c: char| c.is_ascii_lowercase());
    starts && name.get(prefix.len()..).is_some_and(is_word)
}

impl Counterpart {
    /// The message about the line `what`, which uses the module.
    pub fn sentence(&self, what: &str) -> String {
        format!("{what}: {} is not part of Cameleer{} {}", self.name, mark(self.advice), self.advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    /// Words of the advice that look like directives are directives.
    #[test]
    fn every_directive_that_is_named_as_a_counterpart_exists() {
        let names = "SpeedLimit MaxConcurrentReqs MaxConnectionsPerClient RequestReadTimeout LimitRequestBody LimitRequestFields \
            AllowMethods PerlAccessHandler SetEnvIfExpr Require SetHandler FilesMatch ProxyPass User Group Listen RemoteIPHeader \
            RemoteIPInternalProxy AuthUserFile PerlAuthenHandler Alias";
        for name in names.split_whitespace() {
            assert!(table::is_known(name), "{name}");
            assert!(ROWS.iter().any(|row| row.advice.contains(name)), "{name}");
        }
    }

    #[test]
    fn modules_and_directives_find_their_row() {
        let name = |row: Option<&Counterpart>| row.map(|row| row.name);
        assert_eq!(name(of_module("security2_module")), Some("mod_security"));
        assert_eq!(name(of_directive("DOSPageCount")), Some("mod_evasive"));
        assert_eq!(name(of_directive("php_value")), Some("PHP"));
        assert_eq!(name(of_directive("SecretKey")), None);
        assert!(is_of_httpd("session_module") && !is_of_httpd("own_module"));
    }
}

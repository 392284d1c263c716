//! Certificates of clients: who asks for them, how they are verified, and what they give access to.

use crate::draft::Draft;
use crate::model::overrides::Class;
use crate::model::response::expr::{Expr, ExprRights};
use crate::model::tls::client_auth::{ClientVerify, MAX_DEPTH, RevocationCheck, RevocationDepth};
use crate::syntax::source::Splitting;
use crate::syntax::value::number;
use crate::table::client::tls::named;
use crate::table::row::{ANYWHERE, AUTH_CONFIG, HOSTS, MANY, Row, path, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_ssl.c",
    word(
        "SSLVerifyClient",
        ANYWHERE.and_htaccess(Class::AUTH_CONFIG),
        "none|optional|require|optional_no_ca",
        |d, word| {
            d.settings().response.ssl.verify = Some(ClientVerify::parse(word)?);
            Ok(())
        }
    )
    .default("none", "as in httpd"),
    "Whether clients are asked for a certificate. In a host the TLS handshake enforces it. In a place the handshake asks \
     each client of the host for a certificate that it need not have, and the place answers 403 without a valid one. A \
     `.htaccess` file needs a host whose configuration asks.",
    word("SSLVerifyDepth", ANYWHERE.and_htaccess(Class::AUTH_CONFIG), "number", |d, text| {
        let depth = number(text, &(0..=100))?;
        if depth > u64::from(MAX_DEPTH) {
            d.warn(&format!("{MAX_DEPTH} is used: the verifier follows at most six intermediate certificates"));
        }
        d.settings().response.ssl.depth = Some(u8::try_from(depth).unwrap_or(MAX_DEPTH).min(MAX_DEPTH));
        Ok(())
    })
    .default("1", "as in httpd: an authority of SSLCACertificateFile has signed the certificate itself"),
    "Greatest number of certificates above the client's, the authority's included. 0: only certificates that are \
     themselves in SSLCACertificateFile.",
    path("SSLCACertificateFile", HOSTS, |d, path| {
        let file = named(d, path, "SSLCACertificateFile");
        d.host().tls.clients.authorities = Some(file);
    })
    .because("needed with SSLVerifyClient"),
    "Certificates of the authorities that sign certificates of clients, in PEM. Read as root, and again when it changes.",
    path("SSLCACertificatePath", HOSTS, |d, path| {
        let file = named(d, path, "SSLCACertificatePath");
        d.host().tls.clients.authorities_folder = Some(file);
    })
    .because("SSLCACertificateFile may contain all authorities"),
    "A folder with certificates of authorities in PEM; names of the files do not matter.",
    path("SSLCADNRequestFile", HOSTS, |d, path| {
        let file = named(d, path, "SSLCADNRequestFile");
        d.host().tls.clients.named = Some(file);
    })
    .because("the names of all authorities are sent"),
    "Certificates in PEM whose subjects are sent to clients as names of the accepted authorities, instead of those of \
     SSLCACertificateFile.",
    path("SSLCADNRequestPath", HOSTS, |d, path| {
        let file = named(d, path, "SSLCADNRequestPath");
        d.host().tls.clients.named_folder = Some(file);
    })
    .because("the names of all authorities are sent"),
    "A folder with such certificates.",
    path("SSLCARevocationFile", HOSTS, |d, path| {
        let file = named(d, path, "SSLCARevocationFile");
        d.host().tls.clients.revoked = Some(file);
    })
    .because("needed with SSLCARevocationCheck"),
    "Lists of revoked certificates (CRLs) in PEM. Read as root, and again when it changes.",
    path("SSLCARevocationPath", HOSTS, |d, path| {
        let file = named(d, path, "SSLCARevocationPath");
        d.host().tls.clients.revoked_folder = Some(file);
    })
    .because("SSLCARevocationFile may contain all lists"),
    "A folder with lists of revoked certificates in PEM; names of the files do not matter.",
    words("SSLCARevocationCheck", HOSTS, "chain|leaf|none [no_crl_for_cert_ok]", 1..=2, revocation_check)
        .default("none", "as in httpd"),
    "Whether the client's certificate (`leaf`) and the intermediate ones (`chain`) are looked up in the lists. A \
     certificate whose authority has no current list is refused; `no_crl_for_cert_ok` accepts one without a list.",
    words("SSLOptions", ANYWHERE.and_htaccess(Class::OPTIONS), "[+|-]option…", 1..=MANY, ssl_options)
        .because("few programs use these variables"),
    "`+StdEnvVars` gives programs SSL_PROTOCOL, SSL_CIPHER and similar variables, and the fields of the certificates of \
     server and client: SSL_CLIENT_VERIFY, SSL_CLIENT_S_DN, SSL_CLIENT_S_DN_CN, SSL_SERVER_V_END and so on. \
     `+ExportCertData` adds SSL_CLIENT_CERT, SSL_CLIENT_CERT_CHAIN_0 … and SSL_SERVER_CERT in PEM. `+FakeBasicAuth` \
     makes the subject of a valid certificate the user of Basic authentication, with the password `password`. \
     StrictRequire is always on. HTTPS and SSL_TLS_SNI are always set.",
    words("SSLRequireSSL", AUTH_CONFIG, "", 0..=0, |d, _| {
        d.settings().response.ssl.required = Some(true);
        Ok(())
    })
    .because("most places are also served without TLS"),
    "Requests without TLS are answered 403.",
    words("SSLRequire", AUTH_CONFIG, "expression", 1..=MANY, |d, args| {
        d.charge_rule()?;
        let expr = Expr::parse_with(&args.join(" "), &mut d.patterns, ExprRights::OfSslRequire)?;
        d.settings().response.ssl.conditions.push(expr);
        Ok(())
    })
    .split(Splitting::Whole)
    .because("access depends on other directives alone"),
    "Requests over TLS for which the expression is false are answered 403; all expressions of a place must be true. The \
     words are those of `Require expr`, which is to be preferred, but `eq`, `==`, `<` and so on compare lengths first, \
     then bytes, as in httpd: `%{SSL_CIPHER_USEKEYSIZE} >= 128`.",
    word("SSLUserName", ANYWHERE.and_htaccess(Class::AUTH_CONFIG), "variable", |d, name| {
        if name != "HTTPS" && !name.starts_with("SSL_") {
            return Err(format!("expected a variable such as SSL_CLIENT_S_DN_CN, got \"{name}\""));
        }
        d.settings().response.ssl.user = Some(name.into());
        Ok(())
    })
    .because("the user is that of AuthType"),
    "The variable of mod_ssl whose value programs and logs get as the user, if it has one: `SSL_CLIENT_S_DN_CN`. `Require \
     user` does not see it.",
];

/// `SSLCARevocationCheck chain|leaf|none [no_crl_for_cert_ok]`
fn revocation_check(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let mut check = RevocationCheck::default();
    for (number, word) in words.iter().enumerate() {
        match (number, word.to_ascii_lowercase().as_str()) {
            (0, "none") => check.depth = RevocationDepth::None,
            (0, "leaf") => check.depth = RevocationDepth::Leaf,
            (0, "chain") => check.depth = RevocationDepth::Chain,
            (1, "no_crl_for_cert_ok") => check.list_may_be_missing = true,
            (0, _) => return Err(format!("expected chain, leaf or none, got \"{word}\"")),
            _ => return Err(format!("expected no_crl_for_cert_ok, got \"{word}\"")),
        }
    }
    let at = draft.at.clone();
    draft.host().tls.clients.check = Some((at, check));
    Ok(())
}

/// `SSLOptions [+|-]option…`
fn ssl_options(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let ssl = &mut draft.settings().response.ssl;
    // Options without a sign replace all earlier options.
    if args.iter().any(|arg| !arg.starts_with(['+', '-'])) {
        [ssl.std_env_vars, ssl.export_cert_data, ssl.fake_basic_auth] = [Some(false); 3];
    }
    for arg in args {
        let on = !arg.starts_with('-');
        match arg.trim_start_matches(['+', '-']).to_ascii_lowercase().as_str() {
            "stdenvvars" => ssl.std_env_vars = Some(on),
            "exportcertdata" => ssl.export_cert_data = Some(on),
            "fakebasicauth" => ssl.fake_basic_auth = Some(on),
            // A refusal of mod_ssl is final anyway, there is no renegotiation, and names are written as in RFC 2253.
            "strictrequire" | "optrenegotiate" => {}
            "legacydnstringformat" if !on => {}
            "legacydnstringformat" => {
                return Err("LegacyDNStringFormat is not supported: names are as in RFC 2253".to_owned());
            }
            _ => {
                let known = "StdEnvVars, ExportCertData, FakeBasicAuth, StrictRequire or OptRenegotiate";
                return Err(format!("expected {known}, with + or - before, got \"{arg}\""));
            }
        }
    }
    Ok(())
}

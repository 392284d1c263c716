//! TLS: certificates, versions, what programs are told.

use std::path::PathBuf;

use crate::config::draft::Draft;
use crate::config::model::overrides::Class;
use crate::config::model::tls::{NamedFile, Versions, suites};
use crate::config::syntax::value;
use crate::config::table::row::{ANYWHERE, CONTAINERS, HOSTS, MANY, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "SSLEngine",
        contexts: HOSTS,
        takes: Takes::Word("On|Off", |d, text| {
            let on = value::flag(text)?;
            let at = d.at.clone();
            d.host().tls.engine = Some((at, on));
            Ok(())
        }),
        because: "On where Listen says https",
        about: "Whether TLS is spoken on the addresses of this host. Hosts of one address share the answer: On, when one says so.",
        ..ROW
    },
    Row {
        name: "SSLCertificateFile",
        contexts: HOSTS,
        takes: Takes::Path(|d, path| {
            let file = named(d, path, "SSLCertificateFile");
            d.host().tls.certificates.push(file);
        }),
        because: "only its owner knows where it lies",
        about: "The certificate in PEM, then those between it and the root; its key may stand there, too. Once for each kind of key (RSA, \
            ECDSA). It is read as root, and again when it changes.",
        ..ROW
    },
    Row {
        name: "SSLCertificateKeyFile",
        contexts: HOSTS,
        takes: Takes::Path(|d, path| {
            let file = named(d, path, "SSLCertificateKeyFile");
            d.host().tls.keys.push(file);
        }),
        because: "the key may stand in SSLCertificateFile",
        about: "The private key in PEM, without a password; in the order of the certificates. Programs cannot read it.",
        ..ROW
    },
    Row {
        name: "SSLCertificateChainFile",
        contexts: HOSTS,
        takes: Takes::Path(|d, path| {
            let file = named(d, path, "SSLCertificateChainFile");
            d.host().tls.chain = Some(file);
        }),
        because: "SSLCertificateFile has them all",
        about: "Further certificates in PEM, sent behind those of SSLCertificateFile.",
        ..ROW
    },
    Row {
        name: "SSLStaplingFile",
        contexts: HOSTS,
        takes: Takes::Path(|d, path| {
            let file = named(d, path, "SSLStaplingFile");
            d.host().tls.staple = Some(file);
        }),
        because: "most authorities do not ask for it any more",
        about: "An OCSP response (DER) to be sent with the certificate. It is not fetched: `openssl ocsp -respout` writes it, and it is \
            read again when it changes.",
        ..ROW
    },
    Row {
        name: "SSLUseStapling",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| {
            if on && d.host().tls.staple.is_none() {
                d.warn("no response is fetched here: name a file by SSLStaplingFile, before this line");
            }
        }),
        because: "SSLStaplingFile says it",
        about: "Accepted for old configurations: what is stapled is SSLStaplingFile.",
        ..ROW
    },
    Row {
        name: "SSLProtocol",
        contexts: HOSTS,
        takes: Takes::Words("[+|-]version…", 1..=MANY, versions),
        because: "all that are spoken: TLSv1.2 and TLSv1.3",
        about: "Which versions are spoken: `all`, `TLSv1.2`, `TLSv1.3`. Older ones are broken and not there.",
        ..ROW
    },
    Row {
        name: "SSLCipherSuite",
        contexts: HOSTS,
        takes: Takes::Words("[TLSv1.3|SSL] suites", 1..=2, cipher_suites),
        because: "every suite that is here is safe",
        about: "Suites by their names in OpenSSL or at IANA, separated by colons, the dearest first; the words HIGH, ALL and their kin stand \
            for all. What is not spoken here is ignored with a warning.",
        ..ROW
    },
    Row {
        name: "SSLHonorCipherOrder",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().tls.own_order = Some(on)),
        because: "Off: phones without AES prefer what is fast for them",
        about: "Whether our order of suites counts and not the client's.",
        ..ROW
    },
    Row {
        name: "SSLSessionTickets",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().tls.tickets = Some(on)),
        because: "On: clients that come again need no second handshake, and nothing is kept for them",
        about: "Whether clients get tickets to resume with. Their key changes every few hours, is in nobody's file, and survives reloads.",
        ..ROW
    },
    Row {
        name: "SSLSessionCache",
        contexts: SERVER,
        takes: Takes::Word("none|type:…", |d, kind| {
            d.host().tls.cache = Some(!kind.eq_ignore_ascii_case("none"));
            Ok(())
        }),
        because: "in memory: one process speaks to all clients",
        about: "`none` keeps no sessions; any other word is taken for a cache in memory.",
        ..ROW
    },
    Row {
        name: "SSLSessionCacheTimeout",
        contexts: HOSTS,
        takes: Takes::Duration(|d, time| d.host().tls.session_life = Some(time)),
        default: Some("12h"),
        because: "who comes back on the same day needs no second handshake; httpd's 300 s is less than a lunch",
        about: "How long a client may resume a session, by a ticket or from the cache, after the handshake that began it. Tickets \
            are good for 12 hours at most: then their key is gone. A shorter time counts for sessions that are there already.",
        ..ROW
    },
    Row {
        name: "SSLOptions",
        contexts: ANYWHERE.and_htaccess(Class::OPTIONS),
        takes: Takes::Words("[+|-]option…", 1..=MANY, ssl_options),
        because: "programs seldom ask",
        about: "`+StdEnvVars` tells programs SSL_PROTOCOL, SSL_CIPHER, SSL_TLS_SNI and their kin, and what our certificate says: SSL_SERVER_S_DN, \
            SSL_SERVER_S_DN_CN, SSL_SERVER_SAN_DNS_0, SSL_SERVER_V_END and so on. HTTPS and SSL_TLS_SNI they are told anyway.",
        ..ROW
    },
    Row {
        name: "SSLRequireSSL",
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Words("", 0..=0, |d, _| {
            d.said().response.ssl.required = Some(true);
            Ok(())
        }),
        because: "most places are for everybody",
        about: "Who comes without TLS is answered 403.",
        ..ROW
    },
];

fn named(draft: &Draft, path: PathBuf, directive: &'static str) -> NamedFile {
    NamedFile { path, at: draft.at.clone(), directive }
}

/// `SSLProtocol [+|-]version…`
fn versions(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let mut versions = Versions { tls12: false, tls13: false };
    for arg in args {
        let (on, name) = match arg.as_bytes().first() {
            Some(b'-') => (false, &arg[1..]),
            Some(b'+') => (true, &arg[1..]),
            _ => (true, arg.as_str()),
        };
        match name.to_ascii_lowercase().as_str() {
            "all" => versions = Versions { tls12: on, tls13: on },
            "tlsv1.2" => versions.tls12 = on,
            "tlsv1.3" => versions.tls13 = on,
            "sslv2" | "sslv3" | "tlsv1" | "tlsv1.1" if on => {
                draft.warn(&format!("{name} is broken and not spoken here: remove it"));
            }
            "sslv2" | "sslv3" | "tlsv1" | "tlsv1.1" => {}
            _ => return Err(format!("expected all, TLSv1.2 or TLSv1.3, with + or - before, got \"{arg}\"")),
        }
    }
    if !versions.tls12 && !versions.tls13 {
        return Err("leaves no version that is spoken here: allow TLSv1.2 or TLSv1.3".to_owned());
    }
    draft.host().tls.versions = Some(versions);
    Ok(())
}

/// `SSLCipherSuite [TLSv1.3|SSL] suites`
fn cipher_suites(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (is_13, list) = match args {
        [version, list] if version.eq_ignore_ascii_case("TLSv1.3") => (true, list),
        [version, list] if version.eq_ignore_ascii_case("SSL") => (false, list),
        [list] => (false, list),
        _ => return Err(format!("expected TLSv1.3 or SSL, then suites, got \"{}\"", args.join(" "))),
    };
    let (chosen, unknown) = suites::read(if is_13 { suites::TLS13 } else { suites::TLS12 }, list);
    if !unknown.is_empty() {
        draft.warn(&format!("not spoken here, or not understood, and ignored: {}", unknown.join(" ")));
    }
    let tls = &mut draft.host().tls;
    *(if is_13 { &mut tls.suites_13 } else { &mut tls.suites }) = chosen;
    Ok(())
}

/// `SSLOptions [+|-]option…`
fn ssl_options(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let mut ignored = Vec::new();
    for arg in args {
        let name = arg.trim_start_matches(['+', '-']);
        let on = !arg.starts_with('-');
        match name.to_ascii_lowercase().as_str() {
            "stdenvvars" => draft.said().response.ssl.std_env_vars = Some(on),
            // About certificates of clients and how they are asked for: there are none.
            "strictrequire" | "optrenegotiate" | "legacydnstringformat" => {}
            "exportcertdata" => ignored.push(name),
            "fakebasicauth" if !on => {}
            "fakebasicauth" => return Err("FakeBasicAuth: certificates of clients are not asked for here".to_owned()),
            _ => return Err(format!("expected StdEnvVars, with + or - before, got \"{arg}\"")),
        }
    }
    // Options without a sign are all that there are.
    let absolute = args.iter().any(|arg| !arg.starts_with(['+', '-']));
    if absolute && draft.said().response.ssl.std_env_vars.is_none() {
        draft.said().response.ssl.std_env_vars = Some(false);
    }
    if !ignored.is_empty() {
        draft.warn(&format!("not supported and ignored: {}", ignored.join(" ")));
    }
    Ok(())
}

//! TLS: certificates, versions, what programs are told.

use std::path::PathBuf;

use super::super::draft::Draft;
use super::super::overrides::Class;
use super::super::rules::ssl;
use super::super::tls::{NamedFile, versions};
use super::super::{tls_suites, value};
use super::{ANYWHERE, CONTAINERS, Effect, HOSTS, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "SSLEngine",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("On|Off", |d, text| {
            let on = value::flag(text)?;
            let at = d.at.clone();
            d.host().tls.engine = Some((at, on));
            Ok(())
        }),
        default: None,
        because: "On where Listen says https",
        effect: Effect::Reload,
        about: "Whether TLS is spoken on the addresses of this host. Hosts of one address share the answer: On, when one says so.",
    },
    Row {
        name: "SSLCertificateFile",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Path(|d, path| {
            let file = named(d, path, "SSLCertificateFile");
            d.host().tls.certificates.push(file);
        }),
        default: None,
        because: "only its owner knows where it lies",
        effect: Effect::Reload,
        about: "The certificate in PEM, then those between it and the root; its key may stand there, too. Once for each kind of key (RSA, \
            ECDSA). It is read as root, and again when it changes.",
    },
    Row {
        name: "SSLCertificateKeyFile",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Path(|d, path| {
            let file = named(d, path, "SSLCertificateKeyFile");
            d.host().tls.keys.push(file);
        }),
        default: None,
        because: "the key may stand in SSLCertificateFile",
        effect: Effect::Reload,
        about: "The private key in PEM, without a password; in the order of the certificates. Programs cannot read it.",
    },
    Row {
        name: "SSLCertificateChainFile",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Path(|d, path| {
            let file = named(d, path, "SSLCertificateChainFile");
            d.host().tls.chain = Some(file);
        }),
        default: None,
        because: "SSLCertificateFile has them all",
        effect: Effect::Reload,
        about: "Further certificates in PEM, sent behind those of SSLCertificateFile.",
    },
    Row {
        name: "SSLStaplingFile",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Path(|d, path| {
            let file = named(d, path, "SSLStaplingFile");
            d.host().tls.staple = Some(file);
        }),
        default: None,
        because: "most authorities do not ask for it any more",
        effect: Effect::Reload,
        about: "An OCSP response (DER) to be sent with the certificate. It is not fetched: `openssl ocsp -respout` writes it, and it is \
            read again when it changes.",
    },
    Row {
        name: "SSLUseStapling",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| {
            if on && d.host().tls.staple.is_none() {
                d.warn("no response is fetched here: name a file by SSLStaplingFile, before this line");
            }
        }),
        default: None,
        because: "SSLStaplingFile says it",
        effect: Effect::Reload,
        about: "Accepted for old configurations: what is stapled is SSLStaplingFile.",
    },
    Row {
        name: "SSLProtocol",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("[+|-]version…", 1..=super::MANY, versions),
        default: None,
        because: "all that are spoken: TLSv1.2 and TLSv1.3",
        effect: Effect::Reload,
        about: "Which versions are spoken: `all`, `TLSv1.2`, `TLSv1.3`. Older ones are broken and not there.",
    },
    Row {
        name: "SSLCipherSuite",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("[TLSv1.3|SSL] suites", 1..=2, tls_suites::choose),
        default: None,
        because: "every suite that is here is safe",
        effect: Effect::Reload,
        about: "Suites by their names in OpenSSL or at IANA, separated by colons, the dearest first; the words HIGH, ALL and their kin stand \
            for all. What is not spoken here is ignored with a warning.",
    },
    Row {
        name: "SSLHonorCipherOrder",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().tls.own_order = Some(on)),
        default: None,
        because: "Off: phones without AES prefer what is fast for them",
        effect: Effect::Reload,
        about: "Whether our order of suites counts and not the client's.",
    },
    Row {
        name: "SSLSessionTickets",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().tls.tickets = Some(on)),
        default: None,
        because: "On: clients that come again need no second handshake, and nothing is kept for them",
        effect: Effect::Reload,
        about: "Whether clients get tickets to resume with. Their key changes every few hours, is in nobody's file, and survives reloads.",
    },
    Row {
        name: "SSLSessionCache",
        aliases: &[],
        contexts: SERVER,
        takes: Takes::Word("none|type:…", |d, kind| {
            d.host().tls.cache = Some(!kind.eq_ignore_ascii_case("none"));
            Ok(())
        }),
        default: None,
        because: "in memory: one process speaks to all clients",
        effect: Effect::Reload,
        about: "`none` keeps no sessions; any other word is taken for a cache in memory.",
    },
    Row {
        name: "SSLSessionCacheTimeout",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Duration(|d, time| d.host().tls.session_life = Some(time)),
        default: Some("12h"),
        because: "who comes back on the same day needs no second handshake; httpd's 300 s is less than a lunch",
        effect: Effect::Reload,
        about: "How long a client may resume a session, by a ticket or from the cache, after the handshake that began it. Tickets \
            are good for 12 hours at most: then their key is gone. A shorter time counts for sessions that are there already.",
    },
    Row {
        name: "SSLOptions",
        aliases: &[],
        contexts: ANYWHERE.and_htaccess(Class::OPTIONS),
        takes: Takes::Words("[+|-]option…", 1..=super::MANY, ssl::options),
        default: None,
        because: "programs seldom ask",
        effect: Effect::Reload,
        about: "`+StdEnvVars` tells programs SSL_PROTOCOL, SSL_CIPHER, SSL_TLS_SNI and their kin, and what our certificate says: SSL_SERVER_S_DN, \
            SSL_SERVER_S_DN_CN, SSL_SERVER_SAN_DNS_0, SSL_SERVER_V_END and so on. HTTPS and SSL_TLS_SNI they are told anyway.",
    },
    Row {
        name: "SSLRequireSSL",
        aliases: &[],
        contexts: CONTAINERS.and_htaccess(Class::AUTH_CONFIG),
        takes: Takes::Words("", 0..=0, |d, _| {
            d.said().rules.ssl.required = Some(true);
            Ok(())
        }),
        default: None,
        because: "most places are for everybody",
        effect: Effect::Reload,
        about: "Who comes without TLS is answered 403.",
    },
];

fn named(draft: &Draft, path: PathBuf, directive: &'static str) -> NamedFile {
    NamedFile { path, at: draft.at.clone(), directive }
}

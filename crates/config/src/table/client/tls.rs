//! TLS: certificates, versions, cipher suites, sessions.

use std::path::PathBuf;

use crate::draft::Draft;
use crate::model::tls::{NamedFile, Versions, suites};
use crate::syntax::value;
use crate::table::row::{HOSTS, MANY, Row, SERVER, duration, flag, path, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_ssl.c",
    word("SSLEngine", HOSTS, "On|Off", |d, text| {
        let on = value::flag(text)?;
        let at = d.at.clone();
        d.host().tls.engine = Some((at, on));
        Ok(())
    })
    .because("On where Listen says https"),
    "Whether the addresses of this host use TLS. All hosts of an address share the setting: it is On if one of them \
     sets On.",
    path("SSLCertificateFile", HOSTS, |d, path| {
        let file = named(d, path, "SSLCertificateFile");
        d.host().tls.certificates.push(file);
    })
    .because("only the site knows its path"),
    "The certificate in PEM, followed by the intermediate certificates; the file may contain the key, too. Once for \
     each key type (RSA, ECDSA). Read as root, and again when it changes.",
    path("SSLCertificateKeyFile", HOSTS, |d, path| {
        let file = named(d, path, "SSLCertificateKeyFile");
        d.host().tls.keys.push(file);
    })
    .because("SSLCertificateFile may contain the key"),
    "The private key in PEM, without a password; in the order of the certificates. Programs cannot read it.",
    path("SSLCertificateChainFile", HOSTS, |d, path| {
        let file = named(d, path, "SSLCertificateChainFile");
        d.host().tls.chain = Some(file);
    })
    .because("SSLCertificateFile contains the intermediate certificates"),
    "Further certificates in PEM, sent after those of SSLCertificateFile.",
    path("SSLStaplingFile", HOSTS, |d, path| {
        let file = named(d, path, "SSLStaplingFile");
        d.host().tls.staple = Some(file);
    })
    .of("cameleer.c")
    .because("most certificate authorities no longer support OCSP"),
    "An OCSP response (DER) to send with the certificate. The server does not fetch it: write it with `openssl ocsp \
     -respout`. It is read again when it changes.",
    flag("SSLUseStapling", HOSTS, |d, on| {
        if on && d.host().tls.staple.is_none() {
            d.warn("has no effect without SSLStaplingFile before this line: OCSP responses are not fetched");
        }
    })
    .because("use SSLStaplingFile"),
    "Accepted for old configurations: SSLStaplingFile turns on stapling.",
    words("SSLProtocol", HOSTS, "[+|-]version…", 1..=MANY, versions)
        .because("all supported versions: TLSv1.2 and TLSv1.3"),
    "TLS versions: `all`, `TLSv1.2`, `TLSv1.3`. Older versions are insecure and not supported.",
    words("SSLCipherSuite", HOSTS, "[TLSv1.3|SSL] suites", 1..=2, cipher_suites)
        .because("every supported suite is safe"),
    "Cipher suites by their OpenSSL or IANA names, separated by colons, in order of preference; words such as HIGH and \
     ALL stand for all. Unsupported suites are ignored with a warning.",
    flag("SSLHonorCipherOrder", HOSTS, |d, on| d.host().tls.own_order = Some(on))
        .because("Off: phones without AES hardware prefer faster suites"),
    "Whether the server's order of suites takes precedence over the client's.",
    flag("SSLSessionTickets", HOSTS, |d, on| d.host().tls.tickets = Some(on))
        .because("On: returning clients skip the full handshake, and the server stores nothing for them"),
    "Whether clients get tickets to resume sessions. The ticket key changes every few hours, is never written to a \
     file, and survives reloads. SSLSessionTicketKeyFile names a key instead.",
    words("SSLSessionTicketKeyFile", HOSTS, "file…", 1..=8, |d, files| {
        let named = files.iter().map(|file| named(d, d.path(file), "SSLSessionTicketKeyFile")).collect();
        d.host().tls.ticket_keys = Some(named);
        Ok(())
    })
    .because("a key that only this process knows cannot be stolen from a file"),
    "Keys of session tickets: 48 random bytes each, as `openssl rand -out FILE 48` writes them, or 80. Servers with \
     the same file resume each other's sessions, and their own after a restart. New tickets are made by the first file, \
     all are accepted: a new file is put before the old one. The files are read again when they change. Who reads one \
     can decrypt recorded connections of TLS 1.2, so replace it daily.",
    word("SSLSessionCache", SERVER, "none|type:…", |d, kind| {
        d.host().tls.cache = Some(!kind.eq_ignore_ascii_case("none"));
        Ok(())
    })
    .because("in memory: one process serves all clients"),
    "`none` disables the session cache; any other value means a cache in memory.",
    duration("SSLSessionCacheTimeout", HOSTS, |d, time| d.host().tls.session_life = Some(time)).default(
        "12h",
        "clients that return on the same day skip the full handshake; httpd's 300 s is shorter than a lunch break"
    ),
    "Time after the first handshake during which a client may resume its session, by a ticket or from the cache. \
     Tickets expire after 12 hours at most, with their key. A shorter time applies to existing sessions too.",
];

/// The path with the line of its directive, for messages when the file is read.
pub(super) fn named(draft: &Draft, path: PathBuf, directive: &'static str) -> NamedFile {
    NamedFile { path, at: draft.at.clone(), directive }
}

/// `SSLProtocol [+|-]version…`
fn versions(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.host().tls.versions = Some(versions_of(draft, args)?);
    Ok(())
}

/// The versions that the words of `SSLProtocol` or `SSLProxyProtocol` leave.
pub fn versions_of(draft: &mut Draft, args: &[String]) -> Result<Versions, String> {
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
                draft.warn(&format!("{name} is insecure and not supported; remove it"));
            }
            "sslv2" | "sslv3" | "tlsv1" | "tlsv1.1" => {}
            _ => return Err(format!("expected all, TLSv1.2 or TLSv1.3, with + or - before, got \"{arg}\"")),
        }
    }
    if !versions.tls12 && !versions.tls13 {
        return Err("leaves no supported version; allow TLSv1.2 or TLSv1.3".to_owned());
    }
    Ok(versions)
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
        draft.warn(&format!("ignored, because unsupported or unknown: {}", unknown.join(" ")));
    }
    let tls = &mut draft.host().tls;
    *(if is_13 { &mut tls.suites_13 } else { &mut tls.suites }) = chosen;
    Ok(())
}

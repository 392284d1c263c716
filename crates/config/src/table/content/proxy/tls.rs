//! TLS of connections to backends.

use std::path::PathBuf;

use super::parameters::PASSES;
use crate::draft::Draft;
use crate::model::proxy::backend_tls::BackendVerify;
use crate::model::tls::{NamedFile, Versions};
use crate::syntax::value::number;
use crate::table::client::tls::versions_of;
use crate::table::row::{MANY, Row, flag, path, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_ssl.c",
    flag("SSLProxyEngine", PASSES, |d, on| d.settings().proxy.tls.engine = Some(on)).default("Off", "as in httpd"),
    "Whether requests may be passed to backends of https:// and wss://. Without it they are answered 500.",
    word("SSLProxyVerify", PASSES, "none|require", |d, word| {
        d.settings().proxy.tls.verify = Some(match word.to_ascii_lowercase().as_str() {
            "none" => BackendVerify::None,
            "require" => BackendVerify::Require,
            _ => return Err(format!("expected none or require, got \"{word}\"")),
        });
        Ok(())
    })
    .default("none", "as in httpd; name and expiry are checked anyway"),
    "Whether a backend's certificate must be signed by an authority of SSLProxyCACertificateFile or SSLProxyCACertificatePath.",
    flag("SSLProxyCheckPeerName", PASSES, |d, on| d.settings().proxy.tls.check_name = Some(on))
        .default("On", "as in httpd"),
    "Whether a backend's certificate must be valid for the host of its URL.",
    flag("SSLProxyCheckPeerCN", PASSES, |d, on| d.settings().proxy.tls.check_name = Some(on))
        .because("SSLProxyCheckPeerName replaces it"),
    "The same as SSLProxyCheckPeerName.",
    flag("SSLProxyCheckPeerExpire", PASSES, |d, on| d.settings().proxy.tls.check_expire = Some(on))
        .default("On", "as in httpd"),
    "Whether a backend's certificate must not have expired.",
    path("SSLProxyCACertificateFile", PASSES, |d, path| authority(d, path, "SSLProxyCACertificateFile"))
        .because("needed with SSLProxyVerify require"),
    "Certificates of authorities in PEM. Read as root, and again when it changes.",
    path("SSLProxyCACertificatePath", PASSES, |d, path| authority(d, path, "SSLProxyCACertificatePath"))
        .because("needed with SSLProxyVerify require"),
    "A folder with certificates of authorities in PEM; names of the files do not matter.",
    path("SSLProxyMachineCertificateFile", PASSES, |d, path| {
        let file = NamedFile { path, at: d.at.clone(), directive: "SSLProxyMachineCertificateFile" };
        d.settings().proxy.tls.machine = Some(file);
    })
    .because("few backends ask for a certificate"),
    "This server's certificate and its key in PEM, for backends that ask for one.",
    words("SSLProxyProtocol", PASSES, "[+|-]version…", 1..=MANY, |d, args| {
        let versions: Versions = versions_of(d, args)?;
        d.settings().proxy.tls.versions = Some(versions);
        Ok(())
    })
    .because("all supported versions: TLSv1.2 and TLSv1.3"),
    "TLS versions of connections to backends, as SSLProtocol.",
    word("SSLProxyVerifyDepth", PASSES, "number", |_, text| number(text, &(0..=100)).map(drop))
        .because("chains have at most six certificates"),
    "Accepted: the depth of a chain is limited by the verifier.",
    words("SSLProxyCipherSuite", PASSES, "suites", 1..=2, |_, _| Ok(())).because("every supported suite is safe"),
    "Accepted: all suites that TLS here has are safe.",
];

fn authority(draft: &mut Draft, path: PathBuf, directive: &'static str) {
    let at = draft.at.clone();
    draft.settings().proxy.tls.authorities.push(NamedFile { path, at, directive });
}

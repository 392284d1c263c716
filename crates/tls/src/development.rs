//! Self-signed certificate for `cameleer run --tls`, reused until it is about to expire.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Datelike, Utc};
use rcgen::{CertificateParams, DnType, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use x509_cert::Certificate;
use x509_cert::der::Decode;

use super::identity;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Validity in days. Some browsers reject certificates that are valid for more than 398.
const VALID: u32 = 396;
/// Remaining days below which the certificate is renewed.
const MIN_LEFT: u32 = 30;

/// Paths of certificate and key.
pub struct CertificateFiles {
    /// Path of the certificate (PEM).
    pub certificate: PathBuf,
    /// Path of the key (PEM), which only the owner can read.
    pub key: PathBuf,
    /// Reason why a new certificate was made, if it was.
    pub made: Option<&'static str>,
}

/// Returns a certificate for `names` and its key in `folder`, which is created if missing. An existing certificate is
/// reused, so that users need not trust it again, unless it cannot be used.
pub fn write(folder: &Path, names: &[String]) -> anyhow::Result<CertificateFiles> {
    let mut files =
        CertificateFiles { certificate: folder.join("certificate.pem"), key: folder.join("key.pem"), made: None };
    let Some(why) = unfit(&files, names) else { return Ok(files) };
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let now = SystemTime::now();
    let mut params = CertificateParams::new(names)?;
    let [from, until] = [now - DAY, now + VALID * DAY].map(DateTime::<Utc>::from);
    params.not_before = date_time_ymd(from.year(), from.month() as u8, from.day() as u8);
    params.not_after = date_time_ymd(until.year(), until.month() as u8, until.day() as u8);
    params.distinguished_name.push(DnType::CommonName, "Cameleer, for development");
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    replace(&files.key, 0o600, &key.serialize_pem())?;
    replace(&files.certificate, 0o644, &certificate.pem())?;
    files.made = Some(why);
    Ok(files)
}

/// Whether a certificate can contain this name.
pub fn can_be_for(name: &str) -> bool {
    ServerName::try_from(name).is_ok()
}

/// Reason why the existing files cannot be used; `None`: they can be used.
fn unfit(files: &CertificateFiles, names: &[String]) -> Option<&'static str> {
    let (Ok(chain), Ok(key)) = (fs::read_to_string(&files.certificate), fs::read_to_string(&files.key)) else {
        return Some("there was no certificate");
    };
    let unreadable = Some("the existing one could not be read");
    if !identity::fit(&chain, &key) {
        return unreadable;
    }
    let Ok(leaf) = CertificateDer::from_pem_slice(chain.as_bytes()) else { return unreadable };
    let Ok(certificate) = Certificate::from_der(&leaf) else { return unreadable };
    let end = certificate.tbs_certificate().validity().not_after.to_system_time();
    if end < SystemTime::now() + MIN_LEFT * DAY {
        return Some("the existing one is about to expire");
    }
    let is_for = |parsed: &ParsedCertificate<'_>, name: &String| {
        ServerName::try_from(name.as_str()).is_ok_and(|name| rustls::client::verify_server_name(parsed, &name).is_ok())
    };
    let for_all = ParsedCertificate::try_from(&leaf).is_ok_and(|parsed| names.iter().all(|name| is_for(&parsed, name)));
    if for_all { None } else { Some("the existing one is for other names") }
}

/// Replaces a file atomically, because a server may be watching it.
fn replace(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&new)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&new, path)
}

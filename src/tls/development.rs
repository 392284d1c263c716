//! A certificate for `cameleer run --tls`: signed by nobody, for this machine, made anew at each start.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rcgen::generate_simple_self_signed;

/// Where [`write`] has put them.
pub struct Files {
    /// PEM.
    pub certificate: PathBuf,
    /// PEM, for nobody else to read.
    pub key: PathBuf,
}

/// Makes a certificate for `names` and writes it and its key into `folder`, which is made if it is not there. One that
/// is there already is kept, so that who has trusted it once need not do so again.
pub fn write(folder: &Path, names: &[String]) -> anyhow::Result<Files> {
    let files = Files { certificate: folder.join("certificate.pem"), key: folder.join("key.pem") };
    if files.certificate.exists() && files.key.exists() {
        return Ok(files);
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let made = generate_simple_self_signed(names)?;
    let mut key = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&files.key)?;
    key.write_all(made.signing_key.serialize_pem().as_bytes())?;
    fs::write(&files.certificate, made.cert.pem())?;
    Ok(files)
}

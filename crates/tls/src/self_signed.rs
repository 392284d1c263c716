//! Self-signed certificates, which nobody trusts.

use rcgen::{CertificateParams, CustomExtension, DnType, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate for `names` with these extensions, and its key.
pub fn certificate(
    names: &[String],
    extensions: Vec<CustomExtension>,
) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, "a certificate is being requested");
    params.custom_extensions = extensions;
    let key = KeyPair::generate()?;
    let certificate = params.self_signed(&key)?;
    Ok((certificate.der().clone(), PrivateKeyDer::Pkcs8(key.serialize_der().into())))
}

//! Private keys and certificate requests.

use std::process::Stdio;

use anyhow::{Context, bail};
use rcgen::{CertificateParams, DistinguishedName, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384};

use config::tls::managed::KeyType;

/// A new private key.
pub async fn generate(key_type: KeyType) -> anyhow::Result<KeyPair> {
    Ok(match key_type {
        KeyType::P256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?,
        KeyType::P384 => KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384)?,
        KeyType::Rsa(bits) => KeyPair::from_pem(&rsa(bits).await?).context("the key that openssl has made")?,
    })
}

/// A certificate request in DER.
pub fn request(key: &KeyPair, names: &[String]) -> anyhow::Result<Vec<u8>> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = DistinguishedName::new();
    Ok(params.serialize_request(key)?.der().to_vec())
}

/// An RSA key in PEM. The program's own cryptography makes none.
async fn rsa(bits: u32) -> anyhow::Result<String> {
    let make = move || {
        let mut command = std::process::Command::new("openssl");
        command.args(["genpkey", "-algorithm", "RSA", "-pkeyopt"]).arg(format!("rsa_keygen_bits:{bits}"));
        command.stdin(Stdio::null()).stderr(Stdio::null()).output()
    };
    let made = tokio::task::spawn_blocking(make).await?;
    let made = made.context("MDPrivateKeys: RSA keys are made by the program openssl; install it, or use secp256r1")?;
    if !made.status.success() {
        bail!("MDPrivateKeys: `openssl genpkey -algorithm RSA` failed; use secp256r1");
    }
    Ok(String::from_utf8(made.stdout)?)
}

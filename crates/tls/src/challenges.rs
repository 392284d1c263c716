//! Answers to certificate authorities that check whether names lead to this server (RFC 8555, section 8.3; RFC 8737).

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use rcgen::CustomExtension;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::server::ClientHello;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use wire::control::{Challenge, ChallengeType};

use super::self_signed;

/// The protocol that a client asks for by ALPN when it checks a name.
const ACME_TLS: &[u8] = b"acme-tls/1";
/// Begin of the paths of `http-01`.
const PATH: &str = "/.well-known/acme-challenge/";

/// The challenges that are answered now.
#[derive(Debug, Default)]
pub struct Challenges {
    /// Answers of `http-01` by token.
    tokens: HashMap<String, String>,
    /// The TLS of `tls-alpn-01` by name.
    names: HashMap<String, Arc<ServerConfig>>,
}

impl Challenges {
    /// Prepares the answers.
    pub fn new(challenges: Vec<Challenge>) -> anyhow::Result<Challenges> {
        let mut all = Challenges::default();
        for challenge in challenges {
            match challenge.kind {
                ChallengeType::Http01 => drop(all.tokens.insert(challenge.token, challenge.answer)),
                ChallengeType::TlsAlpn01 => {
                    let config = tls_alpn(&challenge).with_context(|| format!("tls-alpn-01 for {}", challenge.name))?;
                    all.names.insert(challenge.name, Arc::new(config));
                }
            }
        }
        Ok(all)
    }

    /// The content of the response to a request of this path, if an authority waits for it.
    pub fn answer(&self, path: &str) -> Option<&str> {
        self.tokens.get(path.strip_prefix(PATH)?).map(String::as_str)
    }

    /// The TLS settings for an authority that checks a name; `None`: the client wants something else.
    pub fn handshake(&self, hello: &ClientHello<'_>) -> Option<Arc<ServerConfig>> {
        if self.names.is_empty() || !hello.alpn()?.eq([ACME_TLS]) {
            return None;
        }
        self.names.get(&hello.server_name()?.to_ascii_lowercase()).cloned()
    }
}

/// A self-signed certificate with the digest of the answer.
fn tls_alpn(challenge: &Challenge) -> anyhow::Result<ServerConfig> {
    anyhow::ensure!(challenge.digest.len() == 32, "the digest has {} bytes", challenge.digest.len());
    let extension = CustomExtension::new_acme_identifier(&challenge.digest);
    let (certificate, key) = self_signed::certificate(std::slice::from_ref(&challenge.name), vec![extension])?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth();
    // The certificate has a critical extension, with which rustls' own check refuses it.
    let certified = CertifiedKey::new(vec![certificate], any_supported_type(&key)?);
    let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
    config.alpn_protocols = vec![ACME_TLS.to_vec()];
    config.send_tls13_tickets = 0;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_that_an_authority_waits_for_are_answered() {
        let challenge = Challenge {
            name: "www.example.org".to_owned(),
            kind: ChallengeType::Http01,
            token: "abc".to_owned(),
            answer: "abc.def".to_owned(),
            digest: vec![0; 32],
        };
        let alpn = Challenge { kind: ChallengeType::TlsAlpn01, token: "ghi".to_owned(), ..challenge.clone() };
        let challenges = Challenges::new(vec![challenge.clone(), alpn]).expect("answers");
        assert_eq!(challenges.answer("/.well-known/acme-challenge/abc"), Some("abc.def"));
        for path in ["/.well-known/acme-challenge/", "/.well-known/acme-challenge/ghi", "/abc", "abc"] {
            assert_eq!(challenges.answer(path), None, "{path}");
        }
        let short = Challenge { kind: ChallengeType::TlsAlpn01, digest: vec![1], ..challenge };
        assert!(Challenges::new(vec![short]).is_err());
    }
}

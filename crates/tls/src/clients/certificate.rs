//! The certificate of a client, as requests see it.

use std::sync::OnceLock;
use std::time::SystemTime;

use rustls::pki_types::{CertificateDer, UnixTime};
use x509_cert::Certificate;
use x509_cert::der::Decode;

use super::chain::MAX_SENT;
use super::{ClientTrust, Verdict};
use crate::names::{self, CertificateVariables, exact_assertion, one_line, pem};

const DAY: u64 = 24 * 60 * 60;

/// The certificates that a client has sent, and whether the first one is valid.
#[derive(Debug)]
pub struct ClientCertificate {
    /// Whether the certificate is valid.
    pub verdict: Verdict,
    chain: Vec<CertificateDer<'static>>,
    /// Computed at the first use.
    variables: OnceLock<CertificateVariables>,
}

impl ClientCertificate {
    /// Checks a client's certificates, also those of a resumed session: the lists may have changed since.
    pub fn new(mut chain: Vec<CertificateDer<'static>>, trust: &ClientTrust) -> Option<ClientCertificate> {
        chain.truncate(1 + MAX_SENT);
        let (leaf, more) = chain.split_first()?;
        let verdict = trust.judge(leaf, more, UnixTime::now());
        Some(ClientCertificate { verdict, chain, variables: OnceLock::new() })
    }

    /// The variables of `SSLOptions +StdEnvVars`, without `SSL_CLIENT_VERIFY`.
    pub fn variables(&self) -> impl Iterator<Item = (&str, String)> {
        let fixed = self.fields().iter().map(|(name, value)| (name.as_str(), value.clone()));
        fixed.chain(self.remaining().map(|days| ("SSL_CLIENT_V_REMAIN", days)))
    }

    /// The variables of `SSLOptions +ExportCertData`.
    pub fn exported(&self) -> impl Iterator<Item = (String, String)> {
        let name = |number: usize| match number.checked_sub(1) {
            None => "SSL_CLIENT_CERT".to_owned(),
            Some(number) => format!("SSL_CLIENT_CERT_CHAIN_{number}"),
        };
        self.chain.iter().enumerate().map(move |(number, certificate)| (name(number), pem(certificate)))
    }

    /// A variable `SSL_CLIENT_…` other than `SSL_CLIENT_VERIFY`.
    pub fn variable(&self, name: &str) -> Option<String> {
        if name == "SSL_CLIENT_V_REMAIN" {
            return self.remaining();
        }
        if name == "SSL_CLIENT_CERT" {
            return self.chain.first().map(|leaf| pem(leaf));
        }
        if let Some(number) = name.strip_prefix("SSL_CLIENT_CERT_CHAIN_") {
            return self.chain.get(number.parse::<usize>().ok()?.checked_add(1)?).map(|it| pem(it));
        }
        self.fields().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// The subject as the user of `SSLOptions +FakeBasicAuth`: `/C=DE/CN=Ana`.
    pub fn subject(&self) -> Option<String> {
        Certificate::from_der(self.chain.first()?).ok().map(|it| one_line(it.tbs_certificate().subject()))
    }

    fn fields(&self) -> &CertificateVariables {
        self.variables.get_or_init(|| {
            let Some(leaf) = self.chain.first() else { return Vec::new() };
            let mut fields = names::variables("SSL_CLIENT", leaf);
            fields.extend(exact_assertion(leaf).map(|text| ("SSL_CLIENT_CERT_RFC4523_CEA".to_owned(), text)));
            fields
        })
    }

    /// Days until the certificate expires.
    fn remaining(&self) -> Option<String> {
        let certificate = Certificate::from_der(self.chain.first()?).ok()?;
        let end = certificate.tbs_certificate().validity().not_after.to_system_time();
        let left = end.duration_since(SystemTime::now()).map_or(0, |left| left.as_secs() / DAY);
        Some(left.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;
    use crate::clients::Authorities;
    use config::response::ssl::Ssl;
    use config::tls::client_auth::{AskedCertificate, ClientVerify, RevocationCheck};

    fn trust_of(roots: Vec<CertificateDer<'static>>) -> ClientTrust {
        let authorities = Authorities {
            roots,
            anchors: Vec::new(),
            intermediates: Vec::new(),
            names: Vec::new(),
            revoked: Vec::new(),
        };
        let requested = AskedCertificate { enforced: ClientVerify::None, depth: 1 };
        ClientTrust { asked: requested, check: RevocationCheck::default(), authorities: Arc::new(authorities) }
    }

    fn self_signed() -> CertificateDer<'static> {
        let mut params = CertificateParams::new(["a.example".to_owned()]).expect("a name");
        params.distinguished_name.push(DnType::CommonName, "\u{dc}ber/\n");
        params.self_signed(&KeyPair::generate().expect("a key")).expect("a certificate").der().clone()
    }

    #[test]
    fn every_damaged_certificate_has_a_verdict_and_variables() {
        let good = self_signed().to_vec();
        let trust = trust_of(Vec::new());
        let cut = (0..good.len()).map(|length| good[..length].to_vec());
        let changed =
            (0..good.len()).flat_map(|at| [0x00, 0x7f, 0x80, 0xff].map(|byte| (at, byte))).map(|(at, byte)| {
                let mut bytes = good.clone();
                bytes[at] = byte;
                bytes
            });
        for bytes in cut.chain(changed) {
            let client = ClientCertificate::new(vec![CertificateDer::from(bytes)], &trust).expect("a certificate");
            assert!(!client.verdict.is_valid_at(&Ssl::default()));
            assert!(client.exported().count() == 1 && client.variables().count() < 50);
            assert!(client.subject().is_none_or(|subject| subject.bytes().all(|byte| (b' '..=b'~').contains(&byte))));
        }
    }

    #[test]
    fn a_self_signed_certificate_is_valid_if_it_is_a_root() {
        let own = self_signed();
        let of = |roots: Vec<CertificateDer<'static>>| {
            ClientCertificate::new(vec![own.clone()], &trust_of(roots))
                .expect("a certificate")
                .verdict
                .text_at(&Ssl::default())
        };
        assert_eq!(of(vec![own.clone()]), "SUCCESS");
        assert_eq!(of(vec![self_signed()]), "FAILED:self-signed certificate");
        let client = ClientCertificate::new(vec![own.clone()], &trust_of(Vec::new())).expect("a certificate");
        assert_eq!(client.subject().as_deref(), Some("/CN=\\xC3\\x9Cber/\\x0A"));
        let place = Ssl { verify: Some(ClientVerify::OptionalNoCa), ..Ssl::default() };
        assert_eq!(client.verdict.text_at(&place), "GENEROUS");
    }
}

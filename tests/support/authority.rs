//! Authorities for tests with certificates of clients.

use std::cell::Cell;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DistinguishedName, DnType,
    IsCa, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};

use super::Site;

/// An authority that signs certificates and lists of revoked ones.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    /// The certificates between this authority and its root, in PEM.
    between: String,
    next: Cell<u64>,
}

/// A certificate of a client.
pub struct Signed {
    /// X.509 in DER.
    pub der: Vec<u8>,
    /// In PEM, with the intermediate certificates.
    pub chain: String,
    pub key: KeyPair,
}

impl Authority {
    /// An authority with a self-signed certificate.
    pub fn new(name: &str) -> Authority {
        let (params, key) = (authority(name), KeyPair::generate().expect("a key"));
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        Authority { issuer, between: String::new(), next: Cell::new(1) }
    }

    /// Signs another authority, for chains.
    pub fn below(&self, name: &str) -> Authority {
        let mut params = authority(name);
        params.serial_number = Some(self.number());
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::signed_by(params, key, &self.issuer).expect("a certificate");
        let between = issuer.pem() + &self.between;
        Authority { issuer, between, next: Cell::new(1) }
    }

    /// The authority's certificate in PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// The authority's key in PEM.
    pub fn key(&self) -> String {
        self.issuer.key().serialize_pem()
    }

    /// A certificate for this common name, in Germany. The serial numbers of an authority are 1, 2, 3 …
    pub fn sign(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Signed {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CountryName, "DE");
        params.distinguished_name.push(DnType::CommonName, name);
        params.serial_number = Some(self.number());
        change(&mut params);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Signed { der: certificate.der().to_vec(), chain: certificate.pem() + &self.between, key }
    }

    /// A list in PEM of the certificates with these serial numbers, valid until 1 January of the year `until`.
    pub fn list(&self, serials: impl Iterator<Item = u64>, until: i32) -> String {
        self.list_made(2000, serials, until)
    }

    /// Such a list that was made on 1 January of the year `made`.
    pub fn list_made(&self, made: i32, serials: impl Iterator<Item = u64>, until: i32) -> String {
        let revoked = |serial: u64| RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(made, 1, 1),
            next_update: date_time_ymd(until, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: serials.map(revoked).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer).expect("a list").pem().expect("PEM")
    }

    fn number(&self) -> SerialNumber {
        SerialNumber::from(self.next.replace(self.next.get() + 1))
    }
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

impl Site {
    /// Writes `NAME.crt`, with the intermediate certificates, and `NAME.key`.
    pub fn client(self, name: &str, signed: &Signed) -> Site {
        self.file(&format!("{name}.crt"), &signed.chain).file(&format!("{name}.key"), &signed.key.serialize_pem())
    }
}

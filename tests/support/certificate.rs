//! Self-signed certificates for tests of TLS.

use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use super::Site;

impl Site {
    /// Writes `NAME.crt` and `NAME.key`, self-signed for these host names.
    pub fn certificate(self, name: &str, hosts: &[&str]) -> Site {
        self.certify(name, hosts, 4000);
        self
    }

    /// Writes the pair while the server runs. The certificate expires on 1 January of the year `until`.
    pub fn certify(&self, name: &str, hosts: &[&str], until: i32) {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).expect("host names");
        params.not_after = date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("a certificate");
        self.write(&format!("{name}.key"), &key.serialize_pem());
        self.write(&format!("{name}.crt"), &certificate.pem());
    }
}

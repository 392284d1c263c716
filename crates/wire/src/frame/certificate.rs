//! A client's certificate, as the front has judged it.

/// The facts about a client's certificate by which a worker judges a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeenCertificate {
    /// There is no TLS, so nobody has a certificate.
    WithoutTls,
    /// The client has none.
    Missing,
    /// An authority is this number of certificates above it.
    Valid(u8),
    /// The authority of the certificate is unknown; nothing else is wrong.
    Untrusted,
    /// Expired, revoked, or with another fault.
    Invalid,
}

impl SeenCertificate {
    /// The text of the field.
    pub fn encode(self) -> String {
        match self {
            SeenCertificate::WithoutTls => String::new(),
            SeenCertificate::Missing => "none".to_owned(),
            SeenCertificate::Valid(depth) => depth.to_string(),
            SeenCertificate::Untrusted => "untrusted".to_owned(),
            SeenCertificate::Invalid => "invalid".to_owned(),
        }
    }

    /// Reads the field. Another text is that of an invalid certificate.
    pub fn parse(field: &[u8]) -> SeenCertificate {
        match std::str::from_utf8(field) {
            Ok("") => SeenCertificate::WithoutTls,
            Ok("none") => SeenCertificate::Missing,
            Ok("untrusted") => SeenCertificate::Untrusted,
            text => {
                text.ok().and_then(|text| text.parse().ok()).map_or(SeenCertificate::Invalid, SeenCertificate::Valid)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SeenCertificate::{self, *};

    #[test]
    fn a_certificate_is_read_as_it_was_written() {
        for it in [WithoutTls, Missing, Valid(0), Valid(255), Untrusted, Invalid] {
            assert_eq!(SeenCertificate::parse(it.encode().as_bytes()), it);
        }
        assert_eq!(SeenCertificate::parse(b"256"), Invalid);
        assert_eq!(SeenCertificate::parse(b"\xff"), Invalid);
    }
}

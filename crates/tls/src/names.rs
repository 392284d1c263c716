//! Fields of a certificate as mod_ssl's variables `SSL_SERVER_…` and `SSL_CLIENT_…`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::CertificateDer;
use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode, Tag, Tagged};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::name::Name;
use x509_cert::time::Time;
use x509_cert::{Certificate, TbsCertificate};

/// Attributes of a distinguished name: OID, name in RFC 2253, and suffix of mod_ssl's variable, if it has one.
const PARTS: [(&str, &str, Option<&str>); 19] = [
    ("2.5.4.6", "C", Some("C")),
    ("2.5.4.8", "ST", Some("ST")),
    ("2.5.4.7", "L", Some("L")),
    ("2.5.4.10", "O", Some("O")),
    ("2.5.4.11", "OU", Some("OU")),
    ("2.5.4.3", "CN", Some("CN")),
    ("2.5.4.12", "title", Some("T")),
    ("2.5.4.43", "initials", Some("I")),
    ("2.5.4.42", "GN", Some("G")),
    ("2.5.4.4", "SN", Some("S")),
    ("2.5.4.13", "description", Some("D")),
    ("0.9.2342.19200300.100.1.1", "UID", Some("UID")),
    ("1.2.840.113549.1.9.1", "emailAddress", Some("Email")),
    ("0.9.2342.19200300.100.1.25", "DC", None),
    ("2.5.4.5", "serialNumber", None),
    ("2.5.4.9", "street", None),
    ("2.5.4.15", "businessCategory", None),
    ("2.5.4.17", "postalCode", None),
    ("2.5.4.97", "organizationIdentifier", None),
];

/// OpenSSL's names of key and signature algorithms.
const ALGORITHMS: [(&str, &str); 9] = [
    ("1.2.840.113549.1.1.1", "rsaEncryption"),
    ("1.2.840.10045.2.1", "id-ecPublicKey"),
    ("1.3.101.112", "ED25519"),
    ("1.2.840.113549.1.1.11", "sha256WithRSAEncryption"),
    ("1.2.840.113549.1.1.12", "sha384WithRSAEncryption"),
    ("1.2.840.113549.1.1.13", "sha512WithRSAEncryption"),
    ("1.2.840.10045.4.3.2", "ecdsa-with-SHA256"),
    ("1.2.840.10045.4.3.3", "ecdsa-with-SHA384"),
    ("1.2.840.10045.4.3.4", "ecdsa-with-SHA512"),
];

/// A name of a user in Active Directory, among a certificate's alternative names.
const MS_UPN: &str = "1.3.6.1.4.1.311.20.2.3";
/// Maximum number of variables about attributes or alternative names of a kind: a client's certificate may have
/// thousands.
const MAX_FIELDS: usize = 100;
/// Length of a line in PEM.
const PEM_LINE: usize = 64;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Variables and their values. Empty for an invalid certificate.
pub type CertificateVariables = Vec<(String, String)>;

/// The variables of a certificate; `owner` is the begin of their names, `SSL_SERVER` or `SSL_CLIENT`.
pub fn variables(owner: &str, certificate: &CertificateDer<'_>) -> CertificateVariables {
    let Ok(certificate) = Certificate::from_der(certificate) else { return Vec::new() };
    let body = certificate.tbs_certificate();
    let mut found = Vec::new();
    let mut say = |name: &str, value: String| found.push((format!("{owner}_{name}"), value));
    say("M_VERSION", (body.version() as u8 + 1).to_string());
    say("M_SERIAL", serial(body));
    say("V_START", date(&body.validity().not_before));
    say("V_END", date(&body.validity().not_after));
    say("A_KEY", algorithm(&body.subject_public_key_info().algorithm.oid));
    say("A_SIG", algorithm(&certificate.signature_algorithm().oid));
    for (which, name) in [("S_DN", body.subject()), ("I_DN", body.issuer())] {
        say(which, distinguished(name));
        parts(name).into_iter().for_each(|(part, value)| say(&format!("{which}_{part}"), value));
    }
    alternatives(body).into_iter().for_each(|(name, value)| say(&name, value));
    found
}

fn serial(body: &TbsCertificate) -> String {
    let bytes = body.serial_number().as_bytes();
    // A leading zero byte only marks the number as positive.
    let bytes = if let [0, rest @ ..] = bytes { rest } else { bytes };
    if bytes.is_empty() { "00".to_owned() } else { bytes.iter().map(|byte| format!("{byte:02X}")).collect() }
}

/// The certificate's serial number and issuer as in RFC 4523, for directories.
pub fn exact_assertion(certificate: &CertificateDer<'_>) -> Option<String> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let body = certificate.tbs_certificate();
    let (serial, issuer) = (decimal(body.serial_number().as_bytes()), distinguished(body.issuer()));
    Some(format!("{{ serialNumber {serial}, issuer rdnSequence:\"{issuer}\" }}"))
}

/// A number of any length, as decimal digits. A serial number has at most 20 bytes.
fn decimal(bytes: &[u8]) -> String {
    let mut digits = vec![0u8];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            let value = u32::from(*digit) * 256 + carry;
            *digit = (value % 10) as u8;
            carry = value / 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

/// Formats a date: `Nov  1 12:00:00 2026 GMT`.
fn date(time: &Time) -> String {
    let at = time.to_date_time();
    let month = MONTHS.get(usize::from(at.month()).wrapping_sub(1)).unwrap_or(&"");
    let (day, year) = (at.day(), at.year());
    format!("{month} {day:>2} {:02}:{:02}:{:02} {year} GMT", at.hour(), at.minutes(), at.seconds())
}

fn algorithm(oid: &ObjectIdentifier) -> String {
    let oid = oid.to_string();
    let known = ALGORITHMS.iter().find(|(known, _)| *known == oid);
    known.map_or(oid, |(_, name)| (*name).to_owned())
}

/// Formats a name as in RFC 2253: the last part first.
fn distinguished(name: &Name) -> String {
    let relative: Vec<String> = name
        .iter_rdn()
        .map(|rdn| {
            let parts: Vec<String> =
                rdn.iter().map(|part| format!("{}={}", label(part), escaped(&text(part)))).collect();
            parts.join("+")
        })
        .collect();
    relative.into_iter().rev().collect::<Vec<_>>().join(",")
}

/// Formats a name as OpenSSL's `X509_NAME_oneline`: `/C=DE/CN=Ana`, other bytes than printable ASCII as `\xC3`.
pub fn one_line(name: &Name) -> String {
    let mut out = String::new();
    for part in name.iter() {
        out.push_str(&format!("/{}=", label(part)));
        for byte in text(part).bytes() {
            match byte {
                b' '..=b'~' => out.push(char::from(byte)),
                byte => out.push_str(&format!("\\x{byte:02X}")),
            }
        }
    }
    out
}

/// Base64 in lines of 64 characters, between BEGIN and END (RFC 7468).
pub fn pem(certificate: &CertificateDer<'_>) -> String {
    let encoded = STANDARD.encode(certificate);
    let mut out = String::with_capacity(encoded.len() + encoded.len() / PEM_LINE + 60);
    out.push_str("-----BEGIN CERTIFICATE-----\n");
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(PEM_LINE));
        out.push_str(line);
        out.push('\n');
        rest = more;
    }
    out.push_str("-----END CERTIFICATE-----\n");
    out
}

fn label(part: &AttributeTypeAndValue) -> String {
    let oid = part.oid.to_string();
    let known = PARTS.iter().find(|(known, ..)| *known == oid);
    known.map_or(oid, |(_, label, _)| (*label).to_owned())
}

/// Attributes of a name. The first of a kind has no number, further ones are numbered from 1.
fn parts(name: &Name) -> CertificateVariables {
    let mut found: CertificateVariables = Vec::new();
    let named: Vec<(String, &AttributeTypeAndValue)> = name.iter().map(|part| (part.oid.to_string(), part)).collect();
    for (oid, _, variable) in PARTS {
        let Some(variable) = variable else { continue };
        let all = named.iter().filter(|(known, _)| known == oid).take(MAX_FIELDS);
        for (number, (_, part)) in all.enumerate() {
            let variable = if number == 0 { variable.to_owned() } else { format!("{variable}_{number}") };
            found.push((variable, text(part)));
        }
    }
    found
}

/// Alternative names, numbered from 0.
fn alternatives(body: &TbsCertificate) -> CertificateVariables {
    let Ok(Some((_, SubjectAltName(names)))) = body.get_extension::<SubjectAltName>() else { return Vec::new() };
    let hosts = names.iter().filter_map(|name| if let GeneralName::DnsName(name) = name { Some(name) } else { None });
    let mails =
        names.iter().filter_map(|name| if let GeneralName::Rfc822Name(name) = name { Some(name) } else { None });
    let users = names.iter().filter_map(|name| match name {
        GeneralName::OtherName(name) if name.type_id.to_string() == MS_UPN => {
            Some(String::from_utf8_lossy(name.value.value()).into_owned())
        }
        _ => None,
    });
    let hosts =
        hosts.take(MAX_FIELDS).enumerate().map(|(number, name)| (format!("SAN_DNS_{number}"), name.to_string()));
    let mails =
        mails.take(MAX_FIELDS).enumerate().map(|(number, name)| (format!("SAN_Email_{number}"), name.to_string()));
    let users = users.take(MAX_FIELDS).enumerate().map(|(number, name)| (format!("SAN_OTHER_msUPN_{number}"), name));
    mails.chain(hosts).chain(users).collect()
}

fn text(part: &AttributeTypeAndValue) -> String {
    let bytes = part.value.value();
    match part.value.tag() {
        Tag::TeletexString => bytes.iter().copied().map(char::from).collect(),
        Tag::BmpString => {
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|pair| u16::from(pair[0]) << 8 | u16::from(pair[1])).collect();
            String::from_utf16_lossy(&units)
        }
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn escaped(text: &str) -> String {
    let last = text.chars().count().saturating_sub(1);
    let mut out = String::with_capacity(text.len());
    for (place, c) in text.chars().enumerate() {
        match c {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => out.extend(['\\', c]),
            '#' | ' ' if place == 0 => out.extend(['\\', c]),
            ' ' if place == last => out.extend(['\\', c]),
            '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\{:02X}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType, SerialNumber};

    use super::*;

    #[test]
    fn a_certificate_has_mod_ssls_variables() {
        let mut params =
            CertificateParams::new(["www.example.org".to_owned(), "example.org".to_owned()]).expect("names");
        params.subject_alt_names.push(SanType::Rfc822Name("a@example.org".try_into().expect("an address")));
        params.serial_number = Some(SerialNumber::from_slice(&[0xab, 0x0c]));
        params.not_before = rcgen::date_time_ymd(2026, 1, 5);
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Camel, Ltd");
        params.distinguished_name.push(DnType::CommonName, "#1 of \u{fc}");
        let key = KeyPair::generate().expect("a key");
        let variables = variables("SSL_SERVER", params.self_signed(&key).expect("a certificate").der());
        let of = |name: &str| {
            let found = variables.iter().find(|(known, _)| known.strip_prefix("SSL_SERVER_") == Some(name));
            found.map_or("", |(_, value)| value)
        };
        let expected = [
            ("M_VERSION", "3"),
            ("M_SERIAL", "AB0C"),
            ("V_START", "Jan  5 00:00:00 2026 GMT"),
            ("S_DN", "CN=\\#1 of \u{fc},O=Camel\\, Ltd"),
            ("I_DN_O", "Camel, Ltd"),
            ("S_DN_CN", "#1 of \u{fc}"),
            ("A_KEY", "id-ecPublicKey"),
            ("A_SIG", "ecdsa-with-SHA256"),
            ("SAN_DNS_0", "www.example.org"),
            ("SAN_DNS_1", "example.org"),
            ("SAN_Email_0", "a@example.org"),
        ];
        expected.iter().for_each(|(name, value)| assert_eq!(of(name), *value, "{name}"));
        for (bytes, number) in
            [(&[][..], "0"), (&[0, 0], "0"), (&[1, 0], "256"), (&[0xff; 9], "4722366482869645213695")]
        {
            assert_eq!(decimal(bytes), number);
        }
        assert_eq!(super::variables("SSL_CLIENT", &CertificateDer::from_slice(b"nonsense")), []);
    }
}

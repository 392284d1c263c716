//! Extensions (TLVs) of the PROXY header, version 2: what the balancer knows about the client's connection (HAProxy's
//! proxy-protocol.txt, section 2.2). The names of the variables are nginx's.

/// Length of a header without addresses.
const FIXED: usize = 16;
/// A type that is not a variable: the CRC-32C of the whole header.
const CRC32C: u8 = 0x03;
/// A type with TLVs of its own, about TLS.
const SSL: u8 = 0x20;
/// The client has used TLS: a flag of [`SSL`].
const CLIENT_SSL: u8 = 1;
/// Maximum length of a value in bytes. The specification allows 255 for a name and 128 for an identity.
const MAX_VALUE: usize = 255;

/// An extension: the position of its value in the header, its type, and the value.
type Extension<'a> = (usize, u8, &'a [u8]);

/// Name and value of variables of programs.
pub type ProxyVariables = Vec<(&'static str, String)>;

/// Why the extensions cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadExtension {
    /// An extension is longer than the header, or too short for its type.
    #[error("an extension (TLV) is cut off")]
    CutOff,
    /// The CRC-32C is wrong, or there are two.
    #[error("the extension CRC32C differs from the header's checksum")]
    Checksum,
}

/// The variables of a complete header. A header of version 1, or of the balancer's own connection, has none.
pub fn read(header: &[u8]) -> Result<ProxyVariables, BadExtension> {
    let Some(rest) = extensions(header) else { return Ok(Vec::new()) };
    let (mut variables, mut is_checked) = (Vec::new(), false);
    for (at, kind, value) in all(rest, header.len() - rest.len())? {
        match kind {
            // Each check reads the whole header.
            CRC32C if is_checked => return Err(BadExtension::Checksum),
            CRC32C => {
                check(header, at, value)?;
                is_checked = true;
            }
            SSL => about_tls(value, &mut variables)?,
            _ => add(&mut variables, named(kind, value)),
        }
    }
    Ok(variables)
}

/// Adds a variable, unless there is one of this name.
fn add(variables: &mut ProxyVariables, variable: Option<(&'static str, String)>) {
    variables.extend(variable.filter(|(name, _)| !variables.iter().any(|(known, _)| known == name)));
}

/// The bytes behind the addresses of a header with command PROXY.
fn extensions(header: &[u8]) -> Option<&[u8]> {
    let (&version, &family) = (header.get(12)?, header.get(13)?);
    let addresses = match (version, family) {
        (0x21, 0x11) => 12,
        (0x21, 0x21) => 36,
        _ => return None,
    };
    header.get(FIXED + addresses..).filter(|rest| !rest.is_empty())
}

/// All extensions in `rest`, which begins at this position of the header.
fn all(mut rest: &[u8], begin: usize) -> Result<Vec<Extension<'_>>, BadExtension> {
    let (mut at, mut found) = (begin, Vec::new());
    while !rest.is_empty() {
        let (&[kind, high, low], behind) = rest.split_first_chunk().ok_or(BadExtension::CutOff)?;
        let length = usize::from(u16::from_be_bytes([high, low]));
        let (value, next) = behind.split_at_checked(length).ok_or(BadExtension::CutOff)?;
        found.push((at + 3, kind, value));
        (at, rest) = (at + 3 + length, next);
    }
    Ok(found)
}

/// `PP2_TYPE_SSL`: flags, the result of the verification, and TLVs.
fn about_tls(value: &[u8], variables: &mut ProxyVariables) -> Result<(), BadExtension> {
    let (&[flags, verify @ ..], inner) = value.split_first_chunk::<5>().ok_or(BadExtension::CutOff)?;
    if flags & CLIENT_SSL == 0 {
        return Ok(());
    }
    add(variables, Some(("PROXY_PROTOCOL_TLV_SSL_VERIFY", u32::from_be_bytes(verify).to_string())));
    all(inner, 0)?.into_iter().for_each(|(_, kind, value)| add(variables, named(kind, value)));
    Ok(())
}

/// The variable of an extension. Values that are too long or no printable text are left out.
fn named(kind: u8, value: &[u8]) -> Option<(&'static str, String)> {
    let name = match kind {
        0x01 => "PROXY_PROTOCOL_TLV_ALPN",
        0x02 => "PROXY_PROTOCOL_TLV_AUTHORITY",
        0x05 => "PROXY_PROTOCOL_TLV_UNIQUE_ID",
        0x21 => "PROXY_PROTOCOL_TLV_SSL_VERSION",
        0x22 => "PROXY_PROTOCOL_TLV_SSL_CN",
        0x23 => "PROXY_PROTOCOL_TLV_SSL_CIPHER",
        0x24 => "PROXY_PROTOCOL_TLV_SSL_SIG_ALG",
        0x25 => "PROXY_PROTOCOL_TLV_SSL_KEY_ALG",
        0x30 => "PROXY_PROTOCOL_TLV_NETNS",
        _ => return None,
    };
    let text = std::str::from_utf8(value).ok().filter(|text| text.len() <= MAX_VALUE)?;
    let is_printable = !text.is_empty() && !text.chars().any(char::is_control);
    is_printable.then(|| (name, text.to_owned()))
}

/// Compares the checksum at `at` with that of the header, in which its own bytes count as 0.
fn check(header: &[u8], at: usize, value: &[u8]) -> Result<(), BadExtension> {
    let sent = value.try_into().map(u32::from_be_bytes).map_err(|_| BadExtension::CutOff)?;
    let (before, rest) = header.split_at_checked(at).ok_or(BadExtension::CutOff)?;
    let behind = rest.get(value.len()..).ok_or(BadExtension::CutOff)?;
    let bytes = before.iter().copied().chain([0; 4]).chain(behind.iter().copied());
    if crc32c(bytes) == sent { Ok(()) } else { Err(BadExtension::Checksum) }
}

/// CRC-32C (RFC 9260, appendix A). A header is short, and needs no table.
fn crc32c(bytes: impl Iterator<Item = u8>) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let crc = bytes.fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 })
    });
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tlv(kind: u8, value: &[u8]) -> Vec<u8> {
        [&[kind][..], &(value.len() as u16).to_be_bytes(), value].concat()
    }

    fn header(tlvs: &[u8]) -> Vec<u8> {
        let length = (12 + tlvs.len() as u16).to_be_bytes();
        let v4 = [192, 0, 2, 1, 198, 51, 100, 1, 0x13, 0x88, 0, 80];
        [b"\r\n\r\n\0\r\nQUIT\n\x21\x11", &length[..], &v4, tlvs].concat()
    }

    #[test]
    fn extensions_are_variables_with_the_names_of_nginx() {
        let inner =
            [tlv(0x21, b"TLSv1.3"), tlv(0x22, b"client.example"), tlv(0x23, b"TLS_AES_128_GCM_SHA256")].concat();
        let ssl = [&[1, 0, 0, 0, 0][..], &inner].concat();
        let sent = [tlv(0x01, b"h2"), tlv(0x02, b"shop.example"), tlv(0x05, b"id-1"), tlv(0x20, &ssl), tlv(0xee, b"?")];
        let named: Vec<String> = read(&header(&sent.concat()))
            .expect("valid")
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            named,
            [
                "PROXY_PROTOCOL_TLV_ALPN=h2",
                "PROXY_PROTOCOL_TLV_AUTHORITY=shop.example",
                "PROXY_PROTOCOL_TLV_UNIQUE_ID=id-1",
                "PROXY_PROTOCOL_TLV_SSL_VERIFY=0",
                "PROXY_PROTOCOL_TLV_SSL_VERSION=TLSv1.3",
                "PROXY_PROTOCOL_TLV_SSL_CN=client.example",
                "PROXY_PROTOCOL_TLV_SSL_CIPHER=TLS_AES_128_GCM_SHA256",
            ]
        );
        let without_tls = [&[0, 0, 0, 0, 0][..], &inner].concat();
        assert_eq!(read(&header(&tlv(0x20, &without_tls))), Ok(Vec::new()));
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        assert_eq!(crc32c(b"123456789".iter().copied()), 0xe306_9283, "the check value of CRC-32C");
        let with =
            |sum: u32| header(&[tlv(0x02, b"a.example"), tlv(CRC32C, &sum.to_be_bytes()), tlv(0x05, b"x")].concat());
        let right = crc32c(with(0).into_iter());
        assert_eq!(read(&with(right)).map(|variables| variables.len()), Ok(2));
        assert_eq!(read(&with(right ^ 1)), Err(BadExtension::Checksum));
        assert_eq!(read(&header(&tlv(CRC32C, b"123"))), Err(BadExtension::CutOff));
        assert_eq!(read(&header(&tlv(0x01, b"h2").repeat(10_000))).map(|variables| variables.len()), Ok(1));
    }

    #[test]
    fn hostile_extensions_are_errors_or_left_out() {
        for cut in
            [&b"\x01"[..], b"\x01\x00", b"\x01\x00\x05ab", b"\x20\x00\x04abcd", b"\x20\x00\x07\x01\0\0\0\0\x21\0"]
        {
            assert_eq!(read(&header(cut)), Err(BadExtension::CutOff), "{cut:?}");
        }
        for value in [&b""[..], b"a\nb", b"\xff", "x".repeat(256).as_bytes(), "x".repeat(60_000).as_bytes()] {
            assert_eq!(read(&header(&tlv(0x02, value))), Ok(Vec::new()));
        }
        assert_eq!(read(b"PROXY TCP4 192.0.2.1 198.51.100.1 5000 80\r\n"), Ok(Vec::new()));
        assert_eq!(read(&header(b"")), Ok(Vec::new()));
    }
}

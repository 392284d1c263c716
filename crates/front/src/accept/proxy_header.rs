//! Parser of the PROXY header, versions 1 and 2. It never asks for bytes behind the header, because they are the
//! client's.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Signature of version 2. A line of version 1 is at least as long.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Length of a version 2 header without its addresses.
const FIXED: usize = 16;
/// Longest line of version 1, including CR LF.
const MAX_LINE_BYTES: usize = 107;

/// Source address of a header. `None`: the balancer's own connection (LOCAL), or unknown.
pub type SourceAddress = Option<SocketAddr>;

/// Result of parsing the bytes so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseStatus {
    /// The header is incomplete: read this many bytes more, no further.
    Read(usize),
    /// The header is complete; the client's data follows.
    Done(SourceAddress),
    /// The bytes are no PROXY header.
    Wrong,
}

/// Parses the beginning of a connection; `header` has exactly the bytes that were asked for.
pub fn parse(header: &[u8]) -> ParseStatus {
    let whole = match header.starts_with(SIGNATURE) {
        _ if header.len() < SIGNATURE.len() => return ParseStatus::Read(SIGNATURE.len() - header.len()),
        true => match length(header) {
            Some(length) if header.len() < length => return ParseStatus::Read(length - header.len()),
            Some(_) => binary(header),
            None => return ParseStatus::Read(FIXED - header.len()),
        },
        false if header.ends_with(b"\n") => line(header),
        // The end of the line is unknown, so version 1 is read byte by byte.
        false if header.len() < MAX_LINE_BYTES && header.starts_with(b"PROXY ") => return ParseStatus::Read(1),
        false => None,
    };
    whole.map_or(ParseStatus::Wrong, ParseStatus::Done)
}

/// Total length of a version 2 header; `None`: the length field has not arrived.
fn length(header: &[u8]) -> Option<usize> {
    let length = header.get(SIGNATURE.len() + 2..)?.first_chunk()?;
    Some(FIXED + usize::from(u16::from_be_bytes(*length)))
}

/// Parses version 1: `PROXY TCP4 192.0.2.1 198.51.100.1 5000 80`
fn line(line: &[u8]) -> Option<SourceAddress> {
    let line = std::str::from_utf8(line).ok()?.strip_prefix("PROXY ")?.strip_suffix("\r\n")?;
    if line == "UNKNOWN" || line.starts_with("UNKNOWN ") {
        return Some(None);
    }
    let mut words = line.split(' ');
    let (family, from, to) = (words.next()?, words.next()?, words.next()?);
    let (from_port, to_port) = (port(words.next()?)?, port(words.next()?)?);
    let client = SocketAddr::new(address(family, from)?, from_port);
    let _ = SocketAddr::new(address(family, to)?, to_port);
    words.next().is_none().then_some(Some(client))
}

fn address(family: &str, text: &str) -> Option<IpAddr> {
    match family {
        "TCP4" => text.parse().ok().map(IpAddr::V4),
        "TCP6" => text.parse().ok().map(IpAddr::V6),
        _ => None,
    }
}

fn port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Parses version 2: version and command, family, length, addresses, ports, and extensions (TLVs), which `proxy_tlv`
/// reads.
fn binary(header: &[u8]) -> Option<SourceAddress> {
    let (&[version, family], rest) = header.get(12..)?.split_first_chunk()?;
    let ends = rest.get(2..)?;
    match (version, family) {
        (0x20, _) | (0x21, 0x00) => Some(None),
        (0x21, 0x11) => {
            let (from, rest) = ends.split_first_chunk::<4>()?;
            Some(Some((Ipv4Addr::from(*from), port_at(rest, 4)?).into()))
        }
        (0x21, 0x21) => {
            let (from, rest) = ends.split_first_chunk::<16>()?;
            Some(Some((Ipv6Addr::from(*from), port_at(rest, 16)?).into()))
        }
        _ => None,
    }
}

/// The source port, which follows the destination address of `other` bytes.
fn port_at(rest: &[u8], other: usize) -> Option<u16> {
    let (port, further) = rest.get(other..)?.split_first_chunk()?;
    further.first_chunk::<2>().map(|_| u16::from_be_bytes(*port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_client() {
        let client = |text: &str| Some(Some(text.parse().expect("an address")));
        assert_eq!(line(b"PROXY TCP4 192.0.2.1 198.51.100.1 5000 80\r\n"), client("192.0.2.1:5000"));
        assert_eq!(line(b"PROXY TCP6 2001:db8::1 ::1 5000 80\r\n"), client("[2001:db8::1]:5000"));
        assert_eq!(line(b"PROXY UNKNOWN\r\n"), Some(None));
        assert_eq!(line(b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n"), Some(None));
        for wrong in [
            "PROXY TCP4 192.0.2.1 198.51.100.1 5000 80\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 5000\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 5000 80 1\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 +500 80\r\n",
            "PROXY TCP4 192.0.2.1 198.51.100.1 65536 80\r\n",
            "PROXY TCP4  192.0.2.1 198.51.100.1 5000 80\r\n",
            "PROXY TCP4 ::1 ::1 5000 80\r\n",
            "PROXY TCP5 192.0.2.1 198.51.100.1 5000 80\r\n",
            "PROXY \r\n",
            "GET / HTTP/1.1\r\n",
        ] {
            assert_eq!(line(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn a_binary_header_names_the_client() {
        let header = |version: u8, family: u8, ends: &[u8]| {
            let length = (ends.len() as u16).to_be_bytes();
            binary(&[&SIGNATURE[..], &[version, family], &length, ends].concat())
        };
        let v4 = [192, 0, 2, 1, 198, 51, 100, 1, 0x13, 0x88, 0, 80];
        assert_eq!(header(0x21, 0x11, &v4), Some(Some("192.0.2.1:5000".parse().expect("an address"))));
        assert_eq!(header(0x21, 0x11, &[&v4[..], &[4, 0, 1, 0]].concat()), header(0x21, 0x11, &v4));
        let v6 = [[0; 31].as_slice(), &[1, 0x13, 0x88, 0, 80]].concat();
        assert_eq!(header(0x21, 0x21, &v6), Some(Some("[::]:5000".parse().expect("an address"))));
        assert_eq!((header(0x20, 0, &[]), header(0x21, 0, &[1])), (Some(None), Some(None)));
        for (version, family, length) in [(0x21, 0x11, 11), (0x21, 0x21, 12), (0x11, 0x11, 12), (0x21, 0x12, 12)] {
            assert_eq!(header(version, family, &v4[..length]), None, "{version:x} {family:x} {length}");
        }
    }
}

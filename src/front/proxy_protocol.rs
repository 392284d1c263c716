//! The PROXY header, versions 1 and 2, with which a balancer begins a connection: who the client is. What follows it is
//! not touched.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::io::ReadBuf;
use tokio::time::timeout;

use super::client::{Address, Client};
use super::socket::Socket;

/// How version 2 begins.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// The longest line of version 1, with its end.
const LONGEST_LINE: usize = 107;

/// Who the client is; `None`: the connection is the balancer's own, or it does not know.
type Said = Option<SocketAddr>;

/// Reads the header where one is expected: the address of the client.
pub async fn greet(client: &Client, socket: &mut Socket) -> Result<Address, io::Error> {
    let (config, remote) = (&client.site.config, client.remote.clone());
    let host = &config.hosts[usize::from(config.host(client.local.socket, ""))];
    if !host.remote_ip.expects_proxy_header(remote.socket.map(|remote| remote.ip())) {
        return Ok(remote);
    }
    let said = timeout(config.timeouts.client, Box::pin(read(socket))).await??;
    Ok(said.map_or(remote, Address::tcp))
}

async fn read(socket: &mut Socket) -> io::Result<Said> {
    let mut header = vec![0; SIGNATURE.len()];
    fill(socket, &mut header, 0).await?;
    if header == SIGNATURE {
        header.resize(16, 0);
        fill(socket, &mut header, 12).await?;
        let length = usize::from(u16::from_be_bytes([header[14], header[15]]));
        header.resize(16 + length, 0);
        fill(socket, &mut header, 16).await?;
        return binary(&header).ok_or_else(bad);
    }
    // One byte at a time: what follows the line is the client's.
    while !header.ends_with(b"\n") {
        let at = header.len();
        if at == LONGEST_LINE || !header.starts_with(b"PROXY ") {
            return Err(bad());
        }
        header.push(0);
        fill(socket, &mut header, at).await?;
    }
    line(&header).ok_or_else(bad)
}

fn bad() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "no PROXY header")
}

/// Reads until `buffer` is full, which it is up to `from`.
async fn fill(socket: &mut Socket, buffer: &mut [u8], from: usize) -> io::Result<()> {
    let mut into = ReadBuf::new(buffer);
    into.set_filled(from);
    while into.remaining() > 0 {
        let before = into.remaining();
        poll_fn(|cx| socket.poll_read(cx, &mut into)).await?;
        if into.remaining() == before {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

/// `PROXY TCP4 192.0.2.1 198.51.100.1 5000 80`
fn line(line: &[u8]) -> Option<Said> {
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

/// Version, command and family; then, as the family has it, addresses, ports, and what we need not know.
fn binary(header: &[u8]) -> Option<Said> {
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

/// The first of the two ports behind the other address.
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

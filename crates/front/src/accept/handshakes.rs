//! Unfinished handshakes with a port. The kernel is asked by NETLINK_SOCK_DIAG (sock_diag(7)) for sockets of that port
//! in state SYN_RECV only. `/proc/net/tcp`, the fallback, prints every connection of the machine.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

/// `SOCK_DIAG_BY_FAMILY`: the type of the request and of each socket in the answer.
const BY_FAMILY: u16 = 20;
/// `NLMSG_DONE`: the type of the last message of an answer.
const DONE: u16 = 3;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const DUMP: u16 = 0x301;
/// `TCP_SYN_RECV` in `struct inet_diag_req_v2`; the kernel adds TCP_NEW_SYN_RECV.
const SYN_RECV_STATE: u32 = 1 << 3;
/// An unfinished handshake in `/proc/net/tcp`.
const SYN_RECV: &str = "03";

/// Whether a handshake with local port `port` is unfinished. Clients of an IPv6 listener by IPv4 count as IPv6.
pub fn are_unfinished(is_ipv6: bool, port: u16) -> bool {
    by_netlink(is_ipv6, port).unwrap_or_else(|_| read(is_ipv6, port))
}

/// # Errors
///
/// Netlink sockets are forbidden, or the kernel lacks inet_diag.
fn by_netlink(is_ipv6: bool, port: u16) -> io::Result<bool> {
    let netlink = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkSockDiag)?;
    send(netlink.as_raw_fd(), &question(is_ipv6, port), MsgFlags::empty())?;
    let mut answer = [0; 4096];
    // The kernel has answered before `send` returns.
    let length = recv(netlink.as_raw_fd(), &mut answer, MsgFlags::MSG_DONTWAIT)?;
    first_kind(&answer[..length])
}

/// `struct nlmsghdr` and `struct inet_diag_req_v2`, in the machine's byte order except for the port.
fn question(is_ipv6: bool, port: u16) -> Vec<u8> {
    const LENGTH: u32 = 72;
    let family = if is_ipv6 { AddressFamily::Inet6 } else { AddressFamily::Inet } as u8;
    const TCP: u8 = 6;
    let mut bytes = Vec::with_capacity(LENGTH as usize);
    bytes.extend(LENGTH.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(DUMP.to_ne_bytes());
    bytes.extend([0; 8]); // number and sender
    bytes.extend([family, TCP, 0, 0]);
    bytes.extend(SYN_RECV_STATE.to_ne_bytes());
    bytes.extend(port.to_be_bytes());
    bytes.resize(LENGTH as usize, 0); // any peer and address
    bytes
}

/// Whether the answer begins with a socket entry; false: the list is empty.
fn first_kind(answer: &[u8]) -> io::Result<bool> {
    match answer.get(4..6).map(|kind| u16::from_ne_bytes([kind[0], kind[1]])) {
        Some(BY_FAMILY) => Ok(true),
        Some(DONE) => Ok(false),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn read(is_ipv6: bool, port: u16) -> bool {
    let file = if is_ipv6 { "/proc/net/tcp6" } else { "/proc/net/tcp" };
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().skip(1).any(|line| is_unfinished(line, port))
}

/// A line of `/proc/net/tcp`: `  12: 0100007F:1F90 0100007F:D431 03 …`
fn is_unfinished(line: &str, port: u16) -> bool {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (local, _, state) = (fields.next(), fields.next(), fields.next());
    let local = local.and_then(|local| local.rsplit_once(':')).and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
    state == Some(SYN_RECV) && local == Some(port)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use sys::defer_accept;

    use super::*;

    #[test]
    fn netlink_and_proc_know_a_handshake_that_is_deferred_until_the_client_sends() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let local = listener.local_addr().expect("bound");
            let now = || (by_netlink(local.is_ipv6(), local.port()).ok(), read(local.is_ipv6(), local.port()));
            defer_accept(&listener, Duration::from_secs(30)).expect("an option");
            assert_eq!(now(), (Some(false), false), "{address}");
            let mut client = TcpStream::connect(local).expect("it listens");
            assert_eq!(now(), (Some(true), true), "{address}");
            client.write_all(b"x").expect("connected");
            listener.accept().expect("the client has sent");
            assert_eq!(now(), (Some(false), false), "{address}");
        }
    }

    #[test]
    fn an_answer_that_is_no_socket_and_no_end_is_an_error() {
        const ERROR: u16 = 2;
        for (kind, expected) in [(BY_FAMILY, Some(true)), (DONE, Some(false)), (ERROR, None)] {
            let answer = [&20_u32.to_ne_bytes()[..], &kind.to_ne_bytes()].concat();
            assert_eq!(first_kind(&answer).ok(), expected, "{kind}");
        }
        assert!(first_kind(&[]).is_err());
    }

    #[test]
    fn unfinished_handshakes_are_distinguished_from_connections_and_other_ports() {
        let line = |port, state| format!("  12: 0100007F:{port} 0100007F:D431 {state} 00000000:00000000 01:00000064");
        assert!(is_unfinished(&line("1F90", "03"), 8080));
        assert!(!is_unfinished(&line("1F90", "01"), 8080));
        assert!(!is_unfinished(&line("1F91", "03"), 8080));
        assert!(!is_unfinished("", 8080) && !is_unfinished("nonsense", 8080));
        let six =
            "   0: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:BC5C 03 00000000:00000000";
        assert!(is_unfinished(six, 8080));
    }
}

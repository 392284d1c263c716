//! The listening sockets: bound before anything else starts, and held over reloads and restarts of other processes.

use std::fs::{remove_file, symlink_metadata};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use nix::sys::socket::{
    AddressFamily, Backlog, Shutdown, SockFlag, SockType, SockaddrLike, SockaddrStorage, UnixAddr, bind, getsockname,
    getsockopt, listen, setsockopt, shutdown, socket, sockopt,
};
use nix::sys::stat::{Mode, umask};
use socket2::{SockFilter, SockRef};

use super::passed::{self, PassedSockets};
use crate::children::peer::Fd;
use crate::configuration::{CheckedConfig, address_name};
use base::log;
use config::Listen;

/// A filter for the kernel that drops segments with SYN and without ACK, the first of each connection. Byte 13 of a TCP
/// header holds the flags. Handshakes under way are finished.
const NO_NEW_CONNECTION: [SockFilter; 5] = {
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const SYN: u32 = 0x02;
    const ACK: u32 = 0x10;
    [
        SockFilter::new(LOAD_BYTE, 0, 0, 13),
        SockFilter::new(AND, 0, 0, SYN | ACK),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ]
};

/// Backlog of the monitor's sockets.
const PRIVATE_BACKLOG: i32 = 128;

/// Survives reloads that still name its address.
#[derive(Debug, Clone)]
pub struct BoundSocket {
    /// As in `Listen`, or as systemd bound it.
    pub address: Listen,
    /// Passed to each new front.
    pub fd: Fd,
    /// Passed by systemd or Server::Starter, which also makes and removes its file.
    passed: bool,
}

/// All listening sockets.
#[derive(Debug, Default)]
pub struct Listeners {
    bound: Vec<BoundSocket>,
}

impl Listeners {
    /// The sockets that systemd or Server::Starter has passed, if any; they serve whether or not a `Listen` names them.
    pub fn passed() -> anyhow::Result<Listeners> {
        let PassedSockets { by, numbers } = passed_sockets()?;
        let fds =
            sys::passed_descriptors(&numbers).with_context(|| format!("{by} names descriptors that are not open"))?;
        let bound = fds.into_iter().map(BoundSocket::passed).collect::<anyhow::Result<_>>()?;
        Ok(Listeners { bound })
    }

    /// The addresses that the master listens on, in the order of `Listen`.
    pub fn addresses(&self) -> impl Iterator<Item = &Listen> {
        self.bound.iter().map(|bound| &bound.address)
    }

    /// In the order of [`Listeners::addresses`].
    pub fn all(&self) -> &[BoundSocket] {
        &self.bound
    }

    /// The sockets for `checked`: those already bound, and newly bound ones. Unwanted sockets stay open until
    /// [`Self::keep`].
    pub fn for_config(&self, checked: &CheckedConfig) -> anyhow::Result<Vec<BoundSocket>> {
        let mut wanted: Vec<BoundSocket> = self.bound.iter().filter(|b| b.passed).cloned().collect();
        for address in &checked.config.listen {
            if wanted.iter().any(|b| b.accepts_at(address)) {
                continue;
            }
            let bound = match self.bound.iter().find(|b| b.address == *address) {
                Some(bound) => Ok(bound.clone()),
                None => BoundSocket::bind(address, &checked.config.listen, checked.config.listen_backlog),
            };
            match bound {
                Ok(bound) => wanted.push(bound),
                Err(error) => {
                    self.abandon(wanted);
                    return Err(anyhow!("{}: {error:#}", checked.place_of(address)));
                }
            }
        }
        Ok(wanted)
    }

    /// Retains the wanted sockets, and closes the others.
    pub fn keep(&mut self, wanted: Vec<BoundSocket>) {
        let old = std::mem::replace(&mut self.bound, wanted);
        for gone in old.iter().filter(|old| self.bound.iter().all(|ours| ours.address != old.address)) {
            gone.remove_file();
        }
    }

    /// Undoes [`Self::for_config`]: closes the newly bound sockets.
    pub fn abandon(&self, bound: Vec<BoundSocket>) {
        for gone in bound.into_iter().filter(|b| self.bound.iter().all(|ours| ours.address != b.address)) {
            gone.remove_file();
            // The front may still hold the socket for a generation that failed: the address must be free immediately.
            let _ = shutdown(gone.fd.as_raw_fd(), Shutdown::Both);
        }
    }

    /// Stops completing connections when the server stops. The front accepts the completed ones.
    pub fn close(&mut self) {
        self.let_nobody_in(|_| true);
        self.bound.drain(..).for_each(|bound| bound.remove_file());
    }

    /// Makes the kernel complete no further connection to `these`; clients that try are refused when the sockets close.
    /// Closing alone would reset connections that the kernel has completed and no process has accepted.
    pub fn let_nobody_in(&self, these: impl Fn(&BoundSocket) -> bool) {
        // systemd continues to listen, for the next start.
        for bound in self.bound.iter().filter(|bound| !bound.passed && these(bound)) {
            // Without the filter, connections that arrive between the front's last accept and its close are reset.
            if let Err(error) = bound.let_nobody_in() {
                log::info(
                    "master",
                    format_args!(
                        "{}: cannot refuse connections before the close, so some may be reset: {error}",
                        address_name(&bound.address)
                    ),
                );
            }
        }
    }

    /// The addresses of the passed sockets, which stay open. A mistake in their variable is an error at the start.
    pub fn passed_addresses() -> Vec<Listen> {
        let numbers = passed_sockets().map_or_else(|_| Vec::new(), |passed| passed.numbers);
        let names = numbers.into_iter().filter_map(|fd| getsockname::<SockaddrStorage>(fd).ok());
        names.filter_map(|name| listen_of(&name)).collect()
    }
}

impl BoundSocket {
    fn passed(fd: OwnedFd) -> anyhow::Result<BoundSocket> {
        let address: SockaddrStorage = getsockname(fd.as_raw_fd()).context("a passed descriptor is no socket")?;
        let address = listen_of(&address)
            .ok_or_else(|| anyhow!("passed descriptors: only TCP and unix sockets are supported"))?;
        // A socket of UDP does not listen, either.
        if getsockopt(&fd, sockopt::AcceptConn) != Ok(true) {
            bail!("the passed descriptor {} is no listening socket", fd.as_raw_fd());
        }
        Ok(BoundSocket { address, fd: Fd::new(fd), passed: true })
    }

    /// Whether connections to `address` arrive here. One socket of systemd's `ListenStream=80` has IPv6 and IPv4.
    fn accepts_at(&self, address: &Listen) -> bool {
        let (Listen::Tcp(ours), Listen::Tcp(theirs)) = (&self.address, address) else {
            return self.address == *address;
        };
        let is_any = |address: &SocketAddr| address.ip().is_unspecified();
        let has_ipv4 = || self.passed && ours.is_ipv6() && getsockopt(&*self.fd, sockopt::Ipv6V6Only) == Ok(false);
        ours == theirs
            || (is_any(ours) && is_any(theirs) && theirs.is_ipv4() && ours.port() == theirs.port() && has_ipv4())
    }

    fn bind(address: &Listen, all: &[Listen], backlog: u32) -> anyhow::Result<BoundSocket> {
        let fd = match address {
            Listen::Tcp(tcp) => bind_tcp(*tcp, shares_port_with_ipv4(*tcp, all)),
            // Accessible to all users like a port of this machine: a reverse proxy runs as another user. The folder's
            // mode restricts access.
            Listen::Unix(path) => bind_unix(path, 0o666),
        };
        let fd = fd.map_err(|error| advise(error, address))?;
        // The kernel limits the backlog to net.core.somaxconn, which may be more than any constant.
        rustix::net::listen(&fd, backlog.min(65535).cast_signed()).context("listen")?;
        Ok(BoundSocket { address: address.clone(), fd: Fd::new(fd), passed: false })
    }

    /// Binds an address of the monitor: only this user may connect to a unix socket.
    pub fn private(address: &Listen) -> anyhow::Result<BoundSocket> {
        let fd = match address {
            Listen::Tcp(tcp) => bind_tcp(*tcp, false),
            Listen::Unix(path) => bind_unix(path, 0o600),
        };
        let fd = fd.map_err(|error| advise(error, address))?;
        listen(&fd, Backlog::new(PRIVATE_BACKLOG)?).context("listen")?;
        Ok(BoundSocket { address: address.clone(), fd: Fd::new(fd), passed: false })
    }

    fn let_nobody_in(&self) -> io::Result<()> {
        match self.address {
            Listen::Tcp(_) => SockRef::from(&*self.fd).attach_filter(&NO_NEW_CONNECTION),
            // Clients cannot find the file any more.
            Listen::Unix(_) => {
                self.remove_file();
                Ok(())
            }
        }
    }

    /// Removes the file of a unix socket that this server has made.
    pub fn remove_file(&self) {
        if let (Listen::Unix(path), false) = (&self.address, self.passed) {
            let _ = remove_file(path);
        }
    }
}

fn bind_tcp(address: SocketAddr, only_v6: bool) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let fd = socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)?;
    setsockopt(&fd, sockopt::ReuseAddr, &true)?;
    if address.is_ipv6() {
        setsockopt(&fd, sockopt::Ipv6V6Only, &only_v6)?;
    }
    bind_to(&fd, &SockaddrStorage::from(address))?;
    Ok(fd)
}

/// Whether an IPv6 socket must exclude IPv4 because another one has the port: `Listen 0.0.0.0:80` beside `Listen
/// [::]:80`.
fn shares_port_with_ipv4(address: SocketAddr, all: &[Listen]) -> bool {
    all.iter().any(|other| matches!(other, Listen::Tcp(other) if other.is_ipv4() && other.port() == address.port()))
}

fn bind_unix(path: &Path, mode: u32) -> io::Result<OwnedFd> {
    remove_stale(path)?;
    let fd = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)?;
    with_mode(mode, || bind_to(&fd, &UnixAddr::new(path)?))?;
    Ok(fd)
}

fn bind_to(fd: &OwnedFd, address: &dyn SockaddrLike) -> io::Result<()> {
    Ok(bind(fd.as_raw_fd(), address)?)
}

/// Makes a socket file with this mode. A later chmod by name could change another file.
pub fn with_mode<T>(mode: u32, make: impl FnOnce() -> T) -> T {
    let before = umask(Mode::from_bits_truncate(!mode & 0o777));
    let made = make();
    umask(before);
    made
}

/// Removes a socket file that no process listens at: a killed server has left it.
pub fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(found) = symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "the file exists and is not a socket"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(ErrorKind::AddrInUse.into()),
    }
}

fn advise(error: io::Error, address: &Listen) -> anyhow::Error {
    match (error.kind(), address) {
        (ErrorKind::AddrInUse, Listen::Tcp(a)) => {
            anyhow!("address already in use; find the program with ss -ltnp 'sport = :{}'", a.port())
        }
        (ErrorKind::AddrInUse, Listen::Unix(_)) => anyhow!("address already in use by another server"),
        (ErrorKind::PermissionDenied, Listen::Tcp(a)) if a.port() < 1024 => {
            anyhow!("permission denied: ports below 1024 need root, or CAP_NET_BIND_SERVICE")
        }
        (ErrorKind::AddrNotAvailable, _) => {
            anyhow!("this machine has no such address; list its addresses with ip addr")
        }
        _ => error.into(),
    }
}

fn listen_of(address: &SockaddrStorage) -> Option<Listen> {
    if let Some(v4) = address.as_sockaddr_in() {
        return Some(Listen::Tcp(SocketAddr::V4((*v4).into())));
    }
    if let Some(v6) = address.as_sockaddr_in6() {
        return Some(Listen::Tcp(SocketAddr::V6((*v6).into())));
    }
    address.as_unix_addr()?.path().map(|path| Listen::Unix(path.to_owned()))
}

fn passed_sockets() -> anyhow::Result<PassedSockets> {
    passed::read(&|name| std::env::var(name).ok(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_socket_is_removed_and_a_live_one_is_not() {
        let folder = std::env::temp_dir().join(format!("cameleer-listeners-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("folder");
        let path = folder.join("a.sock");
        let live = bind_unix(&path, 0o666).expect("bound");
        listen(&live, Backlog::new(1).expect("backlog")).expect("listens");
        assert_eq!(bind_unix(&path, 0o666).expect_err("in use").kind(), ErrorKind::AddrInUse);
        drop(live);
        bind_unix(&path, 0o666).expect("stale file removed");
        std::fs::write(folder.join("plain"), "").expect("file");
        assert_eq!(bind_unix(&folder.join("plain"), 0o666).expect_err("a file").kind(), ErrorKind::AlreadyExists);
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn a_port_in_use_is_an_error_that_names_ss() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let address = taken.local_addr().expect("address");
        let error = BoundSocket::bind(&Listen::Tcp(address), &[], 10).expect_err("in use").to_string();
        assert!(error.contains("address already in use") && error.contains(&address.port().to_string()), "{error}");
    }

    #[test]
    fn ipv6_leaves_a_shared_port_to_ipv4() {
        let both = ["0.0.0.0:80", "[::]:80"].map(|a| Listen::Tcp(a.parse().expect("address")));
        assert!(shares_port_with_ipv4("[::]:80".parse().expect("address"), &both));
        assert!(!shares_port_with_ipv4("[::]:81".parse().expect("address"), &both));
    }
}

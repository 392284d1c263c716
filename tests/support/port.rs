//! Reserved TCP ports of 127.0.0.1.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Mutex;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, getsockname, setsockopt, socket, sockopt};

/// A port that the kernel assigns to no other socket during the value's lifetime.
///
/// The port belongs to a socket that is bound and never listens. Connections are refused until a server listens there.
/// The kernel does not choose the port for another socket. A server that binds it by number with SO_REUSEADDR succeeds.
pub struct Port {
    pub number: u16,
    _socket: OwnedFd,
}

impl Port {
    /// Reserves a port that the kernel chooses.
    #[track_caller]
    pub fn reserve() -> Port {
        Port::try_reserve().expect("the kernel has a free port")
    }

    fn try_reserve() -> nix::Result<Port> {
        let socket = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
        setsockopt(&socket, sockopt::ReuseAddr, &true)?;
        bind(socket.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)))?;
        let number = getsockname::<SockaddrIn>(socket.as_raw_fd())?.port();
        Ok(Port { number, _socket: socket })
    }
}

/// A second port for a site, reserved until the test process ends.
#[track_caller]
pub fn free_port() -> u16 {
    static RESERVED: Mutex<Vec<Port>> = Mutex::new(Vec::new());
    let port = Port::reserve();
    let number = port.number;
    RESERVED.lock().expect("nothing panics under this lock").push(port);
    number
}

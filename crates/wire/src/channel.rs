//! The control channel: typed messages over a `SOCK_SEQPACKET` pair, with descriptors beside them.

use std::io::{self, IoSlice, IoSliceMut};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, socketpair};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recv, recvmsg};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Malformed;

/// The largest control message; a configuration is larger and travels in a memfd.
const MAX_MESSAGE: usize = 128 * 1024;
/// The kernel's SCM_MAX_FD.
const MAX_FDS: usize = 253;

/// A connected pair of packet sockets, both close-on-exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?)
}

/// Sends one packet and the descriptors beside it.
pub fn send_packet(to: BorrowedFd<'_>, parts: &[IoSlice<'_>], fds: &[RawFd]) -> io::Result<()> {
    let rights = [ControlMessage::ScmRights(fds)];
    let beside = if fds.is_empty() { &rights[..0] } else { &rights[..] };
    loop {
        match sendmsg::<()>(to.as_raw_fd(), parts, beside, MsgFlags::MSG_NOSIGNAL, None) {
            Err(Errno::EINTR) => continue,
            done => return done.map(drop).map_err(io::Error::from),
        }
    }
}

/// Receives one packet into `into`. `None` is the end: the other side has gone.
pub fn receive_packet(from: BorrowedFd<'_>, into: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<Option<usize>> {
    receive_with(from, into, fds, RecvFlags::empty())
}

/// As [`receive_packet`], but fails with `WouldBlock` when there is none, whatever the socket's mode.
pub fn try_receive_packet(from: BorrowedFd<'_>, into: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<Option<usize>> {
    receive_with(from, into, fds, RecvFlags::DONTWAIT)
}

/// The first byte of the packet that comes next, which stays where it is; `None` when none is there, or at the end.
pub fn first_byte(from: BorrowedFd<'_>) -> io::Result<Option<u8>> {
    let mut byte = [0];
    loop {
        match recv(from, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Err(rustix::io::Errno::INTR | rustix::io::Errno::CONNRESET) => continue,
            Err(rustix::io::Errno::AGAIN) => return Ok(None),
            done => return Ok((done?.0 > 0).then_some(byte[0])),
        }
    }
}

fn receive_with(
    from: BorrowedFd<'_>,
    into: &mut [u8],
    fds: &mut Vec<OwnedFd>,
    flags: RecvFlags,
) -> io::Result<Option<usize>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        match recvmsg(from, &mut [IoSliceMut::new(into)], &mut beside, RecvFlags::CMSG_CLOEXEC | flags) {
            Err(rustix::io::Errno::INTR) => continue,
            // The other side closed without reading all of ours. The kernel says so once, and before it gives out what
            // that side had sent: its last messages, then the end, still follow.
            Err(rustix::io::Errno::CONNRESET) => continue,
            done => break done?,
        }
    };
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    if received.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(Malformed("packet larger than allowed").into());
    }
    Ok(if received.bytes == 0 { None } else { Some(received.bytes) })
}

/// One end of a control channel: says `Out`, hears `In`.
#[derive(Debug)]
pub struct Channel<Out, In> {
    socket: OwnedFd,
    types: PhantomData<fn(Out) -> In>,
}

impl<Out: Serialize, In: DeserializeOwned> Channel<Out, In> {
    /// Speaks over `socket`, an end of [`pair`].
    pub fn new(socket: OwnedFd) -> Self {
        Channel { socket, types: PhantomData }
    }

    /// Sends `message`; the receiver gets duplicates of `fds`.
    pub fn send(&self, message: &Out, fds: &[RawFd]) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        if text.len() > MAX_MESSAGE {
            return Err(Malformed("control message too large").into());
        }
        send_packet(self.socket.as_fd(), &[IoSlice::new(&text)], fds)
    }

    /// Waits for a message (or, on a non-blocking socket, fails with `WouldBlock`). `None`: the other side has gone.
    pub fn receive(&self) -> io::Result<Option<(In, Vec<OwnedFd>)>> {
        let mut buffer = vec![0; MAX_MESSAGE];
        let mut fds = Vec::new();
        match receive_packet(self.socket.as_fd(), &mut buffer, &mut fds)? {
            None => Ok(None),
            Some(n) => Ok(Some((serde_json::from_slice(&buffer[..n])?, fds))),
        }
    }
}

impl<Out, In> AsFd for Channel<Out, In> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl<Out, In> AsRawFd for Channel<Out, In> {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_messages_of_a_side_that_left_without_listening_arrive() {
        let (ours, theirs) = pair().expect("pair");
        let (ours, theirs) = (Channel::<u32, u32>::new(ours), Channel::<u32, u32>::new(theirs));
        ours.send(&1, &[]).expect("sent");
        theirs.send(&2, &[]).expect("sent");
        drop(theirs);
        assert_eq!(ours.receive().expect("no error").expect("a message").0, 2);
        assert!(ours.receive().expect("no error").is_none());
    }
}

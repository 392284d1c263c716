//! The control channel: typed messages over a `SOCK_SEQPACKET` pair, with descriptors beside them.
//!
//! The kernel limits the descriptors and the bytes of one packet. A larger message travels in several
//! ([`packets`]):
//! each begins with `MORE`, the last one with `LAST`.

use std::io::{self, IoSlice, IoSliceMut};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, ControlMessage, MsgFlags, SockFlag, SockType, sendmsg, socketpair};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, recv, recvmsg};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Malformed;

/// Largest control message, in bytes. A configuration may be larger and travels in a memfd.
const MAX_MESSAGE: usize = 16 * 1024 * 1024;
/// Bytes of a message in one packet: any socket's buffer has room for these.
const MAX_PACKET: usize = 64 * 1024;
/// Maximum descriptors of a packet; the kernel's SCM_MAX_FD.
pub const MAX_FDS: usize = 253;
/// The first byte of a packet that is not the last of its message.
const MORE: u8 = b'+';
/// The first byte of the last packet of a message.
const LAST: u8 = b'.';

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

/// Receives one packet into `into`. `None`: the peer has closed its end.
pub fn receive_packet(from: BorrowedFd<'_>, into: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<Option<usize>> {
    receive_with(from, into, fds, RecvFlags::empty())
}

/// Like [`receive_packet`], but fails with `WouldBlock` when no packet waits, whatever the socket's mode.
pub fn try_receive_packet(from: BorrowedFd<'_>, into: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<Option<usize>> {
    receive_with(from, into, fds, RecvFlags::DONTWAIT)
}

/// Peeks at the first byte of the next packet. `None`: no packet waits, or the peer has closed its end.
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
            // The peer closed without reading all of our packets. The kernel reports that once, before the
            // packets that the peer had sent: receive again.
            Err(rustix::io::Errno::CONNRESET) => continue,
            done => break done?,
        }
    };
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        let why = "not every descriptor arrived: the limit of open files is too low (ulimit -Hn, LimitNOFILE)";
        return Err(io::Error::other(why));
    }
    if received.flags.contains(ReturnFlags::TRUNC) {
        return Err(Malformed("packet larger than allowed").into());
    }
    Ok(if received.bytes == 0 { None } else { Some(received.bytes) })
}

/// One packet: bytes, and the descriptors beside them.
#[derive(Debug)]
pub struct Packet<F> {
    text: Vec<u8>,
    fds: Vec<F>,
}

/// Splits `message` and its descriptors into packets, in the order of sending.
pub fn packets<F>(message: &impl Serialize, fds: Vec<F>) -> io::Result<Vec<Packet<F>>> {
    let text = serde_json::to_vec(message)?;
    if text.len() > MAX_MESSAGE {
        return Err(Malformed("control message too large").into());
    }
    let count = text.len().div_ceil(MAX_PACKET).max(fds.len().div_ceil(MAX_FDS)).max(1);
    // Descriptors travel with the first packets, so that all have arrived with the last.
    let (mut rest, mut fds) = (text.as_slice(), fds.into_iter());
    let mut packets = Vec::with_capacity(count);
    for left in (0..count).rev() {
        let (now, later) = rest.split_at(if left == 0 { rest.len() } else { rest.len().min(MAX_PACKET) });
        let mark = if left == 0 { LAST } else { MORE };
        packets.push(Packet { text: [&[mark], now].concat(), fds: fds.by_ref().take(MAX_FDS).collect() });
        rest = later;
    }
    Ok(packets)
}

/// One end of a control channel: sends `Out`, receives `In`.
#[derive(Debug)]
pub struct Channel<Out, In> {
    socket: OwnedFd,
    /// Bytes and descriptors of a message whose last packet has not arrived.
    begun: Mutex<(Vec<u8>, Vec<OwnedFd>)>,
    /// Maximum number of descriptors of an incoming message.
    most_fds: usize,
    types: PhantomData<fn(Out) -> In>,
}

impl<Out: Serialize, In: DeserializeOwned> Channel<Out, In> {
    /// Makes a channel of `socket`, an end of [`pair`].
    pub fn new(socket: OwnedFd) -> Self {
        Channel { socket, begun: Mutex::default(), most_fds: usize::MAX, types: PhantomData }
    }

    /// Like [`Channel::new`], for a peer that is not trusted: a message has at most [`MAX_FDS`] descriptors, so
    /// that the peer cannot fill this process' table of open files.
    pub fn to_stranger(socket: OwnedFd) -> Self {
        Channel { most_fds: MAX_FDS, ..Channel::new(socket) }
    }

    /// Sends `message`; the receiver gets duplicates of `fds`. On a non-blocking socket use
    /// [`Outbox`](crate::outbox::Outbox):
    /// this function may stop in the middle of a message.
    pub fn send(&self, message: &Out, fds: &[RawFd]) -> io::Result<()> {
        packets(message, fds.to_vec())?.iter().try_for_each(|packet| self.send_one(packet))
    }

    /// Sends one packet; the packets of a message must follow each other.
    pub fn send_one<F: AsRawFd>(&self, packet: &Packet<F>) -> io::Result<()> {
        let fds: Vec<RawFd> = packet.fds.iter().map(AsRawFd::as_raw_fd).collect();
        send_packet(self.socket.as_fd(), &[IoSlice::new(&packet.text)], &fds)
    }

    /// Waits for a message; on a non-blocking socket, fails with `WouldBlock`. `None`: the peer has closed its
    /// end.
    pub fn receive(&self) -> io::Result<Option<(In, Vec<OwnedFd>)>> {
        let mut buffer = vec![0; MAX_PACKET + 1];
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (text, fds) = &mut *begun;
            let Some(n) = receive_packet(self.socket.as_fd(), &mut buffer, fds)? else { return Ok(None) };
            let packet = buffer.get(..n).unwrap_or_default();
            let Some((mark, piece)) = packet.split_first() else { return Ok(None) };
            text.extend_from_slice(piece);
            if text.len() > MAX_MESSAGE || fds.len() > self.most_fds {
                *begun = Default::default();
                return Err(Malformed("control message too large").into());
            }
            if *mark != MORE {
                let (text, fds) = std::mem::take(&mut *begun);
                return Ok(Some((serde_json::from_slice(&text)?, fds)));
            }
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
    fn the_last_messages_of_a_peer_that_closed_with_unread_data_arrive() {
        let (ours, theirs) = pair().expect("pair");
        let (ours, theirs) = (Channel::<u32, u32>::new(ours), Channel::<u32, u32>::new(theirs));
        ours.send(&1, &[]).expect("sent");
        theirs.send(&2, &[]).expect("sent");
        drop(theirs);
        assert_eq!(ours.receive().expect("no error").expect("a message").0, 2);
        assert!(ours.receive().expect("no error").is_none());
    }
    #[test]
    fn a_message_with_more_than_fits_into_a_packet_arrives_whole() {
        let (ours, theirs) = pair().expect("pair");
        let (ours, theirs) = (Channel::<String, ()>::new(ours), Channel::<(), String>::new(theirs));
        let null = std::fs::File::open("/dev/null").expect("there");
        for (bytes, count) in [(0, 0), (10, 700), (200_000, 0), (200_000, 300), (70_000, 253 * 3 + 1), (65_533, 253)] {
            let text = "x".repeat(bytes);
            std::thread::scope(|scope| {
                scope.spawn(|| ours.send(&text, &vec![null.as_raw_fd(); count]).expect("sent"));
                let (received, fds) = theirs.receive().expect("no error").expect("a message");
                assert_eq!((received.len(), fds.len()), (bytes, count));
            });
        }
    }

    #[test]
    fn requested_paths_cannot_fill_the_open_file_cache() {
        let (ours, theirs) = pair().expect("pair");
        let (ours, theirs) = (Channel::<String, ()>::new(ours), Channel::<(), String>::to_stranger(theirs));
        let null = std::fs::File::open("/dev/null").expect("there");
        ours.send(&String::new(), &[null.as_raw_fd(); 300]).expect("sent");
        assert_eq!(theirs.receive().expect_err("refused").kind(), io::ErrorKind::InvalidData);
        assert!(ours.send(&"x".repeat(MAX_MESSAGE), &[]).is_err());
    }
}

//! How frames and replies travel between the front and one worker.
//!
//! One packet socket a worker, of which [`SocketFront`] and [`SocketWorker`] are the ends. A front of several threads gives
//! the worker a further socket for each but the first, a *reply socket*: a request says on which reply socket it wants its answer, so that
//! the thread that asked is the one that hears, and no other need wake for it. Reply socket 0 is the worker's socket itself.
//!
//! ```text
//!   front                                     worker
//!   send(Order::Request)  ── frame ────────▶  next() → Inbound::Request
//!   receive() → packet    ◀── Head Body End ─ send(packet), on the reply socket that the request names
//! ```

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSlice, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::channel::{first_byte, pair, receive_packet, send_packet, try_receive_packet};
use crate::frame::{Flags, Frame};
use crate::{Cursor, Malformed};

/// A frame up to this size travels in the packet, a longer one in a memfd.
pub const MAX_INLINE: usize = 96 * 1024;
/// No frame is larger (LimitRequestFields × LimitRequestFieldSize stays far below).
const MAX_FRAME: u64 = 64 * 1024 * 1024;
/// A million virtual hosts; it comes from the administrator.
const MAX_CONFIGURATION: u64 = 2 * 1024 * 1024 * 1024;

const REQUEST: u8 = 1;
const REQUEST_IN_FD: u8 = 2;
const LOGS: u8 = 3;
const LEAVE: u8 = 4;
const ABANDONED: u8 = 5;
const GREET: u8 = 6;
const HUNG_UP: u8 = 7;
const REPLY_SOCKETS: u8 = 8;
/// What stands before an inline frame: the kind and the reply socket.
const BEFORE_FRAME: usize = 2;
/// The largest packet of the front.
pub const MAX_ORDER: usize = BEFORE_FRAME + MAX_INLINE;

/// Reply sockets that a worker may have, its socket among them: a front has no more threads.
pub const MAX_REPLY_SOCKETS: usize = 64;

/// What the front tells a worker.
#[derive(Debug)]
pub enum Order<'a> {
    /// Answer this frame; its body may be a file.
    Request {
        /// An encoded [`crate::frame::Request`].
        frame: &'a [u8],
        /// The body when the frame says [`Flags::BODY_IN_FD`], read from its start.
        body: Option<BorrowedFd<'a>>,
        /// On which reply socket to answer.
        reply_to: u8,
    },
    /// Answers may be wanted on these reply sockets from now on; not more than [`MAX_FDS`](crate::channel::MAX_FDS).
    ReplySockets {
        /// The number of the first one; those that had this number and higher ones are no more.
        first: u8,
        /// The worker's ends.
        sockets: &'a [BorrowedFd<'a>],
    },
    /// Use these error logs from now on; not more than [`MAX_FDS`](crate::channel::MAX_FDS).
    Logs {
        /// The first one's number: 0 is the main server's, the others are those of hosts.
        first: u16,
        /// Opened anew.
        logs: &'a [BorrowedFd<'a>],
    },
    /// Leave: no request will come.
    Leave,
    /// Nobody waits for the answer to this request any more.
    Abandoned {
        /// The number in its frame.
        request: u64,
    },
    /// The client of this request sends nothing more: it may have left, or wait for the end of its answer.
    HungUp {
        /// The number in its frame.
        request: u64,
    },
    /// This front is another than the one before, whose clients are gone: answered by [`Reply::Greeted`](crate::reply::Reply)
    /// when the worker has nothing under way.
    Greet,
}

/// Whether anybody waits for a request's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// As far as is known.
    Here,
    /// The client sends nothing more; whether it still listens is seen when something is sent.
    HungUp,
    /// Nobody.
    Gone,
}

/// What a worker is told, as it arrives.
#[derive(Debug)]
pub enum Inbound {
    /// Answer this.
    Request(Frame, Option<OwnedFd>),
    /// Error logs were opened anew.
    Logs {
        /// As in [`Order::Logs`].
        first: u16,
        /// The logs.
        logs: Vec<OwnedFd>,
    },
    /// Leave.
    Leave,
    /// Nobody waits for this request, which may be over.
    Abandoned(u64),
    /// As [`Order::HungUp`]; the request may be over.
    HungUp(u64),
    /// As [`Order::Greet`].
    Greet,
    /// As [`Order::ReplySockets`].
    ReplySockets {
        /// The number of the first one.
        first: u8,
        /// The sockets.
        sockets: Vec<OwnedFd>,
    },
}

/// The two ends of a socketpair; the worker's is a plain descriptor that goes to the mold.
pub fn socketpair() -> io::Result<(SocketFront, OwnedFd)> {
    let (front, worker) = pair()?;
    Ok((SocketFront::new(front, None)?, worker))
}

/// The front's end of a socketpair. Never blocks.
///
/// A worker that is quick may be sent requests ahead of time, so that it need not be woken for each. What it has not
/// begun can be taken back: of the front and the worker exactly one gets an order.
#[derive(Debug)]
pub struct SocketFront {
    socket: OwnedFd,
    /// The worker's end as well: receiving there takes back what the worker has not received. While the front holds
    /// it, the worker's death is not an end of file here.
    theirs: Option<OwnedFd>,
}

impl SocketFront {
    /// Takes an end of a pair over and makes it non-blocking.
    pub fn new(socket: OwnedFd, theirs: Option<OwnedFd>) -> io::Result<SocketFront> {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        fcntl(&socket, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(SocketFront { socket, theirs })
    }
}

impl AsRawFd for SocketFront {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl SocketFront {
    /// Sends an order whole, or fails with `WouldBlock`.
    pub fn send(&self, order: &Order<'_>) -> io::Result<()> {
        let to = self.socket.as_fd();
        match order {
            Order::Leave => send_packet(to, &[IoSlice::new(&[LEAVE])], &[]),
            Order::Greet => send_packet(to, &[IoSlice::new(&[GREET])], &[]),
            Order::Abandoned { request } => {
                send_packet(to, &[IoSlice::new(&[ABANDONED]), IoSlice::new(&request.to_le_bytes())], &[])
            }
            Order::HungUp { request } => {
                send_packet(to, &[IoSlice::new(&[HUNG_UP]), IoSlice::new(&request.to_le_bytes())], &[])
            }
            Order::Logs { first, logs } => {
                let fds: Vec<RawFd> = logs.iter().map(AsRawFd::as_raw_fd).collect();
                send_packet(to, &[IoSlice::new(&[LOGS]), IoSlice::new(&first.to_le_bytes())], &fds)
            }
            Order::ReplySockets { first, sockets } => {
                let fds: Vec<RawFd> = sockets.iter().map(AsRawFd::as_raw_fd).collect();
                send_packet(to, &[IoSlice::new(&[REPLY_SOCKETS, *first])], &fds)
            }
            Order::Request { frame, body, reply_to } => {
                let body = body.map(|body| body.as_raw_fd());
                if frame.len() <= MAX_INLINE {
                    return send_packet(
                        to,
                        &[IoSlice::new(&[REQUEST, *reply_to]), IoSlice::new(frame)],
                        body.as_slice(),
                    );
                }
                let memory = in_memory("request frame", frame)?;
                let fds: Vec<RawFd> = [memory.as_raw_fd()].into_iter().chain(body).collect();
                send_packet(to, &[IoSlice::new(&[REQUEST_IN_FD, *reply_to])], &fds)
            }
        }
    }

    /// Receives one packet of replies; `None` when the worker has gone.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let mut fds = Vec::new();
        let received = receive_packet(self.socket.as_fd(), into, &mut fds)?;
        if fds.is_empty() { Ok(received) } else { Err(Malformed("descriptors from a worker").into()) }
    }

    /// Whether [`SocketFront::take_back`] can.
    pub fn can_take_back(&self) -> bool {
        self.theirs.is_some()
    }

    /// Takes back the requests that the worker has not begun, oldest first.
    pub fn take_back(&self, buffer: &mut [u8]) -> io::Result<Vec<(Frame, Option<OwnedFd>)>> {
        let Some(theirs) = &self.theirs else { return Ok(Vec::new()) };
        let (mut requests, mut others) = (Vec::new(), Vec::new());
        loop {
            let mut fds = Vec::new();
            let n = match try_receive_packet(theirs.as_fd(), buffer, &mut fds) {
                Ok(Some(n)) => n,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                Ok(None) | Err(_) => break,
            };
            match decode(&buffer[..n], fds, Vec::new())?.0 {
                Inbound::Request(frame, body) => requests.push((frame, body)),
                other => others.push(other),
            }
        }
        for other in others {
            match other {
                Inbound::Logs { first, logs } => {
                    let logs: Vec<BorrowedFd<'_>> = logs.iter().map(AsFd::as_fd).collect();
                    self.send(&Order::Logs { first, logs: &logs })?;
                }
                Inbound::Abandoned(request) => self.send(&Order::Abandoned { request })?,
                Inbound::HungUp(request) => self.send(&Order::HungUp { request })?,
                Inbound::Greet => self.send(&Order::Greet)?,
                Inbound::ReplySockets { first, sockets } => {
                    let sockets: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
                    self.send(&Order::ReplySockets { first, sockets: &sockets })?;
                }
                Inbound::Leave | Inbound::Request(..) => self.send(&Order::Leave)?,
            }
        }
        Ok(requests)
    }
}

/// The worker's end of a socketpair. Blocks.
#[derive(Debug)]
pub struct SocketWorker {
    socket: OwnedFd,
    /// Further reply sockets; the first of them is reply socket 1.
    reply_sockets: Vec<OwnedFd>,
    /// The one that is answered on.
    reply_to: u8,
    /// See [`packet_buffer`].
    packet: Box<[u8]>,
    /// What was heard in the middle of a request and is for afterwards.
    heard: VecDeque<Inbound>,
}

impl SocketWorker {
    /// Takes an end of a pair over, and what [`packet_buffer`] made.
    pub fn new(socket: OwnedFd, packet: Box<[u8]>) -> SocketWorker {
        SocketWorker { socket, reply_sockets: Vec::new(), reply_to: 0, packet, heard: VecDeque::new() }
    }

    /// Whether something arrived in the middle of a request that [`SocketWorker::next`] will give.
    pub fn has_heard(&self) -> bool {
        !self.heard.is_empty()
    }
}

/// Room for the largest packet of the front. Made once: zeroing this much for every request would cost more than a small
/// request does. Made before a fork it is shared memory but for the pages that packets reach.
pub fn packet_buffer() -> Box<[u8]> {
    vec![0; MAX_ORDER].into()
}

impl AsFd for SocketWorker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl SocketWorker {
    /// Its socket and its reply sockets.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(&self.socket).chain(&self.reply_sockets).map(AsFd::as_fd)
    }

    /// Waits for what comes next; `None` when the front has gone. `buffer` is emptied and used for a frame. What is sent from
    /// here on goes to the reply socket that a request names, and to reply socket 0 when it is about none.
    pub fn next(&mut self, buffer: Vec<u8>) -> io::Result<Option<Inbound>> {
        self.reply_to = 0;
        if let Some(heard) = self.heard.pop_front() {
            return Ok(Some(heard));
        }
        let mut fds = Vec::new();
        let Some(n) = receive_packet(self.socket.as_fd(), &mut self.packet, &mut fds)? else { return Ok(None) };
        let (inbound, reply_to) = decode(&self.packet[..n], fds, buffer)?;
        if usize::from(reply_to) > self.reply_sockets.len() {
            return Err(Malformed("no such reply socket").into());
        }
        self.reply_to = reply_to;
        Ok(Some(inbound))
    }

    /// Answers may be wanted on these reply sockets, as [`Order::ReplySockets`] says.
    pub fn take_reply_sockets(&mut self, first: u8, sockets: Vec<OwnedFd>) -> io::Result<()> {
        let others = usize::from(first).checked_sub(1).filter(|others| *others <= self.reply_sockets.len());
        self.reply_sockets.truncate(others.ok_or(Malformed("a reply socket without those before it"))?);
        self.reply_sockets.extend(sockets);
        if self.reply_sockets.len() >= MAX_REPLY_SOCKETS {
            Err(Malformed("too many reply sockets").into())
        } else {
            Ok(())
        }
    }

    /// Sends one packet of replies. What was for a front that has died is for nobody: its reply sockets have gone with it.
    pub fn send(&mut self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        match usize::from(self.reply_to).checked_sub(1).and_then(|further| self.reply_sockets.get(further)) {
            None => send_packet(self.socket.as_fd(), parts, &[]),
            Some(socket) => match send_packet(socket.as_fd(), parts, &[]) {
                Err(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) => {
                    Ok(())
                }
                sent => sent,
            },
        }
    }

    /// What the front has said meanwhile of who waits for this request. Takes no request from the front: it may want it
    /// back.
    pub fn presence(&mut self, request: u64) -> io::Result<Presence> {
        while !matches!(first_byte(self.socket.as_fd())?, None | Some(REQUEST | REQUEST_IN_FD)) {
            let mut fds = Vec::new();
            let Some(n) = try_receive_packet(self.socket.as_fd(), &mut self.packet, &mut fds)? else { break };
            match decode(&self.packet[..n], fds, Vec::new())?.0 {
                Inbound::Abandoned(other) | Inbound::HungUp(other) if other != request => {}
                Inbound::Abandoned(_) => return Ok(Presence::Gone),
                Inbound::HungUp(_) => return Ok(Presence::HungUp),
                Inbound::Greet => {
                    self.heard.push_back(Inbound::Greet);
                    return Ok(Presence::Gone);
                }
                other => self.heard.push_back(other),
            }
        }
        Ok(Presence::Here)
    }
}

/// What a packet of the front says, and the reply socket that it names; an inline frame goes into `buffer`.
fn decode(packet: &[u8], fds: Vec<OwnedFd>, mut buffer: Vec<u8>) -> io::Result<(Inbound, u8)> {
    let mut fds = fds.into_iter();
    let mut packet = Cursor(packet);
    let mut reply_to = 0;
    let inbound = match packet.u8()? {
        LEAVE => Inbound::Leave,
        GREET => Inbound::Greet,
        ABANDONED => Inbound::Abandoned(packet.u64()?),
        HUNG_UP => Inbound::HungUp(packet.u64()?),
        LOGS => Inbound::Logs { first: packet.u16()?, logs: fds.collect() },
        REPLY_SOCKETS => Inbound::ReplySockets { first: packet.u8()?, sockets: fds.collect() },
        REQUEST => {
            reply_to = packet.u8()?;
            buffer.clear();
            buffer.extend_from_slice(packet.0);
            request(Frame::parse(buffer)?, fds.next())?
        }
        REQUEST_IN_FD => {
            reply_to = packet.u8()?;
            let memory = fds.next().ok_or(Malformed("no frame descriptor"))?;
            request(Frame::parse(read_frame(memory)?)?, fds.next())?
        }
        _ => return Err(Malformed("unknown order").into()),
    };
    Ok((inbound, reply_to))
}

fn request(frame: Frame, body: Option<OwnedFd>) -> Result<Inbound, Malformed> {
    if frame.flags().has(Flags::BODY_IN_FD) && body.is_none() {
        return Err(Malformed("no body descriptor"));
    }
    Ok(Inbound::Request(frame, body))
}

/// A memfd that holds `bytes`, positioned at its start.
pub fn in_memory(name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create(name, MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// All bytes of a memfd, from its start; a request's frame.
fn read_frame(memory: OwnedFd) -> io::Result<Vec<u8>> {
    read_all(memory, MAX_FRAME)
}

/// The same of a configuration, and of certificates.
pub fn read_configuration(memory: OwnedFd) -> io::Result<Vec<u8>> {
    read_all(memory, MAX_CONFIGURATION)
}

fn read_all(memory: OwnedFd, most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::from(memory);
    let about = file.metadata()?;
    if !about.is_file() {
        // Reading a pipe would wait for whoever has its other end.
        return Err(Malformed("a descriptor that is no file").into());
    }
    if about.len() > most {
        return Err(Malformed("larger than allowed").into());
    }
    let mut bytes = Vec::new();
    file.rewind()?;
    // Others may hold it too, and make it longer meanwhile.
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;

//! Transport of frames and replies between the front and one worker.
//!
//! Small requests and all responses lie in [`memory`](crate::memory) that both share. One packet socket per
//! worker carries large requests, descriptors, messages about no request, and *bells*, which wake a sleeping
//! worker. [`SocketFront`] and [`WorkerPort`] are the ends of both. A request names the thread of the front
//! that wants the response; that thread alone reads it, and has an eventfd that wakes it.
//!
//! ```text
//!   front                                           worker
//!   send(WorkerOrder::Request)  ── frame ────────▶  next() → Inbound::Request
//!   ring of the thread          ◀── Head Body End ─ send(packet)
//! ```

mod front;
mod worker;

pub use front::{OrderDelivery, SocketFront};
pub use worker::{WorkerPort, packet_buffer};

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{BorrowedFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::fstat;

use crate::control::Inspection;
use crate::frame::{Flags, Frame};
use crate::{Cursor, Malformed};

/// Longest frame that travels in a packet, in bytes; a longer one travels in a memfd.
pub const MAX_INLINE: usize = 96 * 1024;
/// Largest frame, in bytes (LimitRequestFields × LimitRequestFieldSize stays far below).
const MAX_FRAME: u64 = 64 * 1024 * 1024;
/// Largest configuration, in bytes: a million virtual hosts. Its source, the administrator, is trusted.
const MAX_CONFIGURATION: u64 = 2 * 1024 * 1024 * 1024;

/// Longest result of an inspection, in bytes.
const MAX_INSPECTION: u64 = 16 * 1024 * 1024;

const REQUEST: u8 = 1;
const REQUEST_IN_FD: u8 = 2;
const LOGS: u8 = 3;
const LEAVE: u8 = 4;
const ABANDONED: u8 = 5;
const GREET: u8 = 6;
const HUNG_UP: u8 = 7;
const BELLS: u8 = 8;
const BELL: u8 = 9;
const PROMOTE: u8 = 10;
const INSPECT: u8 = 11;
const STREAM: u8 = 12;
const BROADCAST: u8 = 13;
const CLOSE_WEBSOCKETS: u8 = 14;
/// Bytes before an inline frame: the kind and the thread that wants the response.
const BEFORE_FRAME: usize = 2;
/// The largest packet of the front, in bytes.
pub const MAX_ORDER: usize = BEFORE_FRAME + MAX_INLINE;

/// Messages from the front to a worker.
#[derive(Debug)]
pub enum WorkerOrder<'a> {
    /// Answer this frame; its body may be a file.
    Request {
        /// An encoded [`crate::frame::Request`].
        frame: &'a [u8],
        /// The body, with [`Flags::BODY_IN_FD`]; read from its start.
        body: Option<BorrowedFd<'a>>,
        /// The thread that wants the response.
        reply_to: u8,
    },
    /// The eventfds that wake the threads of the front, in the order of the threads; at most
    /// [`MAX_THREADS`](crate::memory::MAX_THREADS).
    Bells {
        /// One eventfd per thread.
        bells: &'a [BorrowedFd<'a>],
    },
    /// Use these error logs from now on; at most [`MAX_FDS`](crate::channel::MAX_FDS).
    Logs {
        /// Number of the first log: 0 is the main server's, the others are those of hosts.
        first: u16,
        /// The reopened logs.
        logs: &'a [BorrowedFd<'a>],
    },
    /// Exit: no further request follows.
    Leave,
    /// Become a mold, then leave.
    Promote {
        /// The mold's end of a control channel to the master.
        control: BorrowedFd<'a>,
    },
    /// Inspect the worker's own process.
    Inspect {
        /// Selects the report.
        what: Inspection,
        /// A memfd for the result.
        into: BorrowedFd<'a>,
        /// Closed by the worker when the result is complete.
        done: BorrowedFd<'a>,
        /// Descriptors that the [`Inspection`] needs.
        with: &'a [BorrowedFd<'a>],
    },
    /// The response to this request is no longer wanted.
    Abandoned {
        /// The id in the request's frame.
        request: u64,
    },
    /// The client of this request sends no more bytes: it has disconnected, or waits for the rest of the response.
    HungUp {
        /// The id in the request's frame.
        request: u64,
    },
    /// A new front has replaced the previous one, whose clients are disconnected. The worker answers with
    /// [`Reply::Greeted`](crate::reply::Reply) when it is idle.
    Greet,
    /// Serve HTTP/1.1 on this socket beside the others; for workers of event pools.
    Stream {
        /// The worker's end of a stream socketpair.
        socket: BorrowedFd<'a>,
    },
    /// Close the WebSockets whose protocol this worker speaks: the server stops.
    CloseWebSockets,
    /// A message of a worker for the subscribers of this one, which answers with
    /// [`Reply::Taken`](crate::reply::Reply).
    Broadcast {
        /// An encoded [`BroadcastMessage`](crate::broadcast::BroadcastMessage).
        message: &'a [u8],
    },
}

/// Whether the response to a request is still wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// No sign that the client has disconnected.
    Here,
    /// The client sends no more bytes; only a write shows whether it still reads.
    HungUp,
    /// The client or the front has gone.
    Gone,
}

/// Messages of the front as the worker receives them.
#[derive(Debug)]
pub enum Inbound {
    /// Answer this request; the descriptor, if any, is its body.
    Request(Frame, Option<OwnedFd>),
    /// Error logs were reopened.
    Logs {
        /// As in [`WorkerOrder::Logs`].
        first: u16,
        /// Descriptors of the reopened logs, from number `first` on.
        logs: Vec<OwnedFd>,
    },
    /// The worker must leave.
    Leave,
    /// As [`WorkerOrder::Promote`].
    Promote(OwnedFd),
    /// As [`WorkerOrder::Inspect`].
    Inspect {
        /// Selects the report.
        what: Inspection,
        /// A memfd for the result.
        into: OwnedFd,
        /// To be closed when the result is complete.
        done: OwnedFd,
        /// Descriptors that the [`Inspection`] needs.
        with: Vec<OwnedFd>,
    },
    /// The response to this request, which may be over, is no longer wanted.
    Abandoned(u64),
    /// As [`WorkerOrder::HungUp`]; the request may already be finished.
    HungUp(u64),
    /// As [`WorkerOrder::Greet`].
    Greet,
    /// As [`WorkerOrder::Stream`].
    Stream(OwnedFd),
    /// As [`WorkerOrder::CloseWebSockets`].
    CloseWebSockets,
    /// As [`WorkerOrder::Broadcast`].
    Broadcast(Vec<u8>),
    /// As [`WorkerOrder::Bells`].
    Bells(Vec<OwnedFd>),
    /// A request lies in the worker's memory, or there is room in it again.
    Bell,
}

/// Decodes a packet of the front, and the thread that wants the response; an inline frame goes into `buffer`.
fn decode(packet: &[u8], fds: Vec<OwnedFd>, mut buffer: Vec<u8>) -> io::Result<(Inbound, u8)> {
    let mut fds = fds.into_iter();
    let mut packet = Cursor(packet);
    let mut reply_to = 0;
    let inbound = match packet.u8()? {
        LEAVE => Inbound::Leave,
        PROMOTE => Inbound::Promote(fds.next().ok_or(Malformed("no control channel"))?),
        GREET => Inbound::Greet,
        STREAM => Inbound::Stream(fds.next().ok_or(Malformed("no socket of the stream"))?),
        CLOSE_WEBSOCKETS => Inbound::CloseWebSockets,
        BROADCAST => Inbound::Broadcast(packet.0.to_vec()),
        ABANDONED => Inbound::Abandoned(packet.u64()?),
        HUNG_UP => Inbound::HungUp(packet.u64()?),
        INSPECT => Inbound::Inspect {
            what: *Inspection::ALL.get(usize::from(packet.u8()?)).ok_or(Malformed("unknown inspection"))?,
            into: fds.next().ok_or(Malformed("no descriptor for the report"))?,
            done: fds.next().ok_or(Malformed("no descriptor that marks the report's end"))?,
            with: fds.collect(),
        },
        LOGS => Inbound::Logs { first: packet.u16()?, logs: fds.collect() },
        BELLS => Inbound::Bells(fds.collect()),
        BELL => Inbound::Bell,
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

/// What a memfd for the result of an inspection contains from [`begin_report`] on. JSON allows it before a value.
const BEGUN: &[u8] = b"\n";

/// Announces in the memfd of an inspection that its result is being made.
pub fn begin_report(memory: BorrowedFd<'_>) -> io::Result<()> {
    File::from(memory.try_clone_to_owned()?).write_all(BEGUN)
}

/// Whether the result of an inspection was announced and is not written.
pub fn has_begun(memory: BorrowedFd<'_>) -> bool {
    fstat(memory).is_ok_and(|about| about.st_size == BEGUN.len() as i64)
}

/// Whether the other end of an inspection's pipe is open: the result is still waited for.
pub fn is_awaited(done: BorrowedFd<'_>) -> bool {
    let mut state = [PollFd::new(done, PollFlags::empty())];
    // The write end of a pipe without readers reports an error.
    !matches!(poll(&mut state, PollTimeout::ZERO), Ok(events) if events > 0)
}

/// Reads the result of an inspection, as far as it is written. The process that wrote it runs the site's code,
/// and is not trusted.
pub fn read_report(memory: BorrowedFd<'_>) -> io::Result<String> {
    String::from_utf8(read_all(memory.try_clone_to_owned()?, MAX_INSPECTION)?).map_err(|_| Malformed("no UTF-8").into())
}

/// All bytes of a request's frame, from the start of its memfd.
fn read_frame(memory: OwnedFd) -> io::Result<Vec<u8>> {
    read_all(memory, MAX_FRAME)
}

/// All bytes of a configuration or of certificates, from the start of their memfd.
pub fn read_configuration(memory: OwnedFd) -> io::Result<Vec<u8>> {
    read_all(memory, MAX_CONFIGURATION)
}

fn read_all(memory: OwnedFd, most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::from(memory);
    let about = file.metadata()?;
    if !about.is_file() {
        // Reading a pipe would block until its other end is closed.
        return Err(Malformed("a descriptor that is no file").into());
    }
    if about.len() > most {
        return Err(Malformed("larger than allowed").into());
    }
    let mut bytes = Vec::new();
    file.rewind()?;
    // Another process may hold the memfd and enlarge it during the read.
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;

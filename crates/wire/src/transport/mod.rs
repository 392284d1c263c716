//! How frames and replies travel between the front and one worker.
//!
//! Small requests and all answers lie in [`memory`](crate::memory) that both have. Beside it there is one packet socket a worker; it
//! carries requests that are large or have descriptors, what is about no request, and *bells*, which wake a worker that sleeps.
//! [`SocketFront`] and [`WorkerPort`] are the ends of both. A request says which thread of the front wants the answer, so that the thread that asked
//! is the one that hears, and no other need wake for it; each has an eventfd that wakes it.
//!
//! ```text
//!   front                                     worker
//!   send(Order::Request)  ── frame ────────▶  next() → Inbound::Request
//!   ring of the thread    ◀── Head Body End ─ send(packet)
//! ```

mod front;
mod worker;

pub use front::{Sent, SocketFront};
pub use worker::{WorkerPort, packet_buffer};

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{BorrowedFd, OwnedFd};

use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::control::Inspection;
use crate::frame::{Flags, Frame};
use crate::{Cursor, Malformed};

/// A frame up to this size travels in the packet, a longer one in a memfd.
pub const MAX_INLINE: usize = 96 * 1024;
/// No frame is larger (LimitRequestFields × LimitRequestFieldSize stays far below).
const MAX_FRAME: u64 = 64 * 1024 * 1024;
/// A million virtual hosts; it comes from the administrator.
const MAX_CONFIGURATION: u64 = 2 * 1024 * 1024 * 1024;

/// What one process tells about itself.
const MAX_TOLD: u64 = 16 * 1024 * 1024;

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
/// What stands before an inline frame: the kind and the thread that wants the answer.
const BEFORE_FRAME: usize = 2;
/// The largest packet of the front.
pub const MAX_ORDER: usize = BEFORE_FRAME + MAX_INLINE;

/// What the front tells a worker.
#[derive(Debug)]
pub enum Order<'a> {
    /// Answer this frame; its body may be a file.
    Request {
        /// An encoded [`crate::frame::Request`].
        frame: &'a [u8],
        /// The body when the frame says [`Flags::BODY_IN_FD`], read from its start.
        body: Option<BorrowedFd<'a>>,
        /// The thread that wants the answer.
        reply_to: u8,
    },
    /// With these eventfds the threads of the front are woken, that of number 0 first; not more than
    /// [`MAX_THREADS`](crate::memory::MAX_THREADS).
    Bells {
        /// One for each thread.
        bells: &'a [BorrowedFd<'a>],
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
    /// The same, and become a mold first.
    Promote {
        /// The mold's end of a control channel to the master.
        control: BorrowedFd<'a>,
    },
    /// Tell about yourself.
    Inspect {
        /// What.
        what: Inspection,
        /// A memfd for it.
        into: BorrowedFd<'a>,
        /// To be closed when it is there.
        done: BorrowedFd<'a>,
        /// What it takes, see [`Inspection`].
        with: &'a [BorrowedFd<'a>],
    },
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
    /// As [`Order::Promote`].
    Promote(OwnedFd),
    /// As [`Order::Inspect`].
    Inspect {
        /// What.
        what: Inspection,
        /// A memfd for it.
        into: OwnedFd,
        /// To be closed when it is there.
        done: OwnedFd,
        /// What it takes, see [`Inspection`].
        with: Vec<OwnedFd>,
    },
    /// Nobody waits for this request, which may be over.
    Abandoned(u64),
    /// As [`Order::HungUp`]; the request may be over.
    HungUp(u64),
    /// As [`Order::Greet`].
    Greet,
    /// As [`Order::Bells`].
    Bells(Vec<OwnedFd>),
    /// Something lies in the worker's memory, or there is room in it.
    Bell,
}

/// What a packet of the front says, and the thread that wants the answer; an inline frame goes into `buffer`.
fn decode(packet: &[u8], fds: Vec<OwnedFd>, mut buffer: Vec<u8>) -> io::Result<(Inbound, u8)> {
    let mut fds = fds.into_iter();
    let mut packet = Cursor(packet);
    let mut reply_to = 0;
    let inbound = match packet.u8()? {
        LEAVE => Inbound::Leave,
        PROMOTE => Inbound::Promote(fds.next().ok_or(Malformed("no control channel"))?),
        GREET => Inbound::Greet,
        ABANDONED => Inbound::Abandoned(packet.u64()?),
        HUNG_UP => Inbound::HungUp(packet.u64()?),
        INSPECT => Inbound::Inspect {
            what: *Inspection::ALL.get(usize::from(packet.u8()?)).ok_or(Malformed("unknown inspection"))?,
            into: fds.next().ok_or(Malformed("nothing to write into"))?,
            done: fds.next().ok_or(Malformed("nothing to close"))?,
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

/// What a process has told of itself, which runs the site's code: the text that there is by now.
pub fn read_told(memory: BorrowedFd<'_>) -> io::Result<String> {
    String::from_utf8(read_all(memory.try_clone_to_owned()?, MAX_TOLD)?).map_err(|_| Malformed("no UTF-8").into())
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

//! The front's end of a worker's transport.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use super::{
    ABANDONED, BELL, BELLS, BROADCAST, CLOSE_WEBSOCKETS, GREET, HUNG_UP, INSPECT, Inbound, LEAVE, LOGS, MAX_INLINE,
    PROMOTE, REQUEST, REQUEST_IN_FD, STREAM, WorkerOrder, decode, in_memory,
};
use crate::Malformed;
use crate::channel::{receive_packet, send_packet, try_receive_packet};
use crate::frame::id_of;
use crate::memory::{FrontMemory, Memory};

/// How an order was delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum OrderDelivery {
    /// In a packet, which wakes a worker that sleeps.
    Arrives,
    /// The order is in the worker's memory: call [`SocketFront::wake_if_asleep`] once after this order and the orders
    /// that follow soon.
    Left,
}

/// The front's end of a socketpair, with the memory that goes with it. Never blocks.
///
/// A worker that answers quickly may be sent requests ahead of time, so that it need not be woken for each.
/// Requests that it has not begun can be taken back: either the front or the worker gets an order, never both.
pub struct SocketFront {
    socket: Arc<OwnedFd>,
    /// The worker's end as well: receiving from it takes back requests that the worker has not received. While
    /// the front holds this end, the worker's death causes no end of file here.
    theirs: OwnedFd,
    memory: FrontMemory,
    /// A request was sent in a packet, and may still lie in the socket.
    has_packet: AtomicBool,
}

impl SocketFront {
    /// Takes both ends of a pair, makes the front's end non-blocking, and uses the memory of a worker with that
    /// many `blocks`.
    pub fn new(socket: OwnedFd, theirs: OwnedFd, memory: Memory, blocks: usize) -> io::Result<SocketFront> {
        use nix::fcntl::{FcntlArg, OFlag, fcntl};
        fcntl(&socket, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let socket = Arc::new(socket);
        let memory = FrontMemory::new(memory, blocks, {
            let socket = socket.clone();
            move || ring(socket.as_fd())
        });
        Ok(SocketFront { socket, theirs, memory, has_packet: AtomicBool::new(true) })
    }

    /// The memory of the worker.
    pub fn memory(&self) -> &FrontMemory {
        &self.memory
    }

    /// Wakes a worker that waits for room for its responses.
    pub fn wake(&self) {
        ring(self.socket.as_fd());
    }

    /// Wakes the worker if it sleeps although a request lies in its memory.
    pub fn wake_if_asleep(&self) {
        if self.memory.must_wake() {
            self.wake();
        }
    }

    /// Sends an order whole, or fails with `WouldBlock`.
    pub fn send(&self, order: &WorkerOrder<'_>) -> io::Result<OrderDelivery> {
        if let WorkerOrder::Request { frame, body: None, reply_to } = order
            && self.memory.send(id_of(frame), frame, *reply_to)
        {
            return Ok(OrderDelivery::Left);
        }
        if matches!(order, WorkerOrder::Request { .. }) {
            self.has_packet.store(true, SeqCst);
        }
        self.send_packet(order)?;
        self.memory.announce_packet();
        Ok(OrderDelivery::Arrives)
    }

    fn send_packet(&self, order: &WorkerOrder<'_>) -> io::Result<()> {
        let to = self.socket.as_fd();
        match order {
            WorkerOrder::Leave => send_packet(to, &[IoSlice::new(&[LEAVE])], &[]),
            WorkerOrder::Promote { control } => send_packet(to, &[IoSlice::new(&[PROMOTE])], &[control.as_raw_fd()]),
            WorkerOrder::Inspect { what, into, done, with } => {
                let fds: Vec<_> = [*into, *done].into_iter().chain(with.iter().copied()).collect();
                send_packet(to, &[IoSlice::new(&[INSPECT, *what as u8])], &raw(&fds))
            }
            WorkerOrder::Greet => send_packet(to, &[IoSlice::new(&[GREET])], &[]),
            WorkerOrder::Stream { socket } => send_packet(to, &[IoSlice::new(&[STREAM])], &[socket.as_raw_fd()]),
            WorkerOrder::CloseWebSockets => send_packet(to, &[IoSlice::new(&[CLOSE_WEBSOCKETS])], &[]),
            WorkerOrder::Broadcast { message } => {
                send_packet(to, &[IoSlice::new(&[BROADCAST]), IoSlice::new(message)], &[])
            }
            WorkerOrder::Abandoned { request } => {
                send_packet(to, &[IoSlice::new(&[ABANDONED]), IoSlice::new(&request.to_le_bytes())], &[])
            }
            WorkerOrder::HungUp { request } => {
                send_packet(to, &[IoSlice::new(&[HUNG_UP]), IoSlice::new(&request.to_le_bytes())], &[])
            }
            WorkerOrder::Logs { first, logs } => {
                send_packet(to, &[IoSlice::new(&[LOGS]), IoSlice::new(&first.to_le_bytes())], &raw(logs))
            }
            WorkerOrder::Bells { bells } => send_packet(to, &[IoSlice::new(&[BELLS])], &raw(bells)),
            WorkerOrder::Request { frame, body, reply_to } => {
                let body = body.map(|body| body.as_raw_fd());
                if frame.len() <= MAX_INLINE {
                    let before = [REQUEST, *reply_to];
                    return send_packet(to, &[IoSlice::new(&before), IoSlice::new(frame)], body.as_slice());
                }
                let memory = in_memory("request frame", frame)?;
                let fds: Vec<RawFd> = [memory.as_raw_fd()].into_iter().chain(body).collect();
                send_packet(to, &[IoSlice::new(&[REQUEST_IN_FD, *reply_to])], &fds)
            }
        }
    }

    /// Receives one packet of replies; `None`: the worker has ended.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let mut fds = Vec::new();
        let received = receive_packet(self.socket.as_fd(), into, &mut fds)?;
        if fds.is_empty() { Ok(received) } else { Err(Malformed("descriptors from a worker").into()) }
    }

    /// Takes back the requests that the worker has not begun, oldest first. Returns their ids.
    pub fn take_back(&self, buffer: &mut [u8]) -> io::Result<Vec<u64>> {
        let (mut requests, mut others) = (Vec::new(), Vec::new());
        while self.has_packet.load(SeqCst) {
            let mut fds = Vec::new();
            let n = match try_receive_packet(self.theirs.as_fd(), buffer, &mut fds) {
                Ok(Some(n)) => n,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                Ok(None) | Err(_) => {
                    self.has_packet.store(false, SeqCst);
                    break;
                }
            };
            let packet = buffer.get(..n).unwrap_or_default();
            match decode(packet, fds, Vec::new())?.0 {
                Inbound::Request(frame, _) => requests.push(frame.id()),
                other => others.push(other),
            }
        }
        // A request in a packet was sent while no slot held one, so it is older.
        requests.extend(self.memory.take_back());
        others.into_iter().try_for_each(|other| self.send_again(other))?;
        Ok(requests)
    }

    fn send_again(&self, order: Inbound) -> io::Result<()> {
        let sent = match order {
            Inbound::Logs { first, logs } => self.send(&WorkerOrder::Logs { first, logs: &borrowed(&logs) }),
            Inbound::Abandoned(request) => self.send(&WorkerOrder::Abandoned { request }),
            Inbound::HungUp(request) => self.send(&WorkerOrder::HungUp { request }),
            Inbound::Greet => self.send(&WorkerOrder::Greet),
            Inbound::CloseWebSockets => self.send(&WorkerOrder::CloseWebSockets),
            Inbound::Broadcast(message) => self.send(&WorkerOrder::Broadcast { message: &message }),
            Inbound::Stream(socket) => self.send(&WorkerOrder::Stream { socket: socket.as_fd() }),
            Inbound::Inspect { what, into, done, with } => self.send(&WorkerOrder::Inspect {
                what,
                into: into.as_fd(),
                done: done.as_fd(),
                with: &borrowed(&with),
            }),
            Inbound::Promote(control) => self.send(&WorkerOrder::Promote { control: control.as_fd() }),
            Inbound::Bells(bells) => self.send(&WorkerOrder::Bells { bells: &borrowed(&bells) }),
            Inbound::Bell => {
                self.wake();
                return Ok(());
            }
            Inbound::Leave | Inbound::Request(..) => self.send(&WorkerOrder::Leave),
        };
        sent.map(drop)
    }
}

impl AsRawFd for SocketFront {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

fn borrowed(fds: &[OwnedFd]) -> Vec<BorrowedFd<'_>> {
    fds.iter().map(AsFd::as_fd).collect()
}

fn raw(fds: &[BorrowedFd<'_>]) -> Vec<RawFd> {
    fds.iter().map(AsRawFd::as_raw_fd).collect()
}

/// A full socket needs no bell: the worker has packets to wake for.
fn ring(socket: BorrowedFd<'_>) {
    let _ = send_packet(socket, &[IoSlice::new(&[BELL])], &[]);
}

//! The worker's end of its transport.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{Inbound, MAX_ORDER, Presence, REQUEST, REQUEST_IN_FD, decode};
use crate::channel::{first_byte, receive_packet, send_packet, try_receive_packet};
use crate::frame::Frame;
use crate::memory::{Lack, Memory, WorkerMemory};
use crate::reply::{Outgoing, Reply};

/// The worker's end of a socketpair, with its memory. Blocks.
pub struct WorkerPort {
    line: OrderSocket,
    /// The thread that gets the response.
    reply_to: u8,
    memory: WorkerMemory,
}

/// The socket, and the orders received over it.
struct OrderSocket {
    socket: OwnedFd,
    /// See [`packet_buffer`].
    packet: Box<[u8]>,
    /// Orders received in the middle of a request, to be handled after the request.
    pending: VecDeque<Inbound>,
    /// The front that sent the current request has died.
    is_orphaned: bool,
}

/// Room for the largest packet of the front. Allocated once: zeroing it for every request would cost more than
/// a small request. Allocated before a fork, its pages stay shared until a packet reaches them.
pub fn packet_buffer() -> Box<[u8]> {
    vec![0; MAX_ORDER].into()
}

impl AsFd for WorkerPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.socket.as_fd()
    }
}

impl WorkerPort {
    /// Takes an end of a pair, a buffer from [`packet_buffer`], and memory with that many `blocks`.
    pub fn new(socket: OwnedFd, packet: Box<[u8]>, memory: Memory, blocks: usize) -> WorkerPort {
        let line = OrderSocket { socket, packet, pending: VecDeque::new(), is_orphaned: false };
        WorkerPort { line, reply_to: 0, memory: WorkerMemory::new(memory, blocks) }
    }

    /// Whether [`WorkerPort::next`] would find a request without waiting: the front may still take it back.
    pub fn has_request(&self) -> bool {
        self.memory.orders.has_next()
    }

    /// The socket, and the eventfds that wake the front.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.line.socket.as_fd()).chain(self.memory.bells().map(AsFd::as_fd))
    }

    /// Waits for the next order; `None`: the front has ended. `buffer` is reused for a frame. From now on replies are
    /// sent to the thread that sent the order.
    pub fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Inbound>> {
        self.reply_to = 0;
        loop {
            if let Some(order) = self.line.pending.pop_front() {
                return Ok(Some(self.begins(order)));
            }
            let request_lies_in_socket = self.line.receive_announced(&self.memory)?;
            if !self.line.pending.is_empty() {
                continue;
            }
            // The request in the socket was sent while all slots were free, so it is older than the requests in the
            // slots.
            if !request_lies_in_socket {
                if let Some(reply_to) = self.memory.orders.claim(&mut buffer) {
                    self.reply_to = reply_to;
                    return Ok(Some(Inbound::Request(Frame::parse(buffer)?, None)));
                }
                self.memory.sleeps.raise();
                if self.memory.orders.has_next() || self.memory.control.is_raised() {
                    self.memory.sleeps.lower();
                    continue;
                }
            }
            let received = self.line.receive(std::mem::take(&mut buffer));
            self.memory.sleeps.lower();
            let Some((inbound, reply_to)) = received? else { return Ok(None) };
            if matches!(inbound, Inbound::Bell) {
                continue;
            }
            self.reply_to = reply_to;
            return Ok(Some(self.begins(inbound)));
        }
    }

    /// The next order, if one lies in the socket, for a worker that waits in an event loop. `None`: the front has
    /// ended. Such a worker gets no requests in its memory, so the front sees it asleep.
    pub fn next_if_there(&mut self) -> io::Result<Option<Option<Inbound>>> {
        self.memory.sleeps.raise();
        let mut fds = Vec::new();
        let received = try_receive_packet(self.line.socket.as_fd(), &mut self.line.packet, &mut fds);
        let length = match received {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Some(None)),
            Err(error) => return Err(error),
        };
        let (inbound, _) = decode(self.line.packet.get(..length).unwrap_or_default(), fds, Vec::new())?;
        Ok(Some(Some(self.begins(inbound))))
    }

    /// Counts a turn of the event loop, for the front's [`turns`](crate::memory::FrontMemory::turns). Returns its
    /// number.
    pub fn begin_turn(&self) -> u64 {
        self.memory.begin_turn()
    }

    fn begins(&mut self, inbound: Inbound) -> Inbound {
        if matches!(inbound, Inbound::Greet) {
            self.line.is_orphaned = false;
            self.memory.reset();
        }
        inbound
    }

    /// Sets the eventfds of the front's threads, from [`WorkerOrder::Bells`](super::WorkerOrder).
    pub fn take_bells(&mut self, bells: Vec<OwnedFd>) -> io::Result<()> {
        Ok(self.memory.take_bells(bells)?)
    }

    /// Sends a message that concerns no request.
    pub fn send_reply(&mut self, reply: &Reply<'_>) -> io::Result<()> {
        let mut packet = Vec::new();
        reply.put(0, &mut packet);
        send_packet(self.line.socket.as_fd(), &[IoSlice::new(&packet)], &[])
    }

    /// Sends part of a response. Responses for a front that has died are dropped.
    pub fn send(&mut self, message: &Outgoing<'_>) -> io::Result<()> {
        let (line, reply_to) = (&mut self.line, self.reply_to);
        if line.is_orphaned {
            return Ok(());
        }
        let sent = self.memory.send(message, reply_to, |memory, lack| line.wait_for(memory, lack, reply_to));
        if line.is_orphaned { Ok(()) } else { sent }
    }

    /// Whether the response to this request is still wanted, by the orders that have arrived. Takes no request
    /// out of the socket: the front may want it back.
    pub fn presence(&mut self, request: u64) -> io::Result<Presence> {
        self.line.receive_announced(&self.memory)?;
        Ok(self.line.presence(request))
    }

    /// Whether a new front has replaced the one that sent the current request.
    pub fn is_greeted(&self) -> bool {
        self.line.is_orphaned || self.line.pending.iter().any(|order| matches!(order, Inbound::Greet))
    }
}

impl OrderSocket {
    fn receive(&mut self, buffer: Vec<u8>) -> io::Result<Option<(Inbound, u8)>> {
        let mut fds = Vec::new();
        let Some(n) = receive_packet(self.socket.as_fd(), &mut self.packet, &mut fds)? else { return Ok(None) };
        decode(self.packet.get(..n).unwrap_or_default(), fds, buffer).map(Some)
    }

    /// Receives announced orders, but no request. Returns whether a request lies in the socket; its
    /// announcement stays.
    fn receive_announced(&mut self, memory: &WorkerMemory) -> io::Result<bool> {
        let request_lies_there = memory.control.take() && self.receive_orders()?;
        if request_lies_there {
            memory.control.raise();
        }
        Ok(request_lies_there)
    }

    /// Receives the orders that lie in the socket, but no request. Returns whether a request lies there.
    fn receive_orders(&mut self) -> io::Result<bool> {
        loop {
            match first_byte(self.socket.as_fd())? {
                None => return Ok(false),
                Some(REQUEST | REQUEST_IN_FD) => return Ok(true),
                Some(_) => {}
            }
            let mut fds = Vec::new();
            let Some(n) = try_receive_packet(self.socket.as_fd(), &mut self.packet, &mut fds)? else {
                return Ok(false);
            };
            match decode(self.packet.get(..n).unwrap_or_default(), fds, Vec::new())?.0 {
                Inbound::Bell => {}
                order => self.pending.push_back(order),
            }
        }
    }

    /// The presence by the orders received so far. Orders about other requests, which are over, are dropped.
    fn presence(&mut self, request: u64) -> Presence {
        let mut presence = Presence::Here;
        self.pending.retain(|order| match order {
            Inbound::Abandoned(about) | Inbound::HungUp(about) => {
                if *about == request && presence != Presence::Gone {
                    presence = if matches!(order, Inbound::HungUp(_)) { Presence::HungUp } else { Presence::Gone };
                }
                false
            }
            Inbound::Greet => {
                presence = Presence::Gone;
                true
            }
            _ => true,
        });
        presence
    }

    /// Waits until the front may have made room.
    fn wait_for(&mut self, memory: &WorkerMemory, lack: Lack, reply_to: u8) -> io::Result<()> {
        if !memory.announce(lack, reply_to) {
            return Ok(());
        }
        match self.receive(Vec::new())? {
            None => return Err(io::ErrorKind::BrokenPipe.into()),
            Some((Inbound::Bell, _)) => {}
            Some((order, _)) => {
                self.is_orphaned |= matches!(order, Inbound::Greet);
                self.pending.push_back(order);
            }
        }
        if self.is_orphaned { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }
}

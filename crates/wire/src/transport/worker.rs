//! The worker's end.

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
    line: Line,
    /// The thread that is answered.
    reply_to: u8,
    memory: WorkerMemory,
}

/// The socket, and what came over it.
struct Line {
    socket: OwnedFd,
    /// See [`packet_buffer`].
    packet: Box<[u8]>,
    /// What was heard in the middle of a request and is for afterwards.
    heard: VecDeque<Inbound>,
    /// The front for which the worker works has died.
    is_for_nobody: bool,
}

/// Room for the largest packet of the front. Made once: zeroing this much for every request would cost more than a small
/// request does. Made before a fork it is shared memory but for the pages that packets reach.
pub fn packet_buffer() -> Box<[u8]> {
    vec![0; MAX_ORDER].into()
}

impl AsFd for WorkerPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.socket.as_fd()
    }
}

impl WorkerPort {
    /// Takes an end of a pair over, what [`packet_buffer`] made, and memory with so many blocks.
    pub fn new(socket: OwnedFd, packet: Box<[u8]>, memory: Memory, blocks: usize) -> WorkerPort {
        let line = Line { socket, packet, heard: VecDeque::new(), is_for_nobody: false };
        WorkerPort { line, reply_to: 0, memory: WorkerMemory::new(memory, blocks) }
    }

    /// Whether [`WorkerPort::next`] would find a request without waiting: the front may still take it back.
    pub fn has_request(&self) -> bool {
        self.memory.orders.has_next()
    }

    /// Its socket, and what wakes the front.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::once(self.line.socket.as_fd()).chain(self.memory.bells().map(AsFd::as_fd))
    }

    /// Waits for what comes next; `None` when the front has gone. `buffer` is emptied and used for a frame. What is sent from
    /// here on goes to the thread that wants the answer.
    pub fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Inbound>> {
        self.reply_to = 0;
        loop {
            if let Some(heard) = self.line.heard.pop_front() {
                return Ok(Some(self.begins(heard)));
            }
            let request_lies_in_socket = self.line.hear_what_is_announced(&self.memory)?;
            if !self.line.heard.is_empty() {
                continue;
            }
            // It was sent when there was none in the slots, and comes before those that are there now.
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

    fn begins(&mut self, inbound: Inbound) -> Inbound {
        if matches!(inbound, Inbound::Greet) {
            self.line.is_for_nobody = false;
            self.memory.reset();
        }
        inbound
    }

    /// The threads of the front are woken by these, as [`Order::Bells`](super::Order) says.
    pub fn take_bells(&mut self, bells: Vec<OwnedFd>) -> io::Result<()> {
        Ok(self.memory.take_bells(bells)?)
    }

    /// Says something that is about no request.
    pub fn say(&mut self, reply: &Reply<'_>) -> io::Result<()> {
        let mut packet = Vec::new();
        reply.put(0, &mut packet);
        send_packet(self.line.socket.as_fd(), &[IoSlice::new(&packet)], &[])
    }

    /// Says something about a request. What was for a front that has died is for nobody.
    pub fn send(&mut self, said: &Outgoing<'_>) -> io::Result<()> {
        let (line, reply_to) = (&mut self.line, self.reply_to);
        if line.is_for_nobody {
            return Ok(());
        }
        let sent = self.memory.send(said, reply_to, |memory, lack| line.wait_for(memory, lack, reply_to));
        if line.is_for_nobody { Ok(()) } else { sent }
    }

    /// What the front has said meanwhile of who waits for this request. Takes no request from the front: it may want it
    /// back.
    pub fn presence(&mut self, request: u64) -> io::Result<Presence> {
        self.line.hear_what_is_announced(&self.memory)?;
        Ok(self.line.presence(request))
    }
}

impl Line {
    fn receive(&mut self, buffer: Vec<u8>) -> io::Result<Option<(Inbound, u8)>> {
        let mut fds = Vec::new();
        let Some(n) = receive_packet(self.socket.as_fd(), &mut self.packet, &mut fds)? else { return Ok(None) };
        decode(self.packet.get(..n).unwrap_or_default(), fds, buffer).map(Some)
    }

    /// Takes what the front says that it has sent, but no request: says whether one lies there, which stays announced.
    fn hear_what_is_announced(&mut self, memory: &WorkerMemory) -> io::Result<bool> {
        let request_lies_there = memory.control.take() && self.hear_all()?;
        if request_lies_there {
            memory.control.raise();
        }
        Ok(request_lies_there)
    }

    /// Takes what is there, but no request: says whether one lies there.
    fn hear_all(&mut self) -> io::Result<bool> {
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
                heard => self.heard.push_back(heard),
            }
        }
    }

    /// What was heard of who waits for this request. Of others, which are over, it is forgotten.
    fn presence(&mut self, request: u64) -> Presence {
        let mut presence = Presence::Here;
        self.heard.retain(|heard| match heard {
            Inbound::Abandoned(about) | Inbound::HungUp(about) => {
                if *about == request && presence != Presence::Gone {
                    presence = if matches!(heard, Inbound::HungUp(_)) { Presence::HungUp } else { Presence::Gone };
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

    /// Waits until the front may have done something about what is lacking.
    fn wait_for(&mut self, memory: &WorkerMemory, lack: Lack, reply_to: u8) -> io::Result<()> {
        if !memory.announce(lack, reply_to) {
            return Ok(());
        }
        match self.receive(Vec::new())? {
            None => return Err(io::ErrorKind::BrokenPipe.into()),
            Some((Inbound::Bell, _)) => {}
            Some((heard, _)) => {
                self.is_for_nobody |= matches!(heard, Inbound::Greet);
                self.heard.push_back(heard);
            }
        }
        if self.is_for_nobody { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }
}

//! The worker's view of its own shared memory.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use super::replies::{self, MAX_ENTRY};
use super::sync::Ordering::Relaxed;
use super::{CONTROL, Flag, Memory, TURNS, WORKER_SLEEPS, blocks, orders};
use crate::Malformed;
use crate::reply::{Outgoing, Reply};

/// Longest piece of a body in the ring, in bytes; a longer one lies in blocks.
const INLINE_BODY: usize = 2 * 1024;

/// The worker's view of its own shared memory.
pub struct WorkerMemory {
    /// Receiver of requests.
    pub orders: orders::Receiver,
    /// Raised while the worker waits for a packet or any other wake-up.
    pub sleeps: Flag,
    /// Raised by the front when a packet lies in the socket.
    pub control: Flag,
    blocks: blocks::BlockWriter,
    /// The ring and the wake-up eventfd of each thread of the front.
    rings: Vec<(replies::RingWriter, File)>,
    memory: Memory,
    /// Buffer of the packet that is being built.
    packet: Vec<u8>,
}

/// A resource that the worker must wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Blocks that the front has not given back.
    Blocks,
    /// Room in the ring for an entry of this many bytes.
    Room(usize),
}

impl WorkerMemory {
    /// The view of a worker that has sent no packet yet; `blocks` is the number of its blocks.
    pub fn new(memory: Memory, blocks: usize) -> WorkerMemory {
        WorkerMemory {
            orders: orders::Receiver::new(&memory),
            sleeps: Flag::new(&memory, WORKER_SLEEPS),
            control: Flag::new(&memory, CONTROL),
            blocks: blocks::BlockWriter::new(&memory, blocks),
            rings: Vec::new(),
            memory,
            packet: Vec::new(),
        }
    }

    /// Counts a turn of the worker's event loop. Returns its number, from 1 on.
    pub fn begin_turn(&self) -> u64 {
        self.memory.words().get(TURNS).map_or(0, |turns| turns.fetch_add(1, Relaxed).wrapping_add(1))
    }

    /// Sets the eventfds of a new front's threads, in the order of the threads.
    pub fn take_bells(&mut self, bells: Vec<OwnedFd>) -> Result<(), Malformed> {
        if bells.len() > replies::MAX_THREADS {
            return Err(Malformed("more threads than rings"));
        }
        let rings = (0..bells.len()).map(|number| replies::RingWriter::new(&self.memory, number));
        self.rings = rings.zip(bells.into_iter().map(File::from)).collect();
        Ok(())
    }

    /// Empties slots, blocks and rings, for a new front.
    pub fn reset(&mut self) {
        self.orders.reset();
        self.blocks.reset();
        self.rings.iter().for_each(|(ring, _)| ring.reset());
    }

    /// The eventfds of the front's threads.
    pub fn bells(&self) -> impl Iterator<Item = &File> {
        self.rings.iter().map(|(_, bell)| bell)
    }

    /// Sends `message` to thread `reply_to`. When ring or blocks are full, calls `wait`, which returns when there may
    /// be room, or fails when the front has ended.
    pub fn send(
        &mut self,
        message: &Outgoing<'_>,
        reply_to: u8,
        mut wait: impl FnMut(&Self, Lack) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut packet = std::mem::take(&mut self.packet);
        packet.clear();
        packet.extend_from_slice(message.before);
        let sent = self.put_body(message, &mut packet, reply_to, &mut wait).and_then(|()| {
            packet.extend_from_slice(message.after);
            self.put(&packet, reply_to, &mut wait)
        });
        self.packet = packet;
        sent
    }

    fn put_body(
        &mut self,
        message: &Outgoing<'_>,
        packet: &mut Vec<u8>,
        reply_to: u8,
        wait: &mut impl FnMut(&Self, Lack) -> io::Result<()>,
    ) -> io::Result<()> {
        if message.body.len() <= INLINE_BODY {
            if !message.body.is_empty() {
                Reply::Body(message.body).put(message.id, packet);
            }
            return Ok(());
        }
        let mut rest = message.body;
        while !rest.is_empty() {
            let (block, length) = match self.blocks.write(rest) {
                Some(written) => written,
                None => {
                    // The front frees only blocks that it knows: their numbers are sent first.
                    self.flush(packet, reply_to, wait)?;
                    self.write_blocks(rest, wait)?
                }
            };
            Reply::Lent { block: block as u32, length: length as u32 }.put(message.id, packet);
            rest = rest.get(length..).unwrap_or_default();
            if !rest.is_empty() {
                self.flush(packet, reply_to, wait)?;
            }
        }
        Ok(())
    }

    fn write_blocks(
        &self,
        bytes: &[u8],
        wait: &mut impl FnMut(&Self, Lack) -> io::Result<()>,
    ) -> io::Result<(usize, usize)> {
        loop {
            if let Some(written) = self.blocks.write(bytes) {
                return Ok(written);
            }
            wait(self, Lack::Blocks)?;
        }
    }

    fn flush(
        &mut self,
        packet: &mut Vec<u8>,
        reply_to: u8,
        wait: &mut impl FnMut(&Self, Lack) -> io::Result<()>,
    ) -> io::Result<()> {
        self.put(packet, reply_to, wait)?;
        packet.clear();
        Ok(())
    }

    fn put(&self, packet: &[u8], reply_to: u8, wait: &mut impl FnMut(&Self, Lack) -> io::Result<()>) -> io::Result<()> {
        if packet.is_empty() {
            return Ok(());
        }
        let (ring, bell) = self.rings.get(usize::from(reply_to)).ok_or(Malformed("no such thread"))?;
        if packet.len() <= MAX_ENTRY {
            while !ring.write(packet) {
                wait(self, Lack::Room(packet.len()))?;
            }
        } else {
            let (mut named, mut rest) = (Vec::new(), packet);
            while !rest.is_empty() {
                let written = self.write_blocks(rest, wait)?;
                rest = rest.get(written.1..).unwrap_or_default();
                named.push(written);
            }
            while !ring.write_blocks(&named) {
                wait(self, Lack::Room(named.len() * 8))?;
            }
        }
        match ring.front_sleeps.take() {
            true => (&*bell).write_all(&1u64.to_ne_bytes()),
            false => Ok(()),
        }
    }

    /// Requests a packet from the front when the resource is there. Returns false when it is there already;
    /// then no packet may come.
    pub fn announce(&self, lack: Lack, reply_to: u8) -> bool {
        match lack {
            Lack::Blocks => self.blocks.wants_more(),
            Lack::Room(length) => self.rings.get(usize::from(reply_to)).is_some_and(|(ring, _)| {
                ring.waits.raise();
                !ring.has_room(length)
            }),
        }
    }
}

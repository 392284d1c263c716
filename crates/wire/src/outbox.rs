//! What is to be said over a channel whose socket does not block: what the other side does not take yet is kept, in order.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::channel::{Channel, Packet, packets};

/// Packets on their way; `F` is who holds the descriptors until they have gone.
#[derive(Debug)]
pub struct Outbox<F>(VecDeque<Packet<F>>);

impl<F> Default for Outbox<F> {
    fn default() -> Self {
        Outbox(VecDeque::new())
    }
}

impl<F: AsRawFd> Outbox<F> {
    /// Puts `message` behind the others. An error when it can never be sent.
    pub fn push(&mut self, message: &impl Serialize, fds: Vec<F>) -> io::Result<()> {
        self.0.extend(packets(message, fds)?);
        Ok(())
    }

    /// Sends what the other side takes. After an error nothing is left: whoever is there has lost the thread, and what
    /// is for nobody is dropped without one.
    pub fn flush<Out: Serialize, In: DeserializeOwned>(&mut self, channel: &Channel<Out, In>) -> io::Result<()> {
        while let Some(packet) = self.0.front() {
            match channel.send_one(packet) {
                Ok(()) => drop(self.0.pop_front()),
                Err(error) if is_passing(&error) => return Ok(()),
                Err(error) => {
                    self.0.clear();
                    return if is_gone(&error) { Ok(()) } else { Err(error) };
                }
            }
        }
        Ok(())
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Buffers are full, or too many descriptors are on their way at once.
fn is_passing(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::EAGAIN | Errno::ENOBUFS | Errno::ENOMEM | Errno::ETOOMANYREFS))
}

/// The other side has ended, which is seen elsewhere.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::NotConnected)
}

//! Queue of outgoing messages for a channel whose socket does not block; their order is preserved.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::channel::{Channel, Packet, packets};

/// Packets that wait to be sent; `F` owns the descriptors until then.
#[derive(Debug)]
pub struct Outbox<F>(VecDeque<Packet<F>>);

impl<F> Default for Outbox<F> {
    fn default() -> Self {
        Outbox(VecDeque::new())
    }
}

impl<F: AsRawFd> Outbox<F> {
    /// Queues `message`. Fails when it can never be sent.
    pub fn push(&mut self, message: &impl Serialize, fds: Vec<F>) -> io::Result<()> {
        self.0.extend(packets(message, fds)?);
        Ok(())
    }

    /// Sends as many packets as the peer takes. After an error the queue is empty, for the peer would miss a
    /// part. Packets to a peer that has gone are dropped without an error.
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

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether the error is temporary: full buffers, or too many descriptors in flight.
fn is_passing(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::EAGAIN | Errno::ENOBUFS | Errno::ENOMEM | Errno::ETOOMANYREFS))
}

/// Whether the peer has closed its end, which other code handles.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::NotConnected)
}

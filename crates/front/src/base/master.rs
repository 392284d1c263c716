//! The control channel to the master.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use tokio::io::unix::AsyncFd;
use wire::channel::Channel;
use wire::control::{FromFront, ToFront};
use wire::outbox::Outbox;

use super::lock::lock;
use base::log;

/// Sends without blocking: messages that the socket does not accept are queued and sent later.
pub struct Master {
    channel: AsyncFd<Channel<FromFront, ToFront>>,
    kept: Mutex<Outbox<OwnedFd>>,
}

impl Master {
    /// Uses the channel `control`.
    #[allow(deprecated, reason = "the new spelling is unsafe; a Channel owns its descriptor and never changes it")]
    pub fn new(control: OwnedFd) -> anyhow::Result<Master> {
        fcntl(&control, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let channel = AsyncFd::with_interest(Channel::new(control), tokio::io::Interest::READABLE)?;
        Ok(Master { channel, kept: Mutex::default() })
    }

    /// Sends a message, or queues it.
    pub fn send(&self, message: FromFront) {
        if let Err(error) = lock(&self.kept).push(&message, Vec::new()) {
            log::error("front", format_args!("cannot send a message to the master: {error}"));
        }
        self.catch_up();
    }

    /// Whether messages are queued.
    pub fn is_behind(&self) -> bool {
        !lock(&self.kept).is_empty()
    }

    /// Sends queued messages; true if some are left.
    pub fn catch_up(&self) -> bool {
        let mut kept = lock(&self.kept);
        if let Err(error) = kept.flush(self.channel.get_ref()) {
            log::error("front", format_args!("cannot send a message to the master: {error}"));
        }
        !kept.is_empty()
    }

    /// Receives the next message and its descriptors.
    pub async fn receive(&self) -> io::Result<Option<(ToFront, Vec<OwnedFd>)>> {
        loop {
            let mut guard = self.channel.readable().await?;
            match self.channel.get_ref().receive() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
                message => return message,
            }
        }
    }
}

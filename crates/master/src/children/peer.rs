//! A control channel that never makes the master wait: messages that the other side does not read yet stay in an
//! outbox. If a message can never be sent, the other side must end ([`Peer::take_failure`]), because it would go on
//! without that message.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wire::channel::Channel;
use wire::outbox::Outbox;

/// A descriptor to be sent to another process; the master's copy closes with its last holder.
pub type Fd = Rc<OwnedFd>;

/// The master's end of a child's control channel.
#[derive(Debug)]
pub struct Peer<Out, In> {
    channel: Channel<Out, In>,
    outbox: Outbox<Fd>,
    gone: bool,
    failure: Option<io::Error>,
}

impl<Out: Serialize, In: DeserializeOwned> Peer<Out, In> {
    /// Takes `socket` over and makes it non-blocking.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        fcntl(&socket, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Peer { channel: Channel::to_stranger(socket), outbox: Outbox::default(), gone: false, failure: None })
    }

    /// Sends now, or as soon as the peer reads. A closed peer is no error: the reaping of its process reports the end.
    pub fn send(&mut self, message: Out, fds: Vec<Fd>) {
        let pushed = self.outbox.push(&message, fds);
        self.note(pushed);
        self.flush();
    }

    /// Sends the messages in the outbox.
    pub fn flush(&mut self) {
        let flushed = self.outbox.flush(&self.channel);
        self.note(flushed);
    }

    fn note(&mut self, sent: io::Result<()>) {
        self.failure = self.failure.take().or(sent.err());
    }

    /// Takes the error because of which a message can never be sent.
    pub fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }

    /// Waits until a message arrives, and sends the messages in the outbox.
    pub fn wait(&mut self, by: Instant) -> anyhow::Result<()> {
        let left = by
            .checked_duration_since(Instant::now())
            .ok_or_else(|| anyhow!("Perl code is still loading; raise StartTimeout"))?;
        let interest = if self.has_unsent() { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
        let mut fds = [PollFd::new(self.as_fd(), interest)];
        match poll(&mut fds, PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)) {
            Err(Errno::EINTR) => {}
            polled => drop(polled?),
        }
        self.flush();
        Ok(())
    }

    /// Whether the peer has closed its end, so that no further message can arrive.
    pub fn is_gone(&self) -> bool {
        self.gone
    }

    /// Whether messages wait in the outbox.
    pub fn has_unsent(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// A peer that closes with unread messages causes one "end of file" before its last messages: receive again.
    fn receive_after_reset(&self) -> io::Result<Option<(In, Vec<OwnedFd>)>> {
        match self.channel.receive() {
            Ok(None) => self.channel.receive(),
            received => received,
        }
    }

    /// The next message that has arrived. `None`: no message waits, or the peer has closed its end.
    pub fn receive(&mut self) -> io::Result<Option<In>> {
        Ok(self.receive_with_fds()?.map(|(message, _)| message))
    }

    /// The next message with its descriptors.
    pub fn receive_with_fds(&mut self) -> io::Result<Option<(In, Vec<OwnedFd>)>> {
        match self.receive_after_reset() {
            Ok(Some(received)) => Ok(Some(received)),
            Ok(None) => {
                self.gone = true;
                Ok(None)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<Out, In> AsFd for Peer<Out, In> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_to_a_slow_reader_wait_and_arrive_in_order() {
        let (ours, theirs) = wire::channel::pair().expect("pair");
        let mut peer: Peer<u32, ()> = Peer::new(ours).expect("peer");
        for n in 0..5000 {
            peer.send(n, vec![]);
        }
        assert!(peer.has_unsent());
        let reader: Channel<(), u32> = Channel::new(theirs);
        for n in 0..5000 {
            assert_eq!(reader.receive().expect("receive").expect("not the end").0, n);
            peer.flush();
        }
        assert!(!peer.has_unsent());
    }

    #[test]
    fn the_last_messages_of_a_side_that_ended_with_unread_ones_are_received() {
        let (ours, theirs) = wire::channel::pair().expect("pair");
        let mut peer: Peer<u32, u32> = Peer::new(ours).expect("peer");
        peer.send(1, vec![]);
        Channel::<u32, u32>::new(theirs).send(&2, &[]).expect("sent");
        assert_eq!(peer.receive().expect("heard"), Some(2));
        assert_eq!(peer.receive().expect("the end"), None);
        assert!(peer.is_gone());
    }

    #[test]
    fn sending_to_a_side_that_has_gone_is_silent() {
        let (ours, _) = wire::channel::pair().expect("pair");
        let mut peer: Peer<u32, u32> = Peer::new(ours).expect("peer");
        peer.send(1, vec![]);
        assert!(!peer.has_unsent() && peer.take_failure().is_none());
        assert_eq!(peer.receive().expect("the end"), None);
    }

    #[test]
    fn a_message_that_can_never_be_sent_is_an_error_once() {
        let (ours, _theirs) = wire::channel::pair().expect("pair");
        let mut peer: Peer<String, u32> = Peer::new(ours).expect("peer");
        peer.send("x".repeat(17 << 20), vec![]);
        assert!(peer.take_failure().is_some() && peer.take_failure().is_none() && !peer.has_unsent());
    }
}

//! One request to a leased program: its body is descriptor 0, its output becomes the response as that of a CGI program.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use fastcgi::request::FastcgiRole;
use fastcgi::{FastcgiEvent, ProtocolError, ResponseReader, request};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::unistd::{Whence, lseek};

use super::lease::{Lease, wait_of};

const PIECE: usize = 32 * 1024;

#[derive(Debug)]
pub enum ExchangeEnd {
    /// The response is complete.
    Whole,
    /// The client has disconnected.
    Unheard,
    /// The program takes longer than the request may.
    TooLate,
    /// The program has moved no byte for `FcgidIOTimeout`.
    Silent,
    /// The program closed the connection before it sent a byte.
    NoAnswer,
    /// The program closed the connection before the end of the response.
    Closed,
    /// The program's bytes are no FastCGI.
    Protocol(ProtocolError),
    /// The connection failed.
    Lost(io::Error),
}

#[derive(Debug, Clone, Copy)]
pub struct ExchangeLimits {
    /// End of the whole request.
    pub by: Option<Instant>,
    /// Longest time without a byte in either direction.
    pub io: Duration,
}

/// The request that a FastCGI program gets.
#[derive(Clone, Copy)]
pub struct ProgramRequest<'a> {
    /// Whether the program answers, or decides about access.
    pub role: FastcgiRole,
    pub variables: &'a [(Vec<u8>, Vec<u8>)],
}

struct Exchange<'a> {
    lease: &'a mut Lease,
    request: u64,
    /// Records that the program has not taken, from `sent` on.
    out: Vec<u8>,
    sent: usize,
    body_is_sent: bool,
    is_deaf: bool,
    reader: ResponseReader,
    input: BytesMut,
    received: bool,
    moved: Instant,
}

/// Sends the request with these variables, and transfers the response.
pub fn run(lease: &mut Lease, request: u64, sent: ProgramRequest<'_>, limits: ExchangeLimits) -> ExchangeEnd {
    // The body is sent from its beginning: an earlier attempt may have read it.
    if let Err(error) = lseek(io::stdin().as_fd(), 0, Whence::SeekSet) {
        return ExchangeEnd::Lost(error.into());
    }
    let pairs = sent.variables.iter().map(|(name, value)| (&name[..], &value[..]));
    let out = [request::begin_as(sent.role, false), request::params(pairs)].concat();
    let mut exchange = Exchange {
        lease,
        request,
        out,
        sent: 0,
        body_is_sent: sent.role == FastcgiRole::Authorizer,
        is_deaf: false,
        reader: ResponseReader::default(),
        input: BytesMut::new(),
        received: false,
        moved: Instant::now(),
    };
    exchange.go(limits).unwrap_or_else(|end| end)
}

impl Exchange<'_> {
    fn go(&mut self, limits: ExchangeLimits) -> Result<ExchangeEnd, ExchangeEnd> {
        let mut has_sent_status = false;
        loop {
            let silent_by = self.moved.checked_add(limits.io);
            let by = limits.by.into_iter().chain(silent_by).min();
            let (readable, writable) = self.wait(if has_sent_status { Some(Instant::now()) } else { by })?;
            let now = Instant::now();
            if limits.by.is_some_and(|by| by <= now) {
                return Err(ExchangeEnd::TooLate);
            }
            if silent_by.is_some_and(|by| by <= now) {
                return Err(ExchangeEnd::Silent);
            }
            if writable {
                self.write()?;
            }
            if readable && let Some(end) = self.read(&mut has_sent_status)? {
                return Ok(end);
            }
            if !readable {
                if std::mem::take(&mut has_sent_status) {
                    apache::flush();
                }
                self.check_client()?;
            }
        }
    }

    fn check_client(&self) -> Result<(), ExchangeEnd> {
        if apache::is_unheard(self.request) { Err(ExchangeEnd::Unheard) } else { Ok(()) }
    }

    fn wait(&self, by: Option<Instant>) -> Result<(bool, bool), ExchangeEnd> {
        let wants_to_write = !(self.is_deaf || self.body_is_sent && self.sent == self.out.len());
        let flags = if wants_to_write { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
        let mut fds = [PollFd::new(self.lease.stream.as_fd(), flags)];
        match poll(&mut fds, wait_of(by)) {
            Err(Errno::EINTR) | Ok(0) => return Ok((false, false)),
            Err(error) => return Err(ExchangeEnd::Lost(error.into())),
            Ok(_) => {}
        }
        let found = fds[0].revents().unwrap_or(PollFlags::POLLIN);
        let readable = found.intersects(PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR);
        Ok((readable, wants_to_write && found.contains(PollFlags::POLLOUT)))
    }

    /// Writes what the program takes; a program that takes no more may still answer.
    fn write(&mut self) -> Result<(), ExchangeEnd> {
        if self.sent == self.out.len() && !self.body_is_sent {
            self.refill().map_err(ExchangeEnd::Lost)?;
        }
        match self.lease.stream.write(self.out.get(self.sent..).unwrap_or_default()) {
            Ok(taken) => {
                self.sent += taken;
                self.moved = Instant::now();
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.is_deaf = true,
        }
        Ok(())
    }

    fn refill(&mut self) -> io::Result<()> {
        let mut piece = [0; PIECE];
        let length = loop {
            match nix::unistd::read(io::stdin().as_fd(), &mut piece) {
                Err(Errno::EINTR) => continue,
                other => break other?,
            }
        };
        self.sent = 0;
        self.out = match piece.get(..length).unwrap_or_default() {
            [] => request::end_of_stdin().to_vec(),
            some => request::stdin(some),
        };
        self.body_is_sent = length == 0;
        Ok(())
    }

    /// Reads a piece. `Some` at the end of the response.
    fn read(&mut self, has_sent_status: &mut bool) -> Result<Option<ExchangeEnd>, ExchangeEnd> {
        let mut piece = [0; PIECE];
        let length = match self.lease.stream.read(&mut piece) {
            Ok(0) if self.received => return Err(ExchangeEnd::Closed),
            Ok(0) => return Err(ExchangeEnd::NoAnswer),
            Ok(length) => length,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::ConnectionReset && !self.received => {
                return Err(ExchangeEnd::NoAnswer);
            }
            Err(error) => return Err(ExchangeEnd::Lost(error)),
        };
        (self.received, self.moved) = (true, Instant::now());
        self.input.extend_from_slice(piece.get(..length).unwrap_or_default());
        while let Some(event) = self.reader.next(&mut self.input).map_err(ExchangeEnd::Protocol)? {
            match event {
                FastcgiEvent::Stdout(text) => {
                    *has_sent_status = true;
                    apache::output(&text);
                }
                FastcgiEvent::Stderr(text) => apache::log_output(&text),
                FastcgiEvent::End(_) => return Ok(Some(ExchangeEnd::Whole)),
            }
        }
        self.check_client()?;
        Ok(None)
    }
}

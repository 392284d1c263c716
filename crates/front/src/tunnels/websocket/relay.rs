//! The WebSocket protocol with a client on one side, simple frames with a worker on the other. Without I/O of its own
//! but for the two streams, and without a clock.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use websocket::{CloseReason, Opcode, WebSocketError, WebSocketEvent, WebSocketReader, WebSocketWriter, codes};

use super::rate::FrameRate;
use super::side::{MAX_WAITING_BYTES, Side};
use super::worker_frames::{self, ClientOutput, InvalidFrame, WorkerFrame, WorkerReader};
use crate::client::tunnel::WebSocketSession;

/// Longest time from this server's close frame to the client's.
const CLOSE_TIME: Duration = Duration::from_secs(5);
/// While events wait for room, nothing more is read once this much of the client's bytes waits.
const MAX_AHEAD_BYTES: usize = 64 << 10;
/// Longest time in which a client takes no byte of what waits for it, and a worker of the end of a connection or of
/// messages that other messages wait for.
const WRITE_TIME: Duration = Duration::from_secs(60);

/// Both sides of the connection.
pub struct Relay<C, W> {
    client: Side<C>,
    worker: Side<W>,
    reader: WebSocketReader,
    /// `None`: no limit.
    rate: Option<FrameRate>,
    writer: WebSocketWriter,
    frames: WorkerReader,
    ping: Pings,
    /// When this server has sent its close frame.
    closed: Option<Instant>,
    /// Why no more bytes come from the client. Those before may still wait in its input.
    left: Option<&'static str>,
    /// Since when events of the client wait for room in an output.
    held: Option<Instant>,
    /// The client's close frame or another end was reported to the worker. Only output is left.
    is_over: bool,
    /// The worker gets pings and pongs, and may end the stream without a close frame: a program that would speak the
    /// protocol itself.
    passes_control: bool,
    /// Why the worker was given up, for the error log.
    pub fault: Option<String>,
    /// The worker is to end, so that its end is no fault.
    pub is_leaving: bool,
}

/// Pings at the application's interval.
#[derive(Default)]
struct Pings {
    interval: Option<Duration>,
    timeout: Option<Duration>,
    next: Option<Instant>,
    /// When the unanswered ping was sent.
    unanswered: Option<Instant>,
}

impl<C: AsyncRead + AsyncWrite + Unpin, W: AsyncRead + AsyncWrite + Unpin> Relay<C, W> {
    pub fn new(client: C, worker: W, session: &WebSocketSession) -> Relay<C, W> {
        Relay {
            client: Side::new(client),
            worker: Side::new(worker),
            reader: WebSocketReader::new(session.limits, session.deflate.is_some()),
            rate: FrameRate::new(session.most_frames),
            writer: WebSocketWriter::new(session.deflate),
            frames: WorkerReader::default(),
            ping: Pings::default(),
            closed: None,
            left: None,
            held: None,
            is_over: false,
            passes_control: session.passes_control,
            fault: None,
            is_leaving: false,
        }
    }

    /// Moves what can be moved. Ready when both sides have got their last byte.
    pub fn poll(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<()> {
        loop {
            // What a worker has sent before its end is still read.
            let mut moved = self.worker.poll_write(cx, now).unwrap_or_else(|_| self.worker.deafen());
            moved |= self.client.poll_write(cx, now).unwrap_or_else(|_| {
                self.client.deafen();
                self.disconnect(codes::ABNORMAL, "write_error")
            });
            if self.is_over {
                if !moved {
                    let is_done = self.client.is_written() && self.worker.is_written();
                    return if is_done { Poll::Ready(()) } else { Poll::Pending };
                }
                continue;
            }
            moved |= self.poll_client(cx, now);
            if self.client.has_room() && !self.is_over {
                moved |= self.poll_worker(cx, now);
            }
            if !moved {
                self.note_room(now);
                return Poll::Pending;
            }
        }
    }

    /// Does what is due by now.
    pub fn tick(&mut self, now: Instant) {
        let late = |since: Option<Instant>, time: Duration| since.filter(|since| now >= *since + time).is_some();
        if self.is_over {
            if late(self.client.waits_since, WRITE_TIME) || late(self.worker.waits_since, WRITE_TIME) {
                self.client.deafen();
                self.worker.deafen();
            }
        } else if late(self.client.waits_since, WRITE_TIME) {
            self.abort("write_timeout");
        } else if late(self.stalled(), WRITE_TIME) {
            let seconds = WRITE_TIME.as_secs();
            self.fault = Some(format!("has taken no message of a WebSocket for {seconds} s; closing the WebSocket"));
            self.close(now, codes::TRY_AGAIN_LATER, "worker_timeout");
        } else if late(self.closed, CLOSE_TIME) {
            self.abort("client_timeout");
        } else if self.ping.timeout.is_some_and(|time| late(self.unanswered(), time)) {
            self.abort("keepalive_timeout");
        } else if self.ping.next.is_some_and(|next| now >= next) && !self.is_closing() {
            self.ping.next = self.ping.interval.map(|interval| now + interval);
            self.ping.unanswered = self.ping.unanswered.or(Some(now));
            self.writer.ping(b"", &mut self.client.output);
        }
    }

    /// When [`Relay::tick`] has something to do.
    pub fn due(&self) -> Option<Instant> {
        let of_client = self.client.waits_since.map(|since| since + WRITE_TIME);
        if self.is_over {
            let of_worker = self.worker.waits_since.map(|since| since + WRITE_TIME);
            return of_client.into_iter().chain(of_worker).min();
        }
        // A program may take its time to read, unless messages wait for room.
        let stalled = self.stalled().map(|since| since + WRITE_TIME);
        let unanswered = self.unanswered().zip(self.ping.timeout).map(|(since, time)| since + time);
        let closed = self.closed.map(|since| since + CLOSE_TIME);
        [self.ping.next.filter(|_| !self.is_closing()), unanswered, closed, stalled, of_client]
            .into_iter()
            .flatten()
            .min()
    }

    /// Closes with this code, unless that has happened. `why` is for the worker.
    pub fn close(&mut self, now: Instant, code: u16, why: &str) {
        if !self.is_closing() {
            self.send_close(now, &CloseReason { code, reason: String::new() });
            worker_frames::disconnected(codes::ABNORMAL, why, &mut self.worker.output);
            self.worker.has_ended = true;
        }
    }

    /// Whether a close frame was sent, or the connection is over.
    fn is_closing(&self) -> bool {
        self.closed.is_some() || self.is_over
    }

    /// Whether the client takes nothing any more, so that output was dropped.
    pub fn has_given_up(&self) -> bool {
        self.client.is_deaf
    }

    /// Ends without a close frame.
    fn abort(&mut self, why: &str) {
        self.client.deafen();
        self.disconnect(codes::ABNORMAL, why);
    }

    /// The worker learns of the end.
    fn disconnect(&mut self, code: u16, why: &str) -> bool {
        if !self.is_over && !self.worker.has_ended {
            worker_frames::disconnected(code, why, &mut self.worker.output);
        }
        self.is_over = true;
        true
    }

    fn send_close(&mut self, now: Instant, reason: &CloseReason) {
        if self.frames.is_amid() {
            // No other message may follow, and a close frame may stand between the parts of one.
            self.frames = WorkerReader::default();
        }
        self.writer.close(Some(reason), &mut self.client.output);
        self.closed = Some(now);
    }

    /// Reads from the client. Returns whether there was something.
    ///
    /// A read of 16 KiB can inflate to thousands of times its size, so room is asked for before each event. What is
    /// left of the input is read before the stream.
    fn poll_client(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let mut moved = false;
        while !self.is_over {
            let is_held = !self.has_room();
            let event = if is_held { Ok(None) } else { self.reader.next(&mut self.client.input) };
            match (event, self.left) {
                (Ok(event), _) if !is_held && self.is_flooded(event.as_ref(), now) => self.refuse(now),
                (Ok(Some(event)), _) => self.take(event),
                (Err(error), _) => self.violated(now, error),
                (Ok(None), Some(why)) if !is_held => return self.disconnect(codes::ABNORMAL, why),
                (Ok(None), Some(_)) => break,
                // The end of a client's stream is noticed only by a read.
                (Ok(None), None) if is_held && self.client.input.len() >= MAX_AHEAD_BYTES => break,
                (Ok(None), None) => match self.client.poll_read(cx) {
                    Poll::Pending => break,
                    Poll::Ready(Err(_)) => self.left = Some("read_error"),
                    Poll::Ready(Ok(())) => self.left = self.client.has_ended.then_some("client_closed"),
                },
            }
            moved = true;
        }
        self.client.release();
        moved
    }

    /// Whether events of the client may be read. Each adds to an output, but for messages after a close frame.
    fn has_room(&self) -> bool {
        self.client.has_room() && (self.worker.has_room() || self.closed.is_some())
    }

    /// Notes whether events of the client wait for room.
    fn note_room(&mut self, now: Instant) {
        if !self.is_over && !self.has_room() {
            self.held = self.held.or(Some(now));
        } else if self.held.take().is_some() {
            // The answer may be among what was not read.
            self.ping.unanswered = self.ping.unanswered.map(|_| now);
        }
    }

    /// Since when the client owes the answer to a ping. None is expected while its events wait for room.
    fn unanswered(&self) -> Option<Instant> {
        self.ping.unanswered.filter(|_| self.held.is_none())
    }

    /// Since when the worker takes nothing while the client's events wait for room there.
    fn stalled(&self) -> Option<Instant> {
        let held = self.held.filter(|_| self.closed.is_none() && !self.worker.has_room())?;
        Some(self.worker.waits_since.map_or(held, |since| since.max(held)))
    }

    fn take(&mut self, event: WebSocketEvent) {
        // The worker has closed: what the client has sent before it knew has no receiver.
        let is_open = !self.worker.has_ended && self.closed.is_none();
        match event {
            WebSocketEvent::Text(text) if is_open => {
                worker_frames::message(Opcode::Text, &text, &mut self.worker.output)
            }
            WebSocketEvent::Binary(bytes) if is_open => {
                worker_frames::message(Opcode::Binary, &bytes, &mut self.worker.output);
            }
            WebSocketEvent::Text(_) | WebSocketEvent::Binary(_) => {}
            WebSocketEvent::Ping(payload) if self.closed.is_none() => {
                self.writer.pong(&payload, &mut self.client.output);
                if self.passes_control && is_open {
                    worker_frames::ping(&payload, &mut self.worker.output);
                }
            }
            WebSocketEvent::Ping(_) => {}
            WebSocketEvent::Pong(payload) => {
                self.ping.unanswered = None;
                if self.passes_control && is_open {
                    worker_frames::pong(&payload, &mut self.worker.output);
                }
            }
            WebSocketEvent::Close(reason) => {
                if self.closed.is_none() {
                    self.writer.close(reason.as_ref(), &mut self.client.output);
                }
                if !self.worker.has_ended {
                    worker_frames::close(reason.as_ref(), &mut self.worker.output);
                }
                self.is_over = true;
            }
        }
    }

    /// Whether the client has sent more frames than it may.
    fn is_flooded(&mut self, last: Option<&WebSocketEvent>, now: Instant) -> bool {
        let is_control = matches!(last, Some(WebSocketEvent::Ping(_) | WebSocketEvent::Pong(_)));
        self.rate.as_mut().is_some_and(|rate| !rate.allows(self.reader.frames(), is_control, now))
    }

    /// Ends a connection whose client sends too many frames.
    fn refuse(&mut self, now: Instant) {
        let code = codes::POLICY_VIOLATION;
        if self.closed.is_none() {
            self.send_close(now, &CloseReason { code, reason: "too many frames".to_owned() });
        }
        self.disconnect(code, "protocol_error");
    }

    fn violated(&mut self, now: Instant, error: WebSocketError) {
        let code = error.close_code();
        if self.closed.is_none() {
            self.send_close(now, &CloseReason { code, reason: error.to_string() });
        }
        let why = if error == WebSocketError::TooBig { "body_too_large" } else { "protocol_error" };
        self.disconnect(code, why);
    }

    /// Reads from the worker. Returns whether there was something.
    fn poll_worker(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let mut moved = false;
        while self.closed.is_none() && !self.worker.has_ended {
            let before = self.client.output.len();
            self.pass_on(now);
            moved |= self.client.output.len() != before;
            if !self.client.has_room() || self.closed.is_some() {
                break;
            }
            let Poll::Ready(read) = self.worker.poll_read(cx) else { break };
            moved = true;
            if read.is_err() || self.worker.has_ended {
                self.worker.has_ended = true;
                if self.is_leaving {
                    self.send_close(now, &CloseReason { code: codes::SERVICE_RESTART, reason: String::new() });
                } else if self.passes_control {
                    // Messages that wait for the client are still written.
                    self.disconnect(codes::ABNORMAL, "client_closed");
                } else {
                    self.blame(now, "has ended the stream without closing the WebSocket".to_owned());
                }
            }
        }
        self.worker.release();
        moved
    }

    /// Passes on what the worker has sent, as far as there is room.
    fn pass_on(&mut self, now: Instant) {
        loop {
            let into = ClientOutput { writer: &self.writer, output: &mut self.client.output, most: MAX_WAITING_BYTES };
            match self.frames.next(&mut self.worker.input, into) {
                Ok(None) => return,
                Ok(Some(WorkerFrame::Close(reason))) => return self.send_close(now, &reason),
                Ok(Some(WorkerFrame::Keepalive { interval, timeout })) => {
                    let next = interval.map(|interval| now + interval);
                    self.ping = Pings { interval, timeout, next, unanswered: None };
                }
                Err(InvalidFrame(what)) => {
                    self.worker.deafen();
                    self.worker.has_ended = true;
                    return self.blame(now, format!("has sent an invalid WebSocket frame: {what}"));
                }
            }
        }
    }

    /// Closes because of the worker.
    fn blame(&mut self, now: Instant, fault: String) {
        self.fault = Some(fault);
        self.send_close(now, &CloseReason { code: codes::INTERNAL_ERROR, reason: String::new() });
    }
}

#[cfg(test)]
mod tests;

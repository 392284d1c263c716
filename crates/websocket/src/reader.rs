//! Frames of the client (RFC 6455, sections 5 and 6.2).

use bytes::{Buf, Bytes, BytesMut};

use crate::close::CloseReason;
use crate::deflate::MessageInflater;
use crate::failure::WebSocketError;
use crate::frame::{self, COMPRESSED, FrameHeader, MAX_CONTROL_BYTES, Opcode};
use crate::utf8::Utf8Check;

/// What a client may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebSocketLimits {
    /// Maximum number of bytes of a message, decompressed.
    pub message: usize,
    /// Maximum number of bytes of a frame's payload as sent.
    pub frame: usize,
}

/// What a client has sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebSocketEvent {
    /// A message of valid UTF-8.
    Text(Bytes),
    /// A message of bytes.
    Binary(Bytes),
    /// To be answered with a pong of the same payload.
    Ping(Bytes),
    /// The answer to a ping, or a sign of life.
    Pong(Bytes),
    /// The last event, with the content of the frame if there is one.
    Close(Option<CloseReason>),
}

/// A message of which a part has arrived.
#[derive(Default)]
struct MessageBegun {
    /// The check of a message of UTF-8.
    text: Option<Utf8Check>,
    /// Decompresses a compressed message.
    inflater: Option<Box<MessageInflater>>,
    content: BytesMut,
}

enum State {
    Header,
    /// `at` bytes of the payload have arrived, `left` are missing.
    Payload {
        opcode: Opcode,
        is_last: bool,
        key: [u8; 4],
        at: u64,
        left: u64,
    },
    /// A close frame has arrived, or the connection has failed.
    Over,
}

/// Reads frames. The caller answers pings and closes.
pub struct WebSocketReader {
    limits: WebSocketLimits,
    /// Whether messages may be compressed.
    deflates: bool,
    state: State,
    message: Option<Box<MessageBegun>>,
    /// The last message's, for a next message in the same input. An idle connection has none.
    spare: Option<Box<MessageInflater>>,
    /// Frames that have begun.
    frames: u64,
}

impl WebSocketReader {
    /// A reader for a connection that has, or has not, negotiated permessage-deflate.
    pub fn new(limits: WebSocketLimits, deflates: bool) -> WebSocketReader {
        WebSocketReader { limits, deflates, state: State::Header, message: None, spare: None, frames: 0 }
    }

    /// Number of frames that have begun. Parts of messages are frames, too, and make no events.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The next event of `input`, from which the read bytes are removed; none if more bytes are needed. Nothing is read
    /// after a close frame or an error.
    ///
    /// # Errors
    /// For bytes that violate the protocol or a limit. [`WebSocketError::close_code`] is the code to close with.
    pub fn next(&mut self, input: &mut BytesMut) -> Result<Option<WebSocketEvent>, WebSocketError> {
        let event = self.read(input);
        if matches!(event, Err(_) | Ok(Some(WebSocketEvent::Close(_)))) {
            self.state = State::Over;
            self.message = None;
        }
        if !matches!(event, Ok(Some(_))) {
            self.spare = None;
        }
        event
    }

    fn read(&mut self, input: &mut BytesMut) -> Result<Option<WebSocketEvent>, WebSocketError> {
        loop {
            match self.state {
                State::Header => {
                    let Some((header, length)) = FrameHeader::decode(input) else { return Ok(None) };
                    input.advance(length);
                    self.frames += 1;
                    self.begin(header)?;
                }
                State::Payload { opcode, is_last, key, at, left } => {
                    let here = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
                    let is_whole = here as u64 == left;
                    if !is_whole && (here == 0 || opcode.is_control()) {
                        return Ok(None);
                    }
                    let mut piece = input.split_to(here);
                    frame::mask(&mut piece, key, at);
                    let (at, left) = (at + here as u64, left - here as u64);
                    self.state = match is_whole {
                        true => State::Header,
                        false => State::Payload { opcode, is_last, key, at, left },
                    };
                    let event = match opcode {
                        Opcode::Close => Some(WebSocketEvent::Close(CloseReason::decode(&piece)?)),
                        Opcode::Ping => Some(WebSocketEvent::Ping(piece.freeze())),
                        Opcode::Pong => Some(WebSocketEvent::Pong(piece.freeze())),
                        _ => self.take(piece, is_whole && is_last)?,
                    };
                    if event.is_some() {
                        return Ok(event);
                    }
                }
                State::Over => return Ok(None),
            }
        }
    }

    /// Judges a header.
    fn begin(&mut self, header: FrameHeader) -> Result<(), WebSocketError> {
        let opcode = Opcode::of(header.opcode).ok_or(WebSocketError::Opcode(header.opcode))?;
        let begins = matches!(opcode, Opcode::Text | Opcode::Binary);
        let is_compressed = header.reserved == COMPRESSED && begins && self.deflates;
        if header.reserved != 0 && !is_compressed {
            return Err(WebSocketError::Reserved(header.reserved));
        }
        let key = header.mask.ok_or(WebSocketError::Unmasked)?;
        if header.is_overlong || header.length > i64::MAX as u64 {
            return Err(WebSocketError::Length);
        }
        if opcode.is_control() {
            if !header.is_last || header.length > MAX_CONTROL_BYTES as u64 {
                return Err(WebSocketError::Control);
            }
        } else {
            self.begin_part(header.length, begins)?;
        }
        if begins {
            let text = (opcode == Opcode::Text).then(Utf8Check::default);
            let inflater = is_compressed.then(|| self.spare.take().unwrap_or_default());
            self.message = Some(Box::new(MessageBegun { text, inflater, content: BytesMut::new() }));
        }
        self.state = State::Payload { opcode, is_last: header.is_last, key, at: 0, left: header.length };
        Ok(())
    }

    /// Whether a frame of a message may follow here, with a payload of this length.
    fn begin_part(&self, length: u64, begins: bool) -> Result<(), WebSocketError> {
        let before = match &self.message {
            Some(_) if begins => return Err(WebSocketError::Nested),
            None if !begins => return Err(WebSocketError::Continuation),
            Some(message) if message.inflater.is_none() => message.content.len(),
            _ => 0,
        };
        let most = self.limits.frame.min(self.limits.message.saturating_sub(before));
        if length > most as u64 { Err(WebSocketError::TooBig) } else { Ok(()) }
    }

    /// Adds a piece to the message, which is returned with its last one.
    fn take(&mut self, piece: BytesMut, is_last: bool) -> Result<Option<WebSocketEvent>, WebSocketError> {
        let most = self.limits.message;
        let Some(message) = &mut self.message else { return Err(WebSocketError::Continuation) };
        let MessageBegun { text, inflater, content } = &mut **message;
        let mut check = |content: &BytesMut, from: usize| {
            let new = content.get(from..).unwrap_or_default();
            if content.len() > most {
                return Err(WebSocketError::TooBig);
            }
            let is_valid = text.as_mut().is_none_or(|text| text.push(new));
            if is_valid { Ok(()) } else { Err(WebSocketError::Utf8) }
        };
        match inflater {
            Some(inflater) => {
                inflater.push(&piece, content, &mut check)?;
                if is_last {
                    inflater.push(MessageInflater::tail(), content, &mut check)?;
                }
            }
            None if content.is_empty() => {
                *content = piece;
                check(content, 0)?;
            }
            None => {
                let from = content.len();
                content.extend_from_slice(&piece);
                check(content, from)?;
            }
        }
        if !is_last {
            return Ok(None);
        }
        let message = self.message.take().map(|message| *message).unwrap_or_default();
        let MessageBegun { text, content, mut inflater } = message;
        if let Some(inflater) = &mut inflater {
            inflater.reset();
        }
        self.spare = inflater;
        match text {
            Some(text) if !text.is_complete() => Err(WebSocketError::Utf8),
            Some(_) => Ok(Some(WebSocketEvent::Text(content.freeze()))),
            None => Ok(Some(WebSocketEvent::Binary(content.freeze()))),
        }
    }
}

#[cfg(test)]
mod tests;

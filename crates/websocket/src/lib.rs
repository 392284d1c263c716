//! The server's side of the WebSocket protocol (RFC 6455) and of its compression, permessage-deflate (RFC 7692),
//! without I/O: bytes become events, messages become bytes.
//!
//! ```text
//!   head of a request ──▶ handshake::check ──▶ WebSocketHandshake ──▶ fields of the 101
//!   bytes of the client ──▶ WebSocketReader ──▶ WebSocketEvent
//!   messages, pings, closes ──▶ WebSocketWriter ──▶ bytes for the client
//! ```
//!
//! Both directions reset their compression after each message (`no_context_takeover`), so that an idle connection holds
//! no window.

#![forbid(unsafe_code)]

pub mod close;
pub mod codes;
mod deflate;
pub mod extension;
pub mod failure;
pub mod frame;
pub mod handshake;
pub mod reader;
mod utf8;
pub mod writer;

pub use close::CloseReason;
pub use extension::MessageDeflate;
pub use failure::WebSocketError;
pub use frame::Opcode;
pub use handshake::{HandshakeError, WebSocketHandshake, accept, key};
pub use reader::{WebSocketEvent, WebSocketLimits, WebSocketReader};
pub use writer::WebSocketWriter;

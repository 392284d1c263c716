//! The codes of close frames (RFC 6455, section 7.4).

/// A normal end.
pub const NORMAL: u16 = 1000;
/// The peer leaves.
pub const GOING_AWAY: u16 = 1001;
/// The peer has violated the protocol.
pub const PROTOCOL_ERROR: u16 = 1002;
/// The close frame has no code. Such a code is never sent.
pub const NO_STATUS: u16 = 1005;
/// The connection ended without a close frame. Such a code is never sent.
pub const ABNORMAL: u16 = 1006;
/// A text is no UTF-8, or compressed data are none.
pub const INVALID_PAYLOAD: u16 = 1007;
/// The peer is refused for another reason.
pub const POLICY_VIOLATION: u16 = 1008;
/// A message is longer than the limit.
pub const TOO_BIG: u16 = 1009;
/// The server has failed.
pub const INTERNAL_ERROR: u16 = 1011;
/// The server restarts, so the client may connect again.
pub const SERVICE_RESTART: u16 = 1012;
/// The server is overloaded, so the client may connect again later.
pub const TRY_AGAIN_LATER: u16 = 1013;

/// Whether the code may stand in a close frame: one of the protocol's registry, or one of a library or application.
pub fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

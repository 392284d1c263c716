//! The request frame: built once by the front, read in place by the worker.
//!
//! ```text
//!   0   magic u32 · length u32 (of the whole frame)
//!   8   id u64 · received u64 (µs since 1970) · body_length u64
//!  32   flags u16 · remote_port u16 · server_port u16 · host u16
//!  40   sections u16 · headers u16 · script_length u32
//!  48   local_port u16 · error_status u16
//!  52   logged_as u64
//!  60   fields: FIELDS × (offset u32, length u32)
//!       headers: n × (name offset u32, name length u32, value offset u32, value length u32)
//!       sections: n × u16
//!       the bytes that the offsets point into, then the body when it travels inline
//! ```
//!
//! Little-endian; offsets count from the start of the frame. The worker's `$r` methods are slices of these bytes:
//! nothing becomes a Perl scalar before it is asked for. The same bytes fit a socket packet, a memfd or a slot of
//! shared memory.

mod certificate;
mod encode;
mod parse;

pub use certificate::SeenCertificate;
pub use encode::Request;
pub use parse::Frame;

const MAGIC: u32 = 0x314c_4d43;
const FIELDS: usize = 17;
const FIXED: usize = 60;
const HEADERS_AT: usize = FIXED + FIELDS * 8;

/// Returns the request id of `frame`, which [`Request::encode`] has made; 0 if it is too short.
pub fn id_of(frame: &[u8]) -> u64 {
    frame.get(8..16).and_then(|id| id.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// The name of a request in logs and `%L`: when its head was complete, in µs since 1970, and its number, both
/// in hexadecimal.
pub fn name_in_logs(received: u64, logged_as: u64) -> String {
    let mut name = Vec::with_capacity(name_length(received, logged_as));
    put_name_in_logs(&mut name, received, logged_as);
    String::from_utf8(name).unwrap_or_default()
}

/// Length of [`name_in_logs`] in bytes.
pub fn name_length(received: u64, logged_as: u64) -> usize {
    (hex_digits(received) + hex_digits(logged_as)) as usize + "-".len()
}

/// Appends [`name_in_logs`].
pub fn put_name_in_logs(text: &mut Vec<u8>, received: u64, logged_as: u64) {
    put_hex(text, received);
    text.push(b'-');
    put_hex(text, logged_as);
}

fn hex_digits(number: u64) -> u32 {
    (u64::BITS - number.leading_zeros()).div_ceil(4).max(1)
}

/// Appends a number in hexadecimal. Each request has such a name, and `format!` takes three times the instructions.
fn put_hex(text: &mut Vec<u8>, number: u64) {
    let digit = |place| b"0123456789abcdef"[(number >> (4 * place) & 0xf) as usize];
    text.extend((0..hex_digits(number)).rev().map(digit));
}

/// A field of the request that is a byte string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Field {
    /// `GET`
    Method = 0,
    /// The request target as the client sent it, query included (`REQUEST_URI`).
    Target = 1,
    /// `HTTP/1.1`
    Protocol = 2,
    /// The path, percent-decoded once and normalised.
    Path = 3,
    /// The text after the first `?`, as sent.
    Query = 4,
    /// The client's address, without port.
    RemoteAddr = 5,
    /// The address that the client connected to, without port.
    LocalAddr = 6,
    /// The server's name: the request's `Host` without port, or `ServerName`.
    ServerName = 7,
    /// The file that the path maps to by DocumentRoot and Alias. The disk was consulted only with
    /// [`Flags::RESOLVED`].
    Filename = 8,
    /// The client's name, when `HostnameLookups` or an access rule asked for it.
    RemoteHost = 9,
    /// The user name that the front has authenticated.
    User = 10,
    /// The scheme by which the front authenticated the user: `Basic`.
    AuthType = 11,
    /// Variables that the front set for this request (`SetEnvIf`, an `ErrorDocument`'s `REDIRECT_…`): `NAME=value`,
    /// each followed by a zero byte.
    Env = 12,
    /// The `.htaccess` files that apply, outermost first: for each its folder, a zero byte, its text, a zero byte.
    Overrides = 13,
    /// Handler and media type that a rewrite rule has named, separated by a zero byte; empty: none.
    Forced = 14,
    /// Replacement of the handler, for an element of server-side includes: a command of /bin/sh, or the name of
    /// a Perl sub and its arguments with zero bytes between them. Empty: the handler runs. See [`Flags::GUARD`], too.
    Task = 15,
    /// The client's certificate, as a [`SeenCertificate`].
    Certificate = 16,
}

impl Field {
    /// Every field, by its number.
    pub const ALL: [Field; FIELDS] = [
        Field::Method,
        Field::Target,
        Field::Protocol,
        Field::Path,
        Field::Query,
        Field::RemoteAddr,
        Field::LocalAddr,
        Field::ServerName,
        Field::Filename,
        Field::RemoteHost,
        Field::User,
        Field::AuthType,
        Field::Env,
        Field::Overrides,
        Field::Forced,
        Field::Task,
        Field::Certificate,
    ];
}

/// Bits of [`Frame::flags`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// The client came over TLS.
    pub const HTTPS: Flags = Flags(1);
    /// The body is a file descriptor that came with the frame, not bytes behind it.
    pub const BODY_IN_FD: Flags = Flags(2);
    /// `Filename` was found on disk, and `script_length` separates it from the path's extra segments.
    pub const RESOLVED: Flags = Flags(4);
    /// The path lies under a ScriptAlias: a CGI script answers, whatever handler the sections set.
    pub const SCRIPT: Flags = Flags(8);
    /// The worker runs every phase: the front has not checked access.
    pub const PHASES: Flags = Flags(16);

    /// The request's trace is sampled: the worker reports spans.
    pub const TRACED: Flags = Flags(32);

    /// A connection instead of a request: the socket is the descriptor, and belongs to the worker until the
    /// handler returns.
    pub const CONNECTION: Flags = Flags(64);

    /// A backend answers after the phases: no handler responds, and the body does not come with the frame.
    pub const ONWARD: Flags = Flags(128);

    /// A FastCGI program decides about access: [`Field::Task`] has its role, then user and password of the client.
    pub const GUARD: Flags = Flags(256);

    /// Whether every bit of `other` is set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut request = Request {
            id: 7,
            received: 9,
            body_length: 3,
            host: 1,
            script_length: Some(4),
            error_status: 404,
            ..Default::default()
        };
        request.fields[Field::Path as usize] = b"/app/x";
        request.headers = &[(b"host", b"example.org"), (b"accept", b"*/*")];
        request.sections = &[3, 5];
        request.body = b"a=b";
        let mut out = Vec::new();
        request.encode(&mut out);
        out
    }

    #[test]
    fn a_frame_reads_back_what_was_written() {
        let frame = Frame::parse(sample()).expect("well formed");
        assert_eq!((frame.id(), frame.received(), frame.host()), (7, 9, 1));
        assert_eq!(frame.error_status(), Some(404));
        assert_eq!(frame.field(Field::Path), b"/app/x");
        assert_eq!(frame.header(b"accept"), Some(&b"*/*"[..]));
        assert_eq!(frame.sections().collect::<Vec<_>>(), [3, 5]);
        assert_eq!(frame.script_length(), Some(4));
        assert_eq!(frame.body(), b"a=b");
    }

    #[test]
    fn a_damaged_frame_is_refused_or_still_safe_to_read() {
        let good = sample();
        for at in 0..good.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = value;
                let Ok(frame) = Frame::parse(bad) else { continue };
                frame.headers().for_each(drop);
                frame.sections().for_each(drop);
                let _ = (frame.body(), frame.field(Field::Filename));
            }
        }
        for length in 0..good.len() {
            assert!(Frame::parse(good[..length].to_vec()).is_err());
        }
    }
}

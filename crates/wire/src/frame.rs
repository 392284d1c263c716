//! The request frame: built once by the front, read in place by the worker.
//!
//! ```text
//!   0   magic u32 · length u32 (of the whole frame)
//!   8   id u64 · received u64 (µs since 1970) · body_length u64
//!  32   flags u16 · remote_port u16 · server_port u16 · host u16
//!  40   sections u16 · headers u16 · script_length u32
//!  48   local_port u16 · nothing u16
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

use crate::Malformed;

const MAGIC: u32 = 0x314c_4d43;
const FIELDS: usize = 15;
const FIXED: usize = 60;
const HEADERS_AT: usize = FIXED + FIELDS * 8;

/// Returns the request id of `frame`, which [`Request::encode`] has made; 0 if it is too short.
pub fn id_of(frame: &[u8]) -> u64 {
    frame.get(8..16).and_then(|id| id.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// The name of a request in logs and `%L`: when its head was complete, in µs since 1970, and its number, both
/// in hexadecimal.
pub fn name_in_logs(received: u64, logged_as: u64) -> String {
    format!("{received:x}-{logged_as:x}")
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

/// A request as the front describes it; [`Request::encode`] makes the frame.
#[derive(Debug, Default, Clone)]
pub struct Request<'a> {
    /// Unique for the life of the front; replies repeat it.
    pub id: u64,
    /// The number in logs: that of the client's request, of which this one may be a part (an `ErrorDocument`).
    pub logged_as: u64,
    /// When the request's head was complete, in µs since 1970.
    pub received: u64,
    /// The body's length, inline or in a descriptor.
    pub body_length: u64,
    /// See [`Flags`].
    pub flags: Flags,
    /// The client's port.
    pub remote_port: u16,
    /// The port that goes with [`Field::ServerName`].
    pub server_port: u16,
    /// The port that the client connected to.
    pub local_port: u16,
    /// Index of the virtual host in the configuration.
    pub host: u16,
    /// Length in bytes of the script's name within `Path`; `None`: only the disk can tell.
    pub script_length: Option<u32>,
    /// In the order of [`Field`].
    pub fields: [&'a [u8]; FIELDS],
    /// Names in lower case, values as sent.
    pub headers: &'a [(&'a [u8], &'a [u8])],
    /// Indices of the configuration sections that apply, in merge order.
    pub sections: &'a [u16],
    /// The body, when it travels inline.
    pub body: &'a [u8],
}

impl Request<'_> {
    /// Writes the frame to `out`, which is emptied first and keeps its capacity.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        let headers = self.headers.len().min(u16::MAX as usize);
        let sections = self.sections.len().min(u16::MAX as usize);
        let bytes_at = HEADERS_AT + headers * 16 + sections * 2;
        out.resize(bytes_at, 0);
        for (i, field) in self.fields.iter().enumerate() {
            place(out, FIXED + i * 8, field);
        }
        for (i, (name, value)) in self.headers.iter().take(headers).enumerate() {
            place(out, HEADERS_AT + i * 16, name);
            place(out, HEADERS_AT + i * 16 + 8, value);
        }
        for (i, section) in self.sections.iter().take(sections).enumerate() {
            put(out, HEADERS_AT + headers * 16 + i * 2, &section.to_le_bytes());
        }
        out.extend_from_slice(self.body);
        let length = out.len() as u32;
        put(out, 0, &MAGIC.to_le_bytes());
        put(out, 4, &length.to_le_bytes());
        put(out, 8, &self.id.to_le_bytes());
        put(out, 16, &self.received.to_le_bytes());
        put(out, 24, &self.body_length.to_le_bytes());
        put(out, 32, &self.flags.0.to_le_bytes());
        put(out, 34, &self.remote_port.to_le_bytes());
        put(out, 36, &self.server_port.to_le_bytes());
        put(out, 38, &self.host.to_le_bytes());
        put(out, 40, &(sections as u16).to_le_bytes());
        put(out, 42, &(headers as u16).to_le_bytes());
        put(out, 44, &self.script_length.unwrap_or(u32::MAX).to_le_bytes());
        put(out, 48, &self.local_port.to_le_bytes());
        put(out, 52, &self.logged_as.to_le_bytes());
    }
}

fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    out[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Appends `bytes` and writes their offset and length at `slot`.
fn place(out: &mut Vec<u8>, slot: usize, bytes: &[u8]) {
    let at = out.len() as u32;
    put(out, slot, &at.to_le_bytes());
    put(out, slot + 4, &(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// A frame whose offsets were all checked once; reading it cannot fail afterwards.
#[derive(Debug, Default)]
pub struct Frame(Vec<u8>);

impl Frame {
    /// Checks `bytes` and takes ownership of them.
    pub fn parse(bytes: Vec<u8>) -> Result<Frame, Malformed> {
        let frame = Frame(bytes);
        let length = frame.0.len();
        if length < HEADERS_AT {
            return Err(Malformed("frame shorter than its header"));
        }
        if frame.u32(0) != MAGIC {
            return Err(Malformed("frame without its magic number"));
        }
        if frame.u32(4) as usize != length {
            return Err(Malformed("frame length differs from what arrived"));
        }
        let table_end = frame.sections_at() + frame.section_count() * 2;
        if table_end > length {
            return Err(Malformed("header table larger than the frame"));
        }
        let slots = (0..FIELDS).map(|i| FIXED + i * 8);
        let header_slots = (0..frame.header_count() * 2).map(|i| HEADERS_AT + i * 8);
        for slot in slots.chain(header_slots) {
            let end = frame.u32(slot) as usize + frame.u32(slot + 4) as usize;
            if end > length {
                return Err(Malformed("field outside the frame"));
            }
        }
        let inline_body = !frame.flags().has(Flags::BODY_IN_FD);
        if inline_body && frame.body_length() > (length - table_end) as u64 {
            return Err(Malformed("inline body longer than the frame"));
        }
        if frame.script_length().is_some_and(|n| n > frame.field(Field::Path).len()) {
            return Err(Malformed("script name longer than the path"));
        }
        Ok(frame)
    }

    /// Returns the buffer, to be reused for the next frame.
    pub fn into_buffer(self) -> Vec<u8> {
        self.0
    }

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    fn slice(&self, slot: usize) -> &[u8] {
        let at = self.u32(slot) as usize;
        &self.0[at..at + self.u32(slot + 4) as usize]
    }

    /// See [`Request::id`].
    pub fn id(&self) -> u64 {
        self.u64(8)
    }

    /// See [`Request::logged_as`].
    pub fn logged_as(&self) -> u64 {
        self.u64(52)
    }

    /// See [`Request::received`].
    pub fn received(&self) -> u64 {
        self.u64(16)
    }

    /// See [`Request::body_length`].
    pub fn body_length(&self) -> u64 {
        self.u64(24)
    }

    /// See [`Flags`].
    pub fn flags(&self) -> Flags {
        Flags(self.u16(32))
    }

    /// See [`Request::remote_port`].
    pub fn remote_port(&self) -> u16 {
        self.u16(34)
    }

    /// See [`Request::server_port`].
    pub fn server_port(&self) -> u16 {
        self.u16(36)
    }

    /// See [`Request::local_port`].
    pub fn local_port(&self) -> u16 {
        self.u16(48)
    }

    /// See [`Request::host`].
    pub fn host(&self) -> u16 {
        self.u16(38)
    }

    fn section_count(&self) -> usize {
        self.u16(40) as usize
    }

    fn header_count(&self) -> usize {
        self.u16(42) as usize
    }

    /// See [`Request::script_length`].
    pub fn script_length(&self) -> Option<usize> {
        match self.u32(44) {
            u32::MAX => None,
            n => Some(n as usize),
        }
    }

    /// The bytes of one field.
    pub fn field(&self, field: Field) -> &[u8] {
        self.slice(FIXED + field as usize * 8)
    }

    /// Names (lower case) and values, in the order the client sent them.
    pub fn headers(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..self.header_count()).map(|i| {
            let slot = HEADERS_AT + i * 16;
            (self.slice(slot), self.slice(slot + 8))
        })
    }

    /// The first header of that name, in lower case.
    pub fn header(&self, name: &[u8]) -> Option<&[u8]> {
        self.headers().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    fn sections_at(&self) -> usize {
        HEADERS_AT + self.header_count() * 16
    }

    /// See [`Request::sections`].
    pub fn sections(&self) -> impl Iterator<Item = u16> {
        let at = self.sections_at();
        (0..self.section_count()).map(move |i| self.u16(at + i * 2))
    }

    /// The inline body; empty when it came in a descriptor.
    pub fn body(&self) -> &[u8] {
        if self.flags().has(Flags::BODY_IN_FD) {
            return &[];
        }
        &self.0[self.0.len() - self.body_length() as usize..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut request =
            Request { id: 7, received: 9, body_length: 3, host: 1, script_length: Some(4), ..Default::default() };
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

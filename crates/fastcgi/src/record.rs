//! The header of a record (section 3.3).

/// Length in bytes of a record's header.
pub const HEADER: usize = 8;
/// Maximum number of bytes of one record's content.
pub const MAX_CONTENT_BYTES: usize = 65535;
/// Connections carry one request at a time, so the id never differs.
pub const REQUEST_ID: u16 = 1;
/// The protocol's version.
pub const VERSION: u8 = 1;

/// Type of a record that a web server sends or receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordType {
    /// With the role and whether the connection stays open.
    BeginRequest = 1,
    /// Ends a request, with its status.
    EndRequest = 3,
    /// Variables.
    Params = 4,
    /// The request's body.
    Stdin = 5,
    /// The response.
    Stdout = 6,
    /// Lines for the error log.
    Stderr = 7,
}

/// A record's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordHeader {
    /// The protocol's version.
    pub version: u8,
    /// The type as sent.
    pub kind: u8,
    /// The request; 0 for the connection itself.
    pub request: u16,
    /// Bytes of content.
    pub content: u16,
    /// Bytes behind the content, which are ignored.
    pub padding: u8,
}

impl RecordHeader {
    /// Accepts any values; [`super::ResponseReader`] judges them.
    pub fn decode(bytes: [u8; HEADER]) -> RecordHeader {
        let [version, kind, id_high, id_low, high, low, padding, _] = bytes;
        RecordHeader {
            version,
            kind,
            request: u16::from_be_bytes([id_high, id_low]),
            content: u16::from_be_bytes([high, low]),
            padding,
        }
    }
}

/// The header of a record of the request, without padding.
pub fn header(kind: RecordType, content: u16) -> [u8; HEADER] {
    let [id_high, id_low] = REQUEST_ID.to_be_bytes();
    let [high, low] = content.to_be_bytes();
    [VERSION, kind as u8, id_high, id_low, high, low, 0, 0]
}

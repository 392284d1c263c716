//! Writes a request as a frame.

use super::{FIELDS, FIXED, Flags, HEADERS_AT, MAGIC};

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
    /// The port that goes with [`Field::ServerName`](super::Field::ServerName).
    pub server_port: u16,
    /// The port that the client connected to.
    pub local_port: u16,
    /// Index of the virtual host in the configuration.
    pub host: u16,
    /// Status of the error whose page this request makes (`ErrorDocument`); 0 for other requests.
    pub error_status: u16,
    /// Length in bytes of the script's name within `Path`; `None`: only a look at the disk can find it.
    pub script_length: Option<u32>,
    /// In the order of [`Field`](super::Field).
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
        put(out, 50, &self.error_status.to_le_bytes());
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

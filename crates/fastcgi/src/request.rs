//! Records of a request (sections 3.4, 5.1 to 5.3).

use crate::record::{HEADER, MAX_CONTENT_BYTES, RecordType, header};

/// The role of an application for a request (section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FastcgiRole {
    /// `FCGI_RESPONDER`: answers it.
    Responder = 1,
    /// `FCGI_AUTHORIZER`: decides about access. It gets no body.
    Authorizer = 2,
}

/// `FCGI_KEEP_CONN`
const KEEP_CONNECTION: u8 = 1;
/// Lengths below this one take one byte, others four.
const SHORT: usize = 128;

/// The record that begins a request; with `keep`, the application leaves the connection open behind its response.
pub fn begin(keep: bool) -> Vec<u8> {
    begin_as(FastcgiRole::Responder, keep)
}

/// As [`begin`], for an application in this role.
pub fn begin_as(role: FastcgiRole, keep: bool) -> Vec<u8> {
    let flags = if keep { KEEP_CONNECTION } else { 0 };
    let mut record = header(RecordType::BeginRequest, 8).to_vec();
    record.extend_from_slice(&[0, role as u8, flags, 0, 0, 0, 0, 0]);
    record
}

/// All records of the variables, with the empty one that ends them.
pub fn params<'a>(variables: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Vec<u8> {
    let mut content = Vec::with_capacity(2048);
    for (name, value) in variables {
        put_length(&mut content, name.len());
        put_length(&mut content, value.len());
        content.extend_from_slice(name);
        content.extend_from_slice(value);
    }
    let mut records = Vec::with_capacity(content.len() + 2 * HEADER);
    put_stream(&mut records, RecordType::Params, &content);
    records.extend_from_slice(&header(RecordType::Params, 0));
    records
}

/// The records of a piece of the body. None for an empty piece, which would end the body.
pub fn stdin(piece: &[u8]) -> Vec<u8> {
    let mut records = Vec::with_capacity(piece.len() + HEADER);
    put_stream(&mut records, RecordType::Stdin, piece);
    records
}

/// The record that ends the body.
pub fn end_of_stdin() -> [u8; HEADER] {
    header(RecordType::Stdin, 0)
}

fn put_stream(records: &mut Vec<u8>, kind: RecordType, content: &[u8]) {
    for piece in content.chunks(MAX_CONTENT_BYTES) {
        // `chunks` keeps the length within u16.
        records.extend_from_slice(&header(kind, u16::try_from(piece.len()).unwrap_or(u16::MAX)));
        records.extend_from_slice(piece);
    }
}

/// A length of section 3.4: below 128 one byte, else four with the highest bit set.
fn put_length(content: &mut Vec<u8>, length: usize) {
    match u8::try_from(length).ok().filter(|_| length < SHORT) {
        Some(short) => content.push(short),
        None => {
            let long = u32::try_from(length).unwrap_or(u32::MAX) | 0x8000_0000;
            content.extend_from_slice(&long.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_one_byte_or_four() {
        let long = [b'x'; 128];
        let records = params([(&b"A"[..], &b"bc"[..]), (b"B", &long)]);
        assert_eq!(records[..HEADER], [1, 4, 0, 1, 0, 139, 0, 0]);
        assert_eq!(records[HEADER..HEADER + 5], [1, 2, b'A', b'b', b'c']);
        assert_eq!(records[HEADER + 5..HEADER + 11], [1, 0x80, 0, 0, 128, b'B']);
        assert_eq!(records[records.len() - HEADER..], [1, 4, 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn a_long_body_takes_several_records() {
        let records = stdin(&vec![b'x'; MAX_CONTENT_BYTES + 1]);
        assert_eq!(records.len(), MAX_CONTENT_BYTES + 1 + 2 * HEADER);
        assert_eq!(records[..HEADER], [1, 5, 0, 1, 255, 255, 0, 0]);
        assert_eq!(records[HEADER + MAX_CONTENT_BYTES..][..HEADER], [1, 5, 0, 1, 0, 1, 0, 0]);
        assert!(stdin(b"").is_empty());
    }
}

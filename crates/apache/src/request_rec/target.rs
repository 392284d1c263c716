//! Targets of internal requests and of translations.

use wire::frame::{self, Field, Flags, Frame};

use super::RequestRec;
use super::tables::Id;

/// Another path for a record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InternalTarget {
    /// The path, decoded and normalised.
    pub path: Vec<u8>,
    /// The part behind the `?`.
    pub query: Vec<u8>,
    /// The file; empty until the path is translated.
    pub filename: Vec<u8>,
    /// The URI as written by a handler, made absolute (`$r->unparsed_uri`); empty: no handler wrote one.
    pub unparsed: Vec<u8>,
}

/// Makes a frame for another path. Empty values leave the field unchanged, except for Env.
pub(crate) fn frame(r: &RequestRec, to: &InternalTarget, changes: &[(Field, &[u8])]) -> Frame {
    let headers: Vec<(Vec<u8>, &[u8])> = match r.tables.is_filled(Id::HeadersIn) {
        true => r.tables.of(Id::HeadersIn).iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
        false => r.frame.headers().map(|(name, value)| (name.to_vec(), value)).collect(),
    };
    let headers: Vec<(&[u8], &[u8])> = headers.iter().map(|(name, value)| (&name[..], *value)).collect();
    // The worker has put the body into descriptor 0.
    let mut flags = Flags::BODY_IN_FD;
    if r.frame.flags().has(Flags::HTTPS) {
        flags |= Flags::HTTPS;
    }
    let mut request = frame::Request {
        id: r.frame.id(),
        received: r.frame.received(),
        body_length: r.frame.body_length(),
        flags,
        remote_port: r.frame.remote_port(),
        server_port: r.frame.server_port(),
        local_port: r.frame.local_port(),
        host: r.frame.host(),
        headers: &headers,
        ..Default::default()
    };
    for field in Field::ALL {
        request.fields[field as usize] = r.frame.field(field);
    }
    for (field, value) in changes.iter().filter(|(field, value)| *field == Field::Env || !value.is_empty()) {
        request.fields[*field as usize] = value;
    }
    request.fields[Field::Overrides as usize] = b"";
    request.fields[Field::Path as usize] = &to.path;
    request.fields[Field::Query as usize] = &to.query;
    request.fields[Field::Filename as usize] = &to.filename;
    let mut bytes = Vec::new();
    request.encode(&mut bytes);
    // A frame encoded here is well formed.
    Frame::parse(bytes).unwrap_or_default()
}

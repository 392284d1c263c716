//! Headers and variables that the phases of a request have set, for the backend that answers the request.

use super::MAX_PAYLOAD;
use crate::{Cursor, Malformed, put_string};

/// Maximum number of bytes of an encoded [`OnwardRequest`].
pub const MAX_ONWARD: usize = MAX_PAYLOAD - 4096;

/// A request after its phases, as far as handlers may have changed it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OnwardRequest {
    /// `$r->user`
    pub user: Option<Vec<u8>>,
    /// `$r->ap_auth_type`; empty: not set.
    pub auth_type: Vec<u8>,
    /// The query without its question mark.
    pub query: Vec<u8>,
    /// Variables of the environment that were changed; `None`: removed.
    pub variables: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// All headers of the request; `None`: no handler has read or changed them.
    pub headers: Option<Vec<(Vec<u8>, Vec<u8>)>>,
}

const HAS_USER: u8 = 1;
const HAS_HEADERS: u8 = 2;

impl OnwardRequest {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let (has_user, has_headers) = (u8::from(self.user.is_some()), u8::from(self.headers.is_some()));
        out.push((has_user * HAS_USER) | (has_headers * HAS_HEADERS));
        put_string(out, self.user.as_deref().unwrap_or_default());
        put_string(out, &self.auth_type);
        put_string(out, &self.query);
        put_count(out, self.variables.len());
        for (name, value) in &self.variables {
            put_string(out, name);
            out.push(u8::from(value.is_some()));
            put_string(out, value.as_deref().unwrap_or_default());
        }
        let headers = self.headers.as_deref().unwrap_or_default();
        put_count(out, headers.len());
        for (name, value) in headers {
            put_string(out, name);
            put_string(out, value);
        }
    }

    pub(super) fn read(mut from: Cursor<'_>) -> Result<OnwardRequest, Malformed> {
        let flags = from.u8()?;
        let user = from.string()?.to_vec();
        let (auth_type, query) = (from.string()?.to_vec(), from.string()?.to_vec());
        let (mut variables, mut headers) = (Vec::new(), Vec::new());
        for _ in 0..from.u32()? {
            let (name, is_set, value) = (from.string()?.to_vec(), from.u8()? != 0, from.string()?.to_vec());
            variables.push((name, is_set.then_some(value)));
        }
        for _ in 0..from.u32()? {
            headers.push((from.string()?.to_vec(), from.string()?.to_vec()));
        }
        Ok(OnwardRequest {
            user: (flags & HAS_USER != 0).then_some(user),
            auth_type,
            query,
            variables,
            headers: (flags & HAS_HEADERS != 0).then_some(headers),
        })
    }

    /// Length of the encoded request in bytes.
    pub fn length(&self) -> usize {
        let mut out = Vec::new();
        self.put(&mut out);
        out.len()
    }
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

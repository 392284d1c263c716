//! What browsers send in forms: `application/x-www-form-urlencoded` and `multipart/form-data`.
//!
//! Bytes in, bytes out: no charset, no Perl, no I/O. Every byte is a stranger's; nothing here grows faster than its
//! input, and [`MAX_FIELDS`] and [`multipart::MAX_HEADER`] bound what little could.

pub mod multipart;
pub mod urlencoded;

/// A form has no more fields than this: each costs far more memory than the byte that it takes on the wire.
pub const MAX_FIELDS: usize = 10_000;

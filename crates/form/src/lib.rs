//! Parsers of HTML forms: `application/x-www-form-urlencoded` and `multipart/form-data`.
//!
//! Input and output are bytes: no charset, no Perl, no I/O. The input is not trusted: output never grows faster
//! than input, and [`MAX_FIELDS`] and [`multipart::MAX_HEADER`] are its limits.
//!
//! Start at [`urlencoded`] for the fields of a query, at [`multipart`] for uploads.

#![forbid(unsafe_code)]

pub mod multipart;
pub mod urlencoded;

/// Maximum number of fields of a form: each costs far more memory than its bytes on the wire.
pub const MAX_FIELDS: usize = 10_000;

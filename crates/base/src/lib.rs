//! What every process needs and no layer owns: paths of URLs, bounded caches, stamps of files, printable text, the error log.

#![forbid(unsafe_code)]

// The error log: its levels, its lines, its JSON.
pub mod log;

// Paths of URLs, normalised.
pub mod path;

// Results that are stored in bounded memory.
pub mod cache;

// Whether a file has changed.
pub mod stamp;

// Bytes of strangers where a person reads them.
pub mod printable;

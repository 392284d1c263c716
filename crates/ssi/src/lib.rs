//! Server-side includes (httpd's mod_include) as bytes: documents become texts and elements, values are substituted,
//! coded and formatted. No files, no requests, no clock.
//!
//! `parser` splits a document, `conditions` follows `if` to `endif`, `legacy` is the language of `SSILegacyExprParser`,
//! and the other modules make values. A document is not trusted: [`parser::MAX_ELEMENT`], [`substitute::MAX_VALUE`] and
//! [`legacy::MAX_TOKENS`] limit its cost.

#![forbid(unsafe_code)]

pub mod codings;
pub mod conditions;
pub mod entities;
pub mod format;
pub mod legacy;
pub mod parser;
pub mod substitute;

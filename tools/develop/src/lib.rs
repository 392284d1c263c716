//! Commands for the development of a program: `cameleer dev` serves it and reloads it after each change.
//!
//! ```text
//!   changed file ─▶ watch ─▶ dev ─▶ reload ─▶ web: browsers load the page again, or show the mistake
//! ```

#![forbid(unsafe_code)]

// `cameleer dev`, and `cameleer run --reload`.
pub mod dev;

//! FastCGI programs that this server starts (httpd's mod_fcgid). One process, `cameleer: fcgid`, is their parent; the
//! processes that answer requests lease a program from it, one request at a time.
//!
//! ```text
//!   cameleer: cgi ── cameleer: fcgid ── program, program, …     each listens at a socket, as descriptor 0
//!        └────────── cameleer: cgi 5 ─── request ──▶ program    after a Lease
//! ```
//!
//! `lease` is the worker's end, `exchange` its request to the program, `manager` the other process, which does what
//! `policy` decides.

pub mod exchange;
pub mod lease;
pub mod manager;
mod policy;
mod process;
mod show;
pub mod spec;
mod standing;

//! Commands that ask Perl itself: where requests spend their time, and what code costs in memory and system calls.

#![forbid(unsafe_code)]

// An interpreter in a process of its own.
mod embedded;

// `cameleer bloat`
pub mod bloat;

// `cameleer profile`
pub mod profile;

// `cameleer size`
pub mod size;

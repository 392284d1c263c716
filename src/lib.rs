//! Cameleer, the application server for Perl: its command line. docs/architecture.md has the map of the crates below it.

#![forbid(unsafe_code)]

pub mod cli;

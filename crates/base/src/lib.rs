//! Code that every process needs: paths of URLs, bounded caches, stamps of files, printable text, the error log.
//!
//! Start at the module that the caller names: each is complete in one file.

#![forbid(unsafe_code)]

// The error log: its levels, its lines, its JSON.
pub mod log;

// The process that sends an error log to syslog.
pub mod syslog;

// Normalised URL paths.
pub mod path;

// mod_perl's `M_GET` and so on.
pub mod method;

// Caches of bounded size.
pub mod cache;

// Numbers that spread events.
pub mod drawn;

// Whether a file has changed.
pub mod stamp;

// The first line of a file: the program that runs it.
pub mod shebang;

// Files that Perl no longer finds in the current folder.
pub mod current_folder;

// Untrusted bytes, made printable.
pub mod printable;

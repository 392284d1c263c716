//! Files that become parts of responses: opened so that no link leads out of the site, and their media types.

#![forbid(unsafe_code)]

pub mod mime;
pub mod names;
pub mod open;

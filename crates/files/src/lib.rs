//! Files that become parts of responses: opened so that no link leads out of the site, and their media types.
//!
//! Start at [`open`]; [`open::Opener`] opens each file.

#![forbid(unsafe_code)]

pub mod facts;
pub mod image_map;
pub mod mime;
pub mod names;
pub mod open;

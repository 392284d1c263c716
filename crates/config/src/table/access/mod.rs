//! Access control.

pub(super) mod databases;
pub(super) mod digest;
pub(super) mod directory;
pub(super) mod hosts;
pub(super) mod users;

//! Access control.

pub(super) mod hosts;
pub(super) mod users;

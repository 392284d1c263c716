//! Who may come in.

pub(super) mod hosts;
pub(super) mod users;

//! Sockets that clients connect to: the listeners of the site, and the control socket for `cameleer status`, `reload`,
//! `stop` and `purge`.

pub mod control_socket;
pub mod listeners;
mod passed;

//! What others connect to: the listening sockets of the site, and the one for `cameleer status`, `reload`, `stop` and `purge`.

pub mod control_socket;
pub mod listeners;

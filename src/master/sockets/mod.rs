//! What others connect to: the listening sockets of the site, and the one for `cameleer status`, `reload` and `stop`.

pub mod control_socket;
pub mod listeners;

//! From a listening socket to a connection of which is known who has it and what it speaks.

pub mod backlog;
pub mod listener;
pub mod negotiate;
pub mod proxy_header;
pub mod proxy_protocol;

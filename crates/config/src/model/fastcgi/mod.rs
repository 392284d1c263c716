//! FastCGI: applications that others start (`fcgi`), and programs that this server starts (`fcgid`).

pub mod fcgi;
pub mod fcgid;

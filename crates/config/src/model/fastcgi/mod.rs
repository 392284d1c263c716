//! FastCGI: applications that others start (`fcgi`), programs that this server starts (`fcgid`), and file names that
//! stand for either (`servers`).

pub mod fcgi;
pub mod fcgid;
pub mod guards;
pub mod servers;

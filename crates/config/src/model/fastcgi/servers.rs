//! Programs and applications that a file name stands for: httpd's mod_fastcgi.

use std::path::PathBuf;
use std::time::Duration;

/// `FastCgiServer`: a program of which a fixed number of processes runs from the start on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticServer {
    /// The program; a request for this file, or for a path below it, is for the program.
    pub file: PathBuf,
    /// Index of the host of the directive.
    pub host: u16,
    /// `-processes`
    pub processes: u32,
    /// `-restart-delay`: shortest time from the start of a process that ended by itself to the start of the next one.
    pub restart_delay: Duration,
    /// `-init-start-delay`: time between the starts of the first processes.
    pub start_delay: Duration,
}

/// `FastCgiExternalServer`: an application that runs already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalServer {
    /// A name in the file system, which need not exist; a request for it, or for a path below it, is for the
    /// application.
    pub file: PathBuf,
    /// `-idle-timeout`: longest time without a byte in either direction.
    pub idle_timeout: Duration,
    /// `-appConnTimeout`: longest time of connecting; `None`: that of `idle_timeout`.
    pub connect_timeout: Option<Duration>,
}

//! The Perl side: the mold, which loads the site's code and then only forks, and the workers, which answer requests.
//!
//! `site` loads, [`mold`] forks, [`PerlWorker`] loops, `request` answers. Each process has one interpreter and handles
//! one request at a time, blocking; nothing here knows client sockets or async.
//!
//! Start at [`PerlWorker`], whose loop gives each request to `request`, or at [`mold`] for what is done before a fork.

#![forbid(unsafe_code)]

// The mold: loads, then only forks.
mod memory_pages;
pub mod mold;

// The processes that run CGI programs, without Perl.
mod cgi;

// A worker without a mold, for `-X`.
pub mod single;

// An interpreter for commands such as `cameleer bloat`.
pub mod standalone;

// Perl code that produces configuration, before there is a mold.
pub mod expander;

// Code of earlier workers, and requests that the mold answers itself, before it forks.
mod preload;
mod warm_up;

// One request, from its frame to its end.
mod request;

// The site's Perl, loaded.
mod site;

// Start-up steps, before the first request.
mod start_up;

// Merged settings, the Perl code that they name, and `.htaccess` files.
mod location;

// CGI programs, whoever starts them.
mod program;

// FastCGI programs that this server starts: their manager, and requests to them.
mod fcgid;

mod error_logs;
mod forking;
mod growth;
mod log_context;
mod memory_limit;
mod place;
mod trace;

// Reports of a process about its modules, objects and memory.
mod inspection;

// Checks of services that the server depends on.
mod readiness;

// A worker becomes a mold.
mod promotion;

// The loop of a worker with Perl, and of one whose Perl has an event loop; messages between workers.
mod broadcast;
mod event_loop;
mod perl_worker;
mod request_limit;

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::Instant;

use wire::frame::{Field, Frame};
use wire::transport::WorkerPort;

use config::Config;

pub use perl_worker::PerlWorker;

/// Records the current request for the profiler.
fn activity_begins(frame: &Frame) {
    let texts = [Field::Method, Field::ServerName, Field::RemoteAddr, Field::Target].map(|field| frame.field(field));
    libperl::activity_begins(frame.id(), frame.received(), texts);
}

/// The channel to the front, shared between the loop (which waits on it) and the request's output (which fills it).
type Port = Rc<std::cell::RefCell<WorkerPort>>;

/// Fixed by the fork; logs, the process title and Apache::Scoreboard show it.
#[derive(Debug, Clone, Copy)]
pub struct WorkerIdentity {
    /// Place in the pool, counted from 0; a later process may get it again.
    pub slot: u32,
    /// Generation of the mold that forked the worker.
    pub generation: u32,
    /// Pid of the process that started the front; Apache::Scoreboard uses it to find the scoreboard.
    pub master: u32,
    /// Start of the fork time that the worker reports.
    pub forked: Instant,
}

/// Socket and memory that a worker shares with the front.
pub struct Wire {
    /// The worker's end of a packet socket.
    pub socket: OwnedFd,
    /// Memory made by [`wire::memory::create`].
    pub memory: OwnedFd,
}

impl Wire {
    fn port(self, packet: Box<[u8]>, config: &Config) -> io::Result<WorkerPort> {
        Ok(WorkerPort::new(self.socket, packet, sys::map_memory(&self.memory)?, config.pool.blocks))
    }
}

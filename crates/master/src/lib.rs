//! The master: starts, watches and replaces the front, the molds and, through them, the workers; owns the listening
//! sockets and the logs. One thread, no async runtime, no Perl: one loop over `poll` and the next deadline.
//!
//! `main_loop` owns the clock and does all I/O. The parts decide: each takes events and the time, and returns actions.
//! The master trusts nothing that a worker wrote and never waits for another process.
//!
//! Start at `main_loop`; `generation` is a configuration with its molds, `pool` the register of workers.

#![forbid(unsafe_code)]

// The loop, which drives all other modules.
mod main_loop;

// The parts: state machines without I/O and without a clock.
mod budget;
mod drain;
mod exits;
mod front;
mod front_requests;
mod generation;
mod monitor;
mod pool;
mod preload;
mod profiling;
mod readiness;
mod refork;
mod reload;
mod sizing;
mod stop;

// The configuration: read, expanded by its Perl, tried out.
pub mod configuration;

// Child processes and the channels to them.
mod children;

// Listening sockets, and the control socket.
pub mod sockets;

mod acme;
mod announcer;
mod backoff;
mod certificates;
mod inspections;
mod late_code_file;
pub mod loaded;
pub mod logs;
mod memory_grants;
mod notify;
pub mod pid_file;
mod signals;

use self::configuration::ConfigOrigin;
use self::main_loop::Master;
use config::{AddressProtocol, Listen};

/// The options of a start.
pub struct Options {
    /// Source of the configuration.
    pub origin: ConfigOrigin,
    /// Called once, when the first worker answers, with the addresses.
    pub on_ready: OnReady,
    /// Whether the server detaches from the terminal in `on_ready`.
    pub in_background: bool,
}

/// Called once when the first worker answers, with the addresses and their protocols.
pub type OnReady = Box<dyn FnOnce(&[(Listen, AddressProtocol)])>;

/// Serves until a signal or command stops the server.
pub fn run(options: Options) -> anyhow::Result<()> {
    let mut master = Master::start(options)?;
    loop {
        master.turn()?;
        if let Some(result) = master.stopped() {
            master.finish();
            return result;
        }
    }
}

//! Test support: a site, the server that serves it, and a client.

mod authority;
mod certificate;
mod client;
mod common_sites;
mod control;
mod database;
mod directory;
mod documents;
mod drawing;
mod haproxy;
mod instructions;
mod load;
mod pebble;
mod port;
mod processes;
mod server;
mod site;
mod strace;
mod wait;
mod websocket;

pub use authority::Authority;
pub use client::{Address, Connection, LAST_CALL, Request, Response};
pub use common_sites::{serve_echo_script, serve_env_handler};
pub use database::{Database, MARIADB, POSTGRES, Product, Redis, own_address};
pub use directory::Directory;
pub use documents::documents;
pub use drawing::{colours, look_alike};
pub use haproxy::Haproxy;
pub use instructions::{Counter, PATIENCE};
pub use load::Load;
pub use pebble::{Pebble, REFUSED};
pub use port::free_port;
pub use processes::{
    alive, children, cpu_time, descriptors, descriptors_if_it_runs, first_and_other_threads, name, of_site, own_memory,
    own_memory_if_it_runs, peak_memory, peak_memory_if_it_runs, signal, state, threads,
};
pub use server::Server;
pub use site::{Finished, REGISTRY, Site, TAINT, is_tainted};
pub use strace::Trace;
pub use wait::{comes_true, eventually, let_pass, patience, until};
pub use websocket::{Http2Client, Over, StreamEnd, WebSocket, WebSocketFrame};

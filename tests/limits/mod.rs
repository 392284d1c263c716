//! Time limits and limits on numbers: what clients, programs and the system may take, and that the others do not notice.

/// `RequestTimeout` behind the answer.
mod cleanups;
/// Clients that have left.
mod clients_that_left;
/// `MaxConcurrentReqs`.
mod concurrency;
/// How many connections there may be.
mod connections;
/// What a client sends costs by its length.
mod cost_by_length;
/// Programs that print without end.
mod endless_output;
/// What `.htaccess` files cost, whatever stands in them.
mod htaccess_cost;
/// What requests of each kind cost.
mod instructions_per_request;
/// Large bodies, large answers, a full disk.
mod large_bodies;
/// Heads and bodies that come too slowly.
mod read_timeouts;
/// `RequestTimeout`.
mod request_timeout;
/// Many slow clients at once.
mod slow_clients;
/// Clients that take a large answer slowly, or not at all.
mod slow_readers;
/// Where what clients send and take is kept.
mod spooling;

use crate::support::{Server, Site};

#[track_caller]
fn serve(app: &str, conf: &str) -> Server {
    Site::new().file("app.psgi", app).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

const OK: &str = "sub { [200, [], ['ok']] }";

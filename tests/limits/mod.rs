//! Time limits and numeric limits for clients, programs and system resources. Other clients do not notice them.

/// `RequestTimeout` after the response.
mod cleanups;
/// Clients that disconnect.
mod clients_that_left;
/// `MaxConcurrentReqs`.
mod concurrency;
/// Limits on connections.
mod connections;
/// The cost of client input is linear in its length.
mod cost_by_length;
/// Programs that print without end.
mod endless_output;
/// The cost of `.htaccess` files for any content.
mod htaccess_cost;
/// A request that costs 5 % more than the committed figure fails.
mod instructions_per_request;
/// Large request bodies, large responses, and a full disk.
mod large_bodies;
/// `RequestReadTimeout`.
mod read_timeouts;
/// `RequestTimeout`.
mod request_timeout;
/// Many slow clients at once.
mod slow_clients;
/// Clients that read a large response slowly or not at all.
mod slow_readers;
/// Storage of slow clients' bodies and responses.
mod spooling;

use crate::support::{Server, Site};

#[track_caller]
fn serve(app: &str, conf: &str) -> Server {
    Site::new().file("app.psgi", app).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

const OK: &str = "sub { [200, [], ['ok']] }";

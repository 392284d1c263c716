//! Time limits and limits on numbers: what clients, programs and the system may take, and that the others do not notice.

/// How many connections there may be.
mod crowd;
/// `RequestTimeout`.
mod deadlines;
/// Clients that have left.
mod gone;
/// Heads and bodies that come too slowly.
mod reading;
/// Large bodies, large answers, a full disk.
mod size;
/// Many slow clients at once.
mod slow;
/// Where what they send and take is kept.
mod spooling;

use crate::support::{Server, Site};

#[track_caller]
fn serve(app: &str, conf: &str) -> Server {
    Site::new().file("app.psgi", app).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

const OK: &str = "sub { [200, [], ['ok']] }";

//! `cameleer run app.psgi`: each test has an application of its own and acts as its client.

mod application;
mod environment;
mod extensions;
mod frameworks;
mod header_rules;
mod input;
mod kept;
mod mixed;
mod plackup;
mod printed;
mod response;
mod static_files;
mod streaming;

use crate::support::{Server, Site};

/// Serves an application with two workers.
#[track_caller]
fn serve(app: &str) -> Server {
    Site::new().file("app.psgi", app).run(["app.psgi"])
}

/// Serves an application with one worker, for tests of the state that a worker retains between requests.
#[track_caller]
fn serve_with_one_worker(app: &str) -> Server {
    Site::new().file("app.psgi", app).run_with_one_worker(["app.psgi"])
}

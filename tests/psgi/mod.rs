//! `cameleer run app.psgi`: each test has its application and is its client.

mod application;
mod environment;
mod extensions;
mod frameworks;
mod input;
mod kept;
mod mixed;
mod printed;
mod response;
mod streaming;

use crate::support::{Server, Site};

/// Serves an application with two workers.
#[track_caller]
fn serve(app: &str) -> Server {
    Site::new().file("app.psgi", app).run(["app.psgi"])
}

/// The same with one worker, for tests that look at what a worker keeps.
#[track_caller]
fn serve_with_one_worker(app: &str) -> Server {
    Site::new().file("app.psgi", app).run_with_one_worker(["app.psgi"])
}

//! HTTP/1.1 connections, requests and responses.

mod connections;
mod corpus;
mod environment;
mod field_names;
mod lengths;
mod messages;
mod refusals;
mod repeated;
mod responses;
mod size_limits;
mod strictness;
mod targets;
mod truncation;
mod unread_bodies;

use crate::support::{Server, Site};

/// An application that prints the method, path and body of its request.
const ECHO: &str = r#"sub { my $e = shift; $e->{'psgi.input'}->read(my $body, 10_000_000);
    [200, ['Content-Type', 'text/plain'], ["$e->{REQUEST_METHOD} $e->{PATH_INFO} $body"]] }"#;

/// Serves [`ECHO`], with `conf` appended.
#[track_caller]
fn serve(conf: &str) -> Server {
    Site::new().file("app.psgi", ECHO).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

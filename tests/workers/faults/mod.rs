//! Failures of every part of the server, and their cost for requests.

mod children;
mod fronts;
mod kill_loop;
mod life_cycle;
mod logs;
mod many_hosts;
mod processes;
mod scripts;
mod silence;
mod starts;
mod stops;
mod threads;
mod workers;

use crate::support::{Server, Site};

#[track_caller]
fn serve(app: &str, conf: &str) -> Server {
    Site::new().file("app.psgi", app).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

/// Long time limits for tests that count lost requests. A client delayed by a busy machine must not be shed as overload
/// or closed as idle.
const PATIENT: &str = "QueueStale 0\nQueueTimeout 300s\nKeepAliveTimeout 300s\n";

/// `/hang` writes its pid to a file and never ends. Every other path returns the worker's pid.
const HANGS: &str = "sub { my $p = $_[0]{PATH_INFO}; if ($p eq '/hang') { open my $f, '>', '@DIR@/hanging'; print $f $$; close $f; 1 while 1 } [200, [], [$$]] }";

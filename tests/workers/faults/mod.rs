//! Everything that can break, broken: what it costs, and whom.

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

/// A client that the machine keeps waiting is neither shed as part of an overload, nor taken for idle: what these tests count is lost by
/// the server's fault only.
const PATIENT: &str = "QueueStale 0\nQueueTimeout 300s\nKeepAliveTimeout 300s\n";

/// `/hang` leaves the number of its process in a file and never ends; every other path says who answers.
const HANGS: &str = "sub { my $p = $_[0]{PATH_INFO}; if ($p eq '/hang') { open my $f, '>', '@DIR@/hanging'; print $f $$; close $f; 1 while 1 } [200, [], [$$]] }";

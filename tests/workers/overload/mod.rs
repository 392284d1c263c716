//! More requests than the workers can serve: waiting, served and rejected requests.

mod queue;
mod shares;
mod speed;

use crate::support::{Connection, Server, Site, until};

/// Paths with `hold` create a file and wait for the file `go`. Every path returns the worker's pid.
const APP: &str = "use Time::HiRes (); my $n = 0;
sub { my $p = $_[0]{SCRIPT_NAME} . $_[0]{PATH_INFO};
    if ($p =~ /hold/) { open my $f, '>', \"@DIR@/tmp/begun-$$-\" . ++$n; close $f; select undef, undef, undef, 0.01 until -e '@DIR@/go' }
    select undef, undef, undef, 0.01 if $p =~ /slow/;
    [200, [], [$$]] }";

/// A site with exactly `workers` workers.
fn serve(workers: u32, conf: &str) -> Server {
    let pool =
        format!("StartServers {workers}\nMinSpareServers {workers}\nMaxSpareServers {workers}\nMaxClients {workers}\n");
    let server = Site::new()
        .file("app.psgi", APP)
        .serve(&format!("{pool}<Location />\nSetHandler psgi\nPsgiApp app.psgi\n</Location>\n{conf}"));
    server.until_idle(workers as usize);
    server
}

/// Sends `count` requests for `target` that get their responses after [`release`].
fn hold(server: &Server, target: &str, count: usize) -> Vec<Connection> {
    let one = |_| {
        let mut connection = server.connect();
        connection.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        connection
    };
    (0..count).map(one).collect()
}

fn until_begun(server: &Server, count: usize) {
    let begun = || std::fs::read_dir(server.site.path("tmp")).map(|files| files.count()).unwrap_or(0);
    until(&format!("{count} requests are at work"), || begun() == count);
}

fn release(server: &Server) {
    server.site.write("go", "");
}

//! Programs after a pipe in ErrorLog and CustomLog that do not read.

use nix::sys::signal::Signal;

use crate::support::{Load, Server, Site};

/// Number of requests whose log lines exceed the buffers of the pipe and the server.
const MUCH: u64 = 500;

fn serve(conf: &str) -> Server {
    let app = "sub { warn 'w' x 8000; [200, [], ['ok']] }";
    Site::new().file("app.psgi", app).serve(&format!("{conf}\n<Location />\nPsgiApp app.psgi\n</Location>"))
}

/// Sends requests that each add 7 kB to the access log and 8 kB to the error log.
fn is_served(server: &Server) {
    let load = Load::start(server, 4, &format!("/?{}", "x".repeat(7000)), |response| response.status == 200);
    load.until_answered(MUCH);
    assert_eq!(load.failures(), Vec::<String>::new());
}

fn ends_at_once(server: &mut Server) {
    server.signal(Signal::SIGINT);
    assert_eq!(server.wait(), 0);
    server.until_gone();
}

#[test]
fn an_unread_access_log_loses_lines_and_delays_no_request() {
    let mut server = serve("CustomLog \"|exec sleep 1000\" \"%r\"");
    is_served(&server);
    server.logged("access log |exec sleep 1000 does not read its input; lines are lost");
    server.reload().succeeded();
    assert_eq!(server.text("/"), "ok");
    ends_at_once(&mut server);
}

#[test]
fn an_unread_error_log_loses_lines_and_delays_no_request() {
    let mut server = serve("ErrorLog \"|exec sleep 1000\"");
    is_served(&server);
    server.reload().succeeded();
    assert_eq!(server.text("/"), "ok");
    ends_at_once(&mut server);
}

#[test]
fn a_program_that_reads_again_gets_whole_lines_and_the_number_of_those_that_were_lost() {
    let reads_late = "until test -e @DIR@/read; do sleep 0.02; done; exec cat > @DIR@/piped.log";
    let mut server = serve(&format!("CustomLog \"|{reads_late}\" \"%m %{{x}}e %r\""));
    is_served(&server);
    server.logged("lines are lost");
    server.site.write("read", "");
    server.logged("piped.log reads again; ");
    ends_at_once(&mut server);
    let log = server.site.read("piped.log");
    let is_whole = |line: &str| line.starts_with("GET - GET /") && line.ends_with(" HTTP/1.1");
    assert!(log.lines().count() > 100 && log.lines().all(is_whole), "{:?}", log.lines().find(|line| !is_whole(line)));
}

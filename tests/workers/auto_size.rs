//! `MaxClients auto`: the number of workers follows the load.

use crate::support::{Load, Server, Site, until};

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, usize::from) as u64
}

fn serve(app: &str, start: u64) -> Server {
    let site = Site::new().file("app.psgi", app);
    let conf = format!(
        "LogLevel info\nMaxClients auto\nStartServers {start}\nMinSpareServers 1\nMaxSpareServers 500\nQueueStale 0\n\
         <Location />\nPsgiApp app.psgi\n</Location>\n"
    );
    site.serve(&conf)
}

fn max_clients(server: &Server) -> u64 {
    server.status()["max_clients"].as_u64().expect("a number")
}

#[test]
fn requests_that_wait_get_more_workers() {
    let server = serve("sub { select undef, undef, undef, 0.05; [200, [], ['ok']] }", 2);
    let before = max_clients(&server);
    let load = Load::start(&server, 24 * cores() as usize, "/", |answer| answer.status == 200);
    until("more workers are tried", || max_clients(&server) >= before + before / 2);
    assert_eq!(load.failures(), Vec::<String>::new());
    server.logged(&format!("MaxClients auto: {before} workers, from now on"));
}

#[test]
#[ignore = "measures time: `make timing`"]
fn requests_that_calculate_are_left_as_many_as_the_processors_have_work_for() {
    let app = "sub { my $x = 0; $x += $_ * 3 for 1 .. 300_000; [200, [], [$x]] }";
    let server = serve(app, 16 * cores());
    assert_eq!(max_clients(&server), 16 * cores());
    let load = Load::start(&server, 24 * cores() as usize, "/", |answer| answer.status == 200);
    until("there are a fourth of the workers", || max_clients(&server) <= 4 * cores());
    until("the others have left", || server.workers().len() as u64 <= 5 * cores());
    assert_eq!(load.failures(), Vec::<String>::new());
}

#[test]
fn a_reload_goes_on_following_and_a_number_ends_it() {
    let server = serve("sub { select undef, undef, undef, 0.05; [200, [], ['ok']] }", 2);
    let load = Load::start(&server, 24 * cores() as usize, "/", |answer| answer.status == 200);
    server.reload().succeeded();
    assert!(max_clients(&server) < 512, "the number is not the configuration's");
    server.site.configure("MaxClients 3\n<Location />\nPsgiApp app.psgi\n</Location>\n");
    server.reload().succeeded();
    assert_eq!(max_clients(&server), 3);
    assert_eq!(load.failures(), Vec::<String>::new());
}

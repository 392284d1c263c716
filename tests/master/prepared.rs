//! `PerlPrepare`: the process that waits for the next reload.

use nix::sys::signal::Signal;

use crate::support::{Server, Site, alive, signal, until};

/// Notes each process that has run the code.
const PREPARE: &str = "PerlPrepare \"open my $out, '>>', '@DIR@/prepared'; print $out qq($$\\n)\"\nMaxClients 1\nStartServers 1\n\
    LogLevel notice\n<Location />\nPsgiApp app.psgi\n</Location>\n";

fn app(version: u32) -> String {
    format!("my $mold = $$; sub {{ [200, [], [\"version {version} of $mold at $^T\"]] }}")
}

fn serve() -> Server {
    Site::new().file("app.psgi", &app(1)).serve(PREPARE)
}

/// The processes that have run the code, after `count` of them have.
#[track_caller]
fn prepared(server: &Server, count: usize) -> Vec<String> {
    let read = || if server.site.has("prepared") { server.site.read("prepared") } else { String::new() };
    until(&format!("{count} processes are prepared"), || read().ends_with('\n') && read().lines().count() >= count);
    read().lines().map(str::to_owned).collect()
}

#[test]
fn a_reload_loads_the_code_in_the_process_that_waits() {
    let server = serve();
    for version in 2..5 {
        let waits = prepared(&server, version as usize).pop().expect("a process");
        server.site.write("app.psgi", &app(version));
        server.reload().succeeded();
        let text = server.text("/");
        assert!(text.starts_with(&format!("version {version} of {waits} at ")), "{text}: {waits} waited");
    }
}

#[test]
fn a_configuration_that_has_changed_is_loaded_by_a_new_process() {
    let server = serve();
    let waits = prepared(&server, 2).pop().expect("a process");
    server.site.configure(&format!("{PREPARE}PerlSetEnv COLOUR red\n"));
    server.site.write("app.psgi", "my $mold = $$; sub { [200, [], [\"$mold $ENV{COLOUR}\"]] }");
    server.reload().succeeded();
    let text = server.text("/");
    assert!(text.ends_with(" red") && !text.starts_with(&waits), "{text}: {waits} waited");
    until("the process that waited has ended", || !alive(waits.parse().expect("a pid")));
}

#[test]
fn a_configuration_without_the_directive_leaves_the_process_for_one_reload() {
    let server = serve();
    let waits = prepared(&server, 2).pop().expect("a process");
    let without = PREPARE.lines().filter(|line| !line.starts_with("PerlPrepare")).collect::<Vec<_>>().join("\n");
    let reload = |conf: &str| {
        server.site.configure(conf);
        server.reload().succeeded();
        server.text("/")
    };
    assert!(!reload(&without).contains(&format!("of {waits} ")));
    assert!(reload(PREPARE).contains(&format!("of {waits} ")));
    let waits = prepared(&server, 3).pop().expect("a process");
    reload(&without);
    reload(&without);
    until("the process has ended", || !alive(waits.parse().expect("a pid")));
}

#[test]
fn reopened_logs_leave_a_process_that_writes_to_the_new_one() {
    let server = serve();
    let before: i32 = prepared(&server, 2).pop().expect("a process").parse().expect("a pid");
    let log = server.site.path("error.log");
    std::fs::rename(&log, log.with_extension("1")).expect("rotated");
    server.signal(Signal::SIGUSR1);
    let waits = prepared(&server, 3).pop().expect("a process");
    until("the process with the old log has ended", || !alive(before));
    let stderr = |pid: &str| std::fs::read_link(format!("/proc/{pid}/fd/2")).expect("its standard error");
    assert_eq!(stderr(&waits), log);
    server.site.write("app.psgi", &app(2));
    server.reload().succeeded();
    assert!(server.text("/").starts_with(&format!("version 2 of {waits} ")));
}

#[test]
fn reopened_logs_start_no_process_without_the_directive() {
    let server = serve();
    let waits: i32 = prepared(&server, 2).pop().expect("a process").parse().expect("a pid");
    let without = PREPARE.lines().filter(|line| !line.starts_with("PerlPrepare")).collect::<Vec<_>>().join("\n");
    server.site.configure(&without);
    server.reload().succeeded();
    assert!(alive(waits), "it is left for one reload");
    std::fs::remove_file(server.site.path("error.log")).expect("rotated");
    server.signal(Signal::SIGUSR1);
    until("the process with the old log has ended", || !alive(waits));
    server.reload().succeeded();
    assert_eq!(prepared(&server, 2).len(), 2);
}

#[test]
fn a_mistake_does_not_use_the_process_up() {
    let server = serve();
    prepared(&server, 2);
    server.site.write("app.psgi", "}");
    server.reload().failed(1, "app.psgi");
    assert!(server.text("/").starts_with("version 1 "));
    let waits = prepared(&server, 3).pop().expect("a process");
    server.site.write("app.psgi", &app(2));
    server.reload().succeeded();
    assert!(server.text("/").starts_with(&format!("version 2 of {waits} ")));
}

#[test]
fn without_the_process_a_reload_starts_its_own() {
    let server = serve();
    let waits = prepared(&server, 2).pop().expect("a process");
    signal(waits.parse().expect("a pid"), Signal::SIGKILL);
    server.logged("the mold for the next reload ended");
    server.site.write("app.psgi", &app(2));
    server.reload().succeeded();
    assert!(server.text("/").starts_with("version 2 "));
}

#[test]
fn the_process_ends_with_the_server_and_with_its_master() {
    for end in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGKILL] {
        let mut server = serve();
        let waits: i32 = prepared(&server, 2).pop().expect("a process").parse().expect("a pid");
        server.signal(end);
        server.wait();
        until("the process has ended", || !alive(waits));
    }
}

#[test]
fn code_that_dies_is_an_error_with_its_line() {
    let site = Site::new();
    site.configure("PerlPrepare \"die 'oops'\"\nPerlModule strict\n");
    site.cameleer(["serve", "-f", &site.filled("@DIR@/site.conf")]).failed(78, "site.conf:2: PerlPrepare: oops at");
}

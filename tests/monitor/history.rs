//! `HistoryFile` and `cameleer history`: activity per second, readable also after the server's end.

use std::os::unix::fs::FileExt;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{Server, Site, signal, until};

const APP: &str = "sub { [$_[0]{PATH_INFO} eq '/broken' ? 500 : 200, [], ['ok']] }";

fn serve(conf: &str) -> Server {
    site().serve(&format!(
        "StartServers 2\nMinSpareServers 2\nHistoryFile history\n{conf}\n<Location />\nPsgiApp app.psgi\n</Location>"
    ))
}

fn site() -> Site {
    Site::new().file("app.psgi", APP)
}

/// The recorded seconds.
fn seconds(server: &Server) -> Vec<Value> {
    let output = server.control(["history", "--json", "--step", "1s", "--from", "1h"]);
    serde_json::from_str(&output.out).unwrap_or_default()
}

fn sum(seconds: &[Value], what: &str) -> f64 {
    seconds.iter().map(|second| second[what].as_f64().unwrap_or(0.0)).sum()
}

#[test]
fn past_load_can_be_read_afterwards() {
    let server = serve("");
    until("the first second is kept", || !seconds(&server).is_empty());
    (0..30).for_each(|_| drop(server.text("/")));
    (0..4).for_each(|_| drop(server.get("/broken").is(500)));
    signal(server.workers()[0].0, Signal::SIGKILL);
    server.reload().succeeded();
    until("all of it is kept", || {
        let kept = seconds(&server);
        sum(&kept, "ok") == 30.0
            && sum(&kept, "server_errors") == 4.0
            && sum(&kept, "faults") == 1.0
            && sum(&kept, "reloads") == 1.0
    });
    let kept = seconds(&server);
    let busiest = kept.iter().find(|second| second["ok"].as_f64() > Some(0.0)).expect("one");
    assert!(
        busiest["p99_us"].as_u64() > Some(0) && busiest["p50_us"].as_u64() <= busiest["p99_us"].as_u64(),
        "{busiest}"
    );
    until("memory is kept, too", || seconds(&server).iter().any(|second| second["pss_kb"].as_f64() > Some(1000.0)));
    let file = server.site.filled("@DIR@/history");
    let table = server.control(["history", "--at", "0m10s", "--step", "1h"]);
    assert_ne!(table.code, 0, "{table:?}");
    let table = server.control(["history", "--from", "1h", "--step", "1h"]).succeeded().out;
    assert!(table.contains("req/s") && table.contains("1 fault") && table.contains("1 reload"), "{table}");
    let again = server.site.cameleer(["history", "--file", &file, "--from", "1h", "--step", "1h"]).succeeded().out;
    assert_eq!(again.lines().next(), table.lines().next());
}

#[test]
fn a_server_goes_on_with_its_file_and_a_torn_second_costs_itself_alone() {
    let server = serve("");
    until("three seconds are kept", || seconds(&server).len() >= 3);
    let first = seconds(&server)[0]["time"].as_u64().expect("a time");
    let second = seconds(&server)[1]["time"].as_u64().expect("a time");
    let file = std::fs::File::options().write(true).open(server.site.path("history")).expect("the file");
    file.write_all_at(&[0xff; 20], 4096 + second % 604_800 * 80 + 40).expect("written");
    let monitor = server.status()["monitor_pid"].as_i64().expect("a monitor") as i32;
    signal(monitor, Signal::SIGKILL);
    let count = seconds(&server).len();
    until("the history grows again", || seconds(&server).len() >= count + 2);
    let times: Vec<_> = seconds(&server).iter().map(|second| second["time"].as_u64().expect("a time")).collect();
    assert!(times.contains(&first) && !times.contains(&second), "{times:?} {first} {second}");
}

#[test]
fn a_file_that_is_no_history_is_set_aside() {
    let site = site().file("history", "dear diary");
    let server = site.serve("HistoryFile history\n<Location />\nPsgiApp app.psgi\n</Location>");
    let line = server.logged("is damaged or not a history file; it was renamed to ");
    let aside = line.split("it was renamed to ").nth(1).expect("a path");
    assert_eq!(std::fs::read_to_string(aside).expect("kept"), "dear diary");
    until("a history is written", || !seconds(&server).is_empty());
}

#[test]
fn a_fifo_a_device_or_the_file_of_another_server_is_not_written() {
    let server = serve("");
    let taken = server.site.filled("@DIR@/history");
    let fifo = site();
    nix::unistd::mkfifo(&fifo.path("history"), nix::sys::stat::Mode::S_IRWXU).expect("a FIFO");
    for (site, file, why) in [
        (fifo, "history", "is not a regular file"),
        (site(), "/dev/null", "is not a regular file"),
        (site(), taken.as_str(), "another server writes to it"),
    ] {
        let other = site.serve(&format!("HistoryFile {file}\n<Location />\nPsgiApp app.psgi\n</Location>"));
        other.logged(&format!("no history is recorded: {why}"));
        assert_eq!(other.get("/").status, 200);
    }
}

#[test]
fn a_full_disk_costs_the_seconds_that_it_is_full() {
    let site = site().file("small/none", "");
    site.configure("HistoryFile small/history\n<Location />\nPsgiApp app.psgi\n</Location>");
    // A tmpfs of 16 kB in its own mount namespace has room for the first page of the history, but not for a second.
    let fill = "mount -t tmpfs -o size=16k none small && head -c 12288 /dev/zero > small/filler && exec \"$0\" \"$@\"";
    let server = Server::start_by(site, &["unshare", "--map-root-user", "--mount", "sh", "-c", fill]);
    let inside = server.site.filled(&format!("/proc/{}/root@DIR@/small/", server.pid()));
    server.logged("the history cannot be written: No space left on device");
    assert_eq!(server.get("/").status, 200);
    std::fs::remove_file(format!("{inside}filler")).expect("removed");
    server.logged("the history can be written again");
    let output = server.site.cameleer(["history", "--json", "--file", &format!("{inside}history")]).succeeded();
    assert!(output.out.contains("\"time\""), "{output:?}");
    assert_eq!(server.log().matches("the history cannot be written").count(), 1, "it is said once");
}

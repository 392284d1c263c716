//! `cameleer top` on a pseudo-terminal, and `cameleer recycle`.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::Signal;
use nix::sys::termios::{LocalFlags, tcgetattr};

use crate::support::{Server, Site, eventually, signal, until};

const APP: &str = "sub { my $p = $_[0]{PATH_INFO}; \
    if ($p =~ m{^/slow}) { until (-e '@DIR@/go') { select undef, undef, undef, 0.02 } } [200, [], ['ok']] }";

fn serve() -> Server {
    let server = Site::new().file("app.psgi", APP).serve(
        "LogLevel notice\nServerName shop.example\nStartServers 2\nMinSpareServers 1\nMaxClients 3\nMaxSpareServers 3\n<Location />\nPsgiApp app.psgi\n</Location>",
    );
    server.until_idle(2);
    server
}

/// A terminal of 120 columns with `top` on it.
struct Terminal {
    top: Child,
    keys: File,
    screen: Arc<Mutex<vt100::Parser>>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn start(server: &Server) -> Terminal {
        let size = Winsize { ws_row: 30, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).expect("a terminal");
        let socket = server.site.filled("@DIR@/control.sock");
        let end = || Stdio::from(pty.slave.try_clone().expect("cloned"));
        let top = Command::new("setsid")
            .args(["--ctty", env!("CARGO_BIN_EXE_cameleer"), "top", "--socket", &socket])
            .env("TERM", "xterm-256color")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("setsid is there");
        let keys = File::from(pty.master);
        let [rows, columns] = [size.ws_row, size.ws_col].map(|count| NonZero::new(count).expect("some"));
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let written = Arc::new(Mutex::new(Vec::new()));
        let (shown, kept, mut from) = (screen.clone(), written.clone(), keys.try_clone().expect("cloned"));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Linux reports the end of a pseudo-terminal as an error, not as end of file.
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                shown.lock().expect("whole").process(&bytes[..count]);
                kept.lock().expect("whole").extend_from_slice(&bytes[..count]);
            }
        });
        Terminal { top, keys, screen, written }
    }

    fn text(&self) -> String {
        self.screen.lock().expect("whole").screen().contents()
    }

    #[track_caller]
    fn shows(&self, what: &str) {
        let found = crate::support::comes_true(crate::support::patience(), || self.text().contains(what));
        assert!(found, "{what:?} in\n{}", self.text());
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("written");
    }

    /// Waits until `top` has ended, and asserts that the terminal's modes are restored.
    #[track_caller]
    fn gives_back(mut self) {
        let status = eventually("top ends", || self.top.try_wait().expect("our own child"));
        assert!(status.success(), "{status}");
        let modes = tcgetattr(&self.keys).expect("a terminal").local_flags;
        assert!(modes.contains(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG), "{modes:?}");
        until("the screen from before is shown", || !self.screen.lock().expect("whole").screen().alternate_screen());
        let written = self.written.lock().expect("whole");
        assert!(String::from_utf8_lossy(&written).contains("\x1b[?25h"), "the cursor is shown");
    }
}

/// The numbers in column `at` of the workers' table.
fn column(text: &str, at: usize) -> Vec<String> {
    let table = text.lines().skip_while(|line| !line.contains("worker") || !line.contains("state")).skip(1);
    table
        .filter_map(|line| line.split_whitespace().nth(at).map(str::to_owned))
        .filter(|word| word.parse::<u32>().is_ok())
        .collect()
}

#[test]
fn top_shows_the_requests_of_workers_and_keys_sort_filter_and_recycle() {
    let server = serve();
    let mut slow = server.connect();
    // The path contains terminal control sequences.
    slow.raw("GET /slow/%1b%5b2J%9b HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    until("the worker is busy", || server.workers().iter().any(|(_, state)| state == "Busy"));
    let mut terminal = Terminal::start(&server);
    terminal.shows("W busy");
    terminal.shows("shop.example GET /slow/\\x1b[2J");
    terminal.shows("1 busy, ");
    terminal.shows(concat!("cameleer ", env!("CARGO_PKG_VERSION")));
    terminal.shows("worker↓");
    let before = column(&terminal.text(), 0);
    assert!(before.len() >= 2 && before.is_sorted(), "{}", terminal.text());
    terminal.press("r");
    terminal.shows("worker↑");
    until("the order is another", || column(&terminal.text(), 0).iter().rev().eq(before.iter()));
    terminal.press("r/slow\r");
    terminal.shows("with \"slow\", 1 lines");
    terminal.press("?");
    terminal.shows("recycle the worker");
    terminal.press(" /");
    terminal.shows("filter: ");
    terminal.press("\x1b");
    // Waits for the table, because an escape directly before another key would be read as one key with it.
    terminal.shows("workers, 2 lines");
    looked_at(&server, &mut terminal);
    recycled(&server, &mut terminal);
    server.site.write("go", "");
    slow.response().is(200);
    terminal.press("\t");
    terminal.shows("slowest requests of the last five minutes");
    terminal.shows("GET /slow/");
    terminal.press("q");
    terminal.gives_back();
}

/// The busy worker runs its loop; the idle worker has no request.
fn looked_at(server: &Server, terminal: &mut Terminal) {
    terminal.press("t");
    terminal.shows("choose a worker first");
    let status = server.status();
    let workers = status["front"]["workers"].as_array().expect("workers").clone();
    let at = |state: &str| workers.iter().position(|worker| worker["state"] == state).expect("one of them");
    terminal.press(&format!("{}t", "j".repeat(at("Busy") + 1)));
    terminal.shows(&format!("worker {}, the innermost first; any key: back", workers[at("Busy")]["slot"]));
    terminal.shows("GET shop.example/slow/%1b%5b2J%9b");
    terminal.shows(&server.site.filled("(sselect) at @DIR@/app.psgi line 1"));
    terminal.press(&format!("q{}t", "k".repeat(workers.len())));
    terminal.press(&format!("q{}t", "j".repeat(at("Idle"))));
    terminal.shows(&format!("pid {} has no request", workers[at("Idle")]["pid"]));
    // Switching to the other table and back clears the selection.
    terminal.press("q\t\t");
    terminal.shows("workers, ");
}

/// `x` recycles the idle one of two workers at once.
fn recycled(server: &Server, terminal: &mut Terminal) {
    let status = server.status();
    let workers = status["front"]["workers"].as_array().expect("workers").clone();
    let at = workers.iter().position(|worker| worker["state"] == "Idle").expect("an idle one");
    let (slot, pid) = (workers[at]["slot"].clone(), workers[at]["pid"].clone());
    terminal.press(&format!("{}x", "j".repeat(at + 1)));
    terminal.shows(&format!("recycle worker {slot}?"));
    terminal.press("y");
    terminal.shows(&format!("worker {slot} exits after its request"));
    until("the worker has ended", || server.workers().iter().all(|(other, _)| pid != *other));
    until("the exit is counted", || server.status()["counts"]["exits"]["recycle"] == 1);
}

#[test]
fn the_terminal_is_restored_at_every_end() {
    let server = serve();
    for ending in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        let terminal = Terminal::start(&server);
        terminal.shows("requests ");
        assert!(terminal.screen.lock().expect("whole").screen().alternate_screen());
        signal(terminal.top.id() as i32, ending);
        terminal.gives_back();
    }
    let mut terminal = Terminal::start(&server);
    terminal.shows("requests ");
    terminal.press("\x03");
    terminal.gives_back();
    let piped = server.control(["top"]);
    assert!(piped.code == 2 && piped.err.contains("programs can use cameleer status --json"), "{piped:?}");
}

#[test]
fn a_worker_is_recycled_after_its_request() {
    let server = serve();
    let mut slow = server.connect();
    slow.raw("GET /slow HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    let busy = eventually("one is at work", || {
        let status = server.status();
        let workers = status["front"]["workers"].as_array()?;
        workers.iter().find(|worker| worker["state"] == "Busy").cloned()
    });
    let slot = busy["slot"].to_string();
    server.control(["recycle", &slot]).succeeded();
    server.control(["recycle", &slot]).failed(1, "is already leaving");
    server.control(["recycle", "77"]).failed(1, "there is no worker 77");
    server.site.write("go", "");
    slow.response().is(200);
    until("the worker has ended", || server.workers().iter().all(|(pid, _)| busy["pid"] != *pid));
    until("the exit is counted", || server.status()["counts"]["exits"]["recycle"] == 1);
    server.logged("is recycled: it exits after its request");
}

#[test]
fn top_shows_the_requests_of_a_worker_with_an_event_loop() {
    let program = "use Mojolicious::Lite -signatures;\nget '/slow' => sub ($c) { $c->inactivity_timeout(0)->render_later; my $id;\n\
         $id = Mojo::IOLoop->recurring(0.01 => sub { return unless -e '@DIR@/go'; Mojo::IOLoop->remove($id); $c->render(text => 'ok') }) };\n\
         app->start;\n";
    let server = Site::new()
        .file("app.pl", program)
        .serve("PsgiMode event\nStartServers 1\n<Location />\nPsgiApp app.pl\n</Location>");
    let mut slow = [server.connect(), server.connect()];
    slow.iter_mut().for_each(|slow| slow.raw("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"));
    let mut terminal = Terminal::start(&server);
    terminal.shows("W busy");
    terminal.shows("open: 2 http; GET /slow");
    server.site.write("go", "");
    slow.iter_mut().for_each(|slow| assert_eq!(slow.response().text(), "ok"));
    terminal.press("q");
    terminal.gives_back();
}

//! Pipes, devices, folders and endless files where a file is expected. Only requests that need the file fail: other
//! clients get responses, memory is bounded, and a stop ends the server.

mod configuration;
mod passwords;
mod served;

use std::fs::{self, File};
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::support::{Connection, Request, Server, peak_memory};

/// Kinds of objects that may stand where a file is expected.
const KINDS: [&str; 5] = ["pipe", "zero", "folder", "sparse", "socket"];
/// Upper bound in bytes for the peak memory of a front that reads no special file into memory.
const SMALL: u64 = 100 << 20;

/// Puts an object of `kind` at `path`.
fn put(kind: &str, path: &Path) {
    let _ = fs::remove_file(path);
    match kind {
        "pipe" => mkfifo(path, Mode::S_IRWXU).expect("a pipe"),
        "zero" => std::os::unix::fs::symlink("/dev/zero", path).expect("a link"),
        "folder" => fs::create_dir(path).expect("a folder"),
        "sparse" => File::create(path).and_then(|file| file.set_len(1 << 30)).expect("a sparse file"),
        _ => drop(std::os::unix::net::UnixListener::bind(path).expect("a socket")),
    }
}

/// A client of other files, whose requests must still be answered.
struct Bystander(Connection);

impl Bystander {
    fn of(server: &Server) -> Bystander {
        server.site.write("htdocs/open.html", "open");
        Bystander(server.connect())
    }

    /// Asserts that the client gets its page.
    #[track_caller]
    fn is_served(&mut self) {
        self.0.ask(Request::get("/open.html")).is(200);
    }
}

fn front(server: &Server) -> i32 {
    server.status()["front_pid"].as_i64().expect("the front has a number") as i32
}

/// Asserts that the front's peak memory is below [`SMALL`], and that the server stops.
#[track_caller]
fn ends_well(mut server: Server) {
    let peak = peak_memory(front(&server));
    assert!(peak < SMALL, "the front has needed {peak} bytes");
    server.control(["stop"]).succeeded();
    assert_eq!(server.wait(), 0);
}

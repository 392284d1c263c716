//! What somebody puts where a file is expected: pipes, devices, folders, endless files. It costs the requests that need
//! the file, and nobody else: other clients are answered, memory is not filled, and a stop ends the server.

mod configuration;
mod passwords;
mod served;

use std::fs::{self, File};
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::support::{Connection, Request, Server, peak_memory};

/// What may stand where a file is expected.
const KINDS: [&str; 5] = ["pipe", "zero", "folder", "sparse", "socket"];
/// What a front that keeps nothing needs, with room to spare.
const SMALL: u64 = 100 << 20;

/// Puts something of that kind under the name `path`.
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

/// A client that has nothing to do with it all.
struct Bystander(Connection);

impl Bystander {
    fn of(server: &Server) -> Bystander {
        server.site.write("htdocs/open.html", "open");
        Bystander(server.connect())
    }

    /// Is answered at once.
    #[track_caller]
    fn is_served(&mut self) {
        self.0.ask(Request::get("/open.html")).is(200);
    }
}

fn front(server: &Server) -> i32 {
    server.status()["front_pid"].as_i64().expect("the front has a number") as i32
}

/// The front has never needed much memory, and the server can be stopped.
#[track_caller]
fn ends_well(mut server: Server) {
    let peak = peak_memory(front(&server));
    assert!(peak < SMALL, "the front has needed {peak} bytes");
    server.control(["stop"]).succeeded();
    assert_eq!(server.wait(), 0);
}

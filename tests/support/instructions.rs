//! How many instructions a server executes for a request. They are counted by callgrind, in which all of it runs in one
//! process (`serve -X`): a virtual machine need not have the processor's own counters, seconds depend on who else runs, and
//! these numbers are the same each time but for a few of hash tables and timers.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::wait::within;
use super::{Finished, Server, Site};

/// What a counted server may take to start, or to answer.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// A server that is counted, and some fifty times slower than others.
pub struct Counter {
    /// Front and worker in one process.
    pub server: Server,
    /// It has been counted before: what was counted then is not counted again.
    is_begun: Cell<bool>,
}

impl Counter {
    /// `cameleer serve -X` with `conf` after the base. One thread has all connections: another one's caches would be cold.
    #[track_caller]
    pub fn serve(site: Site, conf: &str) -> Counter {
        site.configure(&format!("{conf}\nFrontThreads 1\n"));
        let serve = site.serve_command();
        let mut command = Command::new("valgrind");
        command
            .args(["-q", "--tool=callgrind", &site.filled("--callgrind-out-file=@DIR@/callgrind.%p")])
            .arg(serve.get_program())
            .args(serve.get_args())
            .arg("-X")
            .current_dir(site.folder())
            .env("TMPDIR", site.path("tmp"))
            .env("LC_ALL", "C");
        let server = Server::spawn(site, command);
        within(PATIENCE, "the server says where it answers", || server.site.read("out.txt").contains("http://"));
        Counter { server, is_begun: Cell::new(false) }
    }

    /// The instructions while `act` runs. Who asks the server for something between two of these must [`Counter::begin_anew`]: to do so
    /// each time would take as long as to count.
    #[track_caller]
    pub fn of(&self, act: impl FnOnce()) -> u64 {
        if !self.is_begun.replace(true) {
            self.say("zero");
        }
        act();
        outputs(self.server.site.folder()).iter().for_each(|file| fs::remove_file(file).expect("our own file"));
        self.say("dump");
        let outputs = outputs(self.server.site.folder());
        assert!(!outputs.is_empty(), "callgrind writes what it has counted");
        outputs.iter().map(|file| total(file)).sum()
    }

    /// What it has done up to now does not count.
    pub fn begin_anew(&self) {
        self.is_begun.set(false);
    }

    #[track_caller]
    fn say(&self, what: &str) {
        let mut vgdb = Command::new("vgdb");
        // The pipes to it are where it has its temporary files.
        vgdb.env("TMPDIR", self.server.site.path("tmp")).arg(format!("--pid={}", self.server.pid())).arg(what);
        Finished::of(&mut vgdb).succeeded();
    }
}

fn outputs(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).expect("the site's folder").map(|entry| entry.expect("a name").path());
    let is_output =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("callgrind."));
    files.filter(is_output).collect()
}

fn total(file: &Path) -> u64 {
    let text = fs::read_to_string(file).expect("callgrind wrote it");
    let lines = text.lines().filter_map(|line| line.strip_prefix("totals:"));
    lines.map(|number| number.trim().parse::<u64>().expect("one number")).sum()
}

//! How many instructions a server executes for a request. They are counted by callgrind, in which all of it runs in one
//! process (`serve -X`): a virtual machine need not have the processor's own counters, seconds depend on who else runs, and
//! these numbers are the same each time but for a few of hash tables and timers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;

use super::wait::within;
use super::{Finished, Server, Site};

/// What a counted server may take to start, or to answer.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Of each thread, what it has executed so far.
type Executed = HashMap<u32, u64>;

/// A server that is counted, and some fifty times slower than others.
pub struct Counter {
    /// Front and worker in one process.
    pub server: Server,
    /// As of the end of the last count.
    before: RefCell<Option<Executed>>,
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
        Counter { server, before: RefCell::new(None) }
    }

    /// The instructions while `act` runs. A test that asks the server for something between two of these must [`Counter::begin_anew`]: to
    /// do so each time would take as long as to count.
    #[track_caller]
    pub fn of(&self, act: impl FnOnce()) -> u64 {
        let before = self.before.take().unwrap_or_else(|| self.executed());
        act();
        let after = self.executed();
        // The number of a thread that has ended may be another one's now, which has executed less.
        let of_thread = |(thread, now): (&u32, &u64)| {
            let earlier = before.get(thread).filter(|earlier| *earlier <= now);
            now - earlier.unwrap_or(&0)
        };
        let count = after.iter().map(of_thread).sum();
        self.before.replace(Some(after));
        count
    }

    /// What the server has done up to now does not count.
    pub fn begin_anew(&self) {
        self.before.replace(None);
    }

    /// Callgrind's own figures, which are there much sooner than its profile: `events-4: 254921` for the fourth thread.
    #[track_caller]
    fn executed(&self) -> Executed {
        let mut vgdb = Command::new("vgdb");
        // The pipes to the server are where it has its temporary files.
        vgdb.env("TMPDIR", self.server.site.path("tmp")).arg(format!("--pid={}", self.server.pid()));
        let said = Finished::of(vgdb.arg("status internal")).succeeded().out;
        let of_thread = |line: &str| {
            let (thread, count) = line.strip_prefix("events-")?.split_once(": ")?;
            Some((thread.parse().ok()?, count.trim().parse().ok()?))
        };
        let executed: Executed = said.lines().filter_map(of_thread).collect();
        assert!(!executed.is_empty(), "callgrind reports its events: {said}");
        executed
    }
}

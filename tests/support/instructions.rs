//! Instructions that a server executes, counted by callgrind. The whole server runs in one process (`serve -X`). A
//! virtual machine may lack the processor's counters, and times depend on other load. These counts repeat except for
//! some work of hash tables and timers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;

use super::wait::within;
use super::{Finished, Server, Site};

/// The time limit for a counted server to start or to respond.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Instructions executed so far, by thread number.
type Executed = HashMap<u32, u64>;

/// A server under callgrind, some fifty times slower than without.
pub struct Counter {
    /// Front and worker in one process.
    pub server: Server,
    /// The counts at the end of the last measurement.
    before: RefCell<Option<Executed>>,
}

impl Counter {
    /// Starts `cameleer serve -X` with `conf` after the base. One front thread has all connections: the caches of a
    /// second thread would be cold. Counting begins after the start, which takes a third less CPU time uncounted.
    #[track_caller]
    pub fn serve(site: Site, conf: &str) -> Counter {
        site.configure(&format!("{conf}\nFrontThreads 1\n"));
        let serve = site.serve_command();
        let mut command = Command::new("valgrind");
        command
            .args(["-q", "--tool=callgrind", "--instr-atstart=no"])
            .arg(site.filled("--callgrind-out-file=@DIR@/callgrind.%p"))
            .arg(serve.get_program())
            .args(serve.get_args())
            .arg("-X")
            .current_dir(site.folder())
            .env("TMPDIR", site.path("tmp"))
            .env("LC_ALL", "C");
        let server = Server::spawn(site, command);
        within(PATIENCE, "the server says where it answers", || server.site.read("out.txt").contains("http://"));
        let counter = Counter { server, before: RefCell::new(None) };
        counter.command("instrumentation on");
        counter
    }

    /// The instructions executed while `act` runs. After requests outside of `act`, a test must call
    /// [`Counter::begin_anew`]. Reading the counts each time would take as long as the measurement.
    #[track_caller]
    pub fn of(&self, act: impl FnOnce()) -> u64 {
        let before = self.before.take().unwrap_or_else(|| self.executed());
        act();
        let after = self.executed();
        // A new thread may reuse the number of a thread that ended, and then has a lower count.
        let of_thread = |(thread, now): (&u32, &u64)| {
            let earlier = before.get(thread).filter(|earlier| *earlier <= now);
            now - earlier.unwrap_or(&0)
        };
        let count = after.iter().map(of_thread).sum();
        self.before.replace(Some(after));
        count
    }

    /// Excludes everything that the server has executed so far from the next count.
    pub fn begin_anew(&self) {
        self.before.replace(None);
    }

    /// Callgrind's status, which is much faster to get than its profile: `events-4: 254921` for the fourth thread.
    #[track_caller]
    fn executed(&self) -> Executed {
        let output = self.command("status internal");
        let of_thread = |line: &str| {
            let (thread, count) = line.strip_prefix("events-")?.split_once(": ")?;
            Some((thread.parse().ok()?, count.trim().parse().ok()?))
        };
        let executed: Executed = output.lines().filter_map(of_thread).collect();
        assert!(!executed.is_empty(), "callgrind reports its events: {output}");
        executed
    }

    /// Sends a command to callgrind. Returns its answer.
    #[track_caller]
    fn command(&self, command: &str) -> String {
        let mut vgdb = Command::new("vgdb");
        // vgdb finds its pipes to the server in the server's TMPDIR.
        vgdb.env("TMPDIR", self.server.site.path("tmp")).arg(format!("--pid={}", self.server.pid()));
        Finished::of(vgdb.arg(command)).succeeded().out
    }
}

impl Drop for Counter {
    /// An uncounted end of the server takes half a second less.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.command("instrumentation off");
        }
    }
}

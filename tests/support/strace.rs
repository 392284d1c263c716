//! The system calls of running processes, as strace tells them.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use nix::sys::signal::Signal;

use super::{Server, signal};

/// strace on some processes, told of their calls with file names and descriptors of folders.
pub struct Trace {
    strace: Child,
    file: PathBuf,
    /// Open until the end: strace has a word for every new thread, and dies of a closed pipe.
    _words: BufReader<ChildStderr>,
}

impl Trace {
    /// On the front and the workers, of what concerns files.
    #[track_caller]
    pub fn begin(server: &Server) -> Trace {
        let workers = server.workers().into_iter().map(|(pid, _)| pid);
        let pids: Vec<i32> = std::iter::once(server.front()).chain(workers).collect();
        Trace::of(server, &pids, "%file,%%stat,%%statfs,getdents64,openat2,inotify_add_watch")
    }

    /// On these processes, of these calls.
    #[track_caller]
    pub fn of(server: &Server, pids: &[i32], calls: &str) -> Trace {
        let file = server.site.path("strace.txt");
        let mut command = Command::new("strace");
        command.args(["-f", "-e", &format!("trace={calls}"), "-o"]).arg(&file);
        for pid in pids {
            command.args(["-p", &pid.to_string()]);
        }
        let mut strace = command.stderr(Stdio::piped()).spawn().expect("strace is installed");
        let mut words = BufReader::new(strace.stderr.take().expect("it was asked for"));
        let said = words.by_ref().lines().map_while(Result::ok);
        let attached = said.filter(|line| line.contains("attached")).take(pids.len()).count();
        assert_eq!(attached, pids.len(), "strace may look at our processes");
        Trace { strace, file, _words: words }
    }

    /// The calls since the beginning that name a file. How large the memfd behind descriptor 1 is, where what children
    /// print arrives, is asked for after a request that may have written there; that is no look at a file.
    pub fn end(self) -> Vec<String> {
        self.end_of_all().into_iter().filter(|line| !line.contains("AT_EMPTY_PATH")).collect()
    }

    /// All that ended: one that was under way when strace let go may be of any time after the last request.
    pub fn end_of_all(mut self) -> Vec<String> {
        signal(self.strace.id() as i32, Signal::SIGINT);
        self.strace.wait().expect("our own child");
        let text = fs::read_to_string(&self.file).expect("strace wrote it");
        let ended = |line: &&str| line.contains('(') && !line.contains("--- SIG") && !line.ends_with("<detached ...>");
        text.lines().filter(ended).map(str::to_owned).collect()
    }
}

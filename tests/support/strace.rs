//! System calls of running processes, traced with strace.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use nix::sys::signal::Signal;

use super::{Server, signal};

/// An strace process attached to processes of the server. strace writes their calls to a file.
pub struct Trace {
    strace: Child,
    file: PathBuf,
    /// The pipe stays open until the end: strace reports every new thread on it, and dies when the pipe is closed.
    _words: BufReader<ChildStderr>,
}

impl Trace {
    /// Traces the calls of the front and the workers that concern files.
    #[track_caller]
    pub fn begin(server: &Server) -> Trace {
        let workers = server.workers().into_iter().map(|(pid, _)| pid);
        let pids: Vec<i32> = std::iter::once(server.front()).chain(workers).collect();
        Trace::of(server, &pids, "%file,%%stat,%%statfs,getdents64,openat2,inotify_add_watch")
    }

    /// Traces these `calls` of these processes.
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
        let lines = words.by_ref().lines().map_while(Result::ok);
        let attached = lines.filter(|line| line.contains("attached")).take(pids.len()).count();
        assert_eq!(attached, pids.len(), "strace may look at our processes");
        Trace { strace, file, _words: words }
    }

    /// The traced calls that name a file. After a request the server reads the size of the memfd behind descriptor 1,
    /// which receives the output of child processes. This call concerns no file and is excluded.
    pub fn end(self) -> Vec<String> {
        self.end_of_all().into_iter().filter(|line| !line.contains("AT_EMPTY_PATH")).collect()
    }

    /// All calls that returned. A call that was in progress when strace detached may belong to any time after the last
    /// request.
    pub fn end_of_all(mut self) -> Vec<String> {
        signal(self.strace.id() as i32, Signal::SIGINT);
        self.strace.wait().expect("our own child");
        let text = fs::read_to_string(&self.file).expect("strace wrote it");
        let ended = |line: &&str| line.contains('(') && !line.contains("--- SIG") && !line.ends_with("<detached ...>");
        text.lines().filter(ended).map(str::to_owned).collect()
    }
}

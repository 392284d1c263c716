//! `CgiMode fork`: a script runs in a fork of the worker, which has already compiled it. Otherwise it is handled as a
//! program.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::unistd::getpid;

use crate::log_context::report;
use crate::program::arguments;
use crate::program::child::{Child, environment};
use crate::site::Site;

/// Variables with the same value for all requests. BEGIN blocks run once for all requests and may store what they
/// read.
const OF_THE_SERVER: [&str; 10] = [
    "DOCUMENT_ROOT=",
    "GATEWAY_INTERFACE=",
    "LD_LIBRARY_PATH=",
    "PATH=",
    "SCRIPT_FILENAME=",
    "SERVER_ADMIN=",
    "SERVER_NAME=",
    "SERVER_PORT=",
    "SERVER_SOFTWARE=",
    "PERL5LIB=",
];

impl Site {
    /// Compiles the script if needed. Returns false if it cannot run in a fork.
    pub(super) fn is_compiled(&self, file: &Path) -> bool {
        let of_server = |pair: &&Vec<u8>| OF_THE_SERVER.iter().any(|name| pair.starts_with(name.as_bytes()));
        let variables = environment();
        let words =
            [file.as_os_str().as_bytes()].into_iter().chain(variables.iter().filter(of_server).map(|it| &it[..]));
        let words = words.collect::<Vec<_>>().join(&0);
        self.perl.env_begin();
        let prepared = self
            .perl
            .require_module("Cameleer::Forked")
            .and_then(|()| self.perl.call_for_text(c"Cameleer::Forked::prepare", &String::from_utf8_lossy(&words)));
        // A child forked by a BEGIN block has no request to answer.
        self.calls.end_forked_child(prepared.as_ref().err());
        match prepared {
            Ok(word) => word == "yes",
            Err(interrupted) => {
                // If a BEGIN block called exit, the kernel runs the script as a program.
                if let libperl::Interrupted::Died(text) = interrupted {
                    report(&text);
                }
                self.calls.unwind();
                false
            }
        }
    }

    pub(super) fn fork_script(&self, request: u64, file: &Path) -> io::Result<Child> {
        let words = words(request, file);
        let (stdout, its_stdout) = io::pipe()?;
        let (stderr, its_stderr) = io::pipe()?;
        let worker = getpid();
        if let Some(process) = sys::fork()? {
            return Child::forked(process, stdout, stderr);
        }
        let output = [its_stdout.as_raw_fd(), its_stderr.as_raw_fd()];
        let status = match sys::lead_group(worker, output) {
            Ok(()) => {
                // Close all copies of the pipes, since their reader waits for EOF.
                drop((stdout, stderr, its_stdout, its_stderr));
                self.perl.run_as_program(c"Cameleer::Forked::run", &words, c"Cameleer::Forked::end")
            }
            Err(_) => 1,
        };
        sys::exit_now(status)
    }
}

/// Arguments of `Cameleer::Forked::run`: the file, the number of query words, the words, the variables.
fn words(request: u64, file: &Path) -> Vec<u8> {
    let words = arguments(request);
    let count = words.len().to_string().into_bytes();
    let first = [OsStr::as_bytes(file.as_os_str()).to_vec(), count];
    first.into_iter().chain(words).chain(environment()).collect::<Vec<_>>().join(&0)
}

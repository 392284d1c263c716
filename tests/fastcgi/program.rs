//! Programs that a test starts beside the server.

use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::support::until;

/// A running program, which ends with the test, as the processes that it has started do.
pub struct Program(pub Child);

impl Program {
    /// Starts a program. It is silent, unless it fails.
    pub fn start(command: &mut Command) -> Program {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        Program(command.spawn().expect("a program that is installed"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = killpg(Pid::from_raw(self.0.id() as i32), Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

/// Waits until a program accepts connections at this socket.
pub fn listening(socket: &Path) {
    until("a program listens", || UnixStream::connect(socket).is_ok());
}

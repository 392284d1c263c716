//! Programs that a test starts beside the server.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::until;

/// A running program, which ends with the test.
pub struct Program(pub Child);

impl Program {
    /// Starts a program. It is silent, unless it fails.
    pub fn start(command: &mut Command) -> Program {
        Program(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("a program that is installed"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a program accepts connections at this socket.
pub fn listening(socket: &Path) {
    until("a program listens", || UnixStream::connect(socket).is_ok());
}

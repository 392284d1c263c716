//! In the background: the shell gets its prompt back when the server serves, or the exit code when it does not.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use nix::fcntl::{OFlag, open};
use nix::sys::stat::{Mode, SFlag, fstat};
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout, pipe2, setsid};

use super::ready::Then;

/// Runs `serve` in a process of its own session, and returns or exits when it is ready or has failed.
pub fn run(serve: impl FnOnce(Then) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let (reads, writes) = pipe2(OFlag::O_CLOEXEC)?;
    if sys::fork()?.is_some() {
        drop(writes);
        return wait(reads);
    }
    setsid()?;
    // A session leader could be given a terminal again; its child cannot.
    if sys::fork()?.is_some() {
        std::process::exit(0);
    }
    drop(reads);
    let told = writes.try_clone()?;
    let result = serve(Box::new(move || {
        tell(told, 0);
        // Only now: until here the terminal was to see what is wrong.
        let _ = leave_terminal();
    }));
    if let Err(error) = &result {
        tell(writes, super::exit_code(error));
    }
    result
}

/// The first byte is the exit code; no byte means that it was killed.
fn wait(reads: OwnedFd) -> anyhow::Result<()> {
    let mut code = [super::FAILED];
    let _ = std::fs::File::from(reads).read(&mut code)?;
    if code[0] == 0 { Ok(()) } else { std::process::exit(code[0].into()) }
}

fn tell(to: OwnedFd, code: u8) {
    // The shell may have been interrupted and not wait any more.
    let _ = std::fs::File::from(to).write(&[code]);
}

/// Nobody waits for what is written to a file; who reads a terminal or a pipe may wait until the last of us lets go of it.
/// Errors go where ErrorLog says: the master points descriptor 2 there after this.
fn leave_terminal() -> anyhow::Result<()> {
    let null = open("/dev/null", OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty())?;
    dup2_stdin(&null)?;
    if !is_file(std::io::stdout()) {
        dup2_stdout(&null)?;
    }
    if !is_file(std::io::stderr()) {
        dup2_stderr(&null)?;
    }
    Ok(())
}

/// Where errors go when the configuration does not say it: nobody would read them on the standard error of a terminal
/// that was left. Read before the configuration, which has the last word.
pub fn error_log() -> Option<String> {
    (!is_file(std::io::stderr())).then(|| "ErrorLog error_log".to_owned())
}

fn is_file(stream: impl AsFd) -> bool {
    fstat(stream).is_ok_and(|about| SFlag::from_bits_truncate(about.st_mode) & SFlag::S_IFMT == SFlag::S_IFREG)
}

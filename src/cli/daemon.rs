//! Background mode: the shell's command returns when the server is ready, or with its exit code if the start fails.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use nix::fcntl::{OFlag, open};
use nix::sys::stat::{Mode, SFlag, fstat};
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout, pipe2, setsid};

use super::ready::AfterReady;

/// Runs `serve` in a background session. Returns or exits when it is ready or has failed.
pub fn run(serve: impl FnOnce(AfterReady) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let (reads, writes) = pipe2(OFlag::O_CLOEXEC)?;
    if sys::fork()?.is_some() {
        drop(writes);
        return wait(reads);
    }
    setsid()?;
    // A session leader may acquire a terminal again; its child cannot.
    if sys::fork()?.is_some() {
        std::process::exit(0);
    }
    drop(reads);
    let pipe = writes.try_clone()?;
    let result = serve(Box::new(move || {
        send(pipe, 0);
        // The terminal is left only now, so that earlier errors are displayed.
        let _ = leave_terminal();
    }));
    if let Err(error) = &result {
        send(writes, super::exit_code(error));
    }
    result
}

/// Waits for the exit code, the first byte. Without one, the server was killed.
fn wait(reads: OwnedFd) -> anyhow::Result<()> {
    let mut code = [super::FAILED];
    let _ = std::fs::File::from(reads).read(&mut code)?;
    if code[0] == 0 { Ok(()) } else { std::process::exit(code[0].into()) }
}

fn send(to: OwnedFd, code: u8) {
    // The waiting process may have been interrupted.
    let _ = std::fs::File::from(to).write(&[code]);
}

/// Redirects standard streams to /dev/null. Files are retained; a reader of a terminal or pipe would wait until all
/// copies are closed. The master redirects descriptor 2 to ErrorLog afterwards.
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

/// Default ErrorLog in the background if stderr is no file, since output to the terminal is lost. The configuration
/// overrides this, since it is read later.
pub fn error_log() -> Option<String> {
    (!is_file(std::io::stderr())).then(|| "ErrorLog error_log".to_owned())
}

fn is_file(stream: impl AsFd) -> bool {
    fstat(stream).is_ok_and(|about| SFlag::from_bits_truncate(about.st_mode) & SFlag::S_IFMT == SFlag::S_IFREG)
}

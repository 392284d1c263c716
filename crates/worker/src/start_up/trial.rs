//! Trial compilation of scripts in a child of the mold. A BEGIN block may call exec, `POSIX::_exit` or kill; then
//! only that child ends, not the mold.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

/// Sent by the child before it compiles a script.
const BEGINS: u8 = b'+';
/// Sent by the child when it has compiled all.
const DONE: u8 = b'.';

/// Finds the scripts that end the process that compiles them, with the way it ends. If no child can be forked, the
/// result is empty.
pub fn fatal<T>(mut scripts: Vec<T>, compile: impl Fn(&T)) -> Vec<(T, String)> {
    let mut fatal = Vec::new();
    while let Ok((compiled, Some(how))) = try_all(&scripts, &compile) {
        let mut behind = scripts.split_off(compiled.min(scripts.len())).into_iter();
        fatal.extend(behind.next().map(|script| (script, how)));
        scripts = behind.collect();
    }
    fatal
}

/// Compiles the scripts in a child. Returns how many compiled, and how the child ended if it did not compile all.
fn try_all<T>(scripts: &[T], compile: &impl Fn(&T)) -> io::Result<(usize, Option<String>)> {
    if scripts.is_empty() {
        return Ok((0, None));
    }
    let (mut reader, mut writer) = io::pipe()?;
    let mold = getpid();
    let Some(child) = sys::fork()? else {
        drop(reader);
        let own = getpid();
        if in_child(mold).is_ok() {
            for script in scripts {
                let _ = writer.write_all(&[BEGINS]);
                compile(script);
                if getpid() != own {
                    // A process forked by a BEGIN block.
                    sys::exit_now(0);
                }
            }
            let _ = writer.write_all(&[DONE]);
        }
        sys::exit_now(0)
    };
    drop(writer);
    let handle = sys::pidfd_open(child)?;
    let _ = poll(&mut [PollFd::new(handle.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE);
    // Processes started by BEGIN blocks may hold the pipe open.
    let _ = killpg(child, Signal::SIGKILL);
    let end = ended(child)?;
    let mut text = Vec::new();
    reader.read_to_end(&mut text)?;
    let begun = text.iter().filter(|byte| **byte == BEGINS).count();
    match text.last() {
        Some(&BEGINS) => Ok((begun.saturating_sub(1), Some(end))),
        // The child has compiled all scripts, or ended before the first, so that no script is to blame.
        _ => Ok((scripts.len(), None)),
    }
}

/// Makes the child leader of a process group that dies with the mold. Output goes to /dev/null, since the mold's own
/// compilation prints the same.
fn in_child(mold: Pid) -> io::Result<()> {
    let nowhere: OwnedFd = File::options().read(true).write(true).open("/dev/null")?.into();
    sys::lead_group(mold, [nowhere.as_raw_fd(); 2])
}

fn ended(child: Pid) -> io::Result<String> {
    loop {
        match waitpid(child, None)? {
            WaitStatus::Exited(_, status) => return Ok(format!("the process ended with status {status}")),
            WaitStatus::Signaled(_, signal, _) => return Ok(format!("the process was killed by {signal}")),
            _ => {}
        }
    }
}

//! Other processes, by /proc.

use std::fs;
use std::path::Path;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Sends `signal` to `pid`.
#[track_caller]
pub fn signal(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).expect("the process is there to be signalled");
}

/// Whether `pid` runs; a zombie does not.
pub fn alive(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// The letter that /proc has for what `pid` does: `T` when it is stopped.
pub fn state(pid: i32) -> Option<char> {
    stat(pid).map(|(state, _)| state)
}

/// The children of `pid`.
pub fn children(pid: i32) -> Vec<i32> {
    all().into_iter().filter(|child| stat(*child).is_some_and(|(_, parent)| parent == pid)).collect()
}

/// Every process that was started with `folder` in its environment, however it has moved since.
pub fn of_site(folder: &Path) -> Vec<i32> {
    let mark = format!("TMPDIR={}/tmp", folder.display());
    let has_mark = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    all().into_iter().filter(has_mark).filter(|pid| alive(*pid)).collect()
}

fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// State and parent.
fn stat(pid: i32) -> Option<(char, i32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, so count from its end.
    let mut fields = text[text.rfind(')')? + 1..].split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

//! Checks of services that the server depends on (`ReadinessCheck`), outside of the mold and of its workers.
//!
//! ```text
//!   mold ──fork──▶ watch ──fork──▶ check: connects, gets a page, or calls a sub
//!                    │ kills a check that takes too long, and what it has started; writes the result, ends
//! ```

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{getpid, setpgid};
use wire::transport::{in_memory, read_report};

use super::site::Site;
use base::log;
use config::{CheckTarget, ReadinessCheck};

/// Maximum length of a result in bytes.
const MAX_RESULT: usize = 1000;
/// Maximum length of the status line of a page in bytes.
const MAX_STATUS_LINE: u64 = 1000;
/// Result of a check that succeeds.
const OK: &str = "ok";

/// Runs a check in a child of this mold, which writes `ok` or the reason of the failure to `into`. The end of the child
/// closes `done`.
pub fn check(site: &Site, number: u16, into: OwnedFd, done: OwnedFd) {
    let mut done = Some(done);
    // The mold may be older than the configuration that the master has in mind.
    let Some(check) = site.config.node.checks.get(usize::from(number)) else { return };
    let mold = getpid();
    match sys::fork() {
        // The mold reaps the child as a stray.
        Ok(Some(_)) => {}
        Ok(None) => {
            libperl::set_title("cameleer: readiness check");
            if sys::die_with(mold).is_ok() {
                let result =
                    watched(site, check, &mut done).unwrap_or_else(|error| format!("the check cannot be run: {error}"));
                // The master reports a result that is missing.
                let _ = File::from(into).write_all(cut(&result).as_bytes());
            }
            drop(done);
            sys::exit_now(0)
        }
        Err(error) => log::error("perl", format_args!("ReadinessCheck {}: cannot fork: {error}", check.name)),
    }
}

/// Runs a check in a child of this process, and kills it after its timeout. The child leads a process group, so that
/// the children of the site's sub end with it. They must not hold `done`, whose end the master awaits.
fn watched(site: &Site, check: &ReadinessCheck, done: &mut Option<OwnedFd>) -> io::Result<String> {
    let into = in_memory("readiness", b"")?;
    let watch = getpid();
    let Some(pid) = sys::fork()? else {
        *done = None;
        let own = getpid();
        if setpgid(own, own).is_ok() && sys::die_with(watch).is_ok() {
            let result = run(site, &check.target).map_or_else(|why| why, |()| OK.to_owned());
            // The sub may have forked, and the child may have returned.
            if getpid() == own {
                let _ = (&into).write_all(cut(&result).as_bytes());
            }
        }
        sys::exit_now(0)
    };
    // Either process may come first. An error means that the child has ended.
    let _ = setpgid(pid, pid);
    let is_late = !ends_within(&sys::pidfd_open(pid)?, check.timeout);
    if is_late {
        // The sub may have left its group.
        kill(pid, Signal::SIGKILL)?;
    }
    // The pid, and with it the group, is not reused before the child is reaped.
    let _ = killpg(pid, Signal::SIGKILL);
    let ended = waitpid(pid, None)?;
    let result = read_report(into.as_fd())?;
    Ok(match ended {
        _ if is_late => format!("no result within {} ms", check.timeout.as_millis()),
        WaitStatus::Signaled(_, signal, _) => format!("the check was killed by {signal}"),
        WaitStatus::Exited(_, code) if result.is_empty() => format!("the check ended with exit code {code}"),
        _ => result,
    })
}

/// Whether the process ends within this time.
fn ends_within(process: &OwnedFd, timeout: Duration) -> bool {
    let by = Instant::now() + timeout;
    loop {
        let left = by.saturating_duration_since(Instant::now());
        // A timeout rounded down would end just before the deadline, again and again.
        let rounded = PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(process.as_fd(), PollFlags::POLLIN)], rounded) {
            Ok(0) if Instant::now() < by => {}
            Ok(count) => return count > 0,
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

/// Runs a check; the error is the reason of its failure.
fn run(site: &Site, target: &CheckTarget) -> Result<(), String> {
    match target {
        CheckTarget::Tcp(host) => TcpStream::connect(host).map(drop).map_err(|error| format!("{host}: {error}")),
        CheckTarget::Http(host, path) => page(host, path).map_err(|why| format!("http://{host}{path}: {why}")),
        CheckTarget::Perl(name) => {
            // The connections of start-up steps belong to the mold.
            site.is_forked();
            let package = name.rsplit_once("::").map_or("", |(package, _)| package);
            // The configuration accepts only words in `name`.
            let code = format!(
                "require {package} unless defined &{name}; {name}() or die qq{{{name} returned a false value\\n}}; 1"
            );
            site.perl.eval(&code, "ReadinessCheck", 1).map_err(|error| error.to_string())
        }
    }
}

/// Expects a status from 200 to 399 for a page.
fn page(host: &str, path: &str) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let mut stream = TcpStream::connect(host).map_err(text)?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: cameleer (ReadinessCheck)\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).map_err(text)?;
    let mut head = Vec::new();
    let mut limited = stream.take(MAX_STATUS_LINE);
    let mut piece = [0; 256];
    while !head.contains(&b'\n') {
        let count = limited.read(&mut piece).map_err(text)?;
        if count == 0 {
            break;
        }
        head.extend_from_slice(piece.get(..count).unwrap_or_default());
    }
    match status_of(&head) {
        Some(200..=399) => Ok(()),
        Some(status) => Err(format!("status {status}")),
        None => Err("the response is not HTTP".to_owned()),
    }
}

/// The status of a response that begins with these bytes: `HTTP/1.1 200 OK`
fn status_of(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\n').next()?;
    let rest = line.strip_prefix(b"HTTP/1.1 ").or_else(|| line.strip_prefix(b"HTTP/1.0 "))?;
    let digits = rest.first_chunk::<3>().filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let is_whole = rest.get(3).is_none_or(|byte| matches!(byte, b' ' | b'\r'));
    is_whole.then(|| digits.iter().fold(0, |status, digit| status * 10 + u16::from(digit - b'0')))
}

/// The beginning of `text`, [`MAX_RESULT`] bytes long or shorter.
fn cut(text: &str) -> &str {
    let end = (0..=MAX_RESULT.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_status_line_of_http_has_a_status() {
        assert_eq!(status_of(b"HTTP/1.1 204 No Content\r\n"), Some(204));
        assert_eq!((status_of(b"HTTP/1.0 503\r\n"), status_of(b"HTTP/1.1 200")), (Some(503), Some(200)));
        for wrong in [&b""[..], b"HTTP/1.1", b"HTTP/1.1 2000 OK", b"HTTP/1.1 2x0 OK", b"SSH-2.0-OpenSSH", b"HTTP/2 200"]
        {
            assert_eq!(status_of(wrong), None, "{}", String::from_utf8_lossy(wrong));
        }
    }

    #[test]
    fn a_long_result_is_cut_between_characters() {
        assert_eq!(cut(&"x".repeat(5000)).len(), MAX_RESULT);
        assert!(cut(&format!("{}é{}", "x".repeat(MAX_RESULT - 1), "y".repeat(99))).ends_with('x'));
        assert_eq!(cut("short"), "short");
    }
}

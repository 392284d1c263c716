//! The process that sends an error log to syslog: `ErrorLog syslog:facility:tag`. Its standard input has the lines.
//!
//! ```text
//!   [Sat Nov 21 08:00:00.123456 2026] [front:warn] [pid 12] what happened
//!   <188>Nov 21 08:00:00 cameleer[12]: [front:warn] what happened
//! ```

use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use crate::log::{self, LogLevel};

/// The socket of the syslog daemon (syslog(3)).
pub const SOCKET: &str = "/dev/log";
/// Maximum length of a line in bytes: rsyslog's default. The rest of a longer line is dropped.
const MAX_BYTES: usize = 8 * 1024;

/// Sends each line of the standard input to the socket `path` until the input's end.
pub fn run(path: PathBuf, facility: u8, tag: &str) -> io::Result<()> {
    let mut daemon = Daemon { path, socket: None, is_lost: false };
    let mut input = BufReader::new(io::stdin());
    while let Some(line) = next_line(&mut input)? {
        if !line.is_empty() {
            daemon.send(&message(&line, facility, tag));
        }
    }
    Ok(())
}

/// The next line without its end; `None` at the end of the input.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    if input.by_ref().take(MAX_BYTES as u64).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        skip_line(input)?;
    }
    Ok(Some(line.trim_ascii_end().to_vec()))
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let found = input.fill_buf()?;
        let (length, is_end) = match found.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (found.len(), found.is_empty()),
        };
        input.consume(length);
        if is_end {
            return Ok(());
        }
    }
}

/// The message for a line: its level becomes the priority, and its process id that of the message (RFC 3164).
fn message(line: &[u8], facility: u8, tag: &str) -> Vec<u8> {
    let parsed = ErrorLine::parse(line);
    let priority = u32::from(facility) * 8 + parsed.level.min(LogLevel::Debug) as u32;
    let pid = parsed.pid.unwrap_or_else(std::process::id);
    let now = chrono::Local::now().format("%b %e %H:%M:%S");
    let mut message = format!("<{priority}>{now} {tag}[{pid}]: ").into_bytes();
    for part in parsed.parts {
        message.extend_from_slice(part);
    }
    message
}

/// The parts of a line of the error log.
struct ErrorLine<'a> {
    level: LogLevel,
    pid: Option<u32>,
    /// The line without its time and process id.
    parts: [&'a [u8]; 2],
}

impl<'a> ErrorLine<'a> {
    /// A line in another form, such as output of a program, is an error.
    fn parse(line: &'a [u8]) -> ErrorLine<'a> {
        let of_json = || field(line, b"\"level\":\"", b'"').and_then(LogLevel::named);
        let other = ErrorLine { level: of_json().unwrap_or(LogLevel::Error), pid: None, parts: [line, b""] };
        let Some(rest) = behind_bracket(line).filter(|_| line.starts_with(b"[")) else { return other };
        let named = field(rest, b"[", b']').filter(|_| rest.starts_with(b"["));
        let level = named.and_then(|name| LogLevel::named(name.rsplit(':').next()?));
        let (Some(level), Some(behind)) = (level, behind_bracket(rest)) else { return other };
        let about = rest.get(..rest.len() - behind.len()).unwrap_or_default();
        match field(behind, b"[pid ", b']').filter(|_| behind.starts_with(b"[pid ")).map(str::parse) {
            Some(Ok(pid)) => {
                let text = behind_bracket(behind).unwrap_or_default();
                ErrorLine { level, pid: Some(pid), parts: [about, text] }
            }
            _ => ErrorLine { level, pid: None, parts: [about, behind] },
        }
    }
}

/// The text between `begin` and `end`.
fn field<'a>(text: &'a [u8], begin: &[u8], end: u8) -> Option<&'a str> {
    let at = text.windows(begin.len()).position(|part| part == begin)?;
    let rest = text.get(at + begin.len()..)?;
    let length = rest.iter().position(|byte| *byte == end)?;
    std::str::from_utf8(rest.get(..length)?).ok()
}

/// The text behind the first `] `.
fn behind_bracket(text: &[u8]) -> Option<&[u8]> {
    let at = text.windows(2).position(|part| part == b"] ")?;
    text.get(at + 2..)
}

/// The syslog daemon. While it is away, messages are lost, as with syslog(3).
struct Daemon {
    path: PathBuf,
    socket: Option<UnixDatagram>,
    /// Whether the last message was lost; only the first of several is reported.
    is_lost: bool,
}

impl Daemon {
    fn send(&mut self, message: &[u8]) {
        // The daemon may have been started again since the last message.
        let sent = self.try_send(message).or_else(|_| self.try_send(message));
        if let Err(error) = &sent
            && !self.is_lost
        {
            let path = self.path.display();
            let advice = "messages are lost until its daemon runs";
            log::warn("log", format_args!("ErrorLog: cannot send to syslog at {path}: {error}; {advice}"));
        }
        self.is_lost = sent.is_err();
    }

    fn try_send(&mut self, message: &[u8]) -> io::Result<()> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => {
                let socket = UnixDatagram::unbound()?;
                socket.connect(&self.path)?;
                socket
            }
        };
        socket.send(message)?;
        self.socket = Some(socket);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_and_process_of_a_line_become_those_of_the_message() {
        let parsed = |line: &str| {
            let ErrorLine { level, pid, parts } = ErrorLine::parse(line.as_bytes());
            (level, pid, String::from_utf8(parts.concat()).expect("text"))
        };
        let line = "[Sat Nov 21 08:00:00.123456 2026] [front:warn] [pid 12] [client 192.0.2.1:5] what";
        assert_eq!(parsed(line), (LogLevel::Warn, Some(12), "[front:warn] [client 192.0.2.1:5] what".to_owned()));
        let line = r#"{"time":"2026","level":"notice","message":"x"}"#;
        assert_eq!(parsed(line), (LogLevel::Notice, None, line.to_owned()));
        for line in ["plain", "[a] b", "[a] [b] c", "[", "] ", "[x] [front:none] d"] {
            assert_eq!(parsed(line), (LogLevel::Error, None, line.to_owned()));
        }
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let text = [&[b'a'; 3 * MAX_BYTES][..], b"\nnext\nlast"].concat();
        let mut input = BufReader::with_capacity(100, &text[..]);
        let mut next = || next_line(&mut input).expect("read");
        assert_eq!(next().map(|line| line.len()), Some(MAX_BYTES));
        assert_eq!((next(), next(), next()), (Some(b"next".to_vec()), Some(b"last".to_vec()), None));
    }
}

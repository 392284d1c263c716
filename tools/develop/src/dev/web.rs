//! The pages of `cameleer dev` itself, on a unix socket to which the server passes requests: an event for browsers
//! after each load, and the last mistake.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use nix::unistd::Uid;

use super::mistake;

/// Start of the paths that the server passes here.
pub const PREFIX: &str = "/.cameleer/dev/";

/// Reloads the page when the number of the generation changes.
const SCRIPT: &str = "\
(() => {
  let served;
  const events = new EventSource('/.cameleer/dev/events');
  events.onmessage = event => {
    if (served !== undefined && served !== event.data) location.reload();
    served = event.data;
  };
})();
";

/// Longest head of a request, in bytes; the front has a limit, too.
const MAX_HEAD_BYTES: usize = 256 * 1024;
/// Bytes of a request's body that are read after the response, so that the client can read it.
const MAX_REST_BYTES: u64 = 16 * 1024 * 1024;
/// Time for the front to send a request and to take the response.
const PATIENCE: Duration = Duration::from_secs(5);
/// Interval of comments to waiting browsers, below the usual time limits of proxies.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The most browsers that wait for an event.
const MAX_BROWSERS: usize = 256;

/// State shared with the threads that answer.
#[derive(Clone)]
pub struct Web(Arc<Mutex<State>>);

struct State {
    /// Message of the mistake that keeps the program from being loaded.
    mistake: Option<String>,
    /// Number of loads. The first number is the time, so that it differs from those of an earlier `cameleer dev`.
    generation: u64,
    browsers: Vec<UnixStream>,
}

impl Web {
    /// Answers on this socket, in threads.
    pub fn start(path: &Path) -> anyhow::Result<Web> {
        let listener = UnixListener::bind(path).with_context(|| path.display().to_string())?;
        if Uid::effective().is_root() {
            // The front runs as another user.
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o666))?;
        }
        let generation = chrono::Utc::now().timestamp_millis().cast_unsigned();
        let web = Web(Arc::new(Mutex::new(State { mistake: None, generation, browsers: Vec::new() })));
        let (answers, beats) = (web.clone(), web.clone());
        std::thread::Builder::new().name("web".to_owned()).spawn(move || answers.accept(&listener))?;
        std::thread::Builder::new().name("heartbeat".to_owned()).spawn(move || beats.keep_alive())?;
        Ok(web)
    }

    /// The message of the current mistake.
    pub fn mistake(&self) -> Option<String> {
        self.state().mistake.clone()
    }

    /// Sets or removes the mistake.
    pub fn set_mistake(&self, text: Option<String>) {
        self.state().mistake = text;
    }

    /// Lets browsers load their pages again. Their connections end, so that the server's old generation can end;
    /// browsers connect again by themselves.
    pub fn next_generation(&self) {
        let mut state = self.state();
        state.generation += 1;
        let event = format!("data: {}\n\n", state.generation);
        for mut browser in state.browsers.drain(..) {
            // The browser may have gone.
            let _ = browser.write_all(event.as_bytes());
        }
    }

    /// Ends the connections of waiting browsers, for which a stop would wait.
    pub fn close_all(&self) {
        self.state().browsers.clear();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self, listener: &UnixListener) {
        for stream in listener.incoming().flatten() {
            let web = self.clone();
            // Without a thread the connection is closed, and the server answers with 502.
            let _ = std::thread::Builder::new().spawn(move || web.answer(stream));
        }
    }

    fn keep_alive(&self) {
        loop {
            std::thread::sleep(HEARTBEAT);
            self.state().browsers.retain_mut(|browser| browser.write_all(b":\n\n").is_ok());
        }
    }

    fn answer(&self, mut stream: UnixStream) {
        let prepared = stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
        let Some(head) = prepared.ok().and_then(|()| read_head(&mut stream)) else { return };
        match head.path() {
            path if path == format!("{PREFIX}events") => self.wait(stream),
            path if path == format!("{PREFIX}reload.js") => {
                respond(stream, &head, "200 OK", "text/javascript; charset=utf-8", SCRIPT)
            }
            _ => self.show_mistake(stream, &head),
        }
    }

    fn wait(&self, mut stream: UnixStream) {
        let mut state = self.state();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
        let begun = write!(stream, "{head}retry: 200\n\ndata: {}\n\n", state.generation);
        if begun.is_ok() && state.browsers.len() < MAX_BROWSERS {
            state.browsers.push(stream);
        }
    }

    fn show_mistake(&self, stream: UnixStream, head: &RequestHead) {
        match self.mistake() {
            Some(text) if head.accepts_html() => respond(
                stream,
                head,
                "500 Internal Server Error",
                "text/html; charset=utf-8",
                &mistake::page(&text, head.names_this_machine()),
            ),
            Some(text) => {
                respond(stream, head, "500 Internal Server Error", "text/plain; charset=utf-8", &(text + "\n"))
            }
            None => respond(
                stream,
                head,
                "503 Service Unavailable",
                "text/html; charset=utf-8",
                "<!DOCTYPE html><title>Loading</title><p>The program is being loaded.</p>\
                 <script>setTimeout(() => location.reload(), 300)</script>\n",
            ),
        }
    }
}

struct RequestHead(String);

impl RequestHead {
    fn path(&self) -> &str {
        let target = self.0.split(' ').nth(1).unwrap_or_default();
        target.split('?').next().unwrap_or_default()
    }

    fn is_head(&self) -> bool {
        self.0.starts_with("HEAD ")
    }

    /// Whether the client names the server by localhost or by an address. A name of another site may lead here, too,
    /// and its pages would read the response.
    fn names_this_machine(&self) -> bool {
        let host = self.0.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("host").then_some(value.trim())
        });
        let Some(host) = host else { return false };
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        let is_local = name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost");
        is_local || name.parse::<IpAddr>().is_ok()
    }

    /// Whether the client is a browser, or another program that asks for a page.
    fn accepts_html(&self) -> bool {
        let accepts = |line: &str| {
            let (name, value) = line.split_once(':').unwrap_or_default();
            name.eq_ignore_ascii_case("accept") && value.contains("text/html")
        };
        self.0.lines().any(accepts)
    }
}

fn read_head(stream: &mut UnixStream) -> Option<RequestHead> {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let length = stream.read(&mut piece).ok().filter(|length| *length > 0)?;
        head.extend_from_slice(piece.get(..length)?);
        if head.len() > MAX_HEAD_BYTES {
            return None;
        }
    }
    Some(RequestHead(String::from_utf8_lossy(&head).into_owned()))
}

fn respond(mut stream: UnixStream, head: &RequestHead, status: &str, content_type: &str, body: &str) {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n{}",
        if head.is_head() { "" } else { body }
    );
    // A request body that is not read would reset the connection before the response is read.
    if stream.write_all(text.as_bytes()).and_then(|()| stream.shutdown(Shutdown::Write)).is_ok() {
        let _ = std::io::copy(&mut stream.take(MAX_REST_BYTES), &mut std::io::sink());
    }
}

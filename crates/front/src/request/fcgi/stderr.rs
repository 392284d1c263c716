//! Stderr of a FastCGI application: its lines go to the error log, up to a limit for each request.

use crate::log::error_logs::LineClass;
use crate::request::context::RequestContext;
use crate::routing::Route;
use config::LogLevel;
use proxy::StderrSink;
use std::rc::Rc;

/// Maximum number of bytes of one request's lines that are logged.
const MAX_TOTAL_BYTES: usize = 64 << 10;
/// Maximum number of bytes of one line.
const MAX_LINE_BYTES: usize = 4096;

/// Logs the lines of the application `origin` with the request's place. An application may split lines between records.
pub fn sink(context: &RequestContext, route: &Rc<Route>, origin: &str) -> StderrSink {
    let mut lines = Lines {
        request: context.itself(),
        route: route.clone(),
        origin: origin.to_owned(),
        text: Vec::new(),
        logged: 0,
    };
    Box::new(move |piece| lines.take(piece))
}

struct Lines {
    request: Option<Rc<RequestContext>>,
    route: Rc<Route>,
    origin: String,
    /// A line without its end.
    text: Vec<u8>,
    logged: usize,
}

impl Lines {
    fn take(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.text.extend_from_slice(part);
            if part.ends_with(b"\n") || self.text.len() >= MAX_LINE_BYTES {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.text);
        let Some(request) = self.request.as_ref().filter(|_| self.logged <= MAX_TOTAL_BYTES) else { return };
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        self.logged += line.len().max(1);
        let rest = if self.logged > MAX_TOTAL_BYTES { " (further lines of this request are not logged)" } else { "" };
        let message = format_args!("FastCGI application {}: {text}{rest}", self.origin);
        request.log(&self.route, LineClass { level: LogLevel::Error, module: "fastcgi" }, &message);
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if !self.text.is_empty() {
            self.end();
        }
    }
}

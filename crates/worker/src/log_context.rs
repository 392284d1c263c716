//! Context of error log lines: the worker, the client and the request.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Display;
use std::rc::Rc;

use apache::Level;
use base::log::ContextPosition;
use libperl::Interrupted;
use wire::frame::{Field, Frame, name_in_logs};

use base::{current_folder, log};

/// The request of a log line.
#[derive(Debug, Default)]
pub struct LogContext {
    address: Vec<u8>,
    port: u16,
    method: Vec<u8>,
    path: Vec<u8>,
    received: u64,
    logged_as: u64,
}

#[derive(Default)]
struct Current {
    worker: Option<u32>,
    request: Option<Rc<LogContext>>,
}

thread_local!(static CURRENT: RefCell<Current> = RefCell::default());

/// Makes this process log as worker `slot`.
pub fn worker_is(slot: u32) {
    CURRENT.with_borrow_mut(|current| current.worker = Some(slot));
    begin();
}

/// Routes the API's log output to the error log, with the context.
pub fn begin() {
    apache::log_to(write);
    apache::on_level(log::set_level);
}

/// Removes the worker from the context: the process has become a mold.
pub fn worker_is_mold() {
    CURRENT.with_borrow_mut(|current| current.worker = None);
}

impl LogContext {
    /// Reads the context from a frame.
    pub fn of(frame: &Frame) -> Rc<LogContext> {
        Rc::new(LogContext {
            address: frame.field(Field::RemoteAddr).to_vec(),
            port: frame.remote_port(),
            method: frame.field(Field::Method).to_vec(),
            path: frame.field(Field::Path).to_vec(),
            received: frame.received(),
            logged_as: frame.logged_as(),
        })
    }

    /// Makes this the context of log lines until [`LogContext::none`].
    pub fn becomes_current(self: &Rc<LogContext>) {
        CURRENT.with_borrow_mut(|current| current.request = Some(self.clone()));
    }

    fn client(&self) -> Option<String> {
        let address = String::from_utf8_lossy(&self.address);
        match self.port {
            _ if address.is_empty() => None,
            // Port 0 means a Unix socket; no TCP client has it.
            0 => Some("unix:".to_owned()),
            port => Some(format!("{address}:{port}")),
        }
    }

    /// Removes the request from the context.
    pub fn none() {
        CURRENT.with_borrow_mut(|current| current.request = None);
    }

    /// The decoded path of the request.
    pub fn path(&self) -> &[u8] {
        &self.path
    }
}

/// Logs the error if Perl died.
pub fn note(result: Result<(), Interrupted>) {
    if let Err(Interrupted::Died(text)) = result {
        report(&text);
    }
}

/// Logs a Perl error unchanged.
pub fn report(text: &str) {
    apache::log_line(apache::Level::Error, text.trim_end());
}

fn write(level: Level, context: ContextPosition, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    CURRENT.with_borrow(|current| {
        let request = current.request.as_deref();
        let client = request.and_then(LogContext::client);
        let (method, path) = request.map(|r| (lossy(&r.method), lossy(&r.path))).unwrap_or_default();
        let about = log::Subject {
            client: client.as_ref().map(|client| client as &dyn Display),
            context,
            worker: current.worker,
            request: request.map(|request| log::RequestSubject {
                name: name_in_logs(request.received, request.logged_as),
                method: &method,
                path: &path,
            }),
        };
        match (level, apache::api()) {
            // httpd does not suppress notices if the log is a file, and mod_perl 2 documents this.
            (Level::Notice, apache::Api::Two) => log::write_always(Level::Notice, "perl", &about, &text),
            _ => log::write(level, "perl", &about, &text),
        }
        if let Some(name) = current_folder::missing(&text).filter(|_| level <= Level::Error) {
            let hint = format!("{name}: {}", current_folder::REMEDY);
            log::write(Level::Error, "perl", &about, &hint);
        }
    });
}

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

//! The worker's services for methods of `$r` that run other requests, filters or configuration.

use std::cell::RefCell;
use std::rc::Rc;

/// The continuation after a piece of the response's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceEnd {
    /// More pieces follow later.
    More,
    /// A flush: the program wants the output so far to be sent now.
    Flush,
    /// The end of the body.
    Eos,
}

/// The arguments of `$r->add_config`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AddedLines {
    /// The lines of configuration.
    pub text: String,
    /// `Apache2::Const::OR_…`: classes of directives that the lines may contain.
    pub overrides: u32,
    /// `Apache2::Const::OPT_…`: the `Options` that the lines may set.
    pub options: u32,
    /// The value of `$r->location` after the lines.
    pub path: Option<String>,
}

/// The worker's side of the API. Its methods run Perl code: callers must not borrow a record.
pub trait Engine {
    /// Makes the record of a subrequest for a URI, relative to that of `from`, and runs its phases up to Fixup.
    /// `None`: no record was made.
    fn look_up_uri(&self, from: u64, target: &[u8]) -> Option<u64>;
    /// Like [`Engine::look_up_uri`], for a file.
    fn look_up_file(&self, from: u64, name: &[u8]) -> Option<u64>;
    /// Runs a subrequest's handler; returns its status.
    fn run(&self, sub: u64) -> i32;
    /// Translates `$r->uri` to a file; returns the status of the Trans phase.
    fn translate(&self, request: u64) -> i32;
    /// The configured error response (`ErrorDocument`) for a status; `None`: the standard page is sent.
    fn error_response(&self, request: u64, status: u16) -> Option<Vec<u8>>;
    /// Adds lines of configuration to the request's own; the error is a message.
    fn add_config(&self, request: u64, lines: &AddedLines) -> Result<(), String>;
    /// Merges a `<Location>` into the request's configuration; returns whether that section exists.
    fn merge_location(&self, request: u64, path: &str) -> Result<bool, String>;
    /// Runs one of httpd's hooks in a request (`fixups`); returns its status.
    fn run_hook(&self, request: u64, hook: &[u8]) -> i32;
    /// Responds with the error page of `status`.
    fn die(&self, request: u64, status: i32);
    /// Passes a piece of a response to its filters.
    fn filter(&self, request: u64, piece: &[u8], end: PieceEnd);
    /// Redirects `from` internally to another URI.
    fn redirect(&self, from: u64, target: &[u8], keeps_type: bool);
}

thread_local!(static ENGINE: RefCell<Option<Rc<dyn Engine>>> = const { RefCell::new(None) });

/// Registers the worker's engine.
pub fn engine_is(engine: Rc<dyn Engine>) {
    ENGINE.set(Some(engine));
}

/// Calls the engine; `None` in a process without one.
pub(crate) fn engine<T>(act: impl FnOnce(&dyn Engine) -> T) -> Option<T> {
    let engine = ENGINE.with_borrow(Option::clone)?;
    Some(act(&*engine))
}

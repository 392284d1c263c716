//! What methods of `$r` want done that only the worker can do: run the phases of another request.

use std::cell::RefCell;
use std::rc::Rc;

/// What stands behind a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceEnd {
    /// More, at some time.
    More,
    /// The program wants what it said to leave now.
    Flush,
    /// Nothing: it is the last.
    Eos,
}

/// What `$r->add_config` was given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AddedLines {
    /// The lines.
    pub text: String,
    /// `Apache2::Const::OR_…`: classes of directives that may stand there.
    pub overrides: u32,
    /// `Apache2::Const::OPT_…`: of `Options`, those that may.
    pub options: u32,
    /// What `$r->location` says behind them.
    pub path: Option<String>,
}

/// The worker, as the API sees it. Its methods run Perl code; no record is borrowed then.
pub trait Engine {
    /// Makes the record of a subrequest for a URI, relative to that of `from`, and runs its phases up to Fixup.
    fn look_up_uri(&self, from: u64, target: &[u8]) -> Option<u64>;
    /// The same for a file.
    fn look_up_file(&self, from: u64, name: &[u8]) -> Option<u64>;
    /// Runs a subrequest's handler.
    fn run(&self, sub: u64) -> i32;
    /// Finds the file of what `$r->uri` says now; the status that ends the Trans phase.
    fn translate(&self, request: u64) -> i32;
    /// What a client of that request gets for an error, if it is not the plain page.
    fn error_response(&self, request: u64, status: u16) -> Option<Vec<u8>>;
    /// Adds lines of configuration to the place that the request is in; why they are none.
    fn add_config(&self, request: u64, lines: &AddedLines) -> Result<(), String>;
    /// Merges what a `<Location>` says into it; whether there is that one.
    fn merge_location(&self, request: u64, path: &str) -> Result<bool, String>;
    /// Runs what one of httpd's hooks does in a request (`fixups`); the status that it came to.
    fn run_hook(&self, request: u64, hook: &[u8]) -> i32;
    /// Answers it with the page for an error.
    fn die(&self, request: u64, status: i32);
    /// Has the filters of an answer see a piece of it.
    fn filter(&self, request: u64, piece: &[u8], end: PieceEnd);
    /// Answers `from` with what another URI answers.
    fn redirect(&self, from: u64, target: &[u8], keeps_type: bool);
}

thread_local!(static ENGINE: RefCell<Option<Rc<dyn Engine>>> = const { RefCell::new(None) });

/// The worker is there.
pub fn engine_is(engine: Rc<dyn Engine>) {
    ENGINE.set(Some(engine));
}

/// Has the worker do something; `None` in a process that is none.
pub(crate) fn engine<T>(act: impl FnOnce(&dyn Engine) -> T) -> Option<T> {
    let engine = ENGINE.with_borrow(Option::clone)?;
    Some(act(&*engine))
}

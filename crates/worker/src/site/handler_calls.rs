//! Calls of handlers, and the meaning of their return values.

use std::cell::Cell;
use std::rc::Rc;

use libperl::{Code, Interpreter, Interrupted};

use crate::log_context::{note, report};

/// Handler return values that are no HTTP status.
pub const OK: i32 = 0;
pub const DECLINED: i32 = -1;

/// Error text of a PSGI writer whose client has disconnected. The application is not at fault if it does not catch
/// it.
const WRITER_DIED: &str = "PSGI: the client has left at ";

const NEEDS_MOD_PERL_2: &str =
    "the code calls mod_perl 2's API, and this server has mod_perl 1's; write PerlGeneration 2";

/// Whether perl's message is about a module, sub or method of mod_perl 2 that is not there.
fn calls_mod_perl_2(message: &str) -> bool {
    let is_missing = message.starts_with("Can't locate ") || message.starts_with("Undefined subroutine ");
    let first = message.lines().next().unwrap_or_default();
    is_missing && ["\"Apache2::", "&Apache2::", " Apache2/"].iter().any(|name| first.contains(name))
}

/// Calls handlers, and restores the API's state after those that do not return.
pub struct HandlerCalls {
    perl: Rc<Interpreter>,
    /// Whether the Apache:: API is loaded.
    mod_perl: bool,
    /// Runs handlers pushed by Perl code.
    pushed: Option<Code>,
    /// Whether Perl died in a request since the last check.
    died: Cell<bool>,
}

impl HandlerCalls {
    pub(super) fn new(perl: Rc<Interpreter>, mod_perl: bool) -> Result<HandlerCalls, Interrupted> {
        let pushed = if mod_perl { Some(perl.resolve_handler("Apache::Phases::run")?) } else { None };
        Ok(HandlerCalls { perl, mod_perl, pushed, died: Cell::new(false) })
    }

    /// Returns a handler's value, and whether the handler returned.
    pub fn call(&self, handler: &Code, request: u64) -> (i32, bool) {
        let result = self.perl.call_handler(handler, request);
        self.end_forked_child(result.as_ref().err());
        match result {
            // A script that prints its own status line may return that status, too.
            Ok(status) if apache::has_sent_status(request, status) => (OK, true),
            Ok(status) => (meant(status), true),
            Err(interrupted) => {
                let status = printed_status(&interrupted);
                let exited = !matches!(interrupted, Interrupted::Died(_)) && status.is_none();
                (self.conclude_with_status(request, interrupted, status), !exited)
            }
        }
    }

    /// Calls the sub that an element of server-side includes names.
    pub fn element(&self, request: u64, element: &str) -> i32 {
        if !self.mod_perl {
            report("includes: the element perl needs mod_perl's API; load a module of Apache:: or Apache2::");
            return 500;
        }
        let module = self.perl.require_module("Cameleer::Element");
        let result = module.and_then(|()| self.perl.call(c"Cameleer::Element::execute", Some(element)));
        self.end_forked_child(result.as_ref().err());
        result.map_or_else(|interrupted| self.conclude_interrupted(request, interrupted), |()| OK)
    }

    /// Runs the handlers that Perl code pushed for the current phase.
    pub fn pushed(&self, request: u64) -> Option<i32> {
        let run = self.pushed.as_ref()?;
        loop {
            // A pushed handler that exits ends only itself.
            if let (status, true) = self.call(run, request) {
                return Some(status);
            }
        }
    }

    /// Handles a handler that did not return: `exit` counts as OK, `die` is logged.
    pub fn conclude_interrupted(&self, request: u64, interrupted: Interrupted) -> i32 {
        self.conclude_with_status(request, interrupted, None)
    }

    fn conclude_with_status(&self, request: u64, interrupted: Interrupted, status: Option<u16>) -> i32 {
        let outcome = match (interrupted, status) {
            (Interrupted::Exited(_), None) => OK,
            (Interrupted::Unheard, _) => {
                apache::log_line(
                    apache::Level::Info,
                    "the client has disconnected: the program was ended because it continued to print",
                );
                OK
            }
            (Interrupted::Died(text), None) if text.starts_with(WRITER_DIED) => {
                apache::log_line(apache::Level::Info, text.trim_end());
                OK
            }
            // The status is deliberate: the program has no error.
            (Interrupted::Exited(_), Some(status)) | (Interrupted::Died(_), Some(status @ ..500)) => {
                apache::fail(request, status);
                i32::from(status)
            }
            (Interrupted::Died(text), status) => {
                apache::set_note(request, b"error-notes", text.trim_end().as_bytes());
                let status = if libperl::timed_out() { 504 } else { status.unwrap_or(500) };
                apache::fail(request, status);
                report(&text);
                if apache::api() == apache::Api::One && calls_mod_perl_2(&text) {
                    apache::log_line(apache::Level::Error, NEEDS_MOD_PERL_2);
                }
                self.died.set(true);
                self.remember(&text);
                i32::from(status)
            }
        };
        self.unwind();
        outcome
    }

    /// Stores the error in `$@{$r->uri}` for the error document.
    fn remember(&self, text: &str) {
        if self.mod_perl {
            note(self.perl.call(c"Apache::_remember", Some(text)));
        }
    }

    /// Restores the API's state after a handler that did not return.
    pub fn unwind(&self) {
        if self.mod_perl {
            note(self.perl.call(c"Apache::unwind", None));
        }
    }

    /// Ends a child that Perl forked and that left its handler: the child must not send replies as the worker.
    pub fn end_forked_child(&self, interrupted: Option<&Interrupted>) {
        if !libperl::is_forked_child() {
            return;
        }
        let code = match interrupted {
            Some(Interrupted::Exited(code)) => *code,
            Some(Interrupted::Died(text)) => {
                report(text);
                255
            }
            Some(Interrupted::Unheard) | None => 0,
        };
        self.perl.end(false);
        sys::exit_now(code);
    }

    /// Ends a forked child that returned from code run after the response; logs errors.
    pub fn noted(&self, result: libperl::Result<()>) {
        self.end_forked_child(result.as_ref().err());
        note(result);
    }

    /// Whether Perl died in a request since the last call.
    pub fn take_died(&self) -> bool {
        self.died.take()
    }
}

/// Maps a handler's return value. Values that are no statuses are OK in mod_perl 1 and error 500 in mod_perl 2.
fn meant(returned: i32) -> i32 {
    match (returned, apache::api()) {
        (1 | 200 | 601.., apache::Api::One) => OK,
        (-2..=0 | 100..=103 | 200..=208 | 226 | 300..=308 | 400..=451 | 500..=511, _) | (_, apache::Api::One) => {
            returned
        }
        _ => 500,
    }
}

/// Status from `die 404` or `exit 403`: mod_perl 1 uses a number as status if `$@` holds only the number and its place.
/// Cameleer restricts it to 300 to 599.
fn printed_status(interrupted: &Interrupted) -> Option<u16> {
    let code = match interrupted {
        Interrupted::Unheard => None,
        Interrupted::Exited(code) => u16::try_from(*code).ok(),
        Interrupted::Died(text) => {
            let (digits, rest) = text.split_at_checked(3)?;
            let is_all = matches!(rest, "" | "\n") || rest.starts_with(" at ") && rest.contains(" line ");
            digits.parse().ok().filter(|_| is_all && digits.bytes().all(|byte| byte.is_ascii_digit()))
        }
    };
    code.filter(|code| (300..600).contains(code))
}

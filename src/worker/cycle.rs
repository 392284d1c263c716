//! One request: from its frame to its `End`, and back to the state that the worker was born in.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use apache::Finished;
use libperl::{Code, Interrupted};
use wire::frame::{Field, Flags, Frame};
use wire::transport::{WorkerPort, in_memory};

use super::site::{Located, PlaceKey, Site};
use super::subject::Subject;
use super::{Next, Port};
use crate::config::Handler;

/// A handler's answers that are no HTTP status.
const OK: i32 = 0;
const DECLINED: i32 = -1;

/// The way of a request's output: to the front, or nowhere in a process that only was forked from the worker.
struct ToFront(Port);

impl apache::Client for ToFront {
    fn send(&mut self, packet: &[IoSlice<'_>]) -> io::Result<()> {
        if libperl::is_stranger() {
            return Ok(());
        }
        self.0.borrow_mut().send(packet)
    }
}

/// What the handlers came to.
enum Outcome {
    /// A status, OK, or DECLINED: the front sends the file.
    Answered(i32),
    /// Somebody died; the text is in the log.
    Died,
}

impl Site {
    /// Answers one request. Gives the frame's buffer back for the next.
    pub(super) fn answer(
        &mut self,
        frame: Frame,
        body: Option<OwnedFd>,
        port: &Port,
        last: bool,
    ) -> io::Result<(Next, Vec<u8>)> {
        let key = PlaceKey {
            host: frame.host(),
            sections: frame.sections().collect(),
            script: frame.flags().has(Flags::SCRIPT),
            overrides: frame.field(Field::Overrides).to_vec(),
            handler: None,
        };
        self.open_body(&frame, body)?;
        let https = frame.flags().has(Flags::HTTPS);
        let subject = Subject::of(&frame);
        subject.becomes_current();
        let located = self.located(key, frame.field(Field::Filename));
        let place = located.as_ref().map(|l| l.place.clone()).unwrap_or_default();
        let request = apache::begin(apache::Incoming { frame, place, client: Box::new(ToFront(port.clone())) });
        let outcome = match &located {
            Ok(located) => self.run(located, request, https),
            Err(error) => Err(error.clone()),
        };
        if last || self.leave || libperl::gave_up() {
            apache::child_terminate();
        }
        let finished = self.finish(outcome);
        if finished.is_some_and(|f| f.cleanup) {
            self.clean_up(located.as_ref().map_or(&[], |located| &located.cleanup_handlers), request);
        }
        let ended = apache::end();
        self.restore(subject.path());
        Subject::none();
        let next = if ended.leaving || ended.front_is_gone { Next::Leave } else { Next::Stay };
        Ok((next, ended.buffer))
    }

    /// Descriptor 0 becomes the body; one that travelled inline becomes a file, because programs that scripts start
    /// read it too.
    fn open_body(&mut self, frame: &Frame, body: Option<OwnedFd>) -> io::Result<()> {
        let body = match (body, frame.body()) {
            (Some(file), _) => Some(file),
            (None, []) => None,
            (None, bytes) => Some(in_memory("request body", bytes)?.into()),
        };
        self.perl.set_stdin(body)
    }

    fn run(&mut self, located: &Located, request: u64, https: bool) -> Result<Outcome, Interrupted> {
        match (&located.settings.handler, &located.app) {
            (Handler::Psgi, Some(app)) => {
                self.perl.psgi_begin(https, 24);
                apache::psgi_env(&mut |key, value| self.perl.psgi_put(key, value));
                let (result, run) = self.perl.psgi_run(app);
                self.psgi_cleanup = run.needs_cleanup;
                self.leave |= run.leave;
                if run.needs_cleanup {
                    apache::want_cleanup();
                }
                match result {
                    // A script ends by exit, an application by returning: there is no response, or half of one.
                    Err(Interrupted::Exited(code)) if !libperl::is_stranger() => {
                        Err(Interrupted::Died(format!("PSGI: the application called exit({code})")))
                    }
                    result => result.map(|()| Outcome::Answered(OK)),
                }
            }
            _ => self.run_handlers(located, request),
        }
    }

    /// Stacked handlers run in turn until one says something else than OK and DECLINED.
    fn run_handlers(&mut self, located: &Located, request: u64) -> Result<Outcome, Interrupted> {
        self.perl.env_begin();
        if !located.cleanup_handlers.is_empty() {
            apache::want_cleanup();
        }
        let mut outcome = Outcome::Answered(DECLINED);
        for handler in &located.handlers {
            match self.perl.call_handler(handler, request)? {
                DECLINED => continue,
                OK => outcome = Outcome::Answered(OK),
                status => return Ok(Outcome::Answered(status)),
            }
        }
        Ok(outcome)
    }

    /// Sends what is left of the response. A child that Perl forked ends here: it must not speak for the worker.
    fn finish(&mut self, outcome: Result<Outcome, Interrupted>) -> Option<Finished> {
        let outcome = self.judged(outcome);
        self.perl.drain_output();
        match outcome {
            Outcome::Answered(status) => apache::finish(status),
            Outcome::Died => apache::fail(500),
        }
    }

    fn judged(&mut self, outcome: Result<Outcome, Interrupted>) -> Outcome {
        if libperl::is_stranger() {
            let code = match outcome {
                Err(Interrupted::Exited(code)) => code,
                Err(Interrupted::Died(text)) => {
                    report(&text);
                    255
                }
                Ok(_) => 0,
            };
            self.perl.end(false);
            crate::sys::exit_now(code);
        }
        match outcome {
            Ok(outcome) => outcome,
            Err(Interrupted::Exited(_)) => {
                self.unwind();
                Outcome::Answered(OK)
            }
            Err(Interrupted::Died(text)) => {
                report(&text);
                self.unwind();
                Outcome::Died
            }
        }
    }

    /// What the API wants put right when a handler did not return.
    fn unwind(&mut self) {
        if self.mod_perl {
            let result = self.perl.call(c"Apache::unwind", None);
            self.note(result);
        }
    }

    /// The client has its answer; now what the application wanted done afterwards.
    fn clean_up(&mut self, handlers: &[Rc<Code>], request: u64) {
        for handler in handlers {
            let result = self.perl.call_handler(handler, request).map(drop);
            self.note(result);
        }
        if std::mem::take(&mut self.psgi_cleanup) {
            let (result, leave) = self.perl.psgi_cleanup();
            if leave {
                apache::child_terminate();
            }
            self.note(result);
        }
        if self.mod_perl {
            // A cleanup that exits ends itself, not those that stand behind it.
            while let Err(interrupted) = self.perl.call(c"Apache::run_cleanups", None) {
                let again = matches!(interrupted, Interrupted::Exited(_));
                self.note(Err(interrupted));
                if !again {
                    break;
                }
            }
        }
    }

    fn note(&mut self, result: Result<(), Interrupted>) {
        if let Err(Interrupted::Died(text)) = result {
            report(&text);
        }
    }

    /// Puts back what the request changed, and says so once per path and kind of change.
    fn restore(&mut self, path: &[u8]) {
        let left = self.perl.restore_state();
        if left.is_ordinary() || self.told.len() >= MAX_TOLD || !self.told.insert((path.to_vec(), left.0)) {
            return;
        }
        let names = left.names().collect::<Vec<_>>().join(", ");
        apache::say(apache::Level::Warn, &format!("left changed: {names}; put back"));
    }
}

/// What Perl died with, as it wrote it, in the error log.
fn report(text: &str) {
    apache::say(apache::Level::Error, text.trim_end());
}

/// Paths are strangers' words: what was told about must not grow with them.
const MAX_TOLD: usize = 500;

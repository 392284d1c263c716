//! The one request that this process answers now.
//!
//! `$r` is its generation number: one that was kept from an earlier request names a request that is over, and says so
//! instead of showing the next visitor's.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

use crate::output::Output;
use crate::request::{Ended, Finished, Incoming, RequestRec};
use crate::tables::Tables;
use crate::{Place, env};

#[derive(Default)]
struct State {
    request: Option<RequestRec>,
    generation: u64,
    /// Buffers of the last request, for the next.
    spare: (Tables, Output),
    servers: Vec<Rc<Place>>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State::default());
    static CPU: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// No request is current, or another than the one that was meant.
#[derive(Debug)]
pub(crate) struct Stale;

/// Makes a request the current one and returns the number that `$r` will be.
pub fn begin(incoming: Incoming) -> u64 {
    STATE.with_borrow_mut(|state| {
        if incoming.place.log_cpu {
            cpu_since_last();
        }
        state.generation += 1;
        let (tables, output) = std::mem::take(&mut state.spare);
        state.request = Some(RequestRec::new(state.generation, incoming, tables, output));
        state.generation
    })
}

/// The current request's number; 0 between requests.
pub fn generation() -> u64 {
    STATE.with_borrow(|state| state.request.as_ref().map_or(0, |r| r.generation))
}

/// The places that stand for the main server and its virtual hosts, request or no request: `Apache->server` in start-up
/// files, `$s->next`.
pub fn servers(places: Vec<Rc<Place>>) {
    STATE.with_borrow_mut(|state| state.servers = places);
}

/// Output of the program: what it printed, or a part of the response's body.
pub fn output(bytes: &[u8]) {
    let _ = current(|r| r.write(bytes));
}

/// What was said so far leaves now.
pub fn flush() {
    let _ = current(RequestRec::flush);
}

/// The handler returned `status`. Sends the rest: a small response leaves as one packet.
pub fn finish(status: i32) -> Option<Finished> {
    current(|r| r.finish(status)).ok()
}

/// The handler died: an error page, or a visible end in mid-response.
pub fn fail(status: u16) -> Option<Finished> {
    current(|r| r.fail(status)).ok()
}

/// The front is to send this file.
pub fn send_file(path: &[u8]) -> Option<Finished> {
    current(|r| r.send_file(path)).ok()
}

/// This worker is to leave after the request.
pub fn child_terminate() {
    let _ = current(|r| r.child_terminate = true);
}

/// Something will be done after the answer: its end waits for [`end`].
pub fn want_cleanup() {
    let _ = current(|r| r.cleanup = true);
}

/// Whether something was registered to be done after the answer.
pub fn cleanup_is_wanted() -> bool {
    current(|r| r.cleanup).unwrap_or(false)
}

/// The request is over: `$r` means nothing now.
pub fn end() -> Ended {
    STATE.with_borrow_mut(|state| {
        let Some(mut r) = state.request.take() else { return Ended::default() };
        crate::log::end_line();
        r.close();
        let (leaving, front_is_gone) = (r.child_terminate, r.output.front_is_gone());
        r.tables.reset();
        r.output.reset();
        state.spare = (r.tables, r.output);
        Ended { leaving, front_is_gone, buffer: r.frame.into_buffer() }
    })
}

/// Fills `%ENV`: what start-up left there, then the request's.
pub(crate) fn fill_env() {
    let _ = current(|r| {
        for (key, value) in &r.place.clone().start_env {
            libperl::env_put(key, value);
        }
        env::cgi(r, &mut |key, value| libperl::env_put(key, value));
    });
}

/// The request's keys of the PSGI environment; `each` must not run Perl code.
pub fn psgi_env(each: &mut dyn FnMut(&[u8], &[u8])) {
    let _ = current(|r| env::psgi(r, each));
}

/// The current request, whichever it is.
pub(crate) fn current<T>(act: impl FnOnce(&mut RequestRec) -> T) -> Result<T, Stale> {
    STATE.with(|state| {
        let mut state = state.try_borrow_mut().map_err(|_| Stale)?;
        state.request.as_mut().map(act).ok_or(Stale)
    })
}

/// The current request if it is the one that `generation` names.
pub(crate) fn with<T>(generation: u64, act: impl FnOnce(&mut RequestRec) -> T) -> Result<T, Stale> {
    STATE.with(|state| {
        let mut state = state.try_borrow_mut().map_err(|_| Stale)?;
        state.request.as_mut().filter(|r| r.generation == generation).map(act).ok_or(Stale)
    })
}

/// Adds to what every server says that it is (`Apache->add_version_component`).
pub(crate) fn add_version_component(text: &str) {
    STATE.with_borrow_mut(|state| {
        for server in &mut state.servers {
            let software = &mut Rc::make_mut(server).server_software;
            *software += " ";
            *software += text;
        }
    });
}

/// `SERVER_SOFTWARE`, with what start-up code added to it.
pub fn server_software() -> String {
    server(0).map(|server| server.server_software.clone()).unwrap_or_default()
}

/// A server of the list.
pub(crate) fn server(host: u32) -> Option<Rc<Place>> {
    STATE.with_borrow(|state| state.servers.get(host as usize).cloned())
}

/// CPU time of this process since this was last asked: a request pays for what it caused, waiting for it included.
pub(crate) fn cpu_since_last() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default();
    now.saturating_sub(CPU.replace(now)).as_micros() as u64
}

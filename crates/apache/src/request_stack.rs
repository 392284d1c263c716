//! The requests that this process answers now: the client's, and its internal ones.
//!
//! ```text
//!   records[0] ◀─ prev ── records[1]      an internal redirect: the later one has the output
//!       ▲ └────── next ──────▲
//!       └── main ── records[2]            a subrequest: its output becomes its main request's
//! ```
//!
//! `$r` is a record number; the records of one client's request have consecutive ones. A stale `$r` from an
//! earlier request is recognized by its number, and never shows another visitor's data.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use wire::reply::{LeaveReason, Outgoing, Reply};

use crate::PlaceConfig;
use crate::output::Output;
use crate::request_rec::field::Number;
use crate::request_rec::tables::Tables;
use crate::request_rec::{EndedRequest, FinishedRequest, Incoming, RequestRec};
use crate::request_rec::{cgi_program, environment};

#[derive(Default)]
pub(crate) struct RequestStack {
    /// The client's request first; empty between requests.
    pub records: Vec<RequestRec>,
    /// Index of the record whose handlers run.
    pub running: usize,
    /// Index of the record whose response the client gets.
    pub answering: usize,
    /// Number of the newest record, so that each has another one.
    record_number: u64,
    /// Buffers of the last request, for reuse.
    spare: (Tables, Output),
    servers: Vec<Rc<PlaceConfig>>,
    /// Components that start-up code has added to the `Server` header.
    components: Vec<String>,
}

thread_local! {
    static STACK: RefCell<RequestStack> = RefCell::new(RequestStack::default());
    static CPU: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The error of a `$r` whose request has ended, or is not current.
#[derive(Debug)]
pub(crate) struct Stale;

impl RequestStack {
    /// The index of the record with that number.
    pub fn at(&self, record_number: u64) -> Result<usize, Stale> {
        let first = self.records.first().ok_or(Stale)?.record_number;
        let at = record_number.checked_sub(first).ok_or(Stale)? as usize;
        if at < self.records.len() { Ok(at) } else { Err(Stale) }
    }

    /// Numbers of records are never used again.
    pub fn next_record_number(&mut self) -> u64 {
        self.record_number += 1;
        self.record_number
    }

    /// Calls `say`, which may write output, on a record; passes a subrequest's output on to its main request.
    pub fn speak<T>(&mut self, mut at: usize, say: impl FnOnce(&mut RequestRec) -> T) -> Result<T, Stale> {
        let answer = self.records.get_mut(at).map(say).ok_or(Stale)?;
        while let Some(main) = self.records.get(at).and_then(|r| r.links.main) {
            let body = self.records[at].take_body();
            self.records[main].write_part(&body);
            at = main;
        }
        Ok(answer)
    }
}

/// Makes a request the current one; returns the number for `$r`.
pub fn begin(incoming: Incoming) -> u64 {
    STACK.with_borrow_mut(|stack| {
        if incoming.place.logged.cpu {
            cpu_since_last();
        }
        let record_number = stack.next_record_number();
        let (tables, output) = std::mem::take(&mut stack.spare);
        stack.records.push(RequestRec::new(record_number, incoming, tables, output));
        (stack.running, stack.answering) = (0, 0);
        record_number
    })
}

/// The number of the record whose handlers run; 0 between requests.
pub fn record_number() -> u64 {
    STACK.with_borrow(|stack| stack.records.get(stack.running).map_or(0, |r| r.record_number))
}

/// Makes the record `request` the running one, which `Apache->request` returns. Returns the number of the previous
/// one.
pub fn run(request: u64) -> u64 {
    STACK.with_borrow_mut(|stack| {
        let before = stack.records.get(stack.running).map_or(0, |r| r.record_number);
        stack.running = stack.at(request).unwrap_or(stack.running);
        before
    })
}

/// Sets the main server and its virtual hosts, for `Apache->server` in start-up files and `$s->next`.
pub fn servers(places: Vec<Rc<PlaceConfig>>) {
    STACK.with_borrow_mut(|stack| stack.servers = places);
}

/// Sends a record's output; a subrequest's through its main request.
pub(crate) fn flush_response(record_number: u64) -> Result<(), Stale> {
    with_stack(|stack| {
        let mut at = stack.at(record_number)?;
        stack.speak(at, RequestRec::flush)?;
        while let Some(main) = stack.records[at].links.main {
            stack.records[main].flush();
            at = main;
        }
        Ok(())
    })
}

/// Sends the rest of the response; a small one is one packet.
pub fn finish() -> Option<FinishedRequest> {
    STACK.with_borrow_mut(|stack| stack.records.get_mut(stack.answering).map(RequestRec::finish))
}

/// Stores the spans of the request, for its trace.
pub fn report_parts(parts: Vec<(Vec<u8>, Vec<u8>)>) {
    STACK.with_borrow_mut(|stack| {
        if let Some(r) = stack.records.get_mut(stack.answering) {
            r.parts = parts;
        }
    });
}

/// Makes this worker exit after the request, at the program's request.
pub fn child_terminate() {
    leave_after(LeaveReason::Program);
}

/// Makes this worker exit after the request. The first reason is retained.
pub fn leave_after(reason: LeaveReason) {
    for_each(|r| r.leaving = r.leaving.or(Some(reason)));
}

/// Extends `RequestTimeout` by that many seconds. A front never shortens the time.
pub(crate) fn extend_timeout(seconds: f64) {
    let more = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
    let millis = u32::try_from(more.as_millis()).unwrap_or(u32::MAX);
    STACK.with_borrow_mut(|stack| {
        if let Some(r) = stack.records.get_mut(stack.answering) {
            let mut packet = Vec::new();
            let id = r.frame.id();
            Reply::Extend(millis).put(id, &mut packet);
            // The next output of the program fails if the front has gone.
            let _ = r.client.send(&Outgoing { id, before: &packet, ..Outgoing::default() });
        }
    });
    libperl::request_is_in_time();
}

/// Registers cleanups: the response's end waits for [`end`].
pub fn want_cleanup() {
    for_each(|r| r.cleanup = true);
}

/// Ends the request: `$r` is stale from now on.
pub fn end() -> EndedRequest {
    STACK.with_borrow_mut(|stack| {
        let Some(mut answered) = stack.records.get_mut(stack.answering) else { return EndedRequest::default() };
        crate::log::end_line();
        answered.close();
        let (leaving, front_is_gone) = (answered.leaving, answered.output.front_is_gone());
        answered.output.reset();
        stack.spare.1 = std::mem::take(&mut answered.output);
        answered = &mut stack.records[0];
        answered.tables.reset();
        stack.spare.0 = std::mem::take(&mut answered.tables);
        let buffer = std::mem::take(&mut answered.frame).into_buffer();
        stack.records.clear();
        EndedRequest { leaving, front_is_gone, buffer }
    })
}

/// Fills `%ENV`: with the start-up code's variables, then with the request's.
pub(crate) fn fill_env() {
    let _ = current(|r| {
        for (key, value) in r.place.clone().start_env.iter() {
            libperl::env_put(key, value);
        }
        environment::programs(r, &mut libperl::env_put);
    });
}

/// The environment of a CGI program for the running record.
pub fn cgi_env() -> cgi_program::VariableList {
    current(cgi_program::variables).unwrap_or_default()
}

/// Passes the request's keys of the PSGI environment to `each`, which must not run Perl code.
pub fn psgi_env(each: &mut dyn FnMut(&[u8], &[u8])) {
    let _ = current(|r| environment::psgi(r, each));
}

/// Calls `act` on the running record.
pub(crate) fn current<T>(act: impl FnOnce(&mut RequestRec) -> T) -> Result<T, Stale> {
    STACK.with(|stack| {
        let mut stack = stack.try_borrow_mut().map_err(|_| Stale)?;
        let running = stack.running;
        stack.records.get_mut(running).map(act).ok_or(Stale)
    })
}

/// Calls `act` on the record with that number, unless its request has ended.
pub(crate) fn with<T>(record_number: u64, act: impl FnOnce(&mut RequestRec) -> T) -> Result<T, Stale> {
    with_stack(|stack| {
        let at = stack.at(record_number)?;
        Ok(act(&mut stack.records[at]))
    })
}

/// The receiver of the current response.
pub(crate) struct Audience {
    /// The client has left before it had all of the response.
    pub has_left: bool,
    /// Whether further output would be dropped.
    pub is_unwanted: bool,
}

/// The receiver, according to the record with the client's response and the record whose handlers run.
pub(crate) fn audience_of_current() -> Audience {
    STACK.with(|stack| {
        let Ok(stack) = stack.try_borrow() else { return Audience { has_left: false, is_unwanted: true } };
        Audience {
            has_left: stack.records.get(stack.answering).is_some_and(RequestRec::is_gone),
            is_unwanted: stack.records.get(stack.running).is_none_or(RequestRec::is_unwanted),
        }
    })
}

/// A numeric field of the current record. The record with the client's response knows whether the client has
/// disconnected.
pub(crate) fn number(record_number: u64, field: Number) -> Result<i64, Stale> {
    with_stack(|stack| {
        let record = stack.at(record_number)?;
        let at = if field.is_of_response() { stack.answering } else { record };
        stack.records.get_mut(at).map(|r| r.number(field)).ok_or(Stale)
    })
}

/// Like [`with`], for functions that may make output.
pub(crate) fn speaking<T>(record_number: u64, say: impl FnOnce(&mut RequestRec) -> T) -> Result<T, Stale> {
    with_stack(|stack| {
        let at = stack.at(record_number)?;
        stack.speak(at, say)
    })
}

/// Calls `act` on all records.
pub(crate) fn with_stack<T>(act: impl FnOnce(&mut RequestStack) -> Result<T, Stale>) -> Result<T, Stale> {
    STACK.with(|stack| act(&mut *stack.try_borrow_mut().map_err(|_| Stale)?))
}

/// Calls `act` on each record: for facts about the client's request as a whole.
pub(crate) fn for_each(act: impl FnMut(&mut RequestRec)) {
    STACK.with_borrow_mut(|stack| stack.records.iter_mut().for_each(act));
}

/// The configuration of the running record, or else the main server's.
pub(crate) fn place() -> Option<Rc<PlaceConfig>> {
    STACK.with_borrow(|stack| {
        let running = stack.records.get(stack.running).map(|r| r.place.clone());
        running.or_else(|| stack.servers.first().cloned())
    })
}

/// Adds a component to the `Server` header of all servers (`Apache->add_version_component`).
pub(crate) fn add_version_component(text: &str) {
    STACK.with_borrow_mut(|stack| {
        stack.components.push(text.to_owned());
        for server in stack.servers.iter_mut().filter(|server| server.names_components) {
            let software = &mut Rc::make_mut(server).server_software;
            *software += " ";
            *software += text;
        }
    });
}

/// The components that Perl code has added to the version string.
pub fn version_components() -> Vec<String> {
    STACK.with_borrow(|stack| stack.components.clone())
}

/// The server with that index.
pub(crate) fn server(host: u32) -> Option<Rc<PlaceConfig>> {
    STACK.with_borrow(|stack| stack.servers.get(host as usize).cloned())
}

/// `$s->port(8080)`
pub(crate) fn set_server_port(host: u32, port: u16) {
    STACK.with_borrow_mut(|stack| {
        if let Some(server) = stack.servers.get_mut(host as usize) {
            Rc::make_mut(server).server_port = Some(port);
        }
    });
}

/// CPU time of this process since the last call, in µs: a request is charged for all of it, including the wait.
pub(crate) fn cpu_since_last() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default();
    now.saturating_sub(CPU.replace(now)).as_micros() as u64
}

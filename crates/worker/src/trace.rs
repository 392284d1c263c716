//! The current phase of a request, readable by profilers, and the spans of a traced request: phase handlers and
//! database statements. The front sends the spans to the collector.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use config::Phase;

/// Maximum number of phase handler spans per request.
const MAX_SPANS: usize = 32;

/// A span's name, and its value in the format of `wire::reply::LogKind::Span`.
type NamedSpan = (Vec<u8>, Vec<u8>);

thread_local! {
    /// Spans of the current request; `None` if it is not traced.
    static PHASES: RefCell<Option<Vec<NamedSpan>>> = const { RefCell::new(None) };
}

/// Starts a request.
pub fn begin(is_traced: bool) {
    let was_traced = PHASES.with_borrow(Option::is_some);
    if is_traced || was_traced {
        PHASES.set(is_traced.then(Vec::new));
        libperl::trace_statements(is_traced);
    }
}

/// Runs `call` with `phase` as the current phase visible to profilers.
pub fn within<T>(phase: Phase, call: impl FnOnce() -> T) -> T {
    let before = libperl::activity_phase(phase.number());
    let outcome = call();
    libperl::activity_phase(before);
    outcome
}

/// Calls a phase's handler, and records its time if the request is traced.
pub fn phase<T>(phase: Phase, call: impl FnOnce() -> T) -> T {
    if PHASES.with_borrow(Option::is_none) {
        return call();
    }
    let begun = since_1970();
    let outcome = call();
    let taken = since_1970().saturating_sub(begun);
    PHASES.with_borrow_mut(|phases| {
        if let Some(phases) = phases.as_mut().filter(|phases| phases.len() < MAX_SPANS) {
            phases.push((phase.name().into(), format!("{begun} {taken} ").into_bytes()));
        }
    });
    outcome
}

/// All spans of the current request, if it is traced.
pub fn parts() -> Option<Vec<NamedSpan>> {
    let mut parts = PHASES.with_borrow(Clone::clone)?;
    parts.extend(libperl::statements().into_iter().map(|statement| {
        let value = format!("{} {} {}", statement.begun_us, statement.taken_us, statement.text);
        (statement.method.into_bytes(), value.into_bytes())
    }));
    Some(parts)
}

fn since_1970() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

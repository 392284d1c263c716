//! The phase of a request, which others may read; and the parts of one that is traced: handlers of phases, and what is asked of databases. The front sends them to the collector.

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use config::Phase;

/// So many handlers of phases are told of.
const MOST: usize = 32;

/// A name, and what `wire::reply::LogKind::Span` says of it.
type Part = (Vec<u8>, Vec<u8>);

thread_local! {
    /// Of the request at work, when it is traced.
    static PHASES: RefCell<Option<Vec<Part>>> = const { RefCell::new(None) };
}

/// A request begins.
pub fn begin(is_traced: bool) {
    let was_traced = PHASES.with_borrow(Option::is_some);
    if is_traced || was_traced {
        PHASES.set(is_traced.then(Vec::new));
        libperl::trace_statements(is_traced);
    }
}

/// Does what belongs to a phase: who looks at this process meanwhile sees which.
pub fn within<T>(phase: Phase, call: impl FnOnce() -> T) -> T {
    let before = libperl::activity_phase(phase.number());
    let said = call();
    libperl::activity_phase(before);
    said
}

/// Calls a phase's handler, and notes how long it took.
pub fn phase<T>(phase: Phase, call: impl FnOnce() -> T) -> T {
    if PHASES.with_borrow(Option::is_none) {
        return call();
    }
    let begun = since_1970();
    let said = call();
    let taken = since_1970().saturating_sub(begun);
    PHASES.with_borrow_mut(|phases| {
        if let Some(phases) = phases.as_mut().filter(|phases| phases.len() < MOST) {
            phases.push((phase.name().into(), format!("{begun} {taken} ").into_bytes()));
        }
    });
    said
}

/// All parts of the request at work, when it is traced.
pub fn parts() -> Option<Vec<Part>> {
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

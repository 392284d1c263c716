//! A phase of a request: its handlers run until one returns a value other than OK and DECLINED. DONE ends the request
//! without an error, a status ends it as an error; both are a [`PhaseEnd`], which is returned as an error.

use super::at::LocatedRequest;
use crate::trace;
use config::Phase;

pub use crate::site::handler_calls::{DECLINED, OK};

/// A phase has ended the request with this return value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseEnd(pub i32);

pub(super) type Going = Result<(), PhaseEnd>;

/// Runs a phase and ends the request on any value other than OK and DECLINED. Returns which of the two it was.
pub(super) fn first(at: LocatedRequest<'_>, phase: Phase) -> Result<i32, PhaseEnd> {
    at.enter();
    match run(at, phase) {
        status @ (OK | DECLINED) => Ok(status),
        status => Err(PhaseEnd(status)),
    }
}

/// [`first`] for a phase in which OK and DECLINED are equivalent.
pub(super) fn all(at: LocatedRequest<'_>, phase: Phase) -> Going {
    first(at, phase).map(drop)
}

/// Whether the configuration or Perl code names handlers of a phase.
pub(super) fn has_handlers(at: LocatedRequest<'_>, phase: Phase) -> bool {
    apache::stack(at.request, phase as u32) != apache::HandlerStack::Configured || !at.location.names(phase).is_empty()
}

/// Runs a phase's handlers: first those of the configuration, then those pushed by Perl code. The last return value
/// counts.
pub(super) fn run(at: LocatedRequest<'_>, phase: Phase) -> i32 {
    trace::within(phase, || run_handlers(at, phase))
}

fn run_handlers(at: LocatedRequest<'_>, phase: Phase) -> i32 {
    let LocatedRequest { site, request, location } = at;
    let mut status = DECLINED;
    if apache::enter_phase(request, phase as u32) != apache::HandlerStack::Replaced {
        for number in 0.. {
            let handler = match site.locations.handler(location, phase, number) {
                Some(Ok(handler)) => handler,
                Some(Err(error)) => return site.calls.conclude_interrupted(request, error),
                None => break,
            };
            status = trace::phase(phase, || site.calls.call(handler, request)).0;
            let is_emptied = apache::stack(request, phase as u32) == apache::HandlerStack::Replaced;
            if is_emptied || ends(phase, status) {
                return status;
            }
        }
    }
    match apache::stack(request, phase as u32) {
        apache::HandlerStack::Configured => status,
        _ => site.calls.pushed(request).unwrap_or(status),
    }
}

/// Whether the return value ends the phase, so that later handlers are skipped. In mod_perl 2 OK ends some phases.
fn ends(phase: Phase, status: i32) -> bool {
    let one_is_enough = [
        Phase::Trans,
        Phase::MapToStorage,
        Phase::Authen,
        Phase::Authz,
        Phase::Type,
        Phase::Handler,
        Phase::ProcessConnection,
    ];
    match (status, apache::api()) {
        (DECLINED, _) => false,
        (OK, apache::Api::Two) => one_is_enough.contains(&phase),
        (OK, apache::Api::One) => false,
        _ => true,
    }
}

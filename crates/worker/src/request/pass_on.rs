//! A request that a backend answers has passed its phases: the front gets what they have set.

use super::at::LocatedRequest;
use super::conclude::conclude;
use super::onward::moved;
use super::phases::PhaseEnd;
use super::request_error::log_error;

/// Status of a request whose handlers have done something that has no effect before a backend.
const FAILED: u16 = 500;

const OTHER_HANDLER: &str = "a Perl handler of a phase has set $r->handler where a backend answers; end the request with a redirect \
     or an error, or print the response and return DONE";

/// Passes the request to its backend, or answers with an error. `file`: its file name before the phases.
pub(super) fn pass_on(at: LocatedRequest<'_>, file: &[u8]) {
    at.site.perl.drain_output();
    apache::keep_env(at.request);
    if apache::set_by_handlers(at.request).filename.is_some_and(|now| now != file) {
        let PhaseEnd(status) = moved(at.request);
        return conclude(at, status);
    }
    let has_other_handler = apache::handler(at.request).is_some_and(|handler| !handler.is_some_and(is_of_proxy));
    let passed = if has_other_handler { Err(OTHER_HANDLER) } else { apache::pass_on(at.request) };
    if let Err(why) = passed {
        log_error(at.request, why);
        apache::fail(at.request, FAILED);
        conclude(at, FAILED.into());
    }
}

fn is_of_proxy(handler: Vec<u8>) -> bool {
    handler == b"proxy-server" || handler.starts_with(b"proxy:")
}

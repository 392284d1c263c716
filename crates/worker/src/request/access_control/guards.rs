//! Places where FastCGI programs decide about access (`FcgidAuthenticator` and its like). Only the front asks them.

use crate::request::at::LocatedRequest;
use crate::request::phases::{Going, PhaseEnd};
use crate::request::request_error::log_error;

/// The parts of a location's access rules that the front has judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedByFront {
    /// Another location, or none.
    Nothing,
    /// The rules. Perl code may have made the location one where FastCGI programs decide.
    Rules,
    /// The rules, and the FastCGI programs that decide.
    RulesAndGuards,
}

/// Refuses a place where FastCGI programs decide.
pub(super) fn refuse(at: LocatedRequest<'_>) -> Going {
    if !at.settings().fcgid.guards.are_on() {
        return Ok(());
    }
    let why = "FastCGI programs decide about access here, and are not asked for redirects, subrequests and access \
               checks of Perl code; remove FcgidAuthenticator, FcgidAuthorizer and FcgidAccessChecker here, or let \
               the client request this path";
    log_error(at.request, why);
    Err(PhaseEnd(500))
}

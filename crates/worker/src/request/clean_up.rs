//! The log phase and cleanups, after the client has its response.

use std::rc::Rc;

use libperl::Interrupted;

use super::at::LocatedRequest;
use super::phases;
use crate::location::ResolvedLocation;
use crate::site::Site;
use config::Phase;

/// Runs the log phase and cleanups. A request whose location could not be resolved has cleanups only.
pub(super) fn clean_up(site: &Site, request: u64, location: Option<&Rc<ResolvedLocation>>) {
    let calls = &site.calls;
    libperl::request_is_answered();
    apache::run(request);
    if let Some(location) = location {
        phases::run(LocatedRequest::new(site, request, location), Phase::Log);
    }
    if site.mod_perl {
        // A cleanup that exits skips only itself; the remaining cleanups run.
        while let Err(interrupted) = site.perl.call(c"Apache::run_cleanups", None) {
            let again = !matches!(interrupted, Interrupted::Died(_));
            calls.noted(Err(interrupted));
            if !again {
                break;
            }
        }
        calls.end_forked_child(None);
    }
    if let Some(location) = location {
        phases::run(LocatedRequest::new(site, request, location), Phase::Cleanup);
    }
    if site.psgi.take_cleanup() {
        let (result, leave) = site.perl.psgi_cleanup();
        if leave {
            apache::child_terminate();
        }
        calls.noted(result);
    }
    if site.mod_perl {
        calls.noted(site.perl.call(c"Apache::forget", None));
        if apache::api() == apache::Api::Two {
            calls.noted(site.perl.call(c"Cameleer::ModPerl2::forget", None));
        }
    }
}

//! The response handler runs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libperl::Interrupted;

use super::at::LocatedRequest;
use super::folders::{FolderResult, answer_for};
use super::phases::{DECLINED, OK, run};
use super::{actions, filters};
use crate::trace;
use config::response::PathInfo;
use config::{Handler, Phase};

/// Runs the response handler that the configuration or an earlier phase names.
pub(super) fn respond(at: LocatedRequest<'_>) -> i32 {
    if let Err(interrupted) = filters::insert(at) {
        return at.site.calls.conclude_interrupted(at.request, interrupted);
    }
    let handler = at.handler();
    if apache::api() == apache::Api::One {
        return respond_with(at, &handler);
    }
    // Under mod_perl 2's own handler STDOUT belongs to the server, and only `$r` writes to the client. A subrequest
    // may have another handler.
    let before = at.site.perl.stdout_is_log(handler == Handler::ModPerl);
    let status = respond_with(at, &handler);
    at.site.perl.stdout_is_log(before);
    status
}

fn respond_with(at: LocatedRequest<'_>, handler: &Handler) -> i32 {
    let element = apache::element(at.request);
    if !element.is_empty() {
        apache::enter_phase(at.request, Phase::Handler as u32);
        return at.site.calls.element(at.request, &String::from_utf8_lossy(&element));
    }
    match handler {
        // As in httpd 2.4, where mod_dir acts before the handler; httpd 1.3 leaves a folder to its handler.
        Handler::PerlScript | Handler::ModPerl if apache::api() == apache::Api::Two && is_the_folders(at) => DECLINED,
        Handler::PerlScript | Handler::ModPerl => run(at, Phase::Handler),
        Handler::CgiScript | Handler::FcgidScript
            if at.settings().response.path_info == Some(PathInfo::Off) && !apache::path_info(at.request).is_empty() =>
        {
            404
        }
        Handler::CgiScript | Handler::FcgidScript => trace::within(Phase::Handler, || run_script(at)),
        Handler::Psgi => trace::within(Phase::Handler, || run_psgi(at)),
        Handler::Default if at.settings().needs_perl_for_folders() && names_folder(at.request) => {
            run(at, Phase::Handler)
        }
        page if page.is_page() => DECLINED,
        handler => actions::act(at, handler.name()),
    }
}

fn run_script(at: LocatedRequest<'_>) -> i32 {
    let LocatedRequest { site, request, location } = at;
    apache::enter_phase(request, Phase::Handler as u32);
    if let Some(status) = site.run_program(location, request) {
        return status;
    }
    match site.registry() {
        Ok(registry) => {
            let status = site.calls.call(registry, request).0;
            site.learn_kind(request);
            status
        }
        Err(error) => site.calls.conclude_interrupted(request, error),
    }
}

fn run_psgi(at: LocatedRequest<'_>) -> i32 {
    let LocatedRequest { site, request, location } = at;
    let app = match site.locations.app_of(location) {
        Ok(app) => app,
        Err(error) => return site.calls.conclude_interrupted(request, error),
    };
    site.perl.psgi_begin(apache::is_https(request), 24);
    apache::psgi_env(&mut |key, value| site.perl.psgi_put(key, value));
    let (result, run) = site.perl.psgi_run(&app);
    site.psgi.note(&run);
    if run.needs_cleanup {
        apache::want_cleanup();
    }
    site.calls.end_forked_child(result.as_ref().err());
    match result {
        Ok(()) => OK,
        // Scripts end by exit, PSGI applications by returning: after exit there is no response, or an incomplete
        // one.
        Err(Interrupted::Exited(code)) => site
            .calls
            .conclude_interrupted(request, Interrupted::Died(format!("PSGI: the application called exit({code})"))),
        Err(interrupted) => site.calls.conclude_interrupted(request, interrupted),
    }
}

/// Whether a folder's index answers, or a redirect to its path with the slash.
fn is_the_folders(at: LocatedRequest<'_>) -> bool {
    match answer_for(at.site, at.request, at.location, &apache::filename(at.request)) {
        Some(FolderResult::Moved(_)) => true,
        Some(FolderResult::Index(_)) => at.settings().response.directory_check_handler != Some(true),
        Some(FolderResult::Bare) | None => false,
    }
}

fn names_folder(request: u64) -> bool {
    apache::has_file(request) && Path::new(OsStr::from_bytes(&apache::filename(request))).is_dir()
}

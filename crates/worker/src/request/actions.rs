//! `Action` and `Script` for a request whose phases ran in the worker: a script answers for a file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use apache::InternalRequest;
use percent_encoding::percent_encode;

use super::at::LocatedRequest;
use super::engine::redirect::redirect;
use super::phases::{DECLINED, OK};
use crate::site::Site;
use base::path::PATH;
use config::Handler;
use files::mime;

/// Redirects the request to the script for its handler, file type or method. Returns DECLINED without such a script,
/// and 500 for an unknown configured handler.
pub(super) fn act(at: LocatedRequest<'_>, handler: Option<&str>) -> i32 {
    let LocatedRequest { site, request, .. } = at;
    let actions = &at.settings().response.actions;
    let file = apache::filename(request);
    let file = Path::new(OsStr::from_bytes(&file));
    let is_there = || apache::has_file(request) && file.exists();
    let current = apache::set_by_handlers(request);
    if !actions.is_empty() {
        let kind = || mime::describe(&site.config, at.settings(), file).mime;
        let name = handler.map(str::to_owned).or_else(kind);
        let action = name.as_deref().and_then(|name| actions.of(name));
        if let Some(action) = action.filter(|action| action.is_virtual || is_there()) {
            apache::change_variables(request, &[("HANDLER".to_owned(), name)]);
            return lead_to_script(site, request, &action.script, &current);
        }
        if action.is_none()
            && let Some(script) = actions.of_method(&apache::method(request), !current.args.is_empty())
        {
            return lead_to_script(site, request, script, &current);
        }
    }
    match &at.settings().handler {
        Handler::Named(name) if Some(name.as_str()) == handler && actions.of(name).is_none() => {
            let why = format!(
                "handler \"{name}\" not found for {}: no Action defines a script for it (SetHandler, AddHandler)",
                file.display()
            );
            apache::log_line(apache::Level::Error, &why);
            500
        }
        _ => DECLINED,
    }
}

/// Redirects internally; the requested path becomes the script's PATH_INFO.
fn lead_to_script(site: &Site, request: u64, script: &str, current: &apache::SetByHandlers) -> i32 {
    let mut target = format!("{script}{}", percent_encode(&current.uri, PATH)).into_bytes();
    if !current.args.is_empty() {
        target.push(b'?');
        target.extend_from_slice(&current.args);
    }
    if redirect(site, request, InternalRequest::Redirect, &target, false) { OK } else { 500 }
}

//! Internal redirects: another request gives the response.

use apache::{ErrorPage, InternalRequest};

use super::internal::{target, too_deep, within};
use crate::request::phases::PhaseEnd;
use crate::request::prepare::RequestKind;
use crate::request::process;
use crate::request::resolve::moved;
use crate::request::translate::translate;
use crate::site::Site;

/// Starts a request for `uri` that answers instead of `from`. Returns false for a bad URI or too many redirects.
pub(in crate::request) fn redirect(site: &Site, from: u64, how: InternalRequest, uri: &[u8], keeps_type: bool) -> bool {
    let Ok(to) = target(site, from, uri) else { return false };
    apache::pass_printed(from);
    let Some(request) = apache::begin_internal(from, how, &to) else {
        too_deep();
        return false;
    };
    if keeps_type {
        apache::keep_content_type(from, request);
    }
    let translated = translate(site, request, &to.path, None);
    within(site, request, || match translated.key.and_then(|key| moved(site, request, None, key)) {
        Ok(location) => drop(process(site, request, location, Some(RequestKind::Redirect))),
        Err(PhaseEnd(code)) => {
            let status = apache::error_before(request).or(u16::try_from(code).ok());
            apache::send_page(request, status.unwrap_or(500), ErrorPage::Ours(""));
        }
    });
    true
}

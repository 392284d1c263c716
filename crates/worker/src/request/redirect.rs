//! Internal redirects: another request gives the answer.

use apache::{InternalRequest, Page};

use super::phases::{RequestKind, Stop};
use super::subrequest::too_deep;
use crate::site::Site;

impl Site {
    /// Starts a request for `uri` that answers instead of `from`. Returns false for a bad URI or too many redirects.
    pub(super) fn redirect_to(&self, from: u64, how: InternalRequest, uri: &[u8], keeps_type: bool) -> bool {
        let Ok(to) = self.target(from, uri) else { return false };
        apache::pass_what_was_said(from);
        let Some(request) = apache::begin_internal(from, how, &to) else {
            too_deep();
            return false;
        };
        if keeps_type {
            apache::keep_content_type(from, request);
        }
        let translated = self.translate_path(request, &to.path, None);
        self.within(request, || match translated.key.and_then(|key| self.moved(request, None, key)) {
            Ok(location) => drop(self.process(request, location, Some(RequestKind::Redirect))),
            Err(Stop(said)) => {
                let status = apache::error_before(request).or(u16::try_from(said).ok());
                apache::send_page(request, status.unwrap_or(500), Page::Ours(""));
            }
        });
        true
    }
}

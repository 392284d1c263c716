//! The texts above and below an index: `HeaderName` and `ReadmeName`.

use std::os::unix::fs::FileExt;
use std::rc::Rc;

use http::header::{CONTENT_TYPE, HOST};
use http::request::Parts;

use crate::base::blocking;
use crate::request::context::RequestContext;
use crate::request::files::visible::FolderView;
use crate::request::files::{LookupResult, content_headers, find};
use crate::routing::{Route, RouteKey};
use base::path::PATH;
use config::Handler;
use files::open::OpenedFile;
use percent_encoding::percent_encode;

/// Maximum number of bytes of a text.
const MAX_BYTES: usize = 256 << 10;
/// Begin of an element of server-side includes.
const ELEMENT: &[u8] = b"<!--#";

/// A text above or below an index.
pub struct TextAround {
    pub is_html: bool,
    pub text: Vec<u8>,
}

/// The file of this URL, relative to the folder of `route`, if the client may have it and it is a text. A file that a
/// program or a filter would make is left out, because its source may be secret.
pub async fn text(context: &RequestContext, route: &Route, head: &Parts, url: Option<&str>) -> Option<TextAround> {
    let url = url.filter(|url| !url.is_empty())?;
    let (file, opened) = open(context, route, head, url).await?;
    let settings = &file.settings;
    let fields = content_headers(&context.generation.config, &file, head);
    let kind = fields.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim().to_ascii_lowercase();
    let is_html = matches!(kind.as_str(), "text/html" | "application/xhtml+xml");
    if settings.handler != Handler::Default || !is_html && !kind.starts_with("text/") {
        return None;
    }
    let Some(size) = usize::try_from(opened.size).ok().filter(|size| *size <= MAX_BYTES) else {
        let why = format!("{url} is not shown with the index: it has more than {} KB", MAX_BYTES >> 10);
        context.client.log_error(&why);
        return None;
    };
    let read = move || {
        let mut text = vec![0; size];
        opened.file.read_exact_at(&mut text, 0).map(|()| text)
    };
    let text = blocking::run("read a text of an index", read).await.ok()?.ok()?;
    let is_parsed = settings.response.may_include() && text.windows(ELEMENT.len()).any(|at| at == ELEMENT);
    (!is_parsed).then_some(TextAround { is_html, text })
}

/// The opened file, if it is one without a redirect, a backend or a condition, and the client may open it.
async fn open(context: &RequestContext, folder: &Route, head: &Parts, url: &str) -> Option<(Rc<Route>, OpenedFile)> {
    let path =
        if url.starts_with('/') { url.to_owned() } else { format!("{}{url}", percent_encode(&folder.path, PATH)) };
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let generation = &context.generation;
    let key = RouteKey { local: &context.client.local, host, path: &path };
    let route = generation.wait_for(|| generation.routes.find(&generation.config, key)).await.ok()?;
    // A rule of mod_rewrite may guard a file elsewhere on the site, and is not run for this one.
    let is_outside = !route.path.starts_with(&folder.path);
    let has_rules = generation.config.hosts.get(usize::from(folder.host)).is_none_or(|host| host.rewrite.is_on());
    if is_outside && has_rules {
        return None;
    }
    let is_elsewhere = route.host != folder.host || route.redirect.is_some() || route.backend.is_some();
    let found = generation.wait_for(|| find(generation, &route, head)).await.ok()?;
    let LookupResult::File(file, opened) = found else { return None };
    // Conditions of `<If>` are those of another request, and may restrict access.
    let is_conditional = generation.config.have_branches(file.plain_sections(), &file.files);
    // Programs that decide about access are asked about the folder only.
    let is_guarded = file.settings.fcgid.guards.are_on();
    let may_open = !is_elsewhere && !is_conditional && !is_guarded && FolderView::of(context, folder).may_open(&file);
    may_open.then_some((file, opened))
}

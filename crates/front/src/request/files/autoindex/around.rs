//! The texts above and below an index: `HeaderName` and `ReadmeName`.

use std::os::unix::fs::FileExt;

use http::Uri;
use http::header::{CONTENT_TYPE, HOST};
use http::request::Parts;
use percent_encoding::percent_encode;

use crate::base::blocking;
use crate::request;
use crate::request::context::RequestContext;
use crate::request::files::{LookupResult, content_headers};
use crate::request::internal_redirect::UNSENT;
use crate::routing::Route;
use base::path::PATH;
use config::{Handler, Phase};

/// Most bytes of a text.
const LONGEST: usize = 256 << 10;
/// Begin of an element of server-side includes.
const ELEMENT: &[u8] = b"<!--#";

/// A text above or below an index.
pub struct TextAround {
    /// Whether the text is HTML.
    pub is_html: bool,
    pub text: Vec<u8>,
}

/// The file of this URL, relative to the folder of `route`, if the client may have it and it is a text. A file that a
/// program or a filter would make is left out, because its source may be secret.
pub async fn text(context: &RequestContext, route: &Route, head: &Parts, url: Option<&str>) -> Option<TextAround> {
    let url = url.filter(|url| !url.is_empty())?;
    let sent = percent_encode(url.as_bytes(), UNSENT).to_string();
    let target = if url.starts_with('/') { sent } else { format!("{}{sent}", percent_encode(&route.path, PATH)) };
    let context = context.part();
    let mut part = context.head.clone();
    part.uri = Uri::builder().path_and_query(target).build().ok()?;
    if let (None, Some(host)) = (part.headers.get(HOST), head.headers.get(HOST)) {
        part.headers.insert(HOST, host.clone());
    }
    let Ok(LookupResult::File(file, opened)) = Box::pin(request::look_up(&context, &part)).await else { return None };
    let settings = &file.settings;
    if settings.needs_perl_for_users() || !settings.phases.of(Phase::Access).is_empty() {
        return None;
    }
    let is_plain = settings.handler == Handler::Default;
    let fields = content_headers(&context.generation.config, &file, &part);
    let kind = fields.get(CONTENT_TYPE)?.to_str().ok()?.split(';').next()?.trim().to_ascii_lowercase();
    let is_html = matches!(kind.as_str(), "text/html" | "application/xhtml+xml");
    if !is_plain || !is_html && !kind.starts_with("text/") {
        return None;
    }
    let size = usize::try_from(opened.size).ok().filter(|size| *size <= LONGEST);
    let Some(size) = size else {
        let why = format!("{url} is not shown with the index: it has more than {} KB", LONGEST >> 10);
        context.client.log_error(&why);
        return None;
    };
    let read = move || {
        let mut text = vec![0; size];
        opened.file.read_exact_at(&mut text, 0).map(|()| text)
    };
    let text = blocking::run("read a text of an index", read).await.ok()?.ok()?;
    let is_parsed = settings.response.includes.are_on() && text.windows(ELEMENT.len()).any(|at| at == ELEMENT);
    (!is_parsed).then_some(TextAround { is_html, text })
}

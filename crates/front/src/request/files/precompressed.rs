//! `PrecompressedFiles`: sends the compressed copy beside a file in its place.

use std::path::Path;

use http::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};
use http::request::Parts;

use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::respond::accept_encoding;
use crate::request::respond::compress::vary;
use crate::routing::Route;
use config::response::compress::Coding;
use files::open::{Links, OpenedFile, PathWithLinks, root};

/// The file to send: the original, or a compressed copy beside it.
pub struct FileVariant {
    pub opened: OpenedFile,
    /// The coding of the compressed copy; `None` for the original.
    pub coding: Option<Coding>,
}

/// The available variant that the client prefers. `described`: the headers of the original.
pub async fn choose(
    context: &RequestContext,
    route: &Route,
    opened: OpenedFile,
    head: &Parts,
    described: &HeaderMap,
) -> Result<FileVariant, Refusal> {
    if !is_on(route) || described.contains_key(CONTENT_ENCODING) {
        return Ok(FileVariant { opened, coding: None });
    }
    let best = context.generation.wait_for(|| Ok(best(context, route, &opened, head))).await?;
    Ok(best.unwrap_or(FileVariant { opened, coding: None }))
}

fn best(context: &RequestContext, route: &Route, opened: &OpenedFile, head: &Parts) -> Option<FileVariant> {
    let mut left = Coding::ALL.to_vec();
    left.retain(|coding| !context.has_variable(coding.refusal()));
    while let Some(coding) = accept_encoding::choose(&head.headers, &left) {
        if let Some(beside) = beside(context, route, opened, coding) {
            return Some(FileVariant { opened: beside, coding: Some(coding) });
        }
        left.retain(|other| *other != coding);
    }
    None
}

/// Adds Vary and Content-Encoding to the response's headers.
pub fn describe(headers: &mut HeaderMap, route: &Route, coding: Option<Coding>) {
    if is_on(route) {
        vary(headers);
    }
    if let Some(coding) = coding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
    }
}

fn is_on(route: &Route) -> bool {
    route.settings.response.compress.precompressed == Some(true)
}

/// Opens the compressed copy under the original's link rules. An older copy is ignored: it was made from an earlier
/// version.
fn beside(context: &RequestContext, route: &Route, opened: &OpenedFile, coding: Coding) -> Option<OpenedFile> {
    let generation = &context.generation;
    let mut name = route.filename.clone().into_os_string();
    name.push(".");
    name.push(coding.extension());
    let root = root(&generation.config, route.host, &route.filename);
    let links = Links::of(route.settings.options);
    let beside = generation.opener.open(PathWithLinks { root, path: Path::new(&name), links }).ok()?;
    (beside.kind.is_file() && beside.modified >= opened.modified).then_some(beside)
}

//! Whether a response is a page, and the facts about its file.

use std::os::unix::fs::MetadataExt;
use std::time::SystemTime;

use crate::log::error_logs::LineClass;
use crate::request::context::RequestContext;
use crate::request::filters::chosen::{self, FilterSubject, file_name, type_of};
use crate::routing::Route;
use config::response::filters::{FilterProvider, TextFilter};
use config::response::includes::XBitHack;
use config::{Handler, LogLevel};
use files::open::OpenedFile;

/// Owner's and group's execute bits of a file's mode.
const USER_EXECUTE: u32 = 0o100;
const GROUP_EXECUTE: u32 = 0o010;

#[derive(Debug, Clone, Copy, Default)]
pub struct PageFile {
    /// Time of its last change.
    pub modified: Option<SystemTime>,
    /// User number of its owner.
    pub owner: Option<u32>,
    /// Whether its time counts for conditional requests: `XBitHack full`.
    pub is_dated: bool,
}

/// The facts about a file that is parsed; `None`: it is sent as it is.
pub fn of_file(subject: &FilterSubject<'_>, opened: &OpenedFile) -> Option<PageFile> {
    let FilterSubject { context, route, .. } = *subject;
    let rules = &route.settings.response.includes;
    let is_handled = route.settings.handler == Handler::ServerParsed;
    if !is_handled && !route.settings.response.may_include() {
        return None;
    }
    let kind = type_of(subject.response.headers);
    let hack = rules.x_bit_hack.filter(|hack| *hack != XBitHack::Off && kind == "text/html");
    let is_parsed = is_handled || is_filtered(subject);
    if !is_parsed && hack.is_none() {
        return None;
    }
    let found = opened.file.metadata().ok()?;
    let has_bit = hack.is_some() && found.mode() & USER_EXECUTE != 0;
    if !(is_parsed || has_bit) || !is_allowed(context, route) {
        return None;
    }
    Some(PageFile {
        modified: Some(opened.modified),
        owner: Some(found.uid()),
        is_dated: rules.x_bit_hack == Some(XBitHack::Full) && found.mode() & GROUP_EXECUTE != 0,
    })
}

/// Whether the filter INCLUDES is among those of a response.
pub fn is_filtered(of: &FilterSubject<'_>) -> bool {
    of.route.settings.response.includes.filter(&file_name(of.route))
        || chosen::of_chain(of).iter().any(|chosen| chosen.provider == FilterProvider::Text(TextFilter::Includes))
}

/// Whether a condition about the response decides about INCLUDES.
pub fn are_by_response(route: &Route) -> bool {
    let is_includes = |provider: FilterProvider| provider == FilterProvider::Text(TextFilter::Includes);
    route.settings.response.filter_chain.may_use_by_response(is_includes)
}

/// Whether `Options` allow includes; logs that they do not.
pub fn is_allowed(context: &RequestContext, route: &Route) -> bool {
    let is_allowed = route.settings.options.includes;
    if !is_allowed {
        let why = "the filter INCLUDES is not applied; write Options +Includes, or +IncludesNOEXEC, for its folder";
        context.log(route, LineClass { level: LogLevel::Warn, module: "include" }, &why);
    }
    is_allowed
}

/// Whether the output of a program is parsed, as far as its place decides. Its client then needs all of it.
pub fn may_parse_output(route: &Route) -> bool {
    route.settings.response.may_include() && route.settings.options.includes
}

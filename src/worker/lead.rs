//! Requests that lead to others: subrequests, internal redirects, pages for errors.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use apache::{Lead, Page, Said, Target};

use super::admit::complain;
use super::located::{Located, PlaceKey};
use super::phases::{DECLINED, Kind, OK, Stop};
use super::site::Site;
use super::variables;
use super::way::{Way, plain};
use crate::config::rules::{ErrorDocument, PathInfo};
use crate::config::{Handler, Named, Phase};
use crate::open::{Links, root};
use crate::path::normalise;

/// What stands where a subrequest for a file has no URI; httpd's words.
const NO_URI: &[u8] = b"INTERNALLY GENERATED file-relative req";
/// A subrequest's file is copied in pieces of this size.
const PIECE: usize = 32 * 1024;

impl Site {
    /// The Trans phase has ended. What a handler's OK means is what the handlers have named, be it nothing; else the
    /// configuration says which file it is.
    pub(super) fn lead_elsewhere(&self, request: u64, is_translated: bool) -> Result<PlaceKey, Stop> {
        let Said { uri, args: query, filename, .. } = apache::said(request);
        if is_translated && filename.is_none() {
            let path = plain(&uri);
            apache::without_file(request, &path, &query);
            return Ok(self.key_without_file(request, &path));
        }
        let Way { path, filename, key } = self.way(request, &uri, filename.filter(|_| is_translated));
        apache::retarget(request, &Target { path, query, filename });
        key
    }

    /// The place of `key` is that of the request from now on; `left` was.
    pub(super) fn moved(&self, request: u64, left: Option<&Located>, key: PlaceKey) -> Result<Rc<Located>, Stop> {
        let apache::Asked { host, filename, .. } = apache::asked(request);
        let located = self.located(key, &filename).map_err(|error| Stop(self.left(request, error)))?;
        apache::place_is(request, located.place.clone());
        variables::settle(request, left, &located);
        if apache::has_file(request) && self.is_behind_link(&located, host, &filename) {
            complain(request, "a symbolic link stands in the way that Options lets nobody follow");
            return Err(Stop(403));
        }
        Ok(located)
    }

    /// An application has a path of its own making, and no file.
    fn is_behind_link(&self, located: &Located, host: u16, filename: &[u8]) -> bool {
        let file = Path::new(OsStr::from_bytes(filename));
        let root = root(&self.config, host, file);
        located.settings.handler != Handler::Psgi
            && self.opener.is_refused(root, file, Links::of(located.settings.options))
    }

    /// What a URI means that a request names, relative to its own.
    fn target(&self, from: u64, uri: &[u8]) -> Option<Target> {
        let (path, query) = match uri.iter().position(|byte| *byte == b'?') {
            Some(at) => (&uri[..at], &uri[at + 1..]),
            None => (uri, &[][..]),
        };
        let path = match path.first() {
            Some(b'/') => normalise(path).ok()?,
            _ => normalise(&[b"/", path].concat()).ok().map(|name| beside(&apache::said(from).uri, &name[1..]))?,
        };
        Some(Target { path: plain(&path), query: query.to_vec(), filename: Vec::new() })
    }

    /// Runs the phases of a subrequest up to Fixup.
    fn look_up(&self, from: u64, to: &Target, kind: Kind) -> Option<u64> {
        let Some(sub) = apache::lead(from, Lead::Sub, to) else {
            too_deep();
            return None;
        };
        let way = self.way(sub, &to.path, Some(to.filename.clone()).filter(|name| !name.is_empty()));
        let prepared = self.within(sub, || {
            let first = self.moved(sub, None, way.key?)?;
            self.prepare(sub, first, kind)
        });
        match prepared {
            Ok(located) => self.subrequests.borrow_mut().push((sub, located)),
            Err(Stop(said)) => apache::set_status(sub, u16::try_from(said).unwrap_or(200)),
        }
        Some(sub)
    }

    /// Another request runs, with an environment of its own, until `act` returns.
    fn within<T>(&self, request: u64, act: impl FnOnce() -> T) -> T {
        let before = apache::run(request);
        self.perl.drain_output();
        self.perl.env_enter();
        let result = act();
        self.perl.drain_output();
        self.perl.env_leave();
        apache::run(before);
        result
    }

    fn run_sub(&self, sub: u64) -> i32 {
        let known = self.subrequests.borrow().iter().find(|(number, _)| *number == sub).map(|(_, l)| l.clone());
        let Some(located) = known else { return i32::from(apache::status(sub)) };
        self.within(sub, || match self.respond(&located, sub) {
            DECLINED => apache::declined_file(sub).map_or(404, |file| self.copy_file(sub, &located, &file)),
            said => said,
        })
    }

    fn copy_file(&self, sub: u64, located: &Located, path: &[u8]) -> i32 {
        let file = Path::new(OsStr::from_bytes(path));
        let root = root(&self.config, apache::asked(sub).host, file);
        match self.opener.open(root, file, Links::of(located.settings.options)) {
            Ok(opened) if opened.kind.is_file() => copy(sub, opened.file),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                apache::say(apache::Level::Error, &format!("File does not exist: {}", file.display()));
                404
            }
            _ => 403,
        }
    }

    /// Lets another request give the answer.
    pub(super) fn redirect_to(&self, from: u64, how: Lead, uri: &[u8], keeps_type: bool) -> bool {
        let Some(to) = self.target(from, uri) else { return false };
        let Some(request) = apache::lead(from, how, &to) else {
            too_deep();
            return false;
        };
        if keeps_type {
            apache::keep_content_type(from, request);
        }
        let way = self.way(request, &to.path, None);
        self.within(request, || match way.key.and_then(|key| self.moved(request, None, key)) {
            Ok(located) => drop(self.process(request, located, Some(Kind::Redirect))),
            Err(Stop(said)) => {
                let status = apache::error_before(request).or(u16::try_from(said).ok());
                apache::send_page(request, status.unwrap_or(500), Page::Ours(""));
            }
        });
        true
    }

    /// No handler wanted to answer: the front sends the file, if there is one.
    pub(super) fn conclude_with_file(&self, request: u64, located: &Located, path: &[u8]) {
        let takes_more = located.settings.rules.path_info == Some(PathInfo::On);
        let file = if takes_more { apache::filename(request) } else { path.to_vec() };
        if Path::new(OsStr::from_bytes(&file)).exists() {
            return apache::send_file(request, path);
        }
        apache::say(apache::Level::Error, &format!("File does not exist: {}", String::from_utf8_lossy(path)));
        self.conclude_with_error(request, located, 404);
    }

    /// `ServerSignature`, as HTML.
    fn foot(&self, request: u64, located: &Located) -> String {
        let Some(signature) = located.settings.rules.signature else { return String::new() };
        let (name, port) = apache::own_name(request);
        let host = self.config.hosts.get(usize::from(apache::asked(request).host));
        let admin = host.and_then(|host| host.server_admin.as_deref());
        signature.html(&Named { software: &self.software(), name: &name, port, admin })
    }

    /// Answers with what `$r->custom_response` or the configuration want for the status, or with a plain page.
    pub(super) fn conclude_with_error(&self, request: u64, located: &Located, status: u16) {
        let foot = self.foot(request, located);
        if let Some(original) = apache::error_before(request) {
            // The page for an error has failed in turn.
            return apache::send_page(request, original, Page::Ours(&foot));
        }
        let Some(response) = self.response_for(request, located, status) else {
            return apache::send_page(request, status, Page::Ours(&foot));
        };
        match Response::of(&response) {
            Response::Text(text) => apache::send_page(request, status, Page::Text(text)),
            Response::Away(url) => {
                apache::set_location(request, url);
                apache::send_page(request, 302, Page::Ours(&foot));
            }
            Response::Local(uri) => {
                if !apache::discard(request) {
                    return apache::send_page(request, status, Page::Ours(&foot));
                }
                apache::set_status(request, status);
                if !self.redirect_to(request, Lead::ErrorPage, uri, false) {
                    apache::send_page(request, status, Page::Ours(&foot));
                }
            }
        }
    }

    fn response_for(&self, request: u64, located: &Located, status: u16) -> Option<Vec<u8>> {
        apache::custom_response(request, status)
            .unwrap_or_else(|| located.settings.rules.error_document(status).and_then(shown))
    }

    /// What a client's request has led to is over with it.
    pub(super) fn forget_subrequests(&self) {
        self.subrequests.borrow_mut().clear();
        self.texts.next_turn();
    }
}

impl apache::Engine for Site {
    fn look_up_uri(&self, from: u64, uri: &[u8]) -> Option<u64> {
        let to = self.target(from, uri)?;
        self.look_up(from, &to, Kind::Sub)
    }

    fn look_up_file(&self, from: u64, name: &[u8]) -> Option<u64> {
        let to = match name.first() {
            Some(b'/') => Target { path: NO_URI.to_vec(), query: Vec::new(), filename: plain(name) },
            _ => Target {
                path: plain(&beside(&apache::said(from).uri, name)),
                query: Vec::new(),
                filename: plain(&beside(&apache::filename(from), name)),
            },
        };
        self.look_up(from, &to, Kind::File)
    }

    fn run(&self, sub: u64) -> i32 {
        self.run_sub(sub)
    }

    fn translate(&self, request: u64) -> i32 {
        let way = self.way(request, &apache::said(request).uri, None);
        let before = apache::running_phase(request);
        apache::begin_translation(request);
        let said = way.key.and_then(|key| match self.located(key, &way.filename) {
            // A Trans handler that asks has its own answer in mind.
            Ok(_) if before == Some(Phase::Trans as u32) => Ok(DECLINED),
            Ok(first) => self.first(&first, request, Phase::Trans),
            Err(error) => Err(Stop(self.left(request, error))),
        });
        before.map(|phase| apache::enter_phase(request, phase));
        let led = said.and_then(|said| self.lead_elsewhere(request, said == OK));
        led.map_or_else(|Stop(said)| said, |_| OK)
    }

    fn error_response(&self, request: u64, status: u16) -> Option<Vec<u8>> {
        if let Some(said) = apache::custom_response(request, status) {
            return said;
        }
        let way = self.way(request, &apache::said(request).uri, None);
        let located = way.key.ok().and_then(|key| self.located(key, &way.filename).ok())?;
        self.response_for(request, &located, status)
    }

    fn redirect(&self, from: u64, uri: &[u8], keeps_type: bool) {
        if !self.redirect_to(from, Lead::Redirect, uri, keeps_type) {
            apache::fail(from, 500);
        }
    }
}

/// What is answered in the place of an error's plain page.
enum Response<'a> {
    Text(&'a [u8]),
    Local(&'a [u8]),
    Away(&'a [u8]),
}

impl Response<'_> {
    /// It tells by its looks; httpd 1.3 marks a text by a quotation mark.
    fn of(response: &[u8]) -> Response<'_> {
        let is_url = |text: &[u8]| text.starts_with(b"http://") || text.starts_with(b"https://");
        match response {
            [b'"', text @ ..] => Response::Text(text),
            [b'/', ..] => Response::Local(response),
            url if is_url(url) && !url.contains(&b' ') => Response::Away(url),
            text => Response::Text(text),
        }
    }
}

/// As `$r->custom_response` shows it.
fn shown(document: &ErrorDocument) -> Option<Vec<u8>> {
    match document {
        ErrorDocument::Default => None,
        ErrorDocument::Text(text) => Some(format!("\"{text}").into_bytes()),
        ErrorDocument::Local(target) | ErrorDocument::Away(target) => Some(target.clone().into_bytes()),
    }
}

fn too_deep() {
    apache::say(apache::Level::Error, "more than 10 internal redirects or subrequests in one another: a loop?");
}

/// The path of `name` in the folder of `path`.
fn beside(path: &[u8], name: &[u8]) -> Vec<u8> {
    let folder = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    [&path[..folder], name].concat()
}

/// Makes a file a part of the answer.
fn copy(sub: u64, mut file: File) -> i32 {
    apache::begin_body(sub);
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return OK,
            Ok(length) => apache::output(&piece[..length]),
            Err(_) => return 403,
        }
    }
}

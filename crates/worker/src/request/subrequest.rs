//! Subrequests, which Perl code looks up, and may run as a part of its own response.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use apache::{InternalRequest, Target};
use http::StatusCode;

use super::phases::{DECLINED, OK, RequestKind, Stop};
use super::translate::plain;
use crate::location::ResolvedLocation;
use crate::site::Site;
use base::path::{BadPath, normalise_with};
use files::open::{Links, Patience, Way, root};

/// URI of a subrequest for a file; the texts are Apache 1.3's and httpd 2.4's.
pub(super) fn no_uri() -> Vec<u8> {
    match apache::api() {
        apache::Api::One => b"INTERNALLY GENERATED file-relative req".to_vec(),
        apache::Api::Two => Vec::new(),
    }
}
/// Number of bytes of a file copied at once.
const PIECE: usize = 32 * 1024;
/// Number of bytes of a file that filters get at once; large enough for most files.
const FILTERED_PIECE: u64 = 1024 * 1024;

impl Site {
    /// Resolves a URI named by a request, relative to the request's own URI.
    pub(super) fn target(&self, from: u64, uri: &[u8]) -> Result<Target, BadPath> {
        let (path, query) = match uri.iter().position(|byte| *byte == b'?') {
            Some(at) => (&uri[..at], &uri[at + 1..]),
            None => (uri, &[][..]),
        };
        let slashes = self.config.encoded_slashes(apache::requested(from).host).unwrap_or_default();
        let (path, unparsed) = match path.first() {
            Some(b'/') => (normalise_with(path, slashes)?, uri.to_vec()),
            _ => {
                let here = apache::set_by_handlers(from).uri;
                let name = normalise_with(&[b"/", path].concat(), slashes)?;
                let folder = apache::path_encoded(&beside(&here, b""));
                (beside(&here, name.get(1..).unwrap_or_default()), [&folder[..], uri].concat())
            }
        };
        Ok(Target { path: plain(&path), query: query.to_vec(), unparsed, ..Target::default() })
    }

    /// Runs the phases of a subrequest up to Fixup.
    pub(super) fn look_up(&self, from: u64, to: &Target, kind: RequestKind) -> Option<u64> {
        let Some(sub) = apache::begin_internal(from, InternalRequest::Sub, to) else {
            too_deep();
            return None;
        };
        let translated = self.translate_path(sub, &to.path, Some(to.filename.clone()).filter(|name| !name.is_empty()));
        let prepared = self.within(sub, || {
            let first = self.moved(sub, None, translated.key?)?;
            self.prepare(sub, first, kind)
        });
        match prepared {
            Ok(location) if kind == RequestKind::Sub && self.lacks_slash(sub, &location) => {
                apache::set_status(sub, 301)
            }
            Ok(location) => self.subrequests.borrow_mut().push((sub, location)),
            Err(Stop(said)) => apache::set_status(sub, u16::try_from(said).unwrap_or(200)),
        }
        Some(sub)
    }

    /// Creates a subrequest for an invalid URI. It has only a status.
    pub(super) fn look_up_nothing(&self, from: u64, uri: &[u8], bad: BadPath) -> Option<u64> {
        let to = Target { path: uri.to_vec(), unparsed: uri.to_vec(), ..Target::default() };
        let sub = apache::begin_internal(from, InternalRequest::Sub, &to)?;
        apache::set_status(sub, StatusCode::from(bad).as_u16());
        Some(sub)
    }

    /// Runs `act` with another current request, which has its own environment.
    pub(super) fn within<T>(&self, request: u64, act: impl FnOnce() -> T) -> T {
        let before = apache::run(request);
        self.perl.drain_output();
        self.perl.env_enter();
        let result = act();
        self.perl.drain_output();
        self.perl.env_leave();
        apache::run(before);
        result
    }

    pub(super) fn run_sub(&self, sub: u64) -> i32 {
        let known = self.subrequests.borrow().iter().find(|(number, _)| *number == sub).map(|(_, l)| l.clone());
        let Some(location) = known else { return i32::from(apache::status(sub)) };
        self.within(sub, || {
            self.runs_in(sub, &location);
            apache::tie_env(sub);
            let said = match self.respond(&location, sub) {
                DECLINED => apache::declined_file(sub).map_or(404, |file| self.answer_part(sub, &location, &file)),
                said => said,
            };
            apache::keep_env(sub);
            if apache::is_filtered(sub) {
                self.perl.drain_output();
                apache::end_filtered_answer(sub, said);
            }
            said
        })
    }

    /// Outputs a file as a request's answer, or a part of it. Returns the status.
    pub(super) fn copy_file(&self, request: u64, location: &ResolvedLocation, path: &[u8]) -> i32 {
        let file = Path::new(OsStr::from_bytes(path));
        let root = root(&self.config, apache::requested(request).host, file);
        let way = Way { root, path: file, links: Links::of(location.settings.options) };
        match self.opener.open(way, Patience::Unlimited) {
            Ok(opened) if opened.kind.is_file() && apache::is_filtered(request) => copy_filtered(request, &opened.file),
            Ok(opened) if opened.kind.is_file() => copy(request, &opened.file),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                apache::say(apache::Level::Error, &format!("File does not exist: {}", file.display()));
                404
            }
            _ => 403,
        }
    }

    /// Discards subrequests and changed locations at the end of a client request.
    pub(super) fn forget_subrequests(&self) {
        self.subrequests.borrow_mut().clear();
        self.forget_renewals();
        self.htaccess_cache.next_turn();
    }
}

pub(super) fn too_deep() {
    apache::say(apache::Level::Error, "more than 10 nested internal redirects or subrequests: look for a loop");
}

/// The path of `name` in the folder of `path`.
pub(super) fn beside(path: &[u8], name: &[u8]) -> Vec<u8> {
    let folder = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    [&path[..folder], name].concat()
}

/// Outputs a file through filters; a small file in one piece.
fn copy_filtered(request: u64, file: &File) -> i32 {
    apache::begin_body(request);
    let mut piece = Vec::new();
    loop {
        piece.clear();
        match file.take(FILTERED_PIECE).read_to_end(&mut piece) {
            Ok(length) if length as u64 == FILTERED_PIECE => apache::output(&piece),
            Ok(_) => {
                apache::end_filtered_file(request, &piece);
                return OK;
            }
            Err(_) => return 403,
        }
    }
}

/// Outputs a file.
fn copy(sub: u64, mut file: &File) -> i32 {
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

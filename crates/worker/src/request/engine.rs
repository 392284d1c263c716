//! Implements the calls of the Apache:: API that create or change requests: subrequests, redirects, error responses.

use apache::{AddedLines, InternalRequest, PieceEnd, Target};

use super::phases::{DECLINED, OK, RequestKind, Stop};
use super::subrequest::{beside, no_uri};
use super::translate::plain;
use crate::site::Site;
use config::Phase;

impl apache::Engine for Site {
    fn look_up_uri(&self, from: u64, uri: &[u8]) -> Option<u64> {
        match self.target(from, uri) {
            Ok(to) => self.look_up(from, &to, RequestKind::Sub),
            Err(bad) => self.look_up_nothing(from, uri, bad),
        }
    }

    fn look_up_file(&self, from: u64, name: &[u8]) -> Option<u64> {
        let to = match name.first() {
            Some(b'/') => Target {
                path: no_uri(),
                filename: plain(name),
                unparsed: apache::path_encoded(name),
                ..Target::default()
            },
            _ => {
                let path = plain(&beside(&apache::set_by_handlers(from).uri, name));
                let filename = plain(&beside(&apache::filename(from), name));
                Target { unparsed: path.clone(), path, filename, ..Target::default() }
            }
        };
        self.look_up(from, &to, RequestKind::File)
    }

    fn run(&self, sub: u64) -> i32 {
        self.run_sub(sub)
    }

    fn translate(&self, request: u64) -> i32 {
        let translated = self.translate_path(request, &apache::set_by_handlers(request).uri, None);
        let before = apache::running_phase(request);
        apache::begin_translation(request);
        let said = translated.key.and_then(|key| match self.location(key, &translated.filename) {
            // A Trans handler that calls this decides by itself.
            Ok(_) if before == Some(Phase::Trans as u32) => Ok(DECLINED),
            Ok(first) => self.first(&first, request, Phase::Trans),
            Err(error) => Err(Stop(self.left(request, error))),
        });
        before.map(|phase| apache::enter_phase(request, phase));
        let led = said.and_then(|said| self.resolve_target(request, said == OK));
        led.map_or_else(|Stop(said)| said, |_| OK)
    }

    fn error_response(&self, request: u64, status: u16) -> Option<Vec<u8>> {
        if let Some(said) = apache::custom_response(request, status) {
            return said;
        }
        let translated = self.translate_path(request, &apache::set_by_handlers(request).uri, None);
        let location = translated.key.ok().and_then(|key| self.location(key, &translated.filename).ok())?;
        self.response_for(request, &location, status)
    }

    fn add_config(&self, request: u64, lines: &AddedLines) -> Result<(), String> {
        self.add_lines(request, lines)
    }

    fn merge_location(&self, request: u64, path: &str) -> Result<bool, String> {
        Site::merge_location(self, request, path)
    }

    fn run_hook(&self, request: u64, hook: &[u8]) -> i32 {
        Site::run_hook(self, request, hook)
    }

    fn die(&self, request: u64, status: i32) {
        self.answer_with_error(request, status);
    }

    fn filter(&self, request: u64, piece: &[u8], end: PieceEnd) {
        self.pass(request, piece, end);
    }

    fn redirect(&self, from: u64, uri: &[u8], keeps_type: bool) {
        if !self.redirect_to(from, InternalRequest::Redirect, uri, keeps_type) {
            apache::fail(from, 500);
        }
    }
}

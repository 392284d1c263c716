//! Warm-up requests, made by the mold: a frame as the front would make it, answered as in a worker. The output is
//! discarded.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wire::frame::{self, Field, Flags, Frame};
use wire::reply::{Outgoing, PacketMessages, Reply};
use wire::transport::Presence;

use super::{AfterRequest, Asker};
use crate::location::{LocationKey, ResolvedLocation};
use crate::site::Site;
use base::path::{Text, normalise};
use config::{Handler, Settings, WarmUpSite};

/// Port of the discard protocol (RFC 863), as the address of a client that does not exist.
const CLIENT_PORT: u16 = 9;
/// Maximum number of redirects; same as in the front.
const MAX_REDIRECTS: usize = 10;
/// Environment variable that marks the request for programs.
const MARK: &[u8] = b"CAMELEER_WARMUP=1\0";

pub struct WarmUpRequest<'a> {
    /// The host, port and scheme that the request uses.
    pub site: &'a WarmUpSite,
    /// Path and query.
    pub target: &'a str,
    /// Number of the request for logs and for the signal of its time limit.
    pub number: u64,
}

/// Result of a warm-up request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpOutcome {
    /// Perl has answered, with this status.
    Status(u16),
    /// A worker would exit after this request.
    Leaves,
    /// Perl does not answer this target.
    NotPerl,
    /// Another pool's workers answer this target.
    Elsewhere,
}

/// A location that Perl answers.
pub struct WarmUpPlace {
    key: LocationKey,
    location: Rc<ResolvedLocation>,
    /// Decoded path without the query.
    path: Vec<u8>,
    filename: Vec<u8>,
    query: String,
}

impl WarmUpPlace {
    /// `RequestTimeout` and `RequestTimeoutGrace` of the location.
    pub fn time_limit(&self) -> (Duration, Duration) {
        (self.location.settings.request_timeout, self.location.settings.request_timeout_grace)
    }

    /// Path of the PSGI application that answers; empty for one at the root.
    pub fn mount(&self) -> &str {
        self.location.settings.mount.trim_end_matches('/')
    }
}

impl WarmUpPlace {
    /// Resolves a target. `None` if Perl does not answer it; an error if the front or another pool would answer.
    pub fn of(site: &Site, host: u16, target: &str) -> Result<Option<WarmUpPlace>, WarmUpOutcome> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let path = normalise(path.as_bytes()).map_err(|_| WarmUpOutcome::Status(400))?;
        let found = WarmUpPlace::of_path(site, host, path, query)?;
        if answers_with_perl(&found.location.settings) {
            return Ok(Some(found));
        }
        let Some(index) = index_of(&found) else { return Ok(None) };
        let found = WarmUpPlace::of_path(site, host, index, query)?;
        Ok(Some(found).filter(|found| answers_with_perl(&found.location.settings)))
    }

    fn of_path(site: &Site, host: u16, path: Vec<u8>, query: &str) -> Result<WarmUpPlace, WarmUpOutcome> {
        let text = Text::new(&path);
        let mapping = site.config.translate(host, &text.0, None);
        let filename = Text::bytes_of(mapping.filename);
        let key = site.paths.key(host, mapping.script_alias, &text, &filename);
        let key = key.map_err(|(status, _)| WarmUpOutcome::Status(status as u16))?;
        if site.locations.pool_of(&key).map_err(|_| WarmUpOutcome::Status(500))? != site.config.own_pool {
            return Err(WarmUpOutcome::Elsewhere);
        }
        let filename = filename.into_os_string().into_encoded_bytes();
        let location = site.locations.get(key.clone(), &filename).map_err(|_| WarmUpOutcome::Status(500))?;
        Ok(WarmUpPlace { key, location, path, filename, query: query.to_owned() })
    }
}

impl WarmUpRequest<'_> {
    /// Answers the request and follows its internal redirects.
    pub fn answer(&self, site: &Site, place: WarmUpPlace) -> io::Result<WarmUpOutcome> {
        let mut place = place;
        for _ in 0..MAX_REDIRECTS {
            let asker = Nobody::default();
            let (next, _) = super::answer(site, frame(self, &place)?, None, &asker, None)?;
            site.psgi.stay();
            if next == AfterRequest::Leave {
                return Ok(WarmUpOutcome::Leaves);
            }
            let WarmUpResult { status, elsewhere } = asker.result.take();
            let Some(target) = elsewhere else { return Ok(WarmUpOutcome::Status(status)) };
            place = match WarmUpPlace::of(site, self.site.host, &String::from_utf8_lossy(&target)) {
                Ok(Some(place)) => place,
                Ok(None) => return Ok(WarmUpOutcome::Status(status)),
                Err(answer) => return Ok(answer),
            };
        }
        Ok(WarmUpOutcome::Status(500))
    }
}

fn answers_with_perl(settings: &Settings) -> bool {
    matches!(
        settings.handler,
        Handler::PerlScript | Handler::ModPerl | Handler::CgiScript | Handler::FcgidScript | Handler::Psgi
    ) || settings.has_perl_phases()
}

/// The path of a folder's index file.
fn index_of(found: &WarmUpPlace) -> Option<Vec<u8>> {
    let folder = Path::new(OsStr::from_bytes(&found.filename));
    if !found.path.ends_with(b"/") || !folder.is_dir() {
        return None;
    }
    let names = &found.location.settings.directory_index;
    let name = names.iter().find(|name| name.starts_with('/') || folder.join(name).is_file())?;
    match name.strip_prefix('/') {
        Some(_) => normalise(name.split('?').next()?.as_bytes()).ok(),
        None => Some([&found.path, name.as_bytes()].concat()),
    }
}

/// Builds the frame as the front would for a client's request.
fn frame(asked: &WarmUpRequest<'_>, place: &WarmUpPlace) -> io::Result<Frame> {
    let WarmUpSite { host, https, name, .. } = asked.site;
    let settings = &place.location.settings;
    let local = asked.site.ip().to_string();
    let headers: [(&[u8], &[u8]); 3] =
        [(b"host", name.as_bytes()), (b"user-agent", b"Cameleer warm-up"), (b"accept", b"*/*")];
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut request = frame::Request {
        id: asked.number,
        received: since.map_or(0, |since| since.as_micros() as u64),
        remote_port: CLIENT_PORT,
        server_port: port_in(name).unwrap_or(asked.site.port()),
        local_port: asked.site.port(),
        host: *host,
        script_length: settings.script_length(&place.path),
        headers: &headers,
        sections: &place.key.sections,
        ..Default::default()
    };
    for (flag, is_set) in
        [(Flags::HTTPS, *https), (Flags::SCRIPT, place.key.script), (Flags::PHASES, settings.has_perl_phases())]
    {
        if is_set {
            request.flags |= flag;
        }
    }
    let fields: [(Field, &[u8]); 11] = [
        (Field::Env, MARK),
        (Field::Method, b"GET"),
        (Field::Target, asked.target.as_bytes()),
        (Field::Protocol, b"HTTP/1.1"),
        (Field::Path, &place.path),
        (Field::Query, place.query.as_bytes()),
        (Field::RemoteAddr, b"127.0.0.1"),
        (Field::LocalAddr, local.as_bytes()),
        (Field::ServerName, config::without_port(name).as_bytes()),
        (Field::Filename, &place.filename),
        (Field::Overrides, &place.key.overrides),
    ];
    for (field, value) in fields {
        request.fields[field as usize] = value;
    }
    let mut bytes = Vec::new();
    request.encode(&mut bytes);
    Ok(Frame::parse(bytes)?)
}

fn port_in(name: &str) -> Option<u16> {
    name.rsplit_once(':')?.1.parse().ok()
}

/// Client that records only the result of a request.
#[derive(Default)]
struct Nobody {
    result: Rc<RefCell<WarmUpResult>>,
}

struct WarmUpResult {
    status: u16,
    /// Path of an internal redirect.
    elsewhere: Option<Vec<u8>>,
}

impl Default for WarmUpResult {
    /// Status 200 by default: a file that the front would send has no head.
    fn default() -> WarmUpResult {
        WarmUpResult { status: 200, elsewhere: None }
    }
}

impl Asker for Nobody {
    fn client(&self, _: u64) -> Box<dyn apache::ResponseReceiver> {
        Box::new(Listener(self.result.clone()))
    }
}

struct Listener(Rc<RefCell<WarmUpResult>>);

impl apache::ResponseReceiver for Listener {
    fn send(&mut self, outgoing: &Outgoing<'_>) -> io::Result<()> {
        let mut result = self.0.borrow_mut();
        for message in PacketMessages::new(outgoing.before).chain(PacketMessages::new(outgoing.after)) {
            match message?.1 {
                Reply::Head(head) => result.status = head.status,
                Reply::Elsewhere(target) => result.elsewhere = Some(target.to_vec()),
                Reply::End(end) if end.truncated => result.status = 500,
                _ => {}
            }
        }
        Ok(())
    }

    fn presence(&mut self) -> Presence {
        Presence::Here
    }
}

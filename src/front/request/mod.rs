//! One request, from its head to its response.

pub mod access;
mod actions;
pub mod body;
pub mod context;
mod drain_body;
mod error_document;
pub mod files;
pub mod frame;
pub mod head_limits;
mod pages;
pub mod respond;
pub mod services;
mod strictness;

use std::rc::Rc;

use http::header::{
    ALLOW, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, HeaderValue, IF_MATCH, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE, SERVER, TRANSFER_ENCODING,
};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode, Uri, Version};

use super::base::refusal::Refusal;
use super::routing::{Asked, NotYet, Route, once_read, redirect, server_name};
use access::reverse_dns::named_by_dns;
use access::{admit, keep_pace, take_turn};
use body::source::Source;
use body::{Body, Patience};
use context::{Record, Stream, Visit, host_header, remote_ip, variables};
use files::{Found, autoindex, lookup};
use frame::submit;
use respond::body::{Kind, Payload};
use respond::{compress, from_worker, headers};
use services::Connection;

use crate::config::Handler;
use crate::path::{BadPath, MAX_SEGMENTS};

const NOT_ENCRYPTED: &str = "This server speaks TLS here: the address of the page begins with https.";
const CLOSE: HeaderValue = HeaderValue::from_static("close");
/// What is allowed where CONNECT and TRACE are not, which is everywhere.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");

/// Answers a request; `stream` is where it came from when its connection carries several at once.
pub async fn answer(
    connection: &Connection,
    request: Request<Source>,
    stream: Option<Rc<dyn Stream>>,
) -> Response<Payload> {
    let (mut head, body) = request.into_parts();
    let named = host_header::settle(&mut head);
    let site = connection.services.sites.serving().unwrap_or_else(|| connection.site.clone());
    let visit = Visit::begin(connection, site, head, stream);
    let mut unread = Some(body);
    let mut answer = dispatch(&visit, named, &mut unread).await;
    let mut close = answer.as_ref().is_err_and(|refusal| refusal.close);
    if !close {
        match drain_body::clear(&visit, unread).await {
            drain_body::Left::Nothing => {}
            drain_body::Left::InTheWay => close = true,
            drain_body::Left::TooLarge => {
                close = true;
                if answer.as_ref().err().is_none_or(|refusal| is_about_what_is_there(refusal.status)) {
                    answer = Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE));
                }
            }
        }
    }
    let refused = answer.is_err();
    let response = match answer {
        Ok(response) => response,
        Err(refusal) => error_document::answer(&visit, refusal).await,
    };
    finish(visit, response, Ending { refused, close })
}

/// What [`finish`] has to know besides the response.
#[derive(Debug, Clone, Copy)]
struct Ending {
    /// Nobody has answered: the page is the front's.
    refused: bool,
    /// The connection cannot go on.
    close: bool,
}

/// What a place of the site says to a request.
enum Answer {
    /// This.
    Here(Response<Kind>),
    /// Look at that path instead.
    Elsewhere(Vec<u8>),
    /// This request is asked in its place, with the same body.
    Onward(Box<Parts>),
}

/// A script may send the request on this often; Apache's number.
const MAX_REDIRECTS: usize = 10;

/// A body that is asked for is taken out of `body`.
async fn dispatch(
    visit: &Record,
    named: Result<(), Refusal>,
    body: &mut Option<Source>,
) -> Result<Response<Kind>, Refusal> {
    named?;
    check(visit)?;
    let answer = lead(visit, &visit.head, body).await?;
    until_answered(visit, answer, body).await
}

/// The answer to a request that another one was sent on to.
pub async fn follow(visit: &Record, head: &Parts) -> Result<Response<Kind>, Refusal> {
    let body = &mut None;
    let answer = lead(visit, head, body).await?;
    until_answered(visit, answer, body).await
}

async fn until_answered(
    visit: &Record,
    mut answer: Answer,
    body: &mut Option<Source>,
) -> Result<Response<Kind>, Refusal> {
    for _ in 0..MAX_REDIRECTS {
        answer = match answer {
            Answer::Here(response) => return Ok(response),
            Answer::Elsewhere(target) => lead(visit, &redirected(&visit.head, &target)?, &mut None).await?,
            Answer::Onward(head) => lead(visit, &head, body).await?,
        };
    }
    Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
}

/// The request that a script sends on: a GET of the path that it named.
pub fn redirected(head: &Parts, target: &[u8]) -> Result<Parts, Refusal> {
    let mut head = head.clone();
    head.uri = Uri::try_from(target).map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))?;
    if head.method != Method::HEAD {
        head.method = Method::GET;
    }
    for name in [CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING] {
        head.headers.remove(name);
    }
    Ok(head)
}

async fn lead(visit: &Record, head: &Parts, body: &mut Option<Source>) -> Result<Answer, Refusal> {
    let mut route = find(visit, head).await?;
    variables::forget(visit);
    remote_ip::settle(visit, head, &route);
    settle(visit, head, &route)?;
    if let Some(answer) = &route.redirect {
        route.refused()?;
        return Err(redirect::refusal(answer, head.uri.query()));
    }
    if route.is_static() && !route.settings.has_perl_phases() {
        let found = find_file(visit, head, &route).await;
        measure(head, &route, &found)?;
        if let Some(onward) = actions::script(visit, head, &route, &found)? {
            return Ok(Answer::Onward(Box::new(onward)));
        }
        match found? {
            Found::Response(response) => return Ok(Answer::Here(response)),
            Found::Index(path) => return index(head, &path),
            Found::Folder(folder) => return autoindex::answer(visit, &route, folder, head).await.map(Answer::Here),
            Found::Beyond(_) => return Err(Refusal::new(StatusCode::NOT_FOUND)),
            Found::File(file, opened) => {
                let route = Rc::new(file);
                settle(visit, head, &route)?;
                take_turn(visit, head, &route)?;
                let head = headers::asked(visit, head, &route)?;
                return files::send(&visit.site, &route, opened, &head).map(Answer::Here);
            }
            Found::Handled(refined) => route = Rc::new(refined),
        }
        settle(visit, head, &route)?;
    } else {
        let refined = once_read(&visit.site.routes, || files::behind(&visit.site, &route)).await?;
        admit(visit, head, refined.as_ref().unwrap_or(&route)).await?;
        if route.looks_for_a_file() && lookup::is_behind_link(&visit.site, &route) {
            return Err(Refusal::new(StatusCode::FORBIDDEN));
        }
    }
    if !route.settings.has_perl_phases()
        && let Some(page) = pages::answer(visit, head, &route, &route.settings.handler)
    {
        take_turn(visit, head, &route)?;
        return page.map(Answer::Here);
    }
    route = named_by_dns(&visit.services.names, &visit.client.local, route).await;
    settle(visit, head, &route)?;
    keep_pace(visit, &route)?;
    take_turn(visit, head, &route)?;
    // Its name may be known since it was let in.
    variables::settle(visit, head, &route)?;
    let head = headers::asked(visit, head, &route)?;
    work(visit, &head, route, body).await
}

/// Looks for the file of `route`. Even that there is none is said only to those who may come in; an index must be open to
/// them, and its folder too.
async fn find_file(visit: &Record, head: &Parts, route: &Route) -> Result<Found, Refusal> {
    let found = once_read(&visit.site.routes, || files::find(&visit.site, route, head)).await;
    let file = found.as_ref().ok().and_then(Found::file);
    if file.is_none_or(|file| file.path != route.path) {
        admit(visit, head, route).await?;
    }
    if let Some(file) = file {
        admit(visit, head, file).await?;
    }
    found
}

/// A body that nobody wants is no longer than one may be, either. Who may not come in hears of that first.
fn measure(head: &Parts, route: &Route, found: &Result<Found, Refusal>) -> Result<(), Refusal> {
    let route = match found {
        Ok(found) => found.file().unwrap_or(route),
        Err(refusal) if is_about_what_is_there(refusal.status) => route,
        Err(_) => return Ok(()),
    };
    let limit = route.settings.limit_request_body;
    let said = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match said.is_some_and(|length| limit != 0 && length > limit) {
        true => Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE)),
        false => Ok(()),
    }
}

/// Not about who asks.
fn is_about_what_is_there(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
}

/// From here on the request is about `route`.
fn settle(visit: &Record, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    *visit.route.borrow_mut() = Some(route.clone());
    variables::settle(visit, head, route)
}

/// What no request may be. HTTP/1's were measured as they came, HTTP/2's are here.
fn check(visit: &Record) -> Result<(), Refusal> {
    let limits = &visit.site.config.limits;
    let head = &visit.head;
    if visit.client.security.is_lost() {
        return Err(Refusal::closing(StatusCode::BAD_REQUEST).because(NOT_ENCRYPTED));
    }
    if head.version == Version::HTTP_2 {
        head_limits::check(head, limits)?;
    }
    let expects_more = |value: &HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"100-continue");
    // HTTP/1.0 has no expectations.
    if head.version >= Version::HTTP_11 && head.headers.get_all(EXPECT).iter().any(expects_more) {
        return Err(Refusal::closing(StatusCode::EXPECTATION_FAILED));
    }
    match head.method {
        Method::CONNECT | Method::TRACE => Err(Refusal { header: Some((ALLOW, METHODS)), ..not_allowed() }),
        _ => Ok(()),
    }
}

fn not_allowed() -> Refusal {
    Refusal::closing(StatusCode::METHOD_NOT_ALLOWED)
}

async fn find(visit: &Record, head: &Parts) -> Result<Rc<Route>, Refusal> {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let path = match head.uri.path() {
        "" => "/",
        // `OPTIONS *` asks about the server as a whole; its root is the next best thing.
        "*" if head.method == Method::OPTIONS => "/",
        path => path,
    };
    let asked = Asked { local: &visit.client.local, host, path };
    let find = || {
        let found = visit.site.routes.find(&visit.site.config, asked);
        found.inspect_err(|not_yet| {
            if matches!(not_yet, NotYet::Bad(BadPath::TooDeep)) {
                visit.client.complain(&format!("a path of more than {MAX_SEGMENTS} segments is refused"));
            }
        })
    };
    let route = once_read(&visit.site.routes, find).await?;
    if strictness::is_misdirected(visit, &route) {
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST));
    }
    strictness::check(visit, head, &route)?;
    Ok(route)
}

/// Has a worker answer.
async fn work(visit: &Record, head: &Parts, route: Rc<Route>, body: &mut Option<Source>) -> Result<Answer, Refusal> {
    let limit = match route.settings.limit_request_body {
        0 => u64::MAX,
        limit => limit,
    };
    let body = match body.take() {
        Some(incoming) => body::receive(incoming, limit, patience(visit, &route), &visit.site.config.spooling).await?,
        None => Body::Memory(Default::default()),
    };
    let (head, body) = body::inflate::unpacked(visit, head, &route, body).await?;
    let head = &*head;
    let ticket = submit(visit, head, &route, body)?;
    let answered = std::future::poll_fn(|cx| {
        let mut exchange = ticket.exchange().borrow_mut();
        for head in exchange.infos.drain(..) {
            inform(visit, &head);
        }
        exchange.poll_head(cx)
    });
    answered.await?;
    let said = ticket.exchange().borrow_mut().head.take();
    let file = ticket.exchange().borrow_mut().file.take();
    if let Some(file) = file {
        return send_file(visit, head, &route, (&file, said)).await;
    }
    if let Some(said) = said {
        return from_worker::response(ticket, said).map(Answer::Here).map_err(|bad| complain(visit, &route, &bad));
    }
    let target = ticket.exchange().borrow_mut().elsewhere.take().unwrap_or_default();
    Ok(Answer::Elsewhere(target))
}

fn patience(visit: &Record, route: &Route) -> Patience {
    let config = &visit.site.config;
    let host = config.hosts.get(usize::from(route.host));
    let whole = host.and_then(|host| host.read_timeouts.body).unwrap_or_default();
    Patience { piece: config.timeouts.client, whole }
}

/// Sends the file that a worker names, with the headers that its handlers have set.
async fn send_file(
    visit: &Record,
    head: &Parts,
    route: &Route,
    (file, said): (&[u8], Option<wire::reply::Head>),
) -> Result<Answer, Refusal> {
    let page = std::str::from_utf8(file).ok().and_then(|name| pages::answer(visit, head, route, &Handler::named(name)));
    if let Some(page) = page {
        return page.map(Answer::Here);
    }
    let stands_in = said.as_ref().is_some_and(|said| said.status != StatusCode::OK);
    let head = if stands_in { unconditional(head) } else { head.clone() };
    let found = once_read(&visit.site.routes, || files::find_declined(&visit.site, route, file, &head)).await?;
    let response = match found {
        Found::Response(response) => return Ok(Answer::Here(response)),
        Found::Index(path) => return index(&head, &path),
        Found::Folder(folder) => return autoindex::answer(visit, route, folder, &head).await.map(Answer::Here),
        Found::File(file, opened) => {
            // A handler may have named another file than the one that was asked for.
            if !Rc::ptr_eq(&file.settings, &route.settings) {
                admit(visit, &head, &file).await?;
            }
            files::send(&visit.site, &file, opened, &head)?
        }
        Found::Beyond(_) | Found::Handled(_) => return Err(Refusal::new(StatusCode::NOT_FOUND)),
    };
    match said {
        Some(said) => from_worker::with_file(response, said).map_err(|bad| complain(visit, route, &bad)),
        None => Ok(response),
    }
    .map(Answer::Here)
}

/// `DirectoryIndex /path`: the request goes on there, with its method, query and body.
fn index(head: &Parts, path: &str) -> Result<Answer, Refusal> {
    let query = head.uri.query().filter(|_| !path.contains('?')).map(|query| format!("?{query}")).unwrap_or_default();
    let mut head = head.clone();
    head.uri = Uri::try_from(format!("{path}{query}")).map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))?;
    Ok(Answer::Onward(Box::new(head)))
}

/// A page that stands in the place of another is sent whole: what the client knows is about the other.
fn unconditional(head: &Parts) -> Parts {
    let mut head = head.clone();
    head.method = if head.method == Method::HEAD { Method::HEAD } else { Method::GET };
    for name in [IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, RANGE] {
        head.headers.remove(name);
    }
    head
}

/// HTTP/1.0 knows no interim responses.
fn inform(visit: &Record, head: &wire::reply::Head) {
    if let Some(stream) = &visit.stream {
        stream.inform(head);
    } else if visit.head.version >= Version::HTTP_11 {
        visit.client.interim.borrow_mut().extend(from_worker::interim(head).unwrap_or_default());
    }
}

fn complain(visit: &Record, route: &Route, bad: &from_worker::BadHead) -> Refusal {
    visit.complain(route, bad);
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}

/// What every response has, and what its method and status take away.
fn finish(visit: Visit, response: Response<Kind>, ending: Ending) -> Response<Payload> {
    let (mut head, mut kind) = response.into_parts();
    let keep_alive = visit.keep_alive();
    // A connection of HTTP/2 has a way of its own to end.
    let last = visit.stream.is_none() && (!keep_alive.is_on() || keep_alive.is_enough(visit.served + 1));
    kind = compress::apply(&visit, &mut head, kind);
    if headers::complete(&visit, &mut head.headers, ending.refused).is_err() {
        // What was to be taken out of the answer may still be in it.
        head.headers.clear();
        head.status = StatusCode::INTERNAL_SERVER_ERROR;
        kind = Kind::Empty;
    }
    let wants = |name| visit.variables.borrow().get(name).is_some();
    let old = wants("downgrade-1.0") || wants("force-response-1.0");
    if old {
        head.version = Version::HTTP_10;
    }
    let is_head = visit.head.method == Method::HEAD;
    head.headers.insert(SERVER, server_name::header(&visit.site.software));
    if head.status == StatusCode::RESET_CONTENT {
        // It has no content, and says so (RFC 9110, 15.3.6).
        head.headers.insert(CONTENT_LENGTH, 0.into());
        kind = Kind::Empty;
    } else if is_head {
        if let Some(length) = kind.length() {
            head.headers.insert(CONTENT_LENGTH, length.into());
        }
        kind = Kind::Empty;
    } else if matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        kind = Kind::Empty;
    }
    kind.measure(visit.record());
    let is_before_chunks = visit.stream.is_none() && (old || visit.head.version < Version::HTTP_11);
    let open_ended = is_before_chunks && kind.is_of_unknown_length();
    if open_ended {
        visit.client.reads_to_the_end();
    }
    let leaving = visit.client.must_close() || visit.services.shared.is_stopping();
    let close = ending.close || last || old || open_ended || wants("nokeepalive") || leaving;
    if close {
        head.headers.insert(CONNECTION, CLOSE);
        // hyper would add to an answer of HTTP/1.1 that the connection is kept.
        head.version = if is_before_chunks { Version::HTTP_10 } else { head.version };
    }
    visit.status.set(head.status.as_u16());
    if visit.site.access_logs.want_answer() {
        let _ = visit.answer.set(head.headers.clone());
    }
    let kept = !close && visit.wants_keep_alive();
    Response::from_parts(head, Payload::new(kind, visit, kept))
}

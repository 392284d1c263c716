//! One request, from its head to its response.

use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;
use std::time::UNIX_EPOCH;

use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue, SERVER, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode, Uri, Version};
use hyper::body::Incoming;
use wire::frame::{self, Field, Flags};

use super::admit::{admit, take_turn};
use super::body::{self, Body};
use super::client::Client;
use super::error_page::Refusal;
use super::exchange::{Job, Limits};
use super::payload::{Kind, Payload, Ticket};
use super::record::{Record, Visit};
use super::route::{Asked, Route};
use super::static_files::Found;
use super::{error_document, headers, locate, redirection, response, static_files, variables};
use crate::config::LogLevel;
use crate::log;

const NAME: HeaderValue = HeaderValue::from_static("Cameleer");
const CLOSE: HeaderValue = HeaderValue::from_static("close");

/// Answers a request of `client`.
pub async fn answer(client: Rc<Client>, request: Request<Incoming>) -> Response<Payload> {
    let (head, body) = request.into_parts();
    let site = client.front.serving().unwrap_or_else(|| client.site.clone());
    let visit = Visit::begin(client, site, head);
    match dispatch(&visit, body).await {
        Ok(response) => finish(visit, response, Ending::default()),
        Err(refusal) => {
            let ending = Ending { refused: true, close: refusal.close };
            let response = error_document::answer(&visit, refusal).await;
            finish(visit, response, ending)
        }
    }
}

/// What [`finish`] has to know besides the response.
#[derive(Debug, Clone, Copy, Default)]
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
}

/// A script may send the request on this often; Apache's number.
const MAX_REDIRECTS: usize = 10;

async fn dispatch(visit: &Record, body: Incoming) -> Result<Response<Kind>, Refusal> {
    check(visit)?;
    let answer = lead(visit, &visit.head, Some(body)).await?;
    until_answered(visit, answer).await
}

/// The answer to a request that another one was sent on to.
pub async fn follow(visit: &Record, head: &Parts) -> Result<Response<Kind>, Refusal> {
    let answer = lead(visit, head, None).await?;
    until_answered(visit, answer).await
}

async fn until_answered(visit: &Record, mut answer: Answer) -> Result<Response<Kind>, Refusal> {
    for _ in 0..MAX_REDIRECTS {
        match answer {
            Answer::Here(response) => return Ok(response),
            Answer::Elsewhere(target) => answer = lead(visit, &redirected(&visit.head, &target)?, None).await?,
        }
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

async fn lead(visit: &Record, head: &Parts, body: Option<Incoming>) -> Result<Answer, Refusal> {
    let mut route = find(visit, head)?;
    settle(visit, head, &route);
    if let Some(answer) = &route.redirect {
        route.refused()?;
        return Err(redirection::refusal(answer, head.uri.query()));
    }
    if route.is_static() {
        match find_file(visit, head, &route).await? {
            Found::Response(response) => return Ok(Answer::Here(response)),
            Found::Beyond(_) => return Err(Refusal::new(StatusCode::NOT_FOUND)),
            Found::File(file, opened) => {
                let route = Rc::new(file);
                settle(visit, head, &route);
                take_turn(visit, head, &route)?;
                let head = headers::asked(visit, head, &route);
                return static_files::send(&visit.site, &route, opened, &head).map(Answer::Here);
            }
            Found::Handled(refined) => route = Rc::new(refined),
        }
    } else {
        let refined = static_files::behind(&visit.site, &route);
        admit(visit, head, refined.as_ref().unwrap_or(&route)).await?;
        if route.looks_for_a_file() && locate::is_behind_link(&visit.site, &route) {
            return Err(Refusal::new(StatusCode::FORBIDDEN));
        }
    }
    settle(visit, head, &route);
    take_turn(visit, head, &route)?;
    let head = headers::asked(visit, head, &route);
    work(visit, &head, route, body).await
}

/// Looks for the file of `route`. Even that there is none is said only to those who may come in; an index must be open to
/// them, and its folder too.
async fn find_file(visit: &Record, head: &Parts, route: &Route) -> Result<Found, Refusal> {
    let found = static_files::find(&visit.site, route, head);
    let file = found.as_ref().ok().and_then(Found::file);
    if file.is_none_or(|file| file.path != route.path) {
        admit(visit, head, route).await?;
    }
    if let Some(file) = file {
        admit(visit, head, file).await?;
    }
    found
}

/// From here on the request is about `route`.
fn settle(visit: &Record, head: &Parts, route: &Rc<Route>) {
    variables::settle(visit, head, route);
    *visit.route.borrow_mut() = Some(route.clone());
}

/// The limits that hyper does not know.
fn check(visit: &Record) -> Result<(), Refusal> {
    let limits = &visit.site.config.limits;
    let head = &visit.head;
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if head.method.as_str().len() + target + "  HTTP/1.1".len() > limits.request_line {
        return Err(Refusal::closing(StatusCode::URI_TOO_LONG));
    }
    if head.headers.iter().any(|(name, value)| name.as_str().len() + value.len() + ": ".len() > limits.field_size) {
        return Err(Refusal::closing(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    }
    let hosts = head.headers.get_all(HOST).iter().count();
    if hosts > 1 || (hosts == 0 && head.version == Version::HTTP_11) {
        return Err(Refusal::closing(StatusCode::BAD_REQUEST));
    }
    match head.method {
        Method::CONNECT => Err(Refusal::closing(StatusCode::METHOD_NOT_ALLOWED)),
        _ => Ok(()),
    }
}

fn find(visit: &Record, head: &Parts) -> Result<Rc<Route>, Refusal> {
    let host = match head.uri.host() {
        Some(host) => host,
        None => match head.headers.get(HOST) {
            Some(host) => host.to_str().map_err(|_| Refusal::new(StatusCode::BAD_REQUEST))?,
            None => "",
        },
    };
    // It becomes SERVER_NAME, which programs put into pages and headers.
    if !host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte)) {
        return Err(Refusal::new(StatusCode::BAD_REQUEST));
    }
    let path = match head.uri.path() {
        "" => "/",
        // `OPTIONS *` asks about the server as a whole; its root is the next best thing.
        "*" if head.method == Method::OPTIONS => "/",
        path => path,
    };
    let asked = Asked { local: &visit.client.local, host, path };
    Ok(visit.site.routes.find(&visit.site.config, asked)?)
}

/// Has a worker answer.
async fn work(visit: &Record, head: &Parts, route: Rc<Route>, body: Option<Incoming>) -> Result<Answer, Refusal> {
    let limit = match route.settings.limit_request_body {
        0 => u64::MAX,
        limit => limit,
    };
    let body = match body {
        Some(incoming) => body::receive(incoming, limit, visit.site.config.timeouts.client).await?,
        None => Body::Memory(Default::default()),
    };
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
    if let Some(said) = said {
        return response::response(ticket, said).map(Answer::Here).map_err(|bad| complain(visit, &route, &bad));
    }
    if let Some(target) = ticket.exchange().borrow_mut().elsewhere.take() {
        return Ok(Answer::Elsewhere(target));
    }
    let file = ticket.exchange().borrow_mut().file.take().unwrap_or_default();
    match static_files::find_declined(&visit.site, &route, &file, head)? {
        Found::Response(response) => Ok(Answer::Here(response)),
        Found::File(file, opened) => {
            // A handler may have named another file than the one that was asked for.
            if !Rc::ptr_eq(&file.settings, &route.settings) {
                admit(visit, head, &file).await?;
            }
            static_files::send(&visit.site, &file, opened, head).map(Answer::Here)
        }
        Found::Beyond(_) | Found::Handled(_) => Err(Refusal::new(StatusCode::NOT_FOUND)),
    }
}

/// HTTP/1.0 knows no interim responses.
fn inform(visit: &Record, head: &wire::reply::Head) {
    if visit.head.version >= Version::HTTP_11 {
        visit.client.interim.borrow_mut().extend(response::interim(head).unwrap_or_default());
    }
}

fn complain(visit: &Record, route: &Route, bad: &response::BadHead) -> Refusal {
    let path = String::from_utf8_lossy(&route.path);
    log::write(LogLevel::Error, "front", Some(&visit.client.remote), &format_args!("{path}: {bad}"));
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}

fn submit(visit: &Record, head: &Parts, route: &Rc<Route>, body: Body) -> Result<Ticket, Refusal> {
    let id = visit.client.front.next_id();
    let mut frame = visit.client.front.take_frame();
    encode(visit, head, (route, &body, id), &mut frame);
    let job = Job {
        id,
        frame,
        body: if let Body::File(file, _) = body { Some(file) } else { None },
        method: head.method.clone(),
        route: route.clone(),
        limits: Limits { queue: route.settings.queue_timeout, run: route.settings.request_timeout },
    };
    let exchange = visit.site.pool.submit(job)?;
    *visit.exchange.borrow_mut() = Some(exchange.clone());
    Ok(Ticket::new(visit.site.clone(), exchange))
}

fn encode(visit: &Record, head: &Parts, (route, body, id): (&Route, &Body, u64), into: &mut Vec<u8>) {
    let client = &visit.client;
    let mut request = frame::Request {
        id,
        received: visit.received.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64),
        body_length: body.len(),
        remote_port: client.remote.port,
        server_port: client.local.port,
        host: route.host,
        script_length: route.script_length,
        sections: &route.sections,
        ..Default::default()
    };
    match body {
        Body::Memory(bytes) => request.body = bytes,
        Body::File(..) => request.flags |= Flags::BODY_IN_FD,
    }
    if route.resolved {
        request.flags |= Flags::RESOLVED;
    }
    if route.script_alias {
        request.flags |= Flags::SCRIPT;
    }
    let absolute = head.uri.scheme().map(|_| head.uri.to_string());
    let target = absolute.as_deref().or_else(|| head.uri.path_and_query().map(|target| target.as_str()));
    let variables = variables::encode(&visit.variables.borrow());
    let mut set = |field: Field, bytes| request.fields[field as usize] = bytes;
    set(Field::Env, &variables);
    set(Field::Method, head.method.as_str().as_bytes());
    set(Field::Target, target.unwrap_or("/").as_bytes());
    set(Field::Protocol, protocol(head.version).as_bytes());
    set(Field::Path, &route.path);
    set(Field::Query, head.uri.query().unwrap_or("").as_bytes());
    set(Field::RemoteAddr, client.remote.ip.as_bytes());
    set(Field::LocalAddr, client.local.ip.as_bytes());
    set(Field::ServerName, route.server_name.as_bytes());
    set(Field::Filename, route.filename.as_os_str().as_bytes());
    set(Field::Overrides, &route.overrides);
    let visitor = visit.visitor.borrow();
    if let Some(name) = &visitor.name {
        set(Field::RemoteHost, name.as_bytes());
    }
    if let Some(user) = &visitor.user {
        set(Field::User, user.name.as_bytes());
        set(Field::AuthType, b"Basic");
    }
    let length = body.len().to_string();
    let headers = headers(head, &length);
    request.headers = &headers;
    request.encode(into);
}

/// A chunked body has arrived whole: the worker sees one of known length.
fn headers<'a>(head: &'a http::request::Parts, length: &'a str) -> Vec<(&'a [u8], &'a [u8])> {
    let chunked = head.headers.contains_key(TRANSFER_ENCODING);
    let mut headers = Vec::with_capacity(head.headers.len() + 1);
    for (name, value) in &head.headers {
        if !(chunked && (name == TRANSFER_ENCODING || name == CONTENT_LENGTH)) {
            headers.push((name.as_str().as_bytes(), value.as_bytes()));
        }
    }
    if chunked {
        headers.push((CONTENT_LENGTH.as_str().as_bytes(), length.as_bytes()));
    }
    headers
}

/// `HTTP/1.1`
pub fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

/// What every response has, and what its method and status take away.
fn finish(visit: Visit, response: Response<Kind>, ending: Ending) -> Response<Payload> {
    let (mut head, mut kind) = response.into_parts();
    let config = &visit.site.config;
    let last = config.max_keep_alive_requests != 0 && visit.served + 1 >= config.max_keep_alive_requests;
    headers::complete(&visit, &mut head.headers, ending.refused);
    let wants = |name| visit.variables.borrow().get(name).is_some();
    let old = wants("downgrade-1.0") || wants("force-response-1.0");
    if old {
        head.version = Version::HTTP_10;
    }
    let close = ending.close || last || old || wants("nokeepalive");
    head.headers.insert(SERVER, NAME);
    if close {
        head.headers.insert(CONNECTION, CLOSE);
    }
    if visit.head.method == Method::HEAD {
        if let Some(length) = kind.length() {
            head.headers.insert(CONTENT_LENGTH, length.into());
        }
        kind = Kind::Empty;
    } else if matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        kind = Kind::Empty;
    }
    visit.status.set(head.status.as_u16());
    if visit.site.access_logs.want_answer() {
        let _ = visit.answer.set(head.headers.clone());
    }
    let kept = !close && config.keep_alive && visit.wants_keep_alive();
    Response::from_parts(head, Payload::new(kind, visit, kept))
}

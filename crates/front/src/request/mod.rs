//! Processes one request, from its head to its response.

pub mod access;
mod actions;
mod ask_worker;
pub mod body;
mod cached;
pub mod context;
mod error_document;
pub mod files;
pub mod frame;
mod head_check;
mod pages;
pub mod proxied;
pub mod repeated;
pub mod respond;
pub mod rewrite;
pub mod services;
mod strictness;

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Instant;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode, Uri};
use percent_encoding::percent_encode;

use super::base::refusal::Refusal;
use super::generation::InUse;
use super::routing::{Asked, NotYet, Route, once_read, redirect};
use access::reverse_dns::named_by_dns;
use access::{admit, take_turn};
use base::path::{BadPath, MAX_SEGMENTS, PATH};
use body::RequestBody;
use body::drain::Left;
use body::source::Source;
use cached::Lookup;
use config::Handler;
use config::response::redirect::RedirectResponse;
use context::{RequestContext, RequestGuard, Stream, host_header, remote_ip, variables};
use files::{LookupResult, autoindex, lookup};
use respond::body::{BodySource, ResponseBody};
use respond::{ResponseEnding, compress, headers};
use rewrite::InFolder;
use services::Connection;

pub use cached::purge_url::purge as purge_url;

/// Answers a request; `stream` is set if it came on a multiplexed connection.
pub async fn answer(
    connection: &Connection,
    request: Request<Source>,
    stream: Option<Rc<dyn Stream>>,
) -> Response<ResponseBody> {
    let (mut head, body) = request.into_parts();
    let serving = connection.services.generations.use_serving();
    let in_use = serving.unwrap_or_else(|| InUse::new(connection.generation.clone()));
    // Limits apply to the fields as received, before repeated fields are joined.
    let fit = host_header::settle(&mut head).and_then(|()| head_check::measure(&head, &in_use.config.limits));
    repeated::join(&mut head);
    let context = RequestGuard::begin(connection, in_use.clone(), head, stream);
    let mut body = RequestBody::from(body);
    let mut answer = dispatch(&context, fit, &mut body).await;
    let mut close = answer.as_ref().is_err_and(|refusal| refusal.close);
    if !close {
        match body.drain(&context).await {
            Left::Nothing => {}
            Left::InTheWay => close = true,
            Left::TooLarge => {
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
        Err(refusal) => {
            hold_back(&context, &refusal).await;
            error_document::answer(&context, refusal).await
        }
    };
    let response = compress::apply(&context, response).await;
    respond::finish(context, response, ResponseEnding { refused, close })
}

/// Delays a 503 in an overload, so that refused clients do not retry at once.
async fn hold_back(context: &RequestContext, refusal: &Refusal) {
    if refusal.status == StatusCode::SERVICE_UNAVAILABLE {
        let later = context.services.shared.refusals.one_more(Instant::now());
        if !later.is_zero() {
            tokio::time::sleep(later).await;
        }
    }
}

/// The result of processing a request at its location.
enum Dispatched {
    /// The response.
    Response(Response<BodySource>),
    /// An internal redirect: answer a GET of this path instead.
    InternalRedirect(Vec<u8>),
    /// Answer this request instead, with the same body.
    Forward(Box<Parts>),
    /// As `Forward`, for the index of a folder: as in httpd, some rules do not apply to it.
    Index(Box<Parts>),
}

/// Maximum number of internal redirects; httpd's limit.
pub const MAX_REDIRECTS: usize = 10;

/// Answers the request, if its head is valid.
async fn dispatch(
    context: &RequestContext,
    fit: Result<(), Refusal>,
    body: &mut RequestBody,
) -> Result<Response<BodySource>, Refusal> {
    fit?;
    head_check::check(context)?;
    follow(context, &context.head, body).await
}

/// Answers a request with this head, which may be that of an internal redirect.
pub async fn follow(
    context: &RequestContext,
    head: &Parts,
    body: &mut RequestBody,
) -> Result<Response<BodySource>, Refusal> {
    context.be_subrequest(false);
    let mut head = Cow::Borrowed(head);
    let mut answer = lead(context, &head, body).await?;
    for _ in 0..MAX_REDIRECTS {
        answer = match answer {
            Dispatched::Response(response) => return Ok(response),
            Dispatched::InternalRedirect(target) => {
                context.be_subrequest(false);
                context.inherit_variables(variables::pass_on(context, &head, StatusCode::OK));
                head = Cow::Owned(redirected(&context.head, &target)?);
                lead(context, &head, &mut RequestBody::none()).await?
            }
            Dispatched::Forward(onward) => {
                context.be_subrequest(false);
                head = Cow::Owned(*onward);
                lead(context, &head, body).await?
            }
            Dispatched::Index(onward) => {
                context.be_subrequest(true);
                head = Cow::Owned(*onward);
                lead(context, &head, body).await?
            }
        };
    }
    if let Some(route) = context.route().as_deref() {
        context.log_error(
            route,
            &format!("was redirected internally {MAX_REDIRECTS} times: look for rules or scripts that form a loop"),
        );
    }
    Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
}

/// The request for an internal redirect: a GET, or HEAD, of the named path.
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

async fn lead(context: &RequestContext, head: &Parts, body: &mut RequestBody) -> Result<Dispatched, Refusal> {
    let mut route = find(context, head).await?;
    context.take_forced();
    variables::forget(context);
    remote_ip::settle(context, head, &route);
    settle(context, head, &route)?;
    let (head, moved) = rewrite::of_host(context, Cow::Borrowed(head), route).await?;
    let head = &*head;
    route = moved;
    redirect(&route, head, |answer| answer.of_host)?;
    let here = match rewrite::of_folder(context, head, &route).await? {
        InFolder::Same => None,
        InFolder::Here(here) => Some(here),
        InFolder::Onward(onward) if route.redirect.is_none() => return Ok(Dispatched::Forward(onward)),
        InFolder::Onward(_) => None,
        InFolder::Backend(at_backend) => {
            route = at_backend;
            settle(context, head, &route)?;
            None
        }
    };
    let head = here.as_deref().unwrap_or(head);
    redirect(&route, head, |_| true)?;
    let forced = context.take_forced();
    if !forced.is_none() {
        route = Rc::new(route.forced(forced));
        settle(context, head, &route)?;
    }
    if let Some(to) = route.backend.clone() {
        admit(context, head, &route).await?;
        take_turn(context, head, &route)?;
        // Fields that the client's Connection lists are removed before rules add fields of the same names.
        let mut own = head.clone();
        proxy::fields::end_to_end(&mut own.headers);
        let head = headers::edited(context, &own, &route)?;
        return proxied::answer(context, &head, &route, &to, body).await.map(Dispatched::Response);
    }
    if cached::purge::is_one(head, &route) {
        admit(context, head, &route).await?;
        return cached::purge::answer(context, head, &route).map(Dispatched::Response);
    }
    if !route.settings.has_perl_phases() && (route.is_static() || is_folder_of_programs(context, &route).await?) {
        let found = find_file(context, head, &route).await;
        measure(head, &route, &found)?;
        if let Some(onward) = actions::script(context, head, &route, &found)? {
            return Ok(Dispatched::Forward(Box::new(onward)));
        }
        match found? {
            LookupResult::Response(response) => return Ok(Dispatched::Response(response)),
            LookupResult::Index(path) => return index(head, &path).map(|head| Dispatched::Index(Box::new(head))),
            LookupResult::Folder(folder) => {
                return autoindex::answer(context, &route, folder, head).await.map(Dispatched::Response);
            }
            LookupResult::Beyond(_) => return Err(Refusal::new(StatusCode::NOT_FOUND)),
            LookupResult::File(file, opened) => {
                let route = file;
                settle(context, head, &route)?;
                take_turn(context, head, &route)?;
                let head = headers::edited(context, head, &route)?;
                return files::send(context, &route, opened, &head).await.map(Dispatched::Response);
            }
            LookupResult::Handled(refined) => route = refined,
        }
        settle(context, head, &route)?;
    } else {
        // The settings of the file's own sections apply to the whole request, Perl phases included.
        if let Some(of_file) = context.generation.wait_for(|| files::behind(&context.generation, &route)).await? {
            route = of_file;
        }
        admit(context, head, &route).await?;
        let is_behind_link = || Ok(lookup::is_behind_link(&context.generation, &route));
        if route.looks_for_a_file() && context.generation.wait_for(is_behind_link).await? {
            return Err(Refusal::new(StatusCode::FORBIDDEN));
        }
    }
    if !route.settings.has_perl_phases()
        && let Some(page) = pages::answer(context, head, &route, &route.settings.handler)
    {
        take_turn(context, head, &route)?;
        return page.map(Dispatched::Response);
    }
    route = named_by_dns(&context.services.names, &context.client.local, route).await;
    settle(context, head, &route)?;
    take_turn(context, head, &route)?;
    // The client's name may have been looked up since the access check.
    variables::settle(context, head, &route)?;
    let head = headers::edited(context, head, &route)?;
    run(context, &head, &route, body).await
}

/// Answers a request for a program, from the cache or by a worker.
async fn run(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    match cached::look_up(context, head, route, body).await? {
        Lookup::Hit(response) => Ok(Dispatched::Response(response)),
        Lookup::Miss { store } => store.request(body).await,
        Lookup::Pass => {
            let answer = match ask_worker::request(context, head, route, body).await {
                Ok(said) => ask_worker::deliver(context, head, route, said).await,
                Err(refusal) => Err(refusal),
            };
            cached::passed(context, head, route, &answer);
            answer
        }
    }
}

/// Whether the path is that of a folder of programs, whose index answers. As in mod_dir, the index gets the method and the body.
async fn is_folder_of_programs(context: &RequestContext, route: &Rc<Route>) -> Result<bool, Refusal> {
    let leads_on = || Ok(files::leads_to_an_index(&context.generation, route));
    Ok(route.settings.handler == Handler::CgiScript && context.generation.wait_for(leads_on).await?)
}

/// Applies `Redirect` of the host or of a location.
fn redirect(route: &Route, head: &Parts, is_due: fn(&RedirectResponse) -> bool) -> Result<(), Refusal> {
    let Some(answer) = route.redirect.as_ref().filter(|answer| is_due(answer)) else { return Ok(()) };
    route.refused()?;
    Err(redirect::refusal(answer, head.uri.query()))
}

/// Looks up the file of `route`. A 404 is sent only after the access check, so that strangers cannot probe names.
/// For an index, the client needs access to both the folder and the index file.
async fn find_file(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<LookupResult, Refusal> {
    let found = context.generation.wait_for(|| files::find(&context.generation, route, head)).await;
    let file = found.as_ref().ok().and_then(LookupResult::file);
    if file.is_none_or(|file| file.path != route.path) {
        admit(context, head, route).await?;
    }
    if let Some(file) = file {
        admit(context, head, file).await?;
    }
    found
}

/// Applies `LimitRequestBody` also to bodies that no handler reads. A 401 or 403 takes precedence over the 413.
fn measure(head: &Parts, route: &Route, found: &Result<LookupResult, Refusal>) -> Result<(), Refusal> {
    let route = match found {
        Ok(found) => found.file().map_or(route, |file| file),
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

/// Whether a refusal is about the file and not about the client.
fn is_about_what_is_there(status: StatusCode) -> bool {
    matches!(status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
}

/// Makes `route` the request's current route, and computes its variables.
fn settle(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    context.leads_to(route.clone());
    variables::settle(context, head, route)
}

/// Makes the route of a program's internal redirect current, so that its response headers and other settings apply.
async fn settle_at(context: &RequestContext, head: &Parts, path: &[u8]) {
    let mut there = head.clone();
    let Ok(uri) = Uri::try_from(percent_encode(path, PATH).to_string()) else { return };
    there.uri = uri;
    if let Ok(route) = find(context, &there).await {
        let _ = settle(context, &there, &route);
    }
}

async fn find(context: &RequestContext, head: &Parts) -> Result<Rc<Route>, Refusal> {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let path = match head.uri.path() {
        "" => "/",
        // `OPTIONS *` refers to the whole server; the settings of the root path are used for it.
        "*" if head.method == Method::OPTIONS => "/",
        path => path,
    };
    let asked = Asked { local: &context.client.local, host, path };
    let find = || {
        let found = context.generation.routes.find(&context.generation.config, asked);
        found.inspect_err(|not_yet| {
            if matches!(not_yet, NotYet::Bad(BadPath::TooDeep)) {
                context.client.log_error(&format!("a path of more than {MAX_SEGMENTS} segments is refused"));
            }
        })
    };
    let route = once_read(&context.generation.routes, find).await?;
    if strictness::is_misdirected(context, &route) {
        return Err(Refusal::new(StatusCode::MISDIRECTED_REQUEST));
    }
    strictness::check(context, head, &route)?;
    Ok(route)
}

/// Follows `DirectoryIndex /path` with the request's method, query and body.
fn index(head: &Parts, path: &str) -> Result<Parts, Refusal> {
    let query = head.uri.query().filter(|_| !path.contains('?')).map(|query| format!("?{query}")).unwrap_or_default();
    let mut head = head.clone();
    head.uri = Uri::try_from(format!("{path}{query}")).map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))?;
    Ok(head)
}

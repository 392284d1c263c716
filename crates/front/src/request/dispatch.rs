//! One request from its route to what answers there: rules, access, then a backend, a file or a program. Internal
//! redirects begin it anew.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::rc::Rc;

use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::access::reverse_dns::named_by_dns;
use super::access::{admit, limits::take_turn};
use super::ask_worker::WorkerReply;
use super::body::{RequestBody, measure};
use super::cached::{self, Lookup};
use super::context::{RequestContext, redirect_variables, remote_ip, variables};
use super::files::{self, LookupResult, autoindex, lookup, user_folders};
use super::filters;
use super::includes::{self, facts};
use super::internal_redirect::{MAX_REDIRECTS, index, redirected, unconditional};
use super::managed;
use super::negotiation::{self, MapChoice};
use super::place::{aliased, choose, find, find_by, settle_all};
use super::proxied::{event, forward};
use super::redirects::{PathRedirect, moved, redirect};
use super::respond::body::BodySource;
use super::respond::headers;
use super::rewrite::{self, InFolder};
use super::{Dispatched, actions, ask_worker, branches, fcgi, pages, passed, spelling};
use crate::base::refusal::{FileCause, Refusal};
use crate::routing::{Route, Routes};
use config::Handler;

/// Answers a request with this head, which may be that of an internal redirect.
pub async fn follow(
    context: &RequestContext,
    head: &Parts,
    body: &mut RequestBody,
) -> Result<Response<BodySource>, Refusal> {
    let (response, head) = reach(context, head, body).await?;
    match filters::may_apply(context, &response) {
        true => Ok(Box::pin(filters::apply(context, &head, response)).await),
        false => Ok(response),
    }
}

/// As [`follow`], for a response that no filter has changed. Returns the head after internal redirects, too.
pub async fn reach<'a>(
    context: &RequestContext,
    head: &'a Parts,
    body: &mut RequestBody,
) -> Result<(Response<BodySource>, Cow<'a, Parts>), Refusal> {
    context.be_subrequest(context.is_part());
    match step(context, head, body).await? {
        Dispatched::Response(response) => Ok((response, Cow::Borrowed(head))),
        answer => Box::pin(go_on(context, head, answer, body)).await,
    }
}

/// As [`reach`], for a request whose route is known.
pub async fn reach_at<'a>(
    context: &RequestContext,
    head: &'a Parts,
    route: Rc<Route>,
    body: &mut RequestBody,
) -> Result<(Response<BodySource>, Cow<'a, Parts>), Refusal> {
    let answer = at_place(context, head, route, body).await?;
    go_on(context, head, answer, body).await
}

/// Follows internal redirects.
async fn go_on<'a>(
    context: &RequestContext,
    head: &'a Parts,
    mut answer: Dispatched,
    body: &mut RequestBody,
) -> Result<(Response<BodySource>, Cow<'a, Parts>), Refusal> {
    let mut head = Cow::Borrowed(head);
    for _ in 0..MAX_REDIRECTS {
        answer = match answer {
            Dispatched::Response(response) => return Ok((response, head)),
            Dispatched::InternalRedirect(target) => {
                context.be_subrequest(context.is_part());
                body.forget_received();
                context.inherit_variables(redirect_variables::pass_on(context, &head, StatusCode::OK));
                head = Cow::Owned(redirected(&context.head, &target)?);
                step(context, &head, &mut RequestBody::none()).await?
            }
            Dispatched::Forward(onward) => {
                context.be_subrequest(context.is_part());
                head = Cow::Owned(*onward);
                step(context, &head, body).await?
            }
            Dispatched::Index(onward) => {
                context.be_subrequest(true);
                head = Cow::Owned(*onward);
                step(context, &head, body).await?
            }
        };
    }
    if let Some(route) = context.route().as_deref() {
        context.log_error(
            route,
            &format!("was redirected internally {MAX_REDIRECTS} times; look for rules or scripts that form a loop"),
        );
    }
    Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
}

/// One round: finds the place of a request, and what answers it there or which request follows.
async fn step(context: &RequestContext, head: &Parts, body: &mut RequestBody) -> Result<Dispatched, Refusal> {
    if let Some(response) = managed::challenge(context, head) {
        return Ok(Dispatched::Response(response));
    }
    if head.method == Method::OPTIONS && head.uri.path() == "*" {
        return Box::pin(passed::of_server(context, head)).await;
    }
    match resolve(context, head).await? {
        Resolved::Break(onward) => Ok(Dispatched::Forward(onward)),
        Resolved::Continue((head, route)) => match route.backend.clone() {
            _ if cached::purge::is_one(&head, &route) => {
                Box::pin(admit(context, &head, &route)).await?;
                cached::purge::answer(context, &head, &route).map(Dispatched::Response)
            }
            Some(to) => Box::pin(passed::answer(context, &head, &route, &to, body)).await,
            None => {
                let mut answer = at_place(context, &head, route, body).await?;
                if let (Dispatched::Response(response), Cow::Owned(head)) = (&mut answer, head) {
                    includes::remember_head(context, response, head);
                }
                Ok(answer)
            }
        },
    }
}

/// A request whose rules have been applied, with its route; or the request that it became, which begins anew.
type Resolved<'a> = ControlFlow<Box<Parts>, (Cow<'a, Parts>, Rc<Route>)>;

/// The route of a request: its path, the rules of the host and of the folder, redirects of both.
async fn resolve<'a>(context: &RequestContext, head: &'a Parts) -> Result<Resolved<'a>, Refusal> {
    let forwarded = match head.method == Method::CONNECT || head.uri.scheme().is_some() {
        true => Box::pin(forward::route(context, head)).await?,
        false => None,
    };
    let mut route = match forwarded {
        Some(route) => route,
        None if head.method == Method::CONNECT => return Err(Refusal::not_allowed()),
        None => find(context, head).await?,
    };
    context.take_forced();
    variables::invalidate(context);
    remote_ip::settle(context, head, &route);
    headers::settle_early(context, head, &route)?;
    settle_all(context, head, &route).await?;
    if forward::is_forwarded(&route) {
        return Ok(Resolved::Continue((Cow::Borrowed(head), choose(context, head, route).await?)));
    }
    if route.backend.is_some() && context.has_variable("no-proxy") {
        route = find_by(context, head, Routes::without_backend).await?;
        settle_all(context, head, &route).await?;
    }
    managed::gate(context, head, &route)?;
    let (mut head, mut route) = rewrite::of_host(context, Cow::Borrowed(head), route).await?;
    redirect(context, &route, &head, |answer| answer.of_host).await?;
    route = aliased(context, &head, route).await?;
    if let Some(of) = user_folders::of(context, &route) {
        route = Box::pin(user_folders::find(context, &head, route, of)).await?;
    }
    route = choose(context, &head, route).await?;
    if let Some(chosen) = negotiation::multi_views(context, &head, &route).await? {
        settle_all(context, &head, &chosen).await?;
        route = choose(context, &head, chosen).await?;
    }
    match rewrite::of_folder(context, &head, &route).await? {
        InFolder::Same => {}
        InFolder::Here(here) => head = Cow::Owned(*here),
        InFolder::Onward(onward) if route.redirect.is_none() => return Ok(Resolved::Break(onward)),
        InFolder::Onward(_) => {}
        InFolder::Backend(at_backend) => {
            route = at_backend;
            settle_all(context, &head, &route).await?;
        }
    }
    redirect(context, &route, &head, |_| true).await?;
    let forced = context.take_forced();
    if !forced.is_none() {
        route = Rc::new(route.forced(forced));
        settle_all(context, &head, &route).await?;
    }
    Ok(Resolved::Continue((head, route)))
}

/// Answers by the place itself: a file, a page of the server, or a program.
async fn at_place(
    context: &RequestContext,
    head: &Parts,
    route: Rc<Route>,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    let has_phases = route.settings.has_perl_phases();
    let route = if !has_phases && (route.is_static() || is_folder_of_programs(context, &route).await?) {
        match on_disk(context, head, route, body).await? {
            OnDisk::Response(answer) => return Ok(answer),
            OnDisk::Program(route) => route,
        }
    } else {
        admit_to_program(context, head, route).await?
    };
    if !route.settings.has_perl_phases()
        && let Some(page) = pages::answer(context, head, &route, &route.settings.handler)
    {
        take_turn(context, head, &route).await?;
        return page.map(Dispatched::Response);
    }
    at_program(context, head, route, body).await
}

/// The result of looking up the path on disk.
enum OnDisk {
    /// A file, a list of a folder, or an internal redirect.
    Response(Dispatched),
    /// A program, with its route.
    Program(Rc<Route>),
}

/// Looks for the file of a path, and sends it.
async fn on_disk(
    context: &RequestContext,
    head: &Parts,
    mut route: Rc<Route>,
    body: &mut RequestBody,
) -> Result<OnDisk, Refusal> {
    let found = find_file(context, head, &route).await;
    if found.as_ref().is_err_and(|refusal| refusal.status == StatusCode::NOT_FOUND) {
        Box::pin(spelling::correct(context, head, &route)).await?;
    }
    measure(head, &route, &found)?;
    if let Some(onward) = actions::script(context, head, &route, &found)? {
        return Ok(OnDisk::Response(Dispatched::Forward(Box::new(onward))));
    }
    let answer = match found? {
        LookupResult::Moved(status, path) => return Err(moved(context, head, &route, PathRedirect { status, path })),
        LookupResult::Index(path) => Dispatched::Index(Box::new(index(head, &path)?)),
        LookupResult::Folder(folder) => {
            Dispatched::Response(Box::pin(autoindex::answer(context, &route, folder, head)).await?)
        }
        LookupResult::Beyond(_) => return Err(Refusal::new(StatusCode::NOT_FOUND)),
        LookupResult::File(file, opened) => {
            let requested = std::mem::replace(&mut route, file);
            settle_all(context, head, &route).await?;
            if files::is_type_map(&context.generation.config, &route) {
                return Ok(OnDisk::Response(
                    match Box::pin(negotiation::type_map(context, head, &requested, &route)).await? {
                        MapChoice::Onward(onward) => Dispatched::Forward(onward),
                        MapChoice::Response(response) => Dispatched::Response(response),
                    },
                ));
            }
            take_turn(context, head, &route).await?;
            includes::keep_body(context, head, &route, body).await?;
            let head = headers::edited(context, head, &route).await?;
            files::send(context, &route, opened, &head).await?.into()
        }
        LookupResult::Handled(route) => {
            settle_all(context, head, &route).await?;
            return Ok(OnDisk::Program(route));
        }
    };
    Ok(OnDisk::Response(answer))
}

/// Checks access to a program for which no file was looked up.
async fn admit_to_program(context: &RequestContext, head: &Parts, mut route: Rc<Route>) -> Result<Rc<Route>, Refusal> {
    // The settings of the file's own sections apply to the whole request, Perl phases included.
    if let Some(of_file) = context.generation.wait_for(|| files::behind(&context.generation, &route)).await? {
        route = choose(context, head, of_file).await?;
    }
    admit(context, head, &route).await?;
    let is_behind_link = || Ok(lookup::is_behind_link(&context.generation, &route));
    if route.looks_for_a_file() && context.generation.wait_for(is_behind_link).await? {
        let refusal = Refusal::forbidden(FileCause::SymbolicLink);
        files::log_cause(context, &route, &refusal);
        return Err(refusal);
    }
    Ok(route)
}

/// Answers by a program, when its turn comes.
async fn at_program(
    context: &RequestContext,
    head: &Parts,
    route: Rc<Route>,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    let route = named_by_dns(&context.services.names, &context.client.local, route).await;
    settle_all(context, head, &route).await?;
    take_turn(context, head, &route).await?;
    // The client's name may have been looked up since the access check.
    variables::settle_all(context, head, &route).await?;
    let mut head = headers::edited(context, head, &route).await?;
    if facts::may_parse_output(&route) {
        unconditional(head.to_mut());
    }
    run(context, &head, &route, body).await
}

/// Looks up the file of a path on this site, with the rules of its host and its access rules.
pub async fn look_up(context: &RequestContext, head: &Parts) -> Result<LookupResult, Refusal> {
    context.be_subrequest(context.is_part());
    let route = find(context, head).await?;
    settle_all(context, head, &route).await?;
    let (head, route) = rewrite::of_host(context, Cow::Borrowed(head), route).await?;
    let route = choose(context, &head, route).await?;
    redirect(context, &route, &head, |_| true).await?;
    let (head, route) = stay(context, head, route).await?;
    find_file(context, &head, &route).await
}

/// Applies the rules of the route's folder. Rules that lead to another request or to a backend refuse with a 404.
pub async fn stay<'a>(
    context: &RequestContext,
    head: Cow<'a, Parts>,
    mut route: Rc<Route>,
) -> Result<(Cow<'a, Parts>, Rc<Route>), Refusal> {
    let in_folder = rewrite::of_folder(context, &head, &route).await?;
    let head = match in_folder {
        InFolder::Same => head,
        InFolder::Here(here) => Cow::Owned(*here),
        InFolder::Onward(_) | InFolder::Backend(_) => return Err(Refusal::new(StatusCode::NOT_FOUND)),
    };
    let forced = context.take_forced();
    if !forced.is_none() {
        route = Rc::new(route.forced(forced));
        settle_all(context, &head, &route).await?;
    }
    Ok((head, route))
}

/// Answers a request for a program, from the cache or by a worker.
pub async fn run(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    if context.is_websocket_stream() && !event::is_in_event_pool(context, route) {
        return Err(Refusal::not_allowed());
    }
    if let Handler::Backend(backend) = &route.settings.handler {
        return Box::pin(fcgi::handle(context, head, route, backend, body)).await;
    }
    let lookup = match cached::is_on(context) {
        true => Box::pin(cached::look_up(context, head, route, body)).await?,
        false => Lookup::Pass,
    };
    match lookup {
        Lookup::Hit(response) => Ok(Dispatched::Response(response)),
        Lookup::Miss { store } => Box::pin(store.request(body)).await,
        Lookup::Pass => {
            let answer = match event::is_for(context, route) {
                true => Box::pin(event::answer(context, head, route, body)).await.map(Dispatched::Response),
                false => match ask_worker::request(context, head, route, body).await {
                    Ok(WorkerReply::Response(response)) => Ok(Dispatched::Response(response)),
                    Ok(reply) => Box::pin(ask_worker::deliver(context, head, route, reply)).await,
                    Err(refusal) => Err(refusal),
                },
            };
            cached::passed(context, head, route, &answer);
            answer
        }
    }
}

/// Whether the path is that of a folder of programs, whose index answers. As in mod_dir, the index gets the method and
/// the body.
async fn is_folder_of_programs(context: &RequestContext, route: &Rc<Route>) -> Result<bool, Refusal> {
    let leads_on = || Ok(files::leads_to_an_index(&context.generation, route));
    Ok(route.settings.handler.is_cgi() && context.generation.wait_for(leads_on).await?)
}

/// Looks up the file of `route`. A 404 is sent only after the access check, so that strangers cannot probe names.
/// For an index, the client needs access to both the folder and the index file.
pub async fn find_file(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<LookupResult, Refusal> {
    let mut found = context.generation.wait_for(|| files::find(&context.generation, route, head)).await;
    if let Ok(found) = &mut found
        && let Some(file) = found.file_mut()
    {
        if branches::may_apply(context, file) {
            *file = Box::pin(branches::applied(context, head, file.clone())).await?;
        }
        found.follow_handler();
    }
    let file = found.as_ref().ok().and_then(LookupResult::file);
    if file.is_none_or(|file| file.path != route.path) {
        admit(context, head, route).await?;
    }
    if let Some(file) = file {
        admit(context, head, file).await?;
    }
    found.inspect_err(|refusal| files::log_cause(context, route, refusal))
}

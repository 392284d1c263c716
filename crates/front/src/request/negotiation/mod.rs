//! Negotiation of content (httpd manual, mod_negotiation): a path stands for several files, and the client's headers
//! choose one. `Options MultiViews` finds the files by their names, a type map lists them.

mod accept;
mod choose;
pub mod folder;
mod quality;
pub mod response;
mod type_map;
mod variant;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::rc::Rc;

use http::header::{ALLOW, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode, Uri};
use percent_encoding::percent_encode;

use super::access::admit;
use super::context::RequestContext;
use super::files::{is_type_map, lookup, similar::MAX_VARIANTS};
use super::respond::body::BodySource;
use crate::base::refusal::Refusal;
use crate::base::target;
use crate::generation::View;
use crate::routing::{NotYet, Route};
use accept::Accepts;
use base::path::{NOT_IN_TARGET, PATH, Text, stays_below};
use choose::{Preferences, choose};
use config::response::negotiation::ForcePriority;
use files::open::{Links, PathWithLinks, root};
use folder::Candidates;
use quality::Rules;
use response::NegotiationHeaders;
use variant::Variant;

/// The route of the file that MultiViews chooses for a missing one; `None` if the file is there, or no name is similar.
pub async fn multi_views(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
) -> Result<Option<Rc<Route>>, Refusal> {
    if !route.settings.options.multi_views || !route.looks_for_a_file() || route.backend.is_some() {
        return Ok(None);
    }
    Box::pin(best_variant(context, head, route)).await
}

async fn best_variant(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<Option<Rc<Route>>, Refusal> {
    let generation = &context.generation;
    let Some(missing) = generation.wait_for(|| folder::find(generation, route)).await? else { return Ok(None) };
    admit(context, head, route).await?;
    if missing.is_cut {
        context.log_error(
            route,
            &format_args!(
                "MultiViews: compares the first {} files for a name, and the first {} names of a folder; there are more",
                MAX_VARIANTS,
                files::names::MAX_NAMES
            ),
        );
    }
    let mut variants = Vec::new();
    for name in &missing.names {
        let found = generation.wait_for(|| folder::variant(generation, route, &missing, name)).await?;
        let Some((variant, own)) = found.and_then(|variant| variant.route.clone().map(|own| (variant, own))) else {
            continue;
        };
        if !may_enter(context, head, &own).await? {
            continue;
        }
        if is_type_map(&generation.config, &own) {
            return chosen(context, route, &missing, &variant.name).await.map(Some);
        }
        variants.push(variant);
    }
    if variants.is_empty() {
        context.log_error(route, &"MultiViews: files begin with this name, but none of them can be sent");
        return Err(Refusal::new(StatusCode::NOT_FOUND));
    }
    variants.sort_by(|one, other| other.source_quality.total_cmp(&one.source_quality));
    let query = target::query(head).is_some();
    let prefers_programs = !is_get(head) || query || !missing.path_info.is_empty();
    let choice = decide(context, head, route, &variants, Request { path_info: &missing.path_info, prefers_programs })?;
    chosen(context, route, &missing, &choice.name).await.map(Some)
}

/// Whether the client may read a variant. Its own access rules decide, as if it had asked for the file.
async fn may_enter(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<bool, Refusal> {
    let kept = context.set_aside();
    let answer = admit(context, head, route).await;
    context.restore(kept);
    match answer {
        Ok(()) => Ok(true),
        Err(refusal) if refusal.status.is_server_error() => Err(refusal),
        Err(_) => Ok(false),
    }
}

/// The route of the file `name`, with the path behind the missing name.
async fn chosen(
    context: &RequestContext,
    route: &Rc<Route>,
    missing: &Candidates,
    name: &str,
) -> Result<Rc<Route>, Refusal> {
    let path = [&missing.path(name)[..], &missing.path_info].concat();
    let mut file = missing.file(name).into_os_string();
    file.push(Text::bytes_of(Text::new(&missing.path_info).0.into()));
    let (generation, file) = (&context.generation, Path::new(&file));
    generation.wait_for(|| generation.routes.at_variant(&generation.config, route, file, path.clone())).await
}

/// The properties of a request that negotiation depends on.
struct Request<'a> {
    path_info: &'a [u8],
    prefers_programs: bool,
}

/// The best variant, or the refusal with their list. Adds the headers about the negotiation.
fn decide<'a>(
    context: &RequestContext,
    head: &Parts,
    route: &Route,
    variants: &'a [Variant],
    request: Request<'_>,
) -> Result<&'a Variant, Refusal> {
    let are_neighbours = variants.iter().all(|variant| !variant.name.contains('/') && variant.body.is_none());
    let is_transparent = is_get(head) && request.path_info.is_empty() && are_neighbours;
    let client = if is_transparent { NegotiatingClient::of(head) } else { NegotiatingClient::default() };
    let settings = &route.settings.response.negotiation;
    let accepts = Accepts::of(&head.headers);
    let rules = Rules {
        accepts: &accepts,
        may_adjust: !client.is_exact,
        prefers_programs: request.prefers_programs,
        is_remote: client.is_remote,
        force: settings.force.unwrap_or(ForcePriority::USUAL),
        priority: settings.language_priority.as_deref().unwrap_or_default(),
        without_language: Rules::quality_without_language(variants, !client.is_exact),
    };
    let best = if client.wants_list { None } else { choose(&rules, variants, &preferences(context)) };
    let best = best.and_then(|at| variants.get(at));
    let headers =
        NegotiationHeaders { variants, is_transparent, sends_alternates: client.is_capable || best.is_none() };
    headers.tell(context, best);
    match best {
        Some(best) => {
            context.negotiated_among(fingerprint(variants).filter(|_| is_transparent));
            Ok(best)
        }
        None if client.is_capable => Err(headers.list(StatusCode::MULTIPLE_CHOICES)),
        None => {
            context.log_error(route, &"no variant is acceptable to the client");
            Err(headers.list(StatusCode::NOT_ACCEPTABLE))
        }
    }
}

/// A number that changes with the list of variants, for the entity tag of each.
fn fingerprint(variants: &[Variant]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    for variant in variants {
        (&variant.name, &variant.mime, &variant.charset, &variant.languages, &variant.encoding).hash(&mut hasher);
    }
    Some(hasher.finish())
}

fn is_get(head: &Parts) -> bool {
    matches!(head.method, Method::GET | Method::HEAD)
}

fn preferences(context: &RequestContext) -> Preferences {
    let variables = context.variables();
    Preferences {
        language: variables.get("prefer-language").map(|language| language.to_string()),
        no_encodings: variables.get("no-gzip").is_some(),
        encodings_of_html_only: variables.get("gzip-only-text/html").is_some_and(|value| value == "1"),
    }
}

/// A client that negotiates itself, by its header `Negotiate` (RFC 2295).
#[derive(Default)]
struct NegotiatingClient {
    /// Whether the client understands a list of variants.
    is_capable: bool,
    /// Whether the client chooses from the list.
    wants_list: bool,
    /// Whether the client allows the remote algorithm (RFC 2296).
    is_remote: bool,
    /// Whether the client's qualities hold as sent.
    is_exact: bool,
}

impl NegotiatingClient {
    fn of(head: &Parts) -> NegotiatingClient {
        let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        let mut client = NegotiatingClient::default();
        let Some(negotiate) = text("negotiate") else { return client };
        // Lynx sends `Negotiate: trans`, but cannot choose from a list of variants.
        if negotiate == "trans" && text("user-agent").is_some_and(|agent| agent.starts_with("Lynx")) {
            return client;
        }
        client.wants_list = true;
        for token in negotiate.split(',').map(str::trim) {
            let is_version = token.starts_with(|c: char| c.is_ascii_digit());
            client.is_capable |= is_version || matches!(token, "trans" | "vlist" | "guess-small" | "*");
            if matches!(token, "1.0" | "*") {
                client.wants_list = false;
                client.is_exact = true;
                client.is_remote |= token == "1.0";
            }
        }
        client
    }
}

/// The choice of a type map.
pub enum MapChoice {
    /// The request for the chosen variant.
    Onward(Box<Parts>),
    /// The chosen variant, which the map contains.
    Response(Response<BodySource>),
}

/// Chooses a variant of the type map that `route` leads to. `requested` is the route of the request.
pub async fn type_map(
    context: &RequestContext,
    head: &Parts,
    requested: &Route,
    map: &Rc<Route>,
) -> Result<MapChoice, Refusal> {
    let generation = &context.generation;
    let variants = generation.wait_for(|| read_map(generation, map)).await?;
    let variants = variants.map_err(|why| {
        context.log_error(map, &format_args!("invalid type map: {why}"));
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
    })?;
    let length = map.script_length.map_or(map.path.len(), |length| length as usize);
    let (own_path, path_info) = map.path.split_at_checked(length).unwrap_or((&map.path, b""));
    let best = decide(context, head, requested, &variants, Request { path_info, prefers_programs: false })?;
    if let Some(body) = &best.body {
        return whole(head, best, body).map(MapChoice::Response);
    }
    let folder = own_path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let folder = percent_encode(own_path.get(..folder).unwrap_or_default(), PATH);
    let name = percent_encode(best.name.as_bytes(), NOT_IN_TARGET);
    let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let target = format!("{folder}{name}{}{query}", percent_encode(path_info, PATH));
    let mut head = head.clone();
    head.uri = Uri::try_from(target).map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))?;
    Ok(MapChoice::Onward(Box::new(head)))
}

/// The variants of a type map; the inner error says why it is invalid.
fn read_map(generation: &View, map: &Route) -> Result<Result<Vec<Variant>, String>, NotYet> {
    let contents = generation.opener.contents(way(generation, map, &map.filename)).map_err(lookup::refusal)?;
    let Some(contents) = contents else { return Ok(Err("a type map may have at most 64 KB".to_owned())) };
    let own_name = map.filename.file_name().unwrap_or_default().to_string_lossy();
    let mut variants = match type_map::parse(&String::from_utf8_lossy(&contents), &own_name) {
        Ok(variants) => variants,
        Err(why) => return Ok(Err(why)),
    };
    let folder = map.filename.parent().unwrap_or(Path::new("/"));
    for variant in variants.iter_mut().filter(|variant| variant.length.is_none() && stays_below(&variant.name)) {
        let file = folder.join(&variant.name);
        variant.length = generation.opener.open(way(generation, map, &file)).ok().map(|opened| opened.size);
    }
    Ok(Ok(variants))
}

fn way<'a>(generation: &'a View, map: &Route, path: &'a Path) -> PathWithLinks<'a> {
    let root = root(&generation.config, map.host, path);
    PathWithLinks { root, path, links: Links::of(map.settings.options) }
}

/// The response with a variant that the map contains.
fn whole(head: &Parts, variant: &Variant, body: &[u8]) -> Result<Response<BodySource>, Refusal> {
    if !matches!(head.method, Method::GET | Method::HEAD | Method::POST) {
        let allowed = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");
        return Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, allowed));
    }
    let mut response = Response::new(BodySource::whole(body.to_vec().into()));
    let mime = match variant.charset.as_str() {
        "" => variant.mime.clone(),
        charset => format!("{}; charset={charset}", variant.mime),
    };
    let fields: [(HeaderName, String); 3] = [
        (CONTENT_TYPE, mime),
        (CONTENT_LANGUAGE, variant.language_list()),
        (CONTENT_ENCODING, variant.encoding.clone()),
    ];
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
        response.headers_mut().extend(HeaderValue::from_str(&value).ok().map(|value| (name, value)));
    }
    Ok(response)
}

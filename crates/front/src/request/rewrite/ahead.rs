//! Answers to the questions of rewrite rules: results of look-aheads, and values of programs and databases.
//!
//! As in httpd, a look-ahead passes the rules of its host and the access check, and is not answered. Perl handlers do
//! not run: a place where one of them decides about access counts as refused.

use std::borrow::Cow;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;

use http::StatusCode;
use http::request::Parts;
use percent_encoding::percent_decode_str;

use super::places::{PartedName, parted, tidy};
use super::{of_host, onward};
use crate::base::fair::Claimant;
use crate::base::refusal::Refusal;
use crate::request::access::{admit, folder_of};
use crate::request::context::RequestContext;
use crate::request::place::{find, settle_all};
use crate::routing::{Route, bytes};
use base::path::Text;
use config::Phase;
use config::response::expr::LookAhead;
use config::response::rewrite::{LookedUp, MapSource, Question, RuleAnswer};

/// The answer to a question about the request.
pub fn answer<'a>(
    context: &'a RequestContext,
    head: &'a Parts,
    route: &'a Route,
    question: &'a Question,
) -> Pin<Box<dyn Future<Output = RuleAnswer> + 'a>> {
    // Boxed, since the rules of the other path may look ahead in turn.
    Box::pin(async move {
        match question {
            Question::Value(source, key) => {
                RuleAnswer::Value(value(context, route, source, key).await.unwrap_or_else(|why| {
                    context.log_error(route, &format_args!("RewriteMap: {why}"));
                    None
                }))
            }
            Question::LookAhead(ahead) => RuleAnswer::LookedUp(Box::new(look_ahead(context, head, route, ahead).await)),
        }
    })
}

/// The value that a map has for a key. The error is a line for the log.
async fn value(
    context: &RequestContext,
    route: &Route,
    source: &MapSource,
    key: &str,
) -> Result<Option<String>, String> {
    let claimant = || Claimant::new(folder_of(context, route), Some(context.remote().ip_addr()));
    match source {
        MapSource::Program(program) => context.generation.map_programs.value(&program.command, key).await,
        MapSource::Dbm(file) => context.generation.map_databases.of_file(file, key).await,
        MapSource::Sql(query) => {
            let database = route.settings.access.database()?;
            context.generation.map_databases.of_query(database, query, key, &claimant()).await
        }
    }
}

/// Processes a look-ahead, and restores the state of this request.
pub async fn look_ahead(context: &RequestContext, head: &Parts, route: &Route, ahead: &LookAhead) -> LookedUp {
    let kept = context.set_aside();
    let found = match ahead {
        LookAhead::Path(path) => of_path(context, head, path).await,
        LookAhead::File(name) => of_file(context, head, route, name).await,
    };
    let found = match found {
        Ok(found) => LookedUp { user: context.visitor().user().map(|user| user.name.clone()), ..found },
        Err(refusal) => LookedUp { status: refusal.status.as_u16(), ..LookedUp::default() },
    };
    context.restore(kept);
    found
}

/// Whether the client may access the path of `head` on this site, whatever is there. The request is only for this.
pub async fn is_accessible(context: &RequestContext, head: &Parts) -> bool {
    let query = head.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    context.be_judged();
    let path = format!("{}{query}", percent_decode_str(head.uri.path()).decode_utf8_lossy());
    of_path(context, head, &path).await.is_ok()
}

async fn of_path(context: &RequestContext, head: &Parts, path: &str) -> Result<LookedUp, Refusal> {
    if !path.starts_with('/') {
        return Err(Refusal::new(StatusCode::BAD_REQUEST));
    }
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let there = onward(head, &tidy(path), query)?;
    let route = find(context, &there).await?;
    settle_all(context, &there, &route).await?;
    let (there, route) = of_host(context, Cow::Owned(there), route).await?;
    judged(context, &there, route).await
}

async fn of_file(context: &RequestContext, head: &Parts, route: &Route, name: &str) -> Result<LookedUp, Refusal> {
    let folder = Text::new(bytes(route.filename.parent().unwrap_or(Path::new("/")))).0;
    let file = tidy(&Path::new(&folder).join(name).to_string_lossy());
    // A name with `..` would be outside of the sections that its text matches.
    if file.split('/').any(|part| part == "..") {
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    let file = Text::bytes_of(PathBuf::from(file));
    let generation = &context.generation;
    let there = generation.wait_for(|| generation.routes.at_file(&generation.config, route, &file, None)).await?;
    settle_all(context, head, &there).await?;
    judged(context, head, there).await
}

async fn judged(context: &RequestContext, head: &Parts, route: Rc<Route>) -> Result<LookedUp, Refusal> {
    let is_perls = |phase: Phase| !route.settings.phases.of(phase).is_empty();
    if route.settings.needs_perl_for_users() || is_perls(Phase::Access) {
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    admit(context, head, &route).await?;
    let PartedName { file: filename, path_info, .. } =
        context.generation.wait_for(|| Ok(parted(context, &route))).await?;
    let name = Text::bytes_of(PathBuf::from(&filename));
    let is_there = context.generation.wait_for(|| Ok(context.generation.opener.is_there(&name))).await?;
    let uri = Text::new(&route.path).0;
    Ok(LookedUp { status: 200, uri, filename, path_info, is_there, user: None })
}

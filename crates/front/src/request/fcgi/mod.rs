//! Requests that a FastCGI application answers which this server did not start: `ProxyPass`, `RewriteRule [P]` and
//! `SetHandler` with `fcgi://`.
//!
//! ```text
//!   pass, handle ── script, variables, upload ──▶ proxy::Applications ──▶ application
//!                ◀─ response, BodySource::Backend ─┘
//! ```

pub mod guard;
mod response;
mod script;
mod stderr;
mod upload;
mod variables;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use http::request::Parts;

use super::Dispatched;
use super::body::RequestBody;
use super::context::RequestContext;
use super::phases::{self, PhasesResult};
use super::proxied::shared::waits;
use super::proxied::upload::UploadState;
use crate::base::refusal::Refusal;
use crate::routing::Route;
use config::proxy::{BackendParameters, Passed};
use config::{At, BackendHandler, fcgi};
use proxy::{FastcgiFailure, FastcgiRequest};
use script::Script;

/// The response of the application to which `ProxyPass` or a rule passes the path of `route`.
pub async fn pass(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    to: &Passed,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    let script = context.generation.wait_for(|| Ok(Script::of_path(context, route, to))).await?;
    ask(context, head, route, Application { to, script: &script }, body).await
}

/// The response of the application that is the handler of the file of `route`.
pub async fn handle(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    handler: &BackendHandler,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    if !route.settings.fcgi.names(&handler.url) {
        context.log_error(route, &format_args!("SetHandler: {}: {}", handler.name, fcgi::unnamed(&handler.url)));
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
    }
    // As in httpd, an application that only a handler names is tried each time.
    let external = route.settings.fcgi.external.as_ref();
    let parameters = BackendParameters {
        retry: Some(Duration::ZERO),
        timeout: external.map(|external| external.idle_timeout),
        connection_timeout: external.and_then(|external| external.connect_timeout),
        ..BackendParameters::default()
    };
    let to = Passed { url: handler.url.clone(), parameters: Arc::new(parameters), at: At::default() };
    let script = context.generation.wait_for(|| Ok(Script::of_file(context, route, &to))).await?;
    match phases::run(context, head, route, body, None).await? {
        PhasesResult::Onward(head) => ask(context, &head, route, Application { to: &to, script: &script }, body).await,
        PhasesResult::Answered(answered) => Ok(answered),
    }
}

/// Where a request goes, and the script there that it names.
struct Application<'a> {
    to: &'a Passed,
    script: &'a Script,
}

async fn ask(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    application: Application<'_>,
    body: &mut RequestBody,
) -> Result<Dispatched, Refusal> {
    let Application { to, script } = application;
    let state = Rc::<UploadState>::default();
    let (upload, length) = upload::of(context, head, route, body, state.clone()).await?;
    let request = FastcgiRequest {
        method: head.method.clone(),
        variables: variables::of(context, head, route, script, length)?,
        body: upload,
        stderr: stderr::sink(context, route, &to.url.origin()),
    };
    context.begin_at_backend(request.body.is_some());
    match context.services.applications.send(to, waits(context, route, to), request).await {
        Ok((answered, body)) => response::deliver(context, head, route, answered, body),
        Err(failure) => {
            context.end_at_backend();
            Err(log_error(context, route, to, &failure, state.refused.get()))
        }
    }
}

/// Logs a failure, and makes the refusal of it.
fn log_error(
    context: &RequestContext,
    route: &Route,
    to: &Passed,
    failure: &FastcgiFailure,
    refused: Option<StatusCode>,
) -> Refusal {
    if let Some(status) = refused {
        return Refusal::closing(status);
    }
    context.log_error(route, &format_args!("FastCGI application {}: {failure}", to.url.origin()));
    Refusal::closing(failure.status())
}

//! `server-healthz` and `server-readyz`: for load balancers and engines of containers. The front answers, without a
//! worker.

use http::header::CACHE_CONTROL;
use http::{HeaderValue, Response, StatusCode};

use super::{PLAIN, response, with};
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use status::health::{Checked, STARTING, STOPPING, is_welcoming, no_worker};
use wire::control::Load;

/// The front lives, since it answers, and ends with the master.
pub fn healthz(_: &RequestContext, _: &Route, _: &str) -> Response<BodySource> {
    page(Ok(()))
}

/// 503 while the server drains or stops, a pool has no worker that is ready, or a service is missing that the server
/// needs.
pub fn readyz(context: &RequestContext, _: &Route, _: &str) -> Response<BodySource> {
    page(readiness(context))
}

fn readiness(context: &RequestContext) -> Checked {
    if context.services.shared.is_stopping() {
        return Err(STOPPING.to_owned());
    }
    is_welcoming(&context.services.shared.node())?;
    let Some(serving) = context.services.generations.all().serving() else { return Err(STARTING.to_owned()) };
    for pool in serving.pools.iter() {
        let Load { id, idle, busy, .. } = pool.load();
        // Processes for programs have no start-up, and may be started on demand.
        if idle + busy == 0 && !serving.config.is_of_programs(id.pool) {
            let name = if serving.pools.are_several() { serving.config.pool_name(id.pool) } else { "" };
            return Err(no_worker(name));
        }
    }
    Ok(())
}

fn page(checked: Checked) -> Response<BodySource> {
    let (status, text) = match checked {
        Ok(()) => (StatusCode::OK, "ok\n".to_owned()),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
    };
    let mut page = with(response(text, PLAIN), CACHE_CONTROL, HeaderValue::from_static("no-store"));
    *page.status_mut() = status;
    page
}

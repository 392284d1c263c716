//! `LoadReport`: the header by which Envoy weighs its backends.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use http::header::{HeaderMap, HeaderName, HeaderValue};
use status::orca::{LoadCounters, MeasuredLoad, PoolsLoad};

use crate::request::context::RequestContext;
use crate::request::services::Services;
use config::Config;

const ENDPOINT_LOAD_METRICS: HeaderName = HeaderName::from_static("endpoint-load-metrics");
/// The lowest status that is an error of the server.
const FAILED: u16 = 500;

/// Adds the header, if the configuration wants it.
pub fn add(context: &RequestContext, headers: &mut HeaderMap) {
    if !context.generation.config.node.reports_load {
        return;
    }
    let (services, config) = (&context.services, &context.generation.config);
    let shared = &services.shared;
    let now = Instant::now();
    let text = shared.load_report.text(now, || measure(services, config, now));
    if let Ok(value) = HeaderValue::from_str(&text) {
        headers.insert(ENDPOINT_LOAD_METRICS, value);
    }
}

fn measure(services: &Services, config: &Config, now: Instant) -> MeasuredLoad {
    let shared = &services.shared;
    let codes = shared.measures.totals().codes;
    let (mut worked_us, mut pools) = (0, PoolsLoad::default());
    if let Some(serving) = services.generations.all().serving() {
        for pool in serving.pools.iter() {
            worked_us += u64::try_from(pool.worked().as_micros()).unwrap_or(u64::MAX);
            let load = pool.load();
            let settings = config.pool_of(load.id.pool);
            // With `MaxClients auto` the number of workers follows the load.
            pools.most += if settings.auto { load.idle + load.busy } else { settings.max_clients };
            pools.queued += load.queued;
        }
    }
    let counters = LoadCounters {
        requests: shared.counters.requests.load(Relaxed),
        errors: codes.range(FAILED..).map(|(_, count)| count).sum(),
        worked_us,
    };
    MeasuredLoad { counters, pools, node: shared.node_at(now) }
}

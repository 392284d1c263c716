//! The load: requests and number of visitors.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use http::Method;

use bench::plan::{ConnectionPlan, Endpoint, Expected, RequestPace, RunLimits, RunPlan};
use bench::{EncodedRequest, RequestTarget, RequestTemplate, Workload};

/// Response time above which a request counts as failed.
const TIMEOUT: Duration = Duration::from_secs(60);
/// First status that counts as a failure. Logs contain requests for missing pages, too.
const FAULT: u16 = 500;

/// Requests, their order, and the number of visitors.
pub struct TestLoad {
    requests: Arc<[EncodedRequest]>,
    order: Arc<[u32]>,
    /// Number of concurrent visitors.
    pub visitors: u32,
    pub notes: Vec<String>,
}

impl TestLoad {
    /// Creates the load from URLs of one server, or from a log. From a log only GET and HEAD are used, unless all
    /// methods are requested.
    pub fn new(
        target: &RequestTarget,
        urls: &[String],
        log: Option<(&Path, bool)>,
        visitors: u32,
    ) -> anyhow::Result<TestLoad> {
        let mut workload = match log {
            Some((file, unsafe_too)) => Workload::of_log(file, &methods(unsafe_too)).context("--log")?,
            None if urls.is_empty() => Workload::of(target),
            None => Workload::of_urls(urls, target)?,
        };
        let notes = std::mem::take(&mut workload.notes);
        let requests = workload.requests(&RequestTemplate::default(), target);
        Ok(TestLoad { requests, order: workload.order(), visitors, notes })
    }

    /// Number of different requests.
    pub fn urls(&self) -> usize {
        self.requests.len()
    }

    /// Number of requests before the list repeats.
    pub fn length(&self) -> u64 {
        self.order.len() as u64
    }

    /// A plan of `visitors` visitors at `to`, from the first request of the list.
    pub fn plan(&self, to: SocketAddr, visitors: u32, warm_up: Duration, length: Duration) -> RunPlan {
        RunPlan {
            requests: self.requests.clone(),
            order: self.order.clone(),
            first: 0,
            stride: 1,
            connections: visitors as usize,
            streams: 1,
            threads: 1,
            pace: RequestPace::Closed,
            phase: Duration::ZERO,
            end: RunLimits { requests: None, after: Some(length) },
            cuts: true,
            warm_up,
            // The site's certificate is not valid for 127.0.0.1.
            transport: ConnectionPlan { to: Some(Endpoint::Tcp(to)), insecure: true, ..ConnectionPlan::default() },
            expected: Expected { statuses: (200..FAULT).collect(), body: None },
            timeout: TIMEOUT,
            notes: Vec::new(),
            progress: false,
        }
    }
}

fn methods(unsafe_too: bool) -> Vec<Method> {
    let safe = [Method::GET, Method::HEAD];
    let others = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    safe.into_iter().chain(others.into_iter().filter(|_| unsafe_too)).collect()
}

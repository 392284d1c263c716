//! What the site's visitors ask, and how many of them there are.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use http::Method;

use bench::plan::{End, Endpoint, Expected, Pace, Plan, Transport};
use bench::{Request, Target, Template, Workload};

/// An answer that takes longer is none.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Below this nothing is wrong with the server: a log has requests for what is not there, too.
const FAULT: u16 = 500;

/// The load.
pub struct Load {
    requests: Arc<[Request]>,
    order: Arc<[u32]>,
    /// How many ask at the same time.
    pub visitors: u32,
    /// What a reader of the report must know.
    pub notes: Vec<String>,
}

impl Load {
    /// URLs of one server, or what a log has; of those, what changes nothing, unless all of it is wanted.
    pub fn new(target: &Target, urls: &[String], log: Option<(&Path, bool)>, visitors: u32) -> anyhow::Result<Load> {
        let mut workload = match log {
            Some((file, unsafe_too)) => Workload::of_log(file, &methods(unsafe_too)).context("--log")?,
            None if urls.is_empty() => Workload::of(target),
            None => Workload::of_urls(urls, target)?,
        };
        let notes = std::mem::take(&mut workload.notes);
        let requests = workload.requests(&Template::default(), target);
        Ok(Load { requests, order: workload.order(), visitors, notes })
    }

    /// How many different requests there are.
    pub fn urls(&self) -> usize {
        self.requests.len()
    }

    /// How many requests there are before they begin anew.
    pub fn length(&self) -> u64 {
        self.order.len() as u64
    }

    /// So many ask for so long at `to`, beginning with that request of the list.
    pub fn plan(&self, to: Option<SocketAddr>, visitors: u32, warm_up: Duration, length: Duration, first: u64) -> Plan {
        Plan {
            requests: self.requests.clone(),
            order: self.order.clone(),
            first,
            stride: 1,
            connections: visitors as usize,
            streams: 1,
            threads: 1,
            pace: Pace::Closed,
            phase: Duration::ZERO,
            end: End { requests: None, after: Some(length) },
            cuts: true,
            warm_up,
            // The certificate is the site's, and 127.0.0.1 is not in it.
            transport: Transport { to: to.map(Endpoint::Tcp), insecure: true, ..Transport::default() },
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

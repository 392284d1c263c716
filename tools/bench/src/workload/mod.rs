//! The requests of a run: one URL, a list of URLs, or those of an access log.

mod access_log;
mod lines;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use http::Method;

use super::{EncodedRequest, RequestTarget, RequestTemplate};
use access_log::LoggedRequest;
use lines::Enough;

/// Maximum number of requests in memory.
const MAX_REQUESTS: usize = 1_000_000;
/// Maximum number of log lines read, including lines with other methods.
const MAX_LINES: usize = 20_000_000;

/// The requests to a server, in order.
#[derive(Debug, Default, Clone)]
pub struct Workload {
    asked: Vec<WorkloadRequest>,
    places: HashMap<WorkloadRequest, u32>,
    order: Vec<u32>,
    /// The times of `order`, if known.
    times: Vec<Duration>,
    /// Notes for the report.
    pub notes: Vec<String>,
}

/// A path, with its method if a log has another than GET.
type WorkloadRequest = (Option<Method>, String);

impl Workload {
    /// The request of one URL.
    pub fn of(target: &RequestTarget) -> Workload {
        let mut workload = Workload::default();
        workload.add(None, &target.path);
        workload
    }

    /// URLs and paths of `target`'s server.
    pub fn of_urls(urls: &[String], target: &RequestTarget) -> anyhow::Result<Workload> {
        let mut workload = Workload::default();
        for url in urls {
            workload.add(None, &path_of(url, target)?);
        }
        Ok(workload)
    }

    /// A file with a URL or path on each line, all of `target`'s server.
    pub fn of_list(file: &Path, target: &RequestTarget) -> anyhow::Result<Workload> {
        let mut workload = Workload::default();
        lines::each(file, |number, line| {
            if line.is_empty() || line.starts_with('#') {
                return Ok(Enough::No);
            }
            let path = path_of(line, target).with_context(|| format!("{}:{number}", file.display()))?;
            Ok(workload.add(None, &path))
        })?;
        workload.ensure_not_empty(file, "contains no URL")
    }

    /// The requests of these methods in an access log of common or combined format, with their times; logs have
    /// no bodies.
    pub fn of_log(file: &Path, methods: &[Method]) -> anyhow::Result<Workload> {
        let wanted = |name: &str| methods.iter().find(|method| method.as_str() == name).cloned();
        let (mut workload, mut seconds, mut others) = (Workload::default(), Vec::new(), 0);
        lines::each(file, |number, line| {
            let entry = LoggedRequest::parse(line).filter(LoggedRequest::is_sendable);
            match entry.and_then(|entry| Some((wanted(entry.method)?, entry))) {
                None => others += 1,
                Some((method, entry)) => {
                    seconds.push(entry.second);
                    return Ok(workload.add(Some(method).filter(|method| *method != Method::GET), entry.path));
                }
            }
            Ok(if number >= MAX_LINES { Enough::Yes } else { Enough::No })
        })?;
        workload.times = spread(&seconds);
        if others > 0 {
            let count = workload.order.len();
            let names = methods.iter().map(|method| format!("{method}s")).collect::<Vec<_>>().join(" and ");
            workload.notes.push(format!("{count} {names} of the log are sent; {others} other lines are omitted"));
        }
        let names = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(" or ");
        workload.ensure_not_empty(file, &format!("contains no {names} in common or combined format"))
    }

    fn ensure_not_empty(mut self, file: &Path, otherwise: &str) -> anyhow::Result<Workload> {
        match self.order.len() {
            0 => bail!("{}: {otherwise}", file.display()),
            MAX_REQUESTS => {
                self.notes.push(format!("only the first {MAX_REQUESTS} requests of {} are sent", file.display()))
            }
            _ => {}
        }
        Ok(self)
    }

    fn add(&mut self, method: Option<Method>, path: &str) -> Enough {
        let key = (method, path.to_owned());
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None => {
                let place = self.asked.len() as u32;
                self.asked.push(key.clone());
                self.places.insert(key, place);
                place
            }
        };
        self.order.push(place);
        if self.order.len() < MAX_REQUESTS { Enough::No } else { Enough::Yes }
    }

    /// The distinct requests to `target`'s server.
    pub fn requests(&self, template: &RequestTemplate, target: &RequestTarget) -> Arc<[EncodedRequest]> {
        let one = |(method, path): &WorkloadRequest| {
            let method = template.method.clone().or_else(|| method.clone());
            EncodedRequest::new(&RequestTemplate { method, ..template.clone() }, target.with_path(path))
        };
        self.asked.iter().map(one).collect()
    }

    /// The order of the requests.
    pub fn order(&self) -> Arc<[u32]> {
        self.order.as_slice().into()
    }

    /// The due times of `order`, divided by `faster`.
    pub fn times(&self, faster: f64) -> Arc<[Duration]> {
        self.times.iter().map(|time| time.div_f64(faster)).collect()
    }
}

fn path_of(line: &str, target: &RequestTarget) -> anyhow::Result<String> {
    let url = if line.starts_with('/') { target.with_path("").url() + line } else { line.to_owned() };
    let listed = RequestTarget::parse(&url).map_err(anyhow::Error::msg)?;
    if !listed.is_of_the_same_server(target) {
        bail!("{line}: is on another server than {}; a run measures one server", target.url());
    }
    Ok(listed.path)
}

/// Log times are whole seconds: requests of one second are spread evenly over it. A line out of order gets the time of
/// the previous line.
fn spread(seconds: &[i64]) -> Vec<Duration> {
    let mut seconds = seconds.to_vec();
    let mut latest = i64::MIN;
    for second in &mut seconds {
        latest = latest.max(*second);
        *second = latest;
    }
    let first = seconds.first().copied().unwrap_or_default();
    let since = |second: i64| Duration::from_secs(second.saturating_sub(first).unsigned_abs());
    let groups = seconds.chunk_by(|one, next| one == next);
    let moments = groups.flat_map(|group| {
        let count = group.len() as f64;
        group.iter().enumerate().map(move |(place, second)| (*second, place as f64 / count))
    });
    moments.map(|(second, part)| since(second) + Duration::from_secs_f64(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_the_same_second_are_spread_over_it() {
        let times: Vec<f64> = spread(&[100, 100, 101, 100, 105]).iter().map(Duration::as_secs_f64).collect();
        assert_eq!(times, [0.0, 0.5, 1.0, 1.5, 5.0]);
    }
}

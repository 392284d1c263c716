//! `cameleer mem --urls`: memory growth of workers by request path.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use wire::control::Inspection;

use base::printable;
use master::sockets::control_socket::SelfReport;
use toolkit::client::Server;
use toolkit::units::size;

/// Maximum number of paths in the table.
const SHOWN: usize = 20;

/// Number of sampled requests and their growth in bytes, by path.
type GrowthByPath = BTreeMap<String, (u64, i64)>;

#[derive(Debug, Serialize)]
pub struct Urls {
    /// Number of workers that answered; only workers without a request do.
    asked: usize,
    paths: Vec<Path>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Path {
    path: String,
    /// Number of sampled requests (one every few milliseconds).
    requests: u64,
    /// Growth of workers by these requests, in bytes.
    grown: i64,
    /// Mean growth per request, in bytes.
    a_request: i64,
}

impl Urls {
    pub fn of(server: &mut Server) -> anyhow::Result<Urls> {
        let reports = server.inspect(Inspection::Growth)?;
        let workers: Vec<GrowthByPath> =
            reports.iter().filter(|one| one.worker.is_some()).filter_map(SelfReport::read).collect();
        Ok(Urls { asked: workers.len(), paths: paths(&workers) })
    }
}

impl Urls {
    /// The paths with the most growth, and their growth in bytes.
    pub fn largest(&self, count: usize) -> Vec<(&str, u64)> {
        let grown = self.paths.iter().filter_map(|one| Some((one.path.as_str(), u64::try_from(one.grown).ok()?)));
        grown.filter(|(_, bytes)| *bytes > 0).take(count).collect()
    }
}

fn paths(workers: &[GrowthByPath]) -> Vec<Path> {
    let mut all = GrowthByPath::new();
    for (path, (requests, grown)) in workers.iter().flatten() {
        let (all_requests, all_grown) = all.entry(path.clone()).or_default();
        *all_requests = all_requests.saturating_add(*requests);
        *all_grown = all_grown.saturating_add(*grown);
    }
    let path = |(path, (requests, grown)): (String, (u64, i64))| {
        let a_request = grown / i64::try_from(requests).unwrap_or(i64::MAX).max(1);
        Path { path, requests, grown, a_request }
    };
    let mut paths: Vec<Path> = all.into_iter().map(path).collect();
    paths.sort_by_key(|path| std::cmp::Reverse(path.grown));
    paths
}

pub fn table(urls: &Urls) -> String {
    let Urls { asked, paths } = urls;
    let mut text = format!("{asked} idle workers; one request every few milliseconds was measured\n\n");
    let _ = writeln!(text, "{:>9} {:>10} {:>10}  path", "looked at", "grown by", "a request");
    for Path { path, requests, grown, a_request } in paths.iter().take(SHOWN) {
        let path = printable::line(path);
        let _ = writeln!(text, "{requests:>9} {:>10} {:>10}  {path}", signed(*grown), signed(*a_request));
    }
    if paths.len() > SHOWN {
        let _ = writeln!(text, "and {} more; --json lists all", paths.len() - SHOWN);
    }
    text.push_str("\nThe growth includes code that first requests load; a path that grows over many requests leaks.\n");
    text
}

fn signed(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", size(bytes.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_with_most_growth_is_first() {
        let worker = |of: &[(&str, u64, i64)]| -> GrowthByPath {
            of.iter().map(|(path, requests, grown)| ((*path).to_owned(), (*requests, *grown))).collect()
        };
        let paths =
            paths(&[worker(&[("/a", 4, 8192), ("/b", 1, -4096)]), worker(&[("/b", 3, 4_096_000), ("/c", 0, 0)])]);
        let shown: Vec<(&str, u64, i64)> =
            paths.iter().map(|one| (one.path.as_str(), one.requests, one.a_request)).collect();
        assert_eq!(shown, [("/b", 4, 1_022_976), ("/a", 4, 2048), ("/c", 0, 0)]);
        assert!(table(&Urls { asked: 2, paths }).contains("        4     3.9 MB     999 kB  /b\n"));
    }
}

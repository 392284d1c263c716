//! Memory growth of this worker by request path. A sampled request (one every few milliseconds) is measured before
//! and after.

use std::collections::BTreeMap;

/// Maximum number of paths: clients choose paths, so the map must be bounded. Further paths are counted together.
const MAX_PATHS: usize = 500;
/// Maximum length of a path, in bytes; the rest is truncated.
const MAX_BYTES: usize = 200;
/// Entry for paths beyond `MAX_PATHS`.
const OTHERS: &[u8] = b"(other paths)";

/// Growth measured so far.
#[derive(Debug, Default)]
pub struct Growth {
    paths: BTreeMap<Vec<u8>, PathGrowth>,
}

/// Sums of the sampled requests for one path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PathGrowth {
    requests: u64,
    /// Growth of anonymous memory, in bytes.
    grown: i64,
}

impl Growth {
    /// Records that a request for `path` changed the worker's memory from `before` to `after` bytes.
    pub fn note(&mut self, path: &[u8], before: u64, after: u64) {
        let path = path.get(..MAX_BYTES).unwrap_or(path);
        let is_known = self.paths.len() < MAX_PATHS || self.paths.contains_key(path);
        let path = if is_known { path } else { OTHERS };
        let seen = self.paths.entry(path.to_vec()).or_default();
        seen.requests += 1;
        seen.grown = seen.grown.saturating_add_unsigned(after).saturating_sub_unsigned(before);
    }

    /// A JSON object: for each path, the number of sampled requests and their growth in bytes.
    pub fn report(&self) -> String {
        let paths = self.paths.iter().map(|(path, seen)| {
            (String::from_utf8_lossy(path).into_owned(), serde_json::json!([seen.requests, seen.grown]))
        });
        serde_json::Value::Object(paths.collect()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_adds_up_by_path_and_may_be_less_than_nothing() {
        let mut growth = Growth::default();
        growth.note(b"/a", 1000, 5096);
        growth.note(b"/a", 5096, 1000);
        growth.note(b"/b", 5000, 904);
        assert_eq!(growth.report(), r#"{"/a":[2,0],"/b":[1,-4096]}"#);
    }

    #[test]
    fn requested_paths_take_bounded_memory() {
        let mut growth = Growth::default();
        for n in 0..10_000 {
            growth.note(format!("/{n}/{}", "x".repeat(100_000)).as_bytes(), 0, 1);
        }
        assert_eq!(growth.paths.len(), MAX_PATHS + 1);
        assert_eq!(growth.paths[OTHERS].requests, 10_000 - MAX_PATHS as u64);
        assert!(growth.paths.keys().all(|path| path.len() <= MAX_BYTES));
    }
}

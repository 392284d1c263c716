//! By how much requests make this worker grow, by their paths: of one request every few milliseconds it is known what the worker had
//! before and after.

use std::collections::BTreeMap;

/// Paths are strangers' words: the rest counts together.
const MOST: usize = 500;
/// And so much of each.
const LONGEST: usize = 200;
/// The rest.
const OTHERS: &[u8] = b"(other paths)";

/// What was seen.
#[derive(Debug, Default)]
pub struct Growth {
    paths: BTreeMap<Vec<u8>, Seen>,
}

/// Of the requests for one path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    requests: u64,
    /// Memory that is in no file, in bytes.
    grown: i64,
}

impl Growth {
    /// A request for that path has changed what the worker has from `before` to `after` bytes.
    pub fn note(&mut self, path: &[u8], before: u64, after: u64) {
        let path = path.get(..LONGEST).unwrap_or(path);
        let is_known = self.paths.len() < MOST || self.paths.contains_key(path);
        let path = if is_known { path } else { OTHERS };
        let seen = self.paths.entry(path.to_vec()).or_default();
        seen.requests += 1;
        seen.grown = seen.grown.saturating_add_unsigned(after).saturating_sub_unsigned(before);
    }

    /// An object: for each path how many requests were looked at, and by how many bytes these made the worker grow.
    pub fn told(&self) -> String {
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
        assert_eq!(growth.told(), r#"{"/a":[2,0],"/b":[1,-4096]}"#);
    }

    #[test]
    fn strangers_paths_take_bounded_memory() {
        let mut growth = Growth::default();
        for n in 0..10_000 {
            growth.note(format!("/{n}/{}", "x".repeat(100_000)).as_bytes(), 0, 1);
        }
        assert_eq!(growth.paths.len(), MOST + 1);
        assert_eq!(growth.paths[OTHERS].requests, 10_000 - MOST as u64);
        assert!(growth.paths.keys().all(|path| path.len() <= LONGEST));
    }
}

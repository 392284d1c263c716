//! `RewriteMap`: lookup tables and functions for rules.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::{percent_decode_str, percent_encode};

use crate::model::access::{DbmType, SqlQuery};
use base::path::PATH;

/// Maps of a host by name.
#[derive(Debug, Clone, Default)]
pub struct Maps(HashMap<String, Map>);

/// A `RewriteMap`.
#[derive(Debug, Clone)]
pub enum Map {
    /// `txt:file`
    Text(Arc<HashMap<String, String>>),
    /// `rnd:file`: one of several values separated by `|`, at random.
    Random(Arc<HashMap<String, String>>),
    /// `int:…`
    Function(Function),
    /// A source that takes time to ask.
    Asked(MapSource),
}

/// A source of values that is asked for each key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapSource {
    /// `prg:…`: a program that answers one line for each line.
    Program(Arc<MapProgram>),
    /// `dbm:…`: the file that has the data.
    Dbm(Arc<PathBuf>),
    /// `dbd:…`, `fastdbd:…`
    Sql(Arc<MapQuery>),
}

/// `dbd:`, `fastdbd:`
#[derive(Debug, PartialEq, Eq)]
pub struct MapQuery {
    /// The query, with a place for the key.
    pub query: SqlQuery,
    /// `fastdbd:`: values are stored until the next reload.
    pub is_stored: bool,
}

/// `RewriteMap prg:`; started once, and asked by all requests.
#[derive(Debug, PartialEq, Eq)]
pub struct MapProgram {
    /// The program and its arguments, separated by spaces.
    pub command: String,
}

/// Built-in functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "httpd's names")]
pub enum Function {
    ToLower,
    ToUpper,
    Escape,
    Unescape,
}

impl Maps {
    /// The map of exactly this name: case matters, as in httpd.
    pub fn get(&self, name: &str) -> Option<Map> {
        self.0.get(name).cloned()
    }

    /// Adds `others`, which replace maps of the same name.
    pub fn and(mut self, others: &Maps) -> Maps {
        self.0.extend(others.0.iter().map(|(name, map)| (name.clone(), map.clone())));
        self
    }

    /// Replaces a map of the same name.
    pub fn with(mut self, name: &str, map: Map) -> Maps {
        self.0.insert(name.to_owned(), map);
        self
    }
}

impl Map {
    /// Parses a source. `read` returns the text of a file.
    pub fn parse(source: &str, read: impl FnOnce(&str) -> Result<String, String>) -> Result<Map, String> {
        let (kind, what) = source.split_once(':').unwrap_or(("txt", source));
        match (kind, what) {
            ("txt", file) => Ok(Map::Text(Arc::new(entries(&read(file)?)))),
            ("rnd", file) => Ok(Map::Random(Arc::new(entries(&read(file)?)))),
            ("int", "tolower") => Ok(Map::Function(Function::ToLower)),
            ("int", "toupper") => Ok(Map::Function(Function::ToUpper)),
            ("int", "escape") => Ok(Map::Function(Function::Escape)),
            ("int", "unescape") => Ok(Map::Function(Function::Unescape)),
            ("prg", command) if command.starts_with('/') => {
                Ok(Map::Asked(MapSource::Program(Arc::new(MapProgram { command: command.to_owned() }))))
            }
            ("prg", command) => Err(format!("expected the full path of a program after prg:, got \"{command}\"")),
            ("dbm", path) => Ok(Map::of_dbm("default", path)?),
            ("dbd" | "fastdbd", query) => {
                let query = SqlQuery::parse(query, 1)?;
                Ok(Map::Asked(MapSource::Sql(Arc::new(MapQuery { query, is_stored: kind == "fastdbd" }))))
            }
            ("int", other) => Err(format!("expected tolower, toupper, escape or unescape, got \"{other}\"")),
            _ => match kind.strip_prefix("dbm=") {
                Some(format) => Map::of_dbm(format, what),
                None => Err(format!(
                    "expected txt:file, rnd:file, dbm:file, int:function, prg:program, dbd:query or fastdbd:query, got \"{kind}:\""
                )),
            },
        }
    }

    fn of_dbm(format: &str, path: &str) -> Result<Map, String> {
        if path.is_empty() {
            return Err("expected the path of a file after dbm:".to_owned());
        }
        let file = DbmType::parse(format)?.file(Path::new(path));
        Ok(Map::Asked(MapSource::Dbm(Arc::new(file))))
    }

    /// One of several values of a key, at random.
    pub fn one_of<T>(values: &[T]) -> Option<&T> {
        values.get(any(values.len()))
    }

    /// Whether the value is derived from the key itself.
    pub fn is_function(&self) -> bool {
        matches!(self, Map::Function(_))
    }

    /// The value of a key. `None`: the map has no such key, or the front asks it (see `ahead`).
    pub fn look(&self, key: &str) -> Option<String> {
        match self {
            Map::Text(entries) => entries.get(key).cloned(),
            Map::Random(entries) => {
                let values: Vec<&str> = entries.get(key)?.split('|').collect();
                Map::one_of(&values).map(|value| (*value).to_owned())
            }
            Map::Asked(_) => None,
            Map::Function(Function::ToLower) => Some(key.to_ascii_lowercase()),
            Map::Function(Function::ToUpper) => Some(key.to_ascii_uppercase()),
            Map::Function(Function::Escape) => Some(percent_encode(key.as_bytes(), PATH).to_string()),
            Map::Function(Function::Unescape) => Some(percent_decode_str(key).decode_utf8_lossy().into_owned()),
        }
    }
}

/// A random number below `count`, from the random seed of a standard hasher.
fn any(count: usize) -> usize {
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    usize::try_from(random % count.max(1) as u64).unwrap_or(0)
}

/// Parses lines of a key and its value; `#` begins a comment.
fn entries(text: &str) -> HashMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    // As in httpd, the first value of a key applies.
    lines.filter_map(entry).fold(HashMap::new(), |mut all, (key, value)| {
        all.entry(key).or_insert(value);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_a_file_or_a_function() {
        let text = "# names\nana  /~ana/ the first\n\nana /x\nben\n";
        let map = Map::parse("txt:names", |_| Ok(text.to_owned())).unwrap();
        assert_eq!((map.look("ana").as_deref(), map.look("ben"), map.look("#")), (Some("/~ana/"), None, None));
        for (function, expected) in
            [("tolower", "a b%41"), ("toupper", "A B%41"), ("escape", "a%20B%2541"), ("unescape", "a BA")]
        {
            let map = Map::parse(&format!("int:{function}"), |_| Err(String::new())).unwrap();
            assert_eq!(map.look("a B%41").as_deref(), Some(expected), "{function}");
        }
        let map = Map::parse("rnd:x", |_| Ok("a one|two|three\nb\n".to_owned())).unwrap();
        let all: std::collections::BTreeSet<String> = (0..200).filter_map(|_| map.look("a")).collect();
        assert_eq!((all.len(), map.look("b")), (3, None));
        for wrong in ["int:other", "prg:bin/x", "dbm=other:x", "dbm:", "dbd:SELECT 1", "ldap:x"] {
            assert!(Map::parse(wrong, |_| Ok(String::new())).is_err(), "{wrong}");
        }
    }
}

//! Golden tests in tests/golden/config: a configuration, a line `----`, then the expected configuration or errors.
//!
//! Lines `---- name` begin further files that the first can include. A comment `#? [address] URL` adds the settings of
//! that request to the output. The environment is HOME=/home/camel, the ServerRoot /srv, the working folder
//! /home/camel, with `-D TEST`. Default values are omitted. CAMELEER_BLESS=1 rewrites the expected output.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use crate::Bundle;
use crate::dump::dump;
use crate::model::config::{Config, Facts};
use crate::syntax::parse::ConfigReader;
use crate::syntax::source::ParserSource;
use crate::syntax::tree::ConfigError;

/// Compares a file of the repository with its expected contents, or rewrites it if CAMELEER_BLESS is set.
pub fn compare(file: &str, right: &str) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(file);
    if std::env::var_os("CAMELEER_BLESS").is_some() {
        std::fs::write(&path, right).unwrap();
    }
    let stands = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stands == right,
        "{file} is stale: CAMELEER_BLESS=1 cargo test --package config --lib\n{}",
        difference(&stands, right)
    );
}

fn difference(stands: &str, right: &str) -> String {
    let (stands, right): (Vec<_>, Vec<_>) = (stands.lines().collect(), right.lines().collect());
    let gone = stands.iter().filter(|line| !right.contains(line)).map(|line| format!("- {line}\n"));
    let new = right.iter().filter(|line| !stands.contains(line)).map(|line| format!("+ {line}\n"));
    gone.chain(new).collect()
}

#[test]
fn every_golden_case_has_its_expected_output() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/golden/config");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 30);
    for case in cases {
        let text = std::fs::read_to_string(&case).unwrap();
        let name = case.file_name().unwrap().to_str().unwrap();
        let input = text.split_inclusive('\n').take_while(|line| line.trim_end() != "----").collect::<String>();
        compare(&format!("tests/golden/config/{name}"), &format!("{input}----\n{}", answer(&input)));
    }
}

fn answer(input: &str) -> String {
    match build(input) {
        Ok(config) => describe(&config, input),
        Err(errors) => lines(&errors),
    }
}

fn describe(config: &Config, input: &str) -> String {
    let usual = dump(&build("Listen 8080").unwrap());
    let mut out = String::new();
    for line in dump(config).lines().filter(|line| !usual.lines().any(|known| known == *line)) {
        writeln!(out, "{line}").unwrap();
    }
    out.push_str(&lines(&config.warnings).replace("httpd.conf:", "warning: httpd.conf:"));
    for question in input.lines().filter_map(|line| line.strip_prefix("#? ")) {
        out.push_str(&request(config, question));
    }
    out
}

fn lines(errors: &[ConfigError]) -> String {
    errors.iter().map(|error| format!("{error}\n")).collect()
}

/// Builds the configuration from its JSON form, so that every case tests the transfer to the front.
fn build(input: &str) -> Result<Config, Vec<ConfigError>> {
    let files = Files::new(input);
    let env = |name: &str| (name == "HOME").then(|| "/home/camel".to_owned());
    let (read, list) = (|path: &Path| files.read(path), |path: &Path| files.list(path));
    let exists = |path: &Path| files.read(path).is_ok();
    let source = ParserSource {
        defines: vec!["TEST".into()],
        env: &env,
        read: &read,
        exists: &exists,
        list: &list,
        syntax_of: &super::table::syntax_of,
        is_module: &super::is_embodied,
        server_root: "/srv".into(),
        started_in: "/home/camel".into(),
    };
    let mut reader = ConfigReader::new(&source);
    reader.load(Path::new("httpd.conf"));
    let env = vec![("HOME".into(), "/home/camel".into())];
    let facts = Facts { server_root: "/srv".into(), started_in: "/home/camel".into(), env, ..Facts::default() };
    let bundle = Bundle::read(reader, facts)?;
    let sent: Bundle = serde_json::from_slice(&serde_json::to_vec(&bundle).unwrap()).unwrap();
    assert_eq!(sent, bundle);
    sent.build()
}

/// Files of a case. All except the first are in /srv.
struct Files(BTreeMap<PathBuf, String>);

impl Files {
    fn new(input: &str) -> Self {
        let mut files = BTreeMap::new();
        let mut name = PathBuf::from("httpd.conf");
        for line in input.split_inclusive('\n') {
            match line.strip_prefix("---- ") {
                Some(next) => name = Path::new("/srv").join(next.trim()),
                None => files.entry(name.clone()).or_insert_with(String::new).push_str(line),
            }
        }
        Files(files)
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let below = self.0.keys().filter_map(|path| path.strip_prefix(folder).ok()?.components().next());
        let mut entries: Vec<PathBuf> = below.map(|first| folder.join(first)).filter(|path| path != folder).collect();
        entries.dedup();
        if entries.is_empty() || self.0.contains_key(folder) {
            Err(io::ErrorKind::NotADirectory.into())
        } else {
            Ok(entries)
        }
    }
}

/// `#? [address] http://name/path`: host, file, sections, and settings that differ from the defaults.
fn request(config: &Config, question: &str) -> String {
    let (local, url) = question.split_once(' ').unwrap_or(("10.0.0.1:80", question));
    let (name, path) = url.trim_start_matches("http://").split_once('/').unwrap_or((url, ""));
    let path = format!("/{path}");
    let host = config.host(local.parse().ok(), name);
    let mapping = config.translate(host, &path, None);
    let sections = config.sections(host, &path, &mapping.filename);
    let settings = super::dump::settings(&config.settings(&sections, mapping.script_alias));
    let usual = super::dump::settings(&config.settings(&[], false));
    let changed: Vec<&str> = settings.lines().filter(|line| !usual.lines().any(|known| known == *line)).collect();
    let changed = changed.iter().map(|line| format!("    {line}\n")).collect::<String>();
    format!("{question} => host {host} {} {sections:?}\n{changed}", mapping.filename.display())
}

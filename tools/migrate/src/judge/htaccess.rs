//! `.htaccess` files below the document roots. They belong to the documents and are not copied.

use std::path::Path;

use compat::htaccess::{FoundHtaccess, search};
use config::parse::{ConfigReader, ParserSource};
use config::{At, Config, Directive, LineReader};

use super::access;
use super::htaccess_edits::{self, ReadHtaccess};
use super::htaccess_patch;
use super::includes::UNDECIDED;
use super::ledger::{Ledger, LineVerdict};
use super::lines::sends_php;
use crate::naming::{can_be_named, quoted};
use crate::read::{OldModules, is_ours};
use crate::write::HtaccessCopy;

/// The changes that the `.htaccess` files need: lines of the main file, and copies.
#[derive(Default)]
pub struct BesideResult {
    /// Lines of the main file that close folders whose restrictions do not apply any more.
    pub closed: Vec<String>,
    pub changed: Vec<HtaccessCopy>,
}

/// Adds what a request for the folders would report.
pub fn judge(config: &Config, modules: &OldModules, ledger: &mut Ledger) -> BesideResult {
    let mut judge = HtaccessJudge { config, modules, ledger, result: BesideResult::default(), read: Vec::new() };
    let left_out = search(config, &mut |found| judge.read(&found));
    if left_out.limit.is_some() {
        let sentence = "the document roots are large: not all .htaccess files were checked";
        judge.ledger.add(LineVerdict::of_site(sentence));
    }
    let HtaccessJudge { result, read, .. } = judge;
    BesideResult { changed: htaccess_patch::settle(read, ledger), ..result }
}

struct HtaccessJudge<'a> {
    config: &'a Config,
    modules: &'a OldModules,
    ledger: &'a mut Ledger,
    result: BesideResult,
    read: Vec<ReadHtaccess>,
}

impl HtaccessJudge<'_> {
    fn read(&mut self, found: &FoundHtaccess) {
        let FoundHtaccess { folder, file, .. } = *found;
        let at = |line: u32| At { file: file.to_string_lossy().into(), line };
        let text = match &found.text {
            Ok(text) => text,
            Err(error) => {
                self.ledger.add(LineVerdict::open(&at(0), format!("requests below are answered 500; {error}"), None));
                return;
            }
        };
        for (line, name) in handlers_of_php(text) {
            let sentence = format!(
                "{name}: PHP is not part of Cameleer, so requests for these files are answered 500 unless an Action handles them"
            );
            self.ledger.add(LineVerdict::open(&at(line), sentence, None));
        }
        for line in types_of_php(text) {
            let sentence = "AddType: PHP is not part of Cameleer, so the sources of these files would be sent; remove the files or this line";
            self.ledger.add(LineVerdict::open(&at(line), sentence, None));
        }
        if let Some((line, condition)) = lost_restriction(text, self.modules) {
            let close = closing(folder);
            let sentence = format!(
                "<IfModule {condition}>: applied to the old server and does not apply here, so its restrictions are gone: \
                 the folder {}",
                if close.is_some() { "is closed now by a <Directory> section of the main file" } else { "is OPEN now" }
            );
            self.ledger.add(LineVerdict::open(&at(line), sentence, None));
            self.result.closed.extend(close.unwrap_or_else(|| vec![UNDECIDED.to_owned()]));
        }
        self.read.push(htaccess_edits::mend(self.config, found, text));
    }
}

/// The lines that refuse all requests for a folder; `None` if a line cannot name the folder.
fn closing(folder: &Path) -> Option<Vec<String>> {
    let text = folder.to_str().filter(|text| can_be_named(folder) && !text.contains(['*', '?', '[', '\\']))?;
    let section = format!("<Directory {}>", quoted(text));
    let reason = "# migrate: the .htaccess file of this folder restricts visitors by a module that Cameleer lacks";
    Some(vec![reason.to_owned(), section, access::CLOSED.to_owned(), "</Directory>".to_owned()])
}

/// The first `<IfModule>` that applied before, does not apply now, and has lines that restrict visitors.
fn lost_restriction(text: &str, modules: &OldModules) -> Option<(u32, String)> {
    let mut open: Vec<(u32, String)> = Vec::new();
    for line in LineReader::new(text) {
        let mut words = line.text.split_whitespace();
        let name = words.next().unwrap_or_default();
        if name.eq_ignore_ascii_case("<IfModule") {
            let condition = words.next().unwrap_or_default().trim_end_matches('>').trim_matches(['"', '\'']);
            open.push((line.number, condition.to_owned()));
        } else if name.to_ascii_lowercase().starts_with("</ifmodule") {
            open.pop();
        } else if access::restricts(name) && open.iter().all(|(_, condition)| applied(condition, modules)) {
            let lost = open.iter().find(|(_, condition)| !applies(condition));
            if lost.is_some() {
                return lost.cloned();
            }
        }
    }
    None
}

/// Whether the condition may have been true on the old server.
fn applied(condition: &str, modules: &OldModules) -> bool {
    condition.strip_prefix('!').map_or_else(|| modules.may_have(condition), |name| !modules.has(name))
}

fn applies(condition: &str) -> bool {
    condition.strip_prefix('!').map_or_else(|| is_ours(condition), |name| !is_ours(name))
}

/// The lines that give files the type of mod_php.
fn types_of_php(text: &str) -> Vec<u32> {
    lines_with(text, sends_php).into_iter().map(|(line, _)| line).collect()
}

/// The lines that give files a handler of mod_php, with their directives.
fn handlers_of_php(text: &str) -> Vec<(u32, String)> {
    lines_with(text, |directive| {
        let is_handler = ["AddHandler", "SetHandler"].iter().any(|name| directive.name.eq_ignore_ascii_case(name));
        let is_php = |arg: &String| {
            arg.starts_with("php") && arg.ends_with("-script")
                || arg.contains("x-httpd-php") && !arg.starts_with("proxy:")
        };
        is_handler && directive.args.first().is_some_and(is_php)
    })
}

/// The lines whose directive meets the condition, with its name.
fn lines_with(text: &str, is_wanted: fn(&Directive) -> bool) -> Vec<(u32, String)> {
    let source = ParserSource::disk("/", &|_| None);
    let mut reader = ConfigReader::without_files(&source);
    reader.text(text, ".htaccess");
    lines_of(reader.tree(), is_wanted)
}

fn lines_of(tree: &[Directive], is_wanted: fn(&Directive) -> bool) -> Vec<(u32, String)> {
    let own = |directive: &Directive| is_wanted(directive).then(|| (directive.at.line, directive.name.clone()));
    let inside = |directive: &Directive| lines_of(directive.section.as_deref().unwrap_or_default(), is_wanted);
    tree.iter().flat_map(|directive| own(directive).into_iter().chain(inside(directive))).collect()
}

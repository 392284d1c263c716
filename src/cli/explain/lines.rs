//! Lines of the configuration that apply to a request, by section.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use config::{At, Config, Directive, Scope, is_about_requests};
use front::Route;

/// Containers that begin a section; other containers only group lines.
const SECTIONS: [&str; 12] = [
    "If",
    "ElseIf",
    "Else",
    "VirtualHost",
    "Directory",
    "DirectoryMatch",
    "Files",
    "FilesMatch",
    "Location",
    "LocationMatch",
    "Proxy",
    "ProxyMatch",
];

/// Maximum number of lines of one directive of the main server that are listed one by one.
const FEW: usize = 3;

/// All lines of a report, by section.
pub struct SectionLines<'a> {
    config: &'a Config,
    /// Lines of each section, by the file and line where it begins.
    sections: HashMap<(&'a str, u32), Vec<&'a Directive>>,
    outside: Vec<&'a Directive>,
    /// Whether each line of the main server is listed.
    lists_all: bool,
}

impl<'a> SectionLines<'a> {
    /// Collects the lines of a configuration's tree.
    pub fn of(config: &'a Config, tree: &'a [Directive], lists_all: bool) -> SectionLines<'a> {
        let mut lines = SectionLines { config, sections: HashMap::new(), outside: Vec::new(), lists_all };
        lines.outside = lines.own(tree);
        lines
    }

    /// Returns the lines of `tree` outside nested sections; stores the lines of these sections.
    fn own(&mut self, tree: &'a [Directive]) -> Vec<&'a Directive> {
        let mut own = Vec::new();
        for directive in tree {
            match &directive.section {
                None => own.push(directive),
                // A WorkerPool concerns no single request.
                Some(_) if directive.name.eq_ignore_ascii_case("WorkerPool") => {}
                Some(inner) if is_section(&directive.name) => {
                    let inner = self.own(inner);
                    self.sections.insert(key(&directive.at), inner);
                }
                Some(inner) => own.extend(self.own(inner)),
            }
        }
        own
    }

    /// The lines that apply to a route, by section in order of precedence.
    pub fn for_route(&self, route: &Route) -> String {
        let mut text = String::new();
        let main = self.config.hosts.first().map(|host| host.base);
        for number in &route.sections {
            let Some(section) = self.config.sections.get(usize::from(*number)) else { continue };
            match &section.scope {
                Scope::Host if Some(*number) == main => {
                    self.main_server(&mut text);
                }
                scope => {
                    let title = format!("<{} {}>  {}", scope.name(), scope.argument(), section.at);
                    let known = self.sections.get(&key(&section.at)).map(Vec::as_slice).unwrap_or_default();
                    block(&title.replace(" >", ">"), known.iter().copied(), &mut text);
                }
            }
        }
        text.push_str(&htaccess(&route.overrides));
        text
    }

    /// The lines outside of sections. Of a directive with many lines only the first is named, and lines without effect
    /// are left out.
    fn main_server(&self, text: &mut String) {
        let has_effect = |line: &&Directive| self.lists_all || !self.config.without_effect.contains(&line.at);
        let about = self.outside.iter().copied().filter(|line| is_about_requests(&line.name)).filter(has_effect);
        let about: Vec<&Directive> = about.collect();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for line in &about {
            *counts.entry(line.name.to_ascii_lowercase()).or_default() += 1;
        }
        let mut folded: HashSet<String> = HashSet::new();
        let mut listed = Vec::new();
        for line in about {
            let name = line.name.to_ascii_lowercase();
            let count = counts.get(&name).copied().unwrap_or_default();
            if self.lists_all || count <= FEW {
                listed.push(shown(line));
            } else if folded.insert(name) {
                listed.push(format!("    {}  {}: {count} lines; explain --all lists them", line.at, line.name));
            }
        }
        titled("the main server", &listed, text);
    }

    /// Position of the last applicable line with one of these names.
    pub fn last(&self, route: &Route, names: &[&str]) -> Option<&'a At> {
        let main = self.config.hosts.first().map(|host| host.base);
        let of = |number: &u16| {
            let section = self.config.sections.get(usize::from(*number))?;
            let own = if Some(*number) == main { Some(&self.outside) } else { self.sections.get(&key(&section.at)) };
            own?.iter().rev().find(|line| names.iter().any(|name| name.eq_ignore_ascii_case(&line.name)))
        };
        route.sections.iter().rev().find_map(of).map(|line| &line.at)
    }
}

fn is_section(name: &str) -> bool {
    SECTIONS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn key(at: &At) -> (&str, u32) {
    (&at.file, at.line)
}

fn block<'a>(title: &str, lines: impl Iterator<Item = &'a Directive>, text: &mut String) {
    titled(title, &lines.map(shown).collect::<Vec<_>>(), text);
}

fn shown(line: &Directive) -> String {
    format!("    {}  {} {}", line.at, line.name, line.args.join(" "))
}

fn titled(title: &str, lines: &[String], text: &mut String) {
    if !lines.is_empty() {
        let _ = writeln!(text, "  {title}\n{}", lines.join("\n"));
    }
}

/// Formats `.htaccess` texts from folder and text pairs, as sent to workers.
fn htaccess(overrides: &[u8]) -> String {
    let mut text = String::new();
    let mut parts = overrides.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let (Some(folder), Some(file)) = (parts.next(), parts.next()) {
        let _ = writeln!(text, "  .htaccess of {folder}");
        let is_directive = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        for (number, line) in (1..).zip(file.lines()).filter(|(_, line)| is_directive(line)) {
            let _ = writeln!(text, "    {number}  {}", line.trim());
        }
    }
    text
}

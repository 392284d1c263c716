//! Lines of the configuration that apply to a request, by section.

use std::collections::HashMap;
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

/// All lines of a report, by section.
pub struct SectionLines<'a> {
    config: &'a Config,
    /// Lines of each section, by the file and line where it begins.
    sections: HashMap<(&'a str, u32), Vec<&'a Directive>>,
    outside: Vec<&'a Directive>,
}

impl<'a> SectionLines<'a> {
    /// Collects the lines of a configuration's tree.
    pub fn of(config: &'a Config, tree: &'a [Directive]) -> SectionLines<'a> {
        let mut lines = SectionLines { config, sections: HashMap::new(), outside: Vec::new() };
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
                    let about = self.outside.iter().filter(|line| is_about_requests(&line.name));
                    block("the main server", about.copied(), &mut text);
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
    let lines: Vec<String> =
        lines.map(|line| format!("    {}  {} {}", line.at, line.name, line.args.join(" "))).collect();
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

//! A site's directives and calls, each with a light.

use std::collections::HashSet;
use std::path::Path;

use super::calls::{self, Name};
use super::perl_text::code_lines;
use super::rows::{self, Row, State};
use super::sources::{self, Sources};
use crate::config::{Directive, reference};

/// Whether something will run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Light {
    /// As it did.
    Green,
    /// With the exception named.
    Amber,
    /// Not.
    Red,
}

/// One thing that a site uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// See [`Light`].
    pub light: Light,
    /// `httpd.conf:12`
    pub at: String,
    /// `PerlHandler`, `Apache::Util::escape_html`
    pub what: String,
    /// Why it is not green.
    pub note: String,
}

/// Everything that a site uses, each once a file, in the order of files and lines.
pub fn survey(tree: &[Directive], server_root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let sources = Sources::of(tree, server_root);
    let mut seen = HashSet::new();
    directives(tree, &sources, &mut seen, &mut findings);
    perl_sections(tree, &sources, &mut findings);
    for file in &sources.files {
        if let Some(text) = sources::text(file) {
            perl(&text, |line| format!("{}:{line}", file.display()), &sources, &mut findings);
        }
    }
    findings
}

fn perl_sections(tree: &[Directive], sources: &Sources, findings: &mut Vec<Finding>) {
    for directive in tree {
        if directive.name.eq_ignore_ascii_case("Perl") {
            let code = directive.args.join("\n");
            perl(&code, |line| format!("{}:{}", directive.at.file, directive.at.line + line), sources, findings);
        }
        perl_sections(directive.section.as_deref().unwrap_or_default(), sources, findings);
    }
}

fn directives(
    tree: &[Directive],
    sources: &Sources,
    seen: &mut HashSet<(String, String)>,
    findings: &mut Vec<Finding>,
) {
    for directive in tree {
        let what = match directive.section {
            Some(_) => format!("<{}>", directive.name),
            None => directive.name.clone(),
        };
        if seen.insert((directive.at.file.to_string(), what.to_ascii_lowercase())) {
            let (light, note) = light_of_directive(directive, &what, sources);
            findings.push(Finding { light, at: directive.at.to_string(), what, note });
        }
        directives(directive.section.as_deref().unwrap_or_default(), sources, seen, findings);
    }
}

fn light_of_directive(directive: &Directive, what: &str, sources: &Sources) -> (Light, String) {
    let row = rows::find("Directives", what).or_else(|| rows::find("Phases", &directive.name));
    match (row, reference::entry(&directive.name), reference::foreign(directive)) {
        (Some(row), ..) => light(row),
        (None, Ok(_), _) => (Light::Green, String::new()),
        (None, Err(_), Some((true, message))) => (Light::Amber, message),
        (None, Err(_), Some((false, message))) => (Light::Red, message),
        (None, Err(_), None) if sources.mention(&directive.name) => {
            (Light::Amber, "is no directive of ours; a module of the site seems to define it".to_owned())
        }
        (None, Err(message), None) => (Light::Red, message),
    }
}

fn light(row: &Row) -> (Light, String) {
    let light = match row.state {
        State::Works => Light::Green,
        State::Partly => Light::Amber,
        State::Not => Light::Red,
    };
    (light, row.note.to_owned())
}

fn perl(text: &str, at: impl Fn(u32) -> String, sources: &Sources, findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    for (line, code) in code_lines(text) {
        for name in calls::names(code) {
            if !seen.insert(name.clone()) {
                continue;
            }
            if let Some((light, what, note)) = judge(&name, sources) {
                findings.push(Finding { light, at: at(line), what, note });
            }
        }
    }
}

/// `None` for what is the site's own.
fn judge(name: &Name, sources: &Sources) -> Option<(Light, String, String)> {
    match name {
        Name::Module(module) => judge_module(module, sources),
        Name::Method(package, method) if rows::all().iter().any(|row| row.section == package) => {
            Some(judge_method(package, method))
        }
        Name::Method(package, _) => judge_module(package, sources),
    }
}

fn judge_module(module: &str, sources: &Sources) -> Option<(Light, String, String)> {
    if sources.own_file(module).is_some() {
        return None;
    }
    let known = rows::all().iter().any(|row| row.section == module);
    let is_installed = sources.is_installed(module);
    let (light, note) = match rows::find("Modules", module).or_else(|| parent(module).filter(|_| is_installed)) {
        Some(row) => light(row),
        None if known || module == "Apache" => (Light::Green, String::new()),
        None if module.starts_with("Apache2") || module == "mod_perl2" => {
            (Light::Red, "is mod_perl 2's API: this server speaks that of mod_perl 1".to_owned())
        }
        None if is_installed => (Light::Amber, "is installed, not ours and not tried".to_owned()),
        None => (Light::Red, "is neither ours nor found in @INC: install it".to_owned()),
    };
    Some((light, module.to_owned(), note))
}

/// `Apache::ASP::Date` came with Apache::ASP.
fn parent(module: &str) -> Option<&'static Row> {
    let (parent, _) = module.rsplit_once("::")?;
    rows::find("Modules", parent).or_else(|| self::parent(parent))
}

/// `$r` may be an object of a class that adds methods to a request.
const ADDED: &[(&str, &[&str])] = &[
    ("Apache::Request", &["param", "parms", "parse", "upload", "instance", "query_params", "post_params"]),
    ("Apache::Filter", &["filter_input", "filter_register"]),
    ("Apache::SubProcess", &["spawn_child", "cleanup_for_exec", "system", "exec"]),
];

/// Methods of a request that another module's section has.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "Apache::File",
        &[
            "set_content_length",
            "set_last_modified",
            "set_etag",
            "meets_conditions",
            "update_mtime",
            "mtime",
            "discard_request_body",
            "set_byterange",
            "each_byterange",
        ],
    ),
    ("Apache::URI", &["parsed_uri"]),
];

fn row_of_method(package: &str, method: &str) -> Option<&'static Row> {
    let has = |methods: &[&str]| methods.contains(&method);
    match package {
        "Apache::SubRequest" => rows::find(package, method).or_else(|| row_of_method("Apache", method)),
        "Apache" => rows::find(package, method)
            .or_else(|| {
                ELSEWHERE.iter().find_map(|(class, methods)| rows::find(class, method).filter(|_| has(methods)))
            })
            .or_else(|| {
                ADDED.iter().find(|(_, methods)| has(methods)).and_then(|(class, _)| rows::find("Modules", class))
            }),
        _ => rows::find(package, method),
    }
}

fn judge_method(package: &str, method: &str) -> (Light, String, String) {
    let what = format!("{package}::{method}");
    if let Some(row) = row_of_method(package, method) {
        let (light, note) = light(row);
        return (light, what, note);
    }
    match package {
        // Tags are many; the module knows them, and says so when it does not.
        "Apache::Constants" => (Light::Green, what, String::new()),
        _ => (Light::Red, what, "is no method of mod_perl 1".to_owned()),
    }
}

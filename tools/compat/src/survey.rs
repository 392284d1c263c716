//! A site's directives and calls, each with a traffic light.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::calls::{self, ApiName};
use super::generation_2;
use super::methods_2;
use super::perl_text::code_lines;
use super::rows::{self, CompatRow, Support};
use super::sources::{self, Sources};
use config::{At, ConfigError, Directive, is_skipped, reference, table, without_skipped};

/// Support of a feature, as a traffic light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Light {
    /// Works as before.
    Green,
    /// Works, with the exception in the note.
    Amber,
    /// Does not work.
    Red,
}

/// A feature that a site uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// See [`Light`].
    pub light: Light,
    /// `httpd.conf:12`
    pub at: String,
    /// `PerlHandler`, `Apache::Util::escape_html`
    pub what: String,
    /// The reason; empty for green.
    pub note: String,
}

/// The features that a site uses, each once per file, in the order of files and lines. Directives that a start
/// would refuse (`mistakes`) or warn about (`warnings`) are never green.
pub fn survey(
    tree: &[Directive],
    server_root: &Path,
    mistakes: &[ConfigError],
    warnings: &[ConfigError],
) -> Vec<Finding> {
    // Skipped sections load no modules.
    let used = without_skipped(tree);
    let sources = Sources::of(&used, server_root);
    let (wrong, warned) = (by_position(mistakes), by_position(warnings));
    let mut lines =
        Lines { sources: &sources, mistakes: wrong, warnings: warned, seen: HashSet::new(), findings: Vec::new() };
    lines.read(tree, false);
    let mut findings = lines.findings;
    let mut positions = HashSet::new();
    collect_positions(tree, &mut positions);
    let is_of_a_line = |mistake: &&ConfigError| mistake.at.as_ref().is_some_and(|at| positions.contains(at));
    findings.extend(mistakes.iter().filter(|mistake| !is_of_a_line(mistake)).map(without_line));
    perl_sections(&used, &sources, &mut findings);
    for file in &sources.files {
        if let Some(text) = sources::text(file) {
            perl(&text, |line| format!("{}:{line}", file.display()), &sources, &mut findings);
        }
    }
    findings
}

/// Modules of CPAN or of the site that a site's programs load and perl does not find. `survey` judges those of the
/// server's API.
pub fn missing_modules(tree: &[Directive], server_root: &Path) -> Vec<Finding> {
    let sources = Sources::of(&without_skipped(tree), server_root);
    let of_file = |file: &PathBuf| {
        let missing = sources.missing(&sources::text(file).unwrap_or_default());
        let finding = |(line, module): (u32, String)| Finding {
            light: Light::Red,
            at: format!("{}:{line}", file.display()),
            what: module,
            note: MISSING.to_owned(),
        };
        missing.into_iter().map(finding).collect::<Vec<_>>()
    };
    sources.files.iter().flat_map(of_file).collect()
}

const MISSING: &str = "is not found in @INC; install it";

fn perl_sections(tree: &[Directive], sources: &Sources, findings: &mut Vec<Finding>) {
    for directive in tree {
        if directive.name.eq_ignore_ascii_case("Perl") {
            let code = directive.args.join("\n");
            perl(&code, |line| format!("{}:{}", directive.at.file, directive.at.line + line), sources, findings);
        }
        perl_sections(directive.section.as_deref().unwrap_or_default(), sources, findings);
    }
}

const SKIPPED: &str = "is skipped: it is in an <IfModule> of a missing module";

struct Lines<'a> {
    sources: &'a Sources,
    mistakes: HashMap<&'a At, &'a ConfigError>,
    warnings: HashMap<&'a At, &'a ConfigError>,
    seen: HashSet<(String, String, String)>,
    findings: Vec<Finding>,
}

impl Lines<'_> {
    /// Reads a context; `skipped`: inside a section of a missing module.
    fn read(&mut self, tree: &[Directive], skipped: bool) {
        for directive in tree {
            let skips = is_skipped(directive);
            let what = match directive.section {
                Some(_) if skips => format!("<{} {}>", directive.name, directive.args.join(" ")),
                Some(_) => format!("<{}>", directive.name),
                None => directive.name.clone(),
            };
            let (light, note) = match self.judge(directive, &what) {
                (Light::Green, _) if skipped => (Light::Amber, SKIPPED.to_owned()),
                // A start skips the directive, too.
                (Light::Red, note) if skipped => (Light::Amber, format!("{SKIPPED}; otherwise: {note}")),
                judged => judged,
            };
            if self.seen.insert((directive.at.file.to_string(), what.to_ascii_lowercase(), note.clone())) {
                self.findings.push(Finding { light, at: directive.at.to_string(), what, note });
            }
            self.read(directive.section.as_deref().unwrap_or_default(), skipped || skips);
        }
    }

    fn judge(&self, directive: &Directive, what: &str) -> (Light, String) {
        if is_skipped(directive) {
            let note = "the module is missing: the contents of the section are skipped";
            return (Light::Amber, note.to_owned());
        }
        let is_ours = table::is_known(&directive.name);
        // An unknown name may belong to a Perl module of the site, which a survey does not load.
        if is_ours && let Some(mistake) = said_of(&self.mistakes, directive) {
            return (Light::Red, mistake);
        }
        match light_of_directive(directive, what, self.sources) {
            (Light::Green, note) => match said_of(&self.warnings, directive) {
                Some(warning) => (Light::Amber, warning),
                None => (Light::Green, note),
            },
            other => other,
        }
    }
}

fn collect_positions<'a>(tree: &'a [Directive], positions: &mut HashSet<&'a At>) {
    for directive in tree {
        positions.insert(&directive.at);
        collect_positions(directive.section.as_deref().unwrap_or_default(), positions);
    }
}

/// The first message at each position. A broken configuration may have very many.
fn by_position(errors: &[ConfigError]) -> HashMap<&At, &ConfigError> {
    errors.iter().rev().filter_map(|error| Some((error.at.as_ref()?, error))).collect()
}

/// The message about a directive's line, without the name.
fn said_of(errors: &HashMap<&At, &ConfigError>, directive: &Directive) -> Option<String> {
    let error = errors.get(&directive.at)?;
    let bracketed = format!("<{}>: ", directive.name);
    let plain = format!("{}: ", directive.name);
    let message = error.message.strip_prefix(&bracketed).or_else(|| error.message.strip_prefix(&plain));
    Some(message.unwrap_or(&error.message).to_owned())
}

/// A mistake without a directive: an unreadable line, an Include without files, a missing directive.
fn without_line(mistake: &ConfigError) -> Finding {
    let at = mistake.at.as_ref().map_or("configuration".to_owned(), ToString::to_string);
    let (what, note) = mistake.message.split_once(": ").unwrap_or(("this line", &mistake.message));
    Finding { light: Light::Red, at, what: what.to_owned(), note: note.to_owned() }
}

fn light_of_directive(directive: &Directive, what: &str, sources: &Sources) -> (Light, String) {
    let row = rows::find("Directives", what).or_else(|| rows::find("Phases", &directive.name));
    match (row, table::is_known(&directive.name), reference::foreign(directive)) {
        (Some(row), ..) => light(row),
        (None, true, _) => (Light::Green, String::new()),
        (None, false, Some((true, message))) => (Light::Amber, message),
        (None, false, Some((false, message))) => (Light::Red, message),
        (None, false, None) if sources.mention(&directive.name) => {
            (Light::Amber, "is unknown; a module of the site seems to define it".to_owned())
        }
        (None, false, None) => (Light::Red, reference::entry(&directive.name).err().unwrap_or_default()),
    }
}

fn light(row: &CompatRow) -> (Light, String) {
    (light_of(row.state), row.note.to_owned())
}

fn light_of(state: Support) -> Light {
    match state {
        Support::Works => Light::Green,
        Support::Partly => Light::Amber,
        Support::Not => Light::Red,
    }
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

/// Judges a name; `None`: a name of the site itself.
fn judge(name: &ApiName, sources: &Sources) -> Option<(Light, String, String)> {
    match name {
        ApiName::Module(module) => judge_module(module, sources),
        ApiName::Method(package, method) if sources.speaks_of_2 => judge_method_of_2(package, method, sources),
        // The `use` line was reported already.
        ApiName::Method(package, _) if generation_2::is_of_it(package) => None,
        ApiName::Method(package, method) if rows::all().iter().any(|row| row.section == package) => {
            Some(judge_method(package, method))
        }
        ApiName::Method(package, _) => judge_module(package, sources),
    }
}

/// A method of mod_perl 2. An unknown one may come from Apache2::compat.
fn judge_method_of_2(package: &str, method: &str, sources: &Sources) -> Option<(Light, String, String)> {
    let class = methods_2::class_of(package);
    if sources.own_file(class).is_some() {
        return None;
    }
    let what = format!("{class}::{method}");
    match methods_2::support(class, method) {
        Some((Support::Not, _)) if rows::find(package, method).is_some() => match sources.use_module("Apache2::compat")
        {
            true => Some((Light::Green, what, "belongs to mod_perl 1; Apache2::compat provides it".to_owned())),
            false => Some((
                Light::Red,
                what,
                "belongs to mod_perl 1; load Apache2::compat, or use the method of mod_perl 2".to_owned(),
            )),
        },
        Some((state, note)) => Some((light_of(state), what, note.to_owned())),
        None => judge_module(class, sources),
    }
}

fn judge_module(module: &str, sources: &Sources) -> Option<(Light, String, String)> {
    if sources.own_file(module).is_some() {
        return None;
    }
    if generation_2::is_of_it(module) {
        let (light, note) = match generation_2::support(module) {
            _ if !sources.speaks_of_2 => {
                let note = "is mod_perl 2's API, but this configuration uses mod_perl 1's, or neither; `PerlGeneration 2` selects it";
                (Light::Red, note.to_owned())
            }
            Some((state, note)) => (light_of(state), note.to_owned()),
            None if sources.is_installed(module) => {
                (Light::Amber, "is installed, but not part of the server and not tested".to_owned())
            }
            None => (Light::Red, MISSING.to_owned()),
        };
        return Some((light, module.to_owned(), note));
    }
    let known = rows::all().iter().any(|row| row.section == module);
    let is_installed = sources.is_installed(module);
    let (light, note) = match rows::find("Modules", module).or_else(|| parent(module).filter(|_| is_installed)) {
        Some(row) => light(row),
        None if known || module == "Apache" => (Light::Green, String::new()),
        None if is_installed => (Light::Amber, "is installed, but not part of the server and not tested".to_owned()),
        None => (Light::Red, MISSING.to_owned()),
    };
    Some((light, module.to_owned(), note))
}

/// `Apache::ASP::Date` comes with Apache::ASP.
fn parent(module: &str) -> Option<&'static CompatRow> {
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

fn row_of_method(package: &str, method: &str) -> Option<&'static CompatRow> {
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
        // The tags' names are many; the module itself reports unknown ones.
        "Apache::Constants" => (Light::Green, what, String::new()),
        _ => (Light::Red, what, "is no method of mod_perl 1".to_owned()),
    }
}

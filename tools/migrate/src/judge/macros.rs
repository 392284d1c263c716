//! The lines of macros. The parser reports what is wrong in them at their `Use` line.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use config::{At, Directive, LineReader, split_words};

use super::access;
use super::ledger::{Ledger, LineVerdict};
use super::macro_includes::MacroIncludes;
use crate::read::OldSite;
use crate::write::{Copies, FileCopy, Layout, LineEdit};

/// Mark of a section in [`Directive::name`].
const CONDITION: &str = "<IfModule";

/// A line and the sections around it.
#[derive(Clone)]
pub struct PlacedLine {
    pub directive: Directive,
    /// Lower-case names of the sections; for a line of a macro, those at all uses of the macro.
    pub around: Vec<String>,
    /// Whether the line applies at several places that give a line of access different meanings, or at an unknown
    /// place.
    pub is_disputed: bool,
}

struct MacroLine {
    placed: PlacedLine,
    /// Lower-case name of the macro.
    of: String,
    text: String,
    /// Whether the line contains a parameter or a variable.
    varies: bool,
    /// The words that `Use` replaces by its values.
    parameters: Rc<[String]>,
}

/// The macro that a `Use` line names, in lower case.
pub fn used<'a>(at: &At, copies: &'a Copies) -> Option<&'a str> {
    copies.find(&at.file)?.outline.used(at.line)
}

/// Whether the position is that of a `Use` line.
pub fn is_use(at: &At, copies: &Copies) -> bool {
    used(at, copies).is_some()
}

/// The `<IfModule>` lines in macros, whose condition is the only argument. The ledger gets the lines that only a person
/// can judge: a condition with a parameter, and files that are included.
pub fn conditions(site: &OldSite, layout: &Layout, copies: &Copies, ledger: &mut Ledger) -> Vec<Directive> {
    let includes = MacroIncludes { site, layout };
    let mut found = Vec::new();
    for copy in &copies.all {
        for line in of_file(copy) {
            let directive = &line.placed.directive;
            if directive.name == CONDITION && !line.varies {
                found.push(directive.clone());
            } else if directive.name == CONDITION && copy.outline.has_mark_inside(directive.at.line) {
                let sentence = "<IfModule>: a parameter or a variable names the module, so the place is closed; write a \
                                macro for each module";
                let instead = LineEdit::Replace(vec![access::CLOSED.to_owned(), line.text]);
                ledger.add(LineVerdict::open(&directive.at, sentence, Some(instead)));
            } else if directive.name.to_ascii_lowercase().starts_with("include") {
                ledger.add(includes.verdict(directive, &line.parameters));
            }
        }
    }
    found
}

pub struct MacroLines {
    lines: Vec<MacroLine>,
    uses: UsedMacros,
}

impl MacroLines {
    /// The lines, with the places at which the tree has them.
    pub fn of(copies: &Copies, tree: &[Directive]) -> MacroLines {
        let mut lines: Vec<MacroLine> = copies.all.iter().flat_map(of_file).collect();
        let uses = UsedMacros::of(&lines);
        lines.retain(|line| line.placed.directive.name != CONDITION);
        let mut expanded = Expanded { copies, by_use: HashMap::new() };
        if !lines.is_empty() {
            expanded.read(tree, &mut Vec::new());
        }
        let reached: Vec<_> = expanded.by_use.iter().map(|(used, by_name)| (uses.reached(used), by_name)).collect();
        for line in &mut lines {
            let of_macro = reached.iter().filter(|(macros, _)| macros.contains(line.of.as_str()));
            let name = line.placed.directive.name.to_ascii_lowercase();
            let all: Vec<_> = of_macro.filter_map(|(_, by_name)| by_name.get(&name)).flatten().collect();
            line.applies_at(&all);
        }
        MacroLines { lines, uses }
    }

    /// All lines, those of unused macros included.
    pub fn all(&self) -> impl Iterator<Item = &PlacedLine> {
        self.lines.iter().map(|line| &line.placed)
    }

    /// The lines that a message is about: those of the macros that the `Use` line reads, with the name in the message
    /// and the words that it quotes. If no line has the words, all lines of the name.
    pub fn lines_of(&self, used: &str, name: &str, message: &str) -> Vec<PlacedLine> {
        if name.eq_ignore_ascii_case("Use") {
            return Vec::new();
        }
        let reached = self.uses.reached(used);
        let is_named = |line: &&MacroLine| {
            reached.contains(line.of.as_str()) && line.placed.directive.name.eq_ignore_ascii_case(name)
        };
        let named: Vec<&MacroLine> = self.lines.iter().filter(is_named).collect();
        let quoted = message.split_once("got \"").and_then(|(_, rest)| rest.split('"').next()).map(letters);
        let has_words =
            |line: &&&MacroLine| line.varies || quoted.as_ref().is_none_or(|text| line.words().contains(text));
        let exact: Vec<PlacedLine> = named.iter().filter(has_words).map(|line| line.placed.clone()).collect();
        match exact.is_empty() {
            true => named.iter().map(|line| line.placed.clone()).collect(),
            false => exact,
        }
    }
}

impl MacroLine {
    fn words(&self) -> String {
        letters(&self.placed.directive.args.concat())
    }

    /// Unites the sections around the directives of the line's name that the tree has, or of those with the line's
    /// words.
    fn applies_at(&mut self, all: &[&(String, Vec<String>)]) {
        let own = self.words();
        let has_words = |words: &String| self.varies || *words == own;
        let exact = all.iter().filter(|(words, _)| has_words(words));
        let mut places: Vec<Vec<String>> = exact.map(|(_, around)| around.clone()).collect();
        if places.is_empty() {
            places = all.iter().map(|(_, around)| around.clone()).collect();
        }
        let (around, is_disputed) = access::united(&places);
        self.placed.is_disputed = is_disputed;
        match places.is_empty() {
            true => self.placed.around.extend(around),
            false => self.placed.around = around,
        }
    }
}

/// The macros that each macro uses, by lower-case names.
struct UsedMacros(HashMap<String, Vec<String>>);

impl UsedMacros {
    fn of(lines: &[MacroLine]) -> UsedMacros {
        let mut uses = UsedMacros(HashMap::new());
        for line in lines {
            let used = uses.0.entry(line.of.clone()).or_default();
            if line.placed.directive.name.eq_ignore_ascii_case("Use") {
                used.extend(line.placed.directive.args.first().map(|name| name.to_ascii_lowercase()));
            }
        }
        uses
    }

    /// The macro and all that it uses. A name that no macro has may be a parameter or a variable: any macro is meant.
    fn reached(&self, name: &str) -> HashSet<&str> {
        let mut found = HashSet::new();
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            match self.0.get_key_value(name) {
                None => return self.0.keys().map(String::as_str).collect(),
                Some((name, used)) if found.insert(name.as_str()) => next.extend(used.iter().map(String::as_str)),
                Some(_) => {}
            }
        }
        found
    }
}

/// Words and sections of directives, by their lower-case names.
type ByName = HashMap<String, HashSet<(String, Vec<String>)>>;

/// The directives of a tree that come from macros.
struct Expanded<'a> {
    copies: &'a Copies,
    /// By the macro that the outermost `Use` line names.
    by_use: HashMap<String, ByName>,
}

impl Expanded<'_> {
    fn read(&mut self, tree: &[Directive], around: &mut Vec<String>) {
        for directive in tree {
            let old = self.copies.origin(&directive.at);
            let name = directive.name.to_ascii_lowercase();
            if let Some(used) = old.as_ref().and_then(|at| used(at, self.copies)) {
                let by_name = self.by_use.entry(used.to_owned()).or_default();
                let words = letters(&directive.args.concat());
                by_name.entry(name.clone()).or_default().insert((words, around.clone()));
            }
            if let Some(inside) = &directive.section {
                around.push(name);
                self.read(inside, around);
                around.pop();
            }
        }
    }
}

/// The text without blanks and quotation marks: an unknown directive has all its words in one argument.
fn letters(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '\\')).collect()
}

fn of_file(copy: &FileCopy) -> Vec<MacroLine> {
    let mut found = Vec::new();
    let mut around: Vec<String> = Vec::new();
    let (mut of, mut parameters, mut end) = (String::new(), Rc::from([]), 0);
    let lines = LineReader::new(&copy.text).take(if copy.outline.macros.is_empty() { 0 } else { usize::MAX });
    for line in lines {
        if copy.outline.macros.binary_search(&line.number).is_err() && line.number >= end {
            continue;
        }
        let by_blanks = |_| line.text.split_whitespace().map(str::to_owned).collect();
        let mut words = split_words(&line.text).unwrap_or_else(by_blanks).into_iter();
        let name = words.next().unwrap_or_default();
        if copy.outline.macros.binary_search(&line.number).is_ok() {
            end = copy.outline.end(line.number).unwrap_or_default();
            around.clear();
            let mut words =
                words.map(|word| word.trim_end_matches('>').to_owned()).filter(|word: &String| !word.is_empty());
            of = words.next().unwrap_or_default().to_ascii_lowercase();
            parameters = words.collect();
            continue;
        }
        let section = name.strip_prefix('<').map(|section| section.trim_end_matches('>').to_ascii_lowercase());
        let is_condition = section.as_deref() == Some("ifmodule");
        if name.starts_with("</") {
            around.pop();
            continue;
        }
        if section.is_none() || is_condition {
            let at = At { file: copy.origin.to_string_lossy().into(), line: line.number };
            let (name, args) = match is_condition {
                true => (CONDITION.to_owned(), words.map(|word| word.trim_end_matches('>').to_owned()).collect()),
                false => (name, words.collect()),
            };
            let varies = line.text.contains("${") || parameters.iter().any(|name| line.text.contains(name.as_str()));
            let directive = Directive { name, args, at, section: None };
            let placed = PlacedLine { directive, around: around.clone(), is_disputed: true };
            let (of, text, parameters) = (of.clone(), line.text.clone(), Rc::clone(&parameters));
            found.push(MacroLine { placed, of, text, varies, parameters });
        }
        around.extend(section);
    }
    found
}

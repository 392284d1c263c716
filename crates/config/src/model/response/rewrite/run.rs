//! Application of the rules of a place to a request.

use percent_encoding::{AsciiSet, percent_encode};

use super::Rewrite;
use std::cell::Cell;
use std::collections::BTreeMap;

use super::asked::{Fill, Found, Known, STEP, Seen};
use super::cookie;
use super::flags::RuleFlags;
use super::rule::Rule;
use super::template::{Filled, Template};
use crate::syntax::work;
use base::path::{PATH, Text};

/// Bytes of a path that are escaped in `Location`, as in httpd.
const SENT: &AsciiSet = &PATH
    .remove(b'$')
    .remove(b'!')
    .remove(b'*')
    .remove(b'(')
    .remove(b')')
    .remove(b',')
    .remove(b';')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=');

/// Bytes that are escaped in any URL, even with `NE`.
const UNESCAPED: &AsciiSet = &percent_encoding::CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>');

/// Maximum work of a place's rules for one request, in bytes read and written.
const WORK: usize = 8 << 20;

/// Input of the rules.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// Path of the request; for rules of a folder the file name.
    pub path: String,
    /// For rules of a folder: the path after the file name.
    pub path_info: String,
    /// Original query.
    pub query: Option<String>,
}

/// Result of the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// The path, as in [`Start::path`], or the URL of a redirection.
    pub path: String,
    /// The query after rewriting.
    pub query: Option<String>,
    /// Whether a rule substituted the path, possibly by the same path.
    pub changed: bool,
    /// Response without further processing.
    pub away: Option<Away>,
    /// Variables that were set, or unset (`None`).
    pub variables: BTreeMap<String, Option<String>>,
    /// Whether the limit of work was exceeded.
    pub too_much: bool,
    /// Headers of the request that conditions tested, for `Vary`.
    pub vary: Vec<String>,
    /// `CO`: values of `Set-Cookie`.
    pub cookies: Vec<String>,
    /// `PT`
    pub pass_through: bool,
    /// Whether the path begins with a folder written in the configuration, so that it may be a file system path.
    pub names_folder: bool,
    /// `END`
    pub end: bool,
}

/// A response without further processing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Away {
    /// A status.
    Status(u16),
    /// A redirection with this status to this URL.
    To(u16, String),
}

/// Applies the rules.
pub fn run<S: Seen>(rewrite: &Rewrite, start: Start, seen: &S) -> Rewritten {
    let mut state = State::new(seen, rewrite, start);
    let (mut at, mut rounds) = (0, 0);
    while let Some(rule) = rewrite.rules.get(at) {
        at += 1;
        if state.is_worn_out() {
            break;
        }
        if !state.apply(rule) {
            let mut chained = rule.flags.chain;
            while let Some(next) = rewrite.rules.get(at).filter(|_| chained) {
                (chained, at) = (next.flags.chain, at + 1);
            }
            continue;
        }
        if state.is_over(&rule.flags) {
            break;
        }
        if let Some(most) = rule.flags.next {
            rounds += 1;
            at = 0;
            if rounds > most {
                state.out.away = Some(Away::Status(500));
                break;
            }
        }
        at += rule.flags.skip;
    }
    state.is_worn_out();
    state.end()
}

/// State while rules are applied.
struct State<'a, S> {
    seen: &'a S,
    folder: Option<&'a str>,
    base: Option<&'a str>,
    /// Original query.
    sent: Option<String>,
    /// Path after the file name, unless `DPI` dropped it.
    path_info: String,
    /// Remaining part of [`WORK`].
    work: Cell<usize>,
    /// Memory limit of variables and cookies.
    store: work::Store,
    out: Rewritten,
    /// Status of a redirection, and whether its URL is escaped.
    redirect: (u16, bool),
}

impl<'a, S: Seen> State<'a, S> {
    fn new(seen: &'a S, place: &'a Rewrite, start: Start) -> Self {
        let (folder, base) = (place.folder.as_deref(), place.base.as_deref());
        let Start { path, path_info, query } = start;
        let out = Rewritten { path, query: query.clone(), ..Rewritten::default() };
        State {
            seen,
            folder,
            base,
            sent: query,
            path_info,
            work: Cell::new(WORK),
            store: work::Store::default(),
            out,
            redirect: (302, true),
        }
    }

    /// Text that patterns are matched against.
    fn subject(&self) -> String {
        let whole = format!("{}{}", self.out.path, self.path_info);
        match self.folder.and_then(|folder| whole.strip_prefix(folder)) {
            Some(rest) => rest.to_owned(),
            None => whole,
        }
    }

    fn apply(&mut self, rule: &Rule) -> bool {
        let subject = self.subject();
        self.spend(STEP + subject.len());
        let groups = rule.pattern.as_ref().and_then(|pattern| pattern.find(&subject)).map(|groups| groups.all());
        if groups.is_some() == rule.negated {
            return false;
        }
        let groups = groups.unwrap_or_default();
        self.spend(groups.iter().map(String::len).sum());
        let (mut found, mut vary) = (Vec::new(), Vec::new());
        if !self.conditions_hold(rule, &groups, &mut found, &mut vary) {
            return false;
        }
        self.out.vary.append(&mut vary);
        let found = Found { rule: &groups, condition: &found };
        let filled = rule.to.as_ref().map(|to| to.fill(self, found, &|text| rule.flags.escapes.text(text)));
        self.set_variables(&rule.flags, found);
        match filled {
            Some(Some(filled)) => {
                self.out.names_folder = rule.to.as_ref().is_some_and(Template::names_folder);
                self.replace(filled, &rule.flags);
            }
            Some(None) => self.out.away = Some(Away::Status(500)),
            None => {}
        }
        if let Some(status) = rule.flags.status {
            self.out.away = Some(Away::Status(status));
        }
        true
    }

    /// Evaluates the conditions. Of conditions joined by `[OR]` one must hold.
    fn conditions_hold(&self, rule: &Rule, groups: &[String], found: &mut Vec<String>, vary: &mut Vec<String>) -> bool {
        let mut conditions = rule.conditions.iter();
        while let Some(mut condition) = conditions.next() {
            if self.work.get() == 0 {
                return false;
            }
            let holds = condition.holds(self.seen, self, groups, found);
            if !holds && !condition.or_next {
                return false;
            }
            if holds {
                vary.extend(condition.headers().into_iter().map(str::to_owned));
            }
            while holds && condition.or_next {
                let Some(next) = conditions.next() else { break };
                condition = next;
            }
        }
        true
    }

    fn set_variables(&mut self, flags: &RuleFlags, found: Found<'_>) {
        for (name, text) in &flags.variables {
            self.spend(STEP);
            let text = text.as_ref().map(|text| text.text(self, found).unwrap_or_default());
            if self.store.has_room(name.len() + text.as_ref().map_or(0, String::len)) {
                self.out.variables.insert(name.clone(), text);
            }
        }
        for cookie in &flags.cookies {
            let line = cookie.text(self, found).as_deref().and_then(cookie::line);
            self.out.cookies.extend(line.filter(|line| self.store.has_room(line.len())));
        }
    }

    fn replace(&mut self, filled: Filled, flags: &RuleFlags) {
        self.out.changed = true;
        if flags.discard_path_info {
            self.path_info.clear();
        }
        self.split(filled, flags);
        let path = &self.out.path;
        if let Some(folder) = self.folder.filter(|_| !path.starts_with('/') && !is_absolute(path)) {
            self.out.path = format!("{folder}{path}");
        }
        self.redirect = (flags.redirect.unwrap_or(302), !flags.no_escape);
        if flags.redirect.is_some() && !is_absolute(&self.out.path) {
            let path = match (self.base, self.folder.and_then(|folder| self.out.path.strip_prefix(folder))) {
                (Some(base), Some(rest)) => &format!("{base}{rest}"),
                _ => &self.out.path,
            };
            let slash = if path.starts_with('/') { "" } else { "/" };
            self.out.path = format!("{}{slash}{path}", self.seen.origin());
        } else if flags.redirect.is_none()
            && let Some(own) = self.out.path.strip_prefix(&self.seen.origin()).filter(|rest| rest.starts_with('/'))
        {
            self.out.path = own.to_owned();
        }
        self.out.pass_through |= flags.pass_through;
    }

    /// Splits a substitution into path and query.
    fn split(&mut self, filled: Filled, flags: &RuleFlags) {
        if flags.query_discard {
            self.out.query = None;
        }
        let Filled { text, marks } = filled;
        let mark = if flags.query_last { marks.last() } else { marks.first() };
        let Some((path, query)) = mark.and_then(|at| Some((text.get(..*at)?, text.get(at + 1..)?))) else {
            self.out.path = text;
            return;
        };
        self.out.path = path.to_owned();
        let sent = self.out.query.take().filter(|_| flags.query_append);
        let both = match sent {
            Some(sent) if query.is_empty() => sent,
            Some(sent) => format!("{query}&{sent}"),
            None => query.to_owned(),
        };
        self.out.query = Some(both).filter(|query| !query.is_empty());
    }

    /// Whether the work is used up: a `.htaccess` file must not block the thread for its other clients.
    fn is_worn_out(&mut self) -> bool {
        if self.work.get() == 0 {
            (self.out.too_much, self.out.away) = (true, Some(Away::Status(500)));
        }
        self.out.too_much
    }

    fn is_over(&mut self, flags: &RuleFlags) -> bool {
        self.out.end |= flags.end;
        flags.last || flags.pass_through || self.out.away.is_some()
    }

    fn end(mut self) -> Rewritten {
        if self.out.away.is_none() && self.out.changed && is_absolute(&self.out.path) {
            let is_sent = self.out.query == self.sent;
            let (status, escaped) = self.redirect;
            self.out.away = Some(Away::To(status, location(&self.out, escaped, is_sent)));
        }
        self.out
    }
}

impl<S: Seen> Fill for State<'_, S> {
    fn known(&self, known: Known) -> String {
        match known {
            Known::QueryString => self.out.query.clone().unwrap_or_default(),
            Known::RequestFilename => self.out.path.clone(),
            Known::PathInfo => self.path_info.clone(),
            known => self.seen.known(known),
        }
    }

    fn header(&self, name: &str) -> String {
        self.seen.header(name)
    }

    fn variable(&self, name: &str) -> String {
        let set = self.out.variables.get(name);
        set.map_or_else(|| self.seen.variable(name), Clone::clone).unwrap_or_default()
    }

    fn tls(&self, name: &str) -> String {
        self.seen.tls(name)
    }

    fn spend(&self, bytes: usize) {
        let is_left = work::spend(bytes);
        self.work.set(if is_left { self.work.get().saturating_sub(bytes) } else { 0 });
    }
}

/// Whether a text begins with a URL scheme.
fn is_absolute(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_word = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let rest = text.get(scheme.len()..).unwrap_or_default();
    is_word && (rest.starts_with("://") || matches!(scheme, "mailto" | "news"))
}

/// URL for `Location`.
fn location(out: &Rewritten, escaped: bool, query_was_sent: bool) -> String {
    let escape = |part: &str| match escaped {
        true => percent_encode(&Text::bytes_in(part), SENT).to_string(),
        false => percent_encode(&Text::bytes_in(part), UNESCAPED).to_string(),
    };
    // Only a question mark of the configuration begins a query; any other is part of the path.
    let escape_path = |path: &str| escape(path).replace('?', "%3F");
    let authority = out.path.find("://").map_or(0, |at| at + 3);
    let path = out.path[authority..].find('/').map_or(out.path.len(), |at| authority + at);
    let (origin, path) = out.path.split_at(path);
    let query = out.query.as_deref().map(|query| match query_was_sent {
        true => format!("?{query}"),
        false => format!("?{}", escape(query)),
    });
    format!("{origin}{}{}", escape_path(path), query.unwrap_or_default())
}

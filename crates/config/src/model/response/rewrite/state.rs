//! A request while the rules of a place are applied to it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::Rewrite;
use super::ahead::{LookedUp, Question, RuleAnswer};
use super::cookie;
use super::flags::RuleFlags;
use super::location::{is_absolute, location};
use super::outcome::{Rewritten, RuleInput, RuleResponse};
use super::rule::Rule;
use super::source::{MatchedGroups, RuleSource, STEP, TemplateSource};
use super::template::{Filled, Template};
use super::trace::Trace;
use super::variable::RuleVariable;
use crate::model::response::expr::LookAhead;
use crate::syntax::work;

/// Maximum work of a place's rules for one request, in bytes read and written.
const WORK: usize = 8 << 20;

/// State while rules are applied.
pub struct RuleRun<'a, S> {
    seen: &'a S,
    place: &'a Rewrite,
    /// Original query.
    sent: Option<String>,
    /// Path after the file name, unless `DPI` dropped it.
    path_info: String,
    is_subrequest: bool,
    /// Remaining part of [`WORK`].
    work: Cell<usize>,
    /// Memory limit of variables and cookies.
    store: work::WorkStore,
    /// The first question without an answer.
    question: RefCell<Option<Question>>,
    trace: Trace<'a>,
    /// See [`TemplateSource::varies`].
    varies: Cell<bool>,
    /// See [`Rewritten::divided`].
    divided: Cell<bool>,
    out: Rewritten,
    /// Text that patterns are matched against: the current path and path info, below the folder.
    subject: Rc<str>,
    /// Status of a redirection, and whether its URL is escaped.
    redirect: (u16, bool),
}

impl<'a, S: RuleSource> RuleRun<'a, S> {
    pub fn new(seen: &'a S, place: &'a Rewrite, start: RuleInput) -> Self {
        let RuleInput { path, path_info, query, is_subrequest } = start;
        let trace = Trace::new(seen.trace_level(), place.folder.as_deref());
        trace.line(2, format_args!("init rewrite engine with requested uri {path}"));
        let mut state = RuleRun {
            seen,
            place,
            sent: query.clone(),
            path_info,
            is_subrequest,
            work: Cell::new(WORK),
            store: work::WorkStore::default(),
            question: RefCell::default(),
            trace,
            varies: Cell::new(false),
            divided: Cell::new(false),
            out: Rewritten { path, query, ..Rewritten::default() },
            subject: Rc::default(),
            redirect: (302, true),
        };
        state.subject = state.subject_of_path();
        state
    }

    /// Facts besides the input of the rules, on which the result then depends.
    fn seen(&self) -> &'a S {
        self.varies();
        self.seen
    }

    fn folder(&self) -> Option<&'a str> {
        self.place.folder.as_deref()
    }

    fn subject_of_path(&self) -> Rc<str> {
        let whole = [self.out.path.as_str(), &self.path_info].concat();
        self.folder().and_then(|folder| whole.strip_prefix(folder)).unwrap_or(&whole).into()
    }

    /// Applies a rule. Returns whether its pattern and its conditions match.
    pub fn apply(&mut self, rule: &Rule) -> bool {
        let subject = self.subject.clone();
        // The path info is behind the path that an earlier rule has made.
        self.divided.set(self.divided.get() || self.out.changed);
        self.spend(STEP + subject.len());
        if self.trace.is_on(3) {
            self.note(3, format_args!("applying pattern '{}' to uri '{subject}'{}", rule.source, rule.place()));
        }
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
        let found = MatchedGroups { rule: &groups, condition: &found };
        let filled = rule.to.as_ref().map(|to| to.fill(self, found, &|text| rule.flags.escapes.text(text)));
        self.set_variables(&rule.flags, found);
        match filled {
            Some(Some(filled)) => {
                self.note(2, format_args!("rewrite '{subject}' -> '{}'", filled.text));
                self.out.names_folder =
                    rule.flags.unsafe_prefix_stat || rule.to.as_ref().is_some_and(Template::names_folder);
                self.replace(filled, &rule.flags);
                self.subject = self.subject_of_path();
            }
            Some(None) => self.fail(),
            None => {}
        }
        self.force(&rule.flags, found);
        if let Some(status) = rule.flags.status {
            self.note(2, format_args!("forcing responsecode {status} for {}", self.out.path));
            self.out.away = Some(RuleResponse::Status(status));
        }
        true
    }

    /// Evaluates the conditions. Of conditions joined by `[OR]` one must hold.
    fn conditions_hold(&self, rule: &Rule, groups: &[String], found: &mut Vec<String>, vary: &mut Vec<String>) -> bool {
        let mut conditions = rule.conditions.iter();
        while let Some(mut condition) = conditions.next() {
            if self.work.get() == 0 || self.question.borrow().is_some() {
                return false;
            }
            let holds = condition.holds(self.seen(), self, groups, found);
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

    fn set_variables(&mut self, flags: &RuleFlags, found: MatchedGroups<'_>) {
        for change in &flags.variables {
            self.spend(STEP);
            let change = change.text(self, found).unwrap_or_default();
            let (name, text) = match change.strip_prefix('!') {
                Some(name) => (name, None),
                None => change.split_once(':').map_or((&*change, Some("")), |(name, text)| (name, Some(text))),
            };
            // Programs use HTTP_PROXY as the proxy of their own requests.
            let is_harmful = name.eq_ignore_ascii_case("HTTP_PROXY");
            if !is_harmful && self.store.has_room(change.len()) {
                self.note(5, format_args!("setting env variable '{name}' to '{}'", text.unwrap_or_default()));
                self.out.variables.insert(name.to_owned(), text.map(str::to_owned));
            }
        }
        for cookie in &flags.cookies {
            // The time at which it expires depends on the time of the request.
            self.varies();
            let line = cookie.text(self, found).as_deref().and_then(cookie::line);
            let Some(line) = line.filter(|line| self.store.has_room(line.len())) else { continue };
            self.note(5, format_args!("setting cookie '{line}'"));
            // As in httpd, the first rule that sets a cookie of a name counts.
            if !self.out.cookies.iter().any(|known| cookie::name(known) == cookie::name(&line)) {
                self.out.cookies.push(line);
            }
        }
    }

    /// `H` and `T`.
    fn force(&mut self, flags: &RuleFlags, found: MatchedGroups<'_>) {
        let fill = |template: &Template| template.text(self, found).filter(|text| !text.is_empty());
        let handler = flags.handler.as_ref().and_then(fill).map(|text| text.to_ascii_lowercase());
        let content_type = flags.content_type.as_ref().and_then(fill).map(|text| text.to_ascii_lowercase());
        if let Some(handler) = handler {
            self.note(2, format_args!("remember {} to have Content-handler '{handler}'", self.out.path));
            self.out.forced.handler = Some(handler);
        }
        if let Some(content_type) = content_type {
            self.note(2, format_args!("remember {} to have MIME-type '{content_type}'", self.out.path));
            self.out.forced.content_type = Some(content_type);
        }
    }

    fn replace(&mut self, filled: Filled, flags: &RuleFlags) {
        self.out.changed = true;
        if flags.discard_path_info {
            self.path_info.clear();
        }
        self.split(filled, flags);
        let path = &self.out.path;
        if let Some(folder) = self.folder().filter(|_| !path.starts_with('/') && !is_absolute(path)) {
            self.note(3, format_args!("add per-dir prefix: {path} -> {folder}{path}"));
            self.out.path = format!("{folder}{}", self.out.path);
        }
        self.redirect = (flags.redirect.unwrap_or(302), !flags.no_escape);
        if flags.proxy {
            self.pass_on();
            return;
        }
        if flags.redirect.is_some() {
            self.qualify();
            self.note(2, format_args!("explicitly forcing redirect with {}", self.out.path));
        } else if let Some(own) = self.reduced() {
            self.note(3, format_args!("reduce {} -> {own}", self.out.path));
            self.out.path = own;
            self.out.names_folder &= self.place.options().legacy_prefix_doc_root;
        }
        self.out.pass_through |= flags.pass_through;
    }

    /// The path of a URL of this server.
    fn reduced(&self) -> Option<String> {
        if !is_absolute(&self.out.path) {
            return None;
        }
        let own = self.out.path.strip_prefix(&self.seen().origin())?;
        own.starts_with('/').then(|| own.to_owned())
    }

    /// `P`: the path is the URL of a backend.
    fn pass_on(&mut self) {
        let (socket, url) = match self.out.path.split_once('|') {
            Some((socket, url)) if socket.starts_with("unix:") => (format!("{socket}|"), url),
            _ => (String::new(), self.out.path.as_str()),
        };
        let is_sent = self.out.query == self.sent;
        let url = location(url, self.out.query.as_deref(), self.redirect.1, is_sent);
        self.note(2, format_args!("forcing proxy-throughput with {socket}{url}"));
        self.out.away = Some(RuleResponse::Backend(format!("{socket}{url}")));
    }

    /// Makes the path a URL of this server, unless it is a URL already.
    fn qualify(&mut self) {
        if is_absolute(&self.out.path) {
            return;
        }
        let rest = self.folder().and_then(|folder| self.out.path.strip_prefix(folder));
        let path = match (&self.place.base, rest) {
            (Some(base), Some(rest)) => &format!("{base}{rest}"),
            _ => &self.out.path,
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        self.out.path = format!("{}{slash}{path}", self.seen().origin());
    }

    /// Splits a substitution into path and query.
    fn split(&mut self, filled: Filled, flags: &RuleFlags) {
        let Filled { text, marks } = filled;
        let mark = if flags.query_last { marks.last() } else { marks.first() };
        let (path, query) = match mark {
            Some(at) => (text.get(..*at).unwrap_or_default(), Some(text.get(at + 1..).unwrap_or_default())),
            None => (text.as_str(), None),
        };
        self.out.path = path.to_owned();
        let sent = self.out.query.take().filter(|_| !flags.query_discard);
        let Some(query) = query else {
            self.out.query = sent;
            return;
        };
        let both = match sent.filter(|sent| flags.query_append && !sent.is_empty()) {
            Some(sent) if query.is_empty() => sent,
            Some(sent) => format!("{query}&{sent}"),
            None => query.to_owned(),
        };
        // As in httpd, one separator at the end is dropped.
        let both = both.strip_suffix('&').unwrap_or(&both);
        self.out.query = Some(both.to_owned()).filter(|query| !query.is_empty());
        self.note(
            3,
            format_args!("split uri={text} -> uri={path}, args={}", self.out.query.as_deref().unwrap_or("<none>")),
        );
    }

    /// Whether no further rule is applied: the work is used up, since a `.htaccess` file must not block the thread for
    /// its other clients, or a question has no answer yet.
    pub fn is_stopped(&mut self) -> bool {
        if self.work.get() == 0 {
            self.out.too_much = true;
            self.fail();
        }
        self.out.too_much || self.question.borrow().is_some()
    }

    /// Refuses the request with status 500.
    pub fn fail(&mut self) {
        self.out.away = Some(RuleResponse::Status(500));
    }

    /// Whether a rule with these flags that has matched is the last.
    pub fn is_over(&mut self, flags: &RuleFlags) -> bool {
        self.out.end |= flags.end;
        flags.last || flags.pass_through || self.out.away.is_some()
    }

    pub fn end(mut self) -> Rewritten {
        self.is_stopped();
        if self.out.away.is_none() && self.out.changed && is_absolute(&self.out.path) && !self.is_subrequest {
            let is_sent = self.out.query == self.sent;
            let (status, escaped) = self.redirect;
            let to = location(&self.out.path, self.out.query.as_deref(), escaped, is_sent);
            self.note(1, format_args!("redirect to {to} [REDIRECT/{status}]"));
            self.out.away = Some(RuleResponse::To(status, to));
        } else if !self.out.changed && self.out.away.is_none() {
            self.note(1, format_args!("pass through {}", self.out.path));
        }
        self.out.varies = self.varies.get() || self.out.too_much;
        self.out.divided = self.divided.get();
        self.out.question = self.question.take();
        self.out.trace = self.trace.into_lines();
        self.out
    }

    /// Path or name of the current result, for its look-aheads.
    fn current(&self, is_path: bool) -> String {
        let Some(folder) = self.folder().filter(|_| is_path) else { return self.out.path.clone() };
        let rest = self.out.path.strip_prefix(folder);
        match (&self.place.base, rest) {
            (Some(base), Some(rest)) => format!("{base}{rest}{}", self.path_info),
            _ => {
                let root = self.seen().known(RuleVariable::DocumentRoot);
                let below = self.out.path.strip_prefix(root.as_str()).filter(|below| below.starts_with('/'));
                format!("{}{}", below.unwrap_or(&self.out.path), self.path_info)
            }
        }
    }
}

impl<S: RuleSource> TemplateSource for RuleRun<'_, S> {
    fn known(&self, known: RuleVariable) -> String {
        if matches!(known, RuleVariable::RequestFilename | RuleVariable::PathInfo) {
            self.divided.set(true);
        }
        match known {
            RuleVariable::QueryString => self.out.query.clone().unwrap_or_default(),
            RuleVariable::RequestFilename => self.out.path.clone(),
            RuleVariable::PathInfo => self.path_info.clone(),
            RuleVariable::IsSubreq => self.is_subrequest.to_string(),
            known => self.seen().known(known),
        }
    }

    fn header(&self, name: &str) -> String {
        self.seen().header(name)
    }

    fn variable(&self, name: &str) -> String {
        let set = self.out.variables.get(name);
        set.map_or_else(|| self.seen().variable(name), Clone::clone).unwrap_or_default()
    }

    fn tls(&self, name: &str) -> String {
        self.seen().tls(name)
    }

    fn varies(&self) {
        self.varies.set(true);
    }

    fn spend(&self, bytes: usize) {
        let is_left = work::spend(bytes);
        self.work.set(if is_left { self.work.get().saturating_sub(bytes) } else { 0 });
    }

    fn note(&self, level: u8, text: std::fmt::Arguments<'_>) {
        if self.trace.is_on(level) {
            let length = self.trace.line(level, text);
            self.spend(length);
        }
    }

    fn answer(&self, question: Question) -> Option<RuleAnswer> {
        // A look-ahead runs no further look-ahead, so that they end.
        if self.is_subrequest && matches!(question, Question::LookAhead(_)) {
            return Some(RuleAnswer::LookedUp(Box::default()));
        }
        let answer = self.seen().answer(&question);
        if answer.is_none() {
            self.question.borrow_mut().get_or_insert(question);
        }
        answer
    }

    fn ahead(&self, is_path: bool, known: RuleVariable) -> String {
        let kind = if is_path { LookAhead::Path } else { LookAhead::File };
        match self.answer(Question::LookAhead(kind(self.current(is_path)))) {
            Some(RuleAnswer::LookedUp(found)) => LookedUp::known(&found, known).unwrap_or_else(|| self.known(known)),
            _ => String::new(),
        }
    }
}

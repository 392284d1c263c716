//! Application of the rules of `Header` and `RequestHeader`.

use std::time::UNIX_EPOCH;

use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue};

use super::header_tables::HeaderTables;
use crate::request::context::RequestContext;
use crate::request::context::expressions::{ExprOf, SeenResponse};
use crate::routing::Route;
use config::response::expr::{Expr, ExprText};
use config::response::headers::{HeaderChange, HeaderRule, LoadFigure, Moment};
use config::response::setenv::EnvCondition;
use config::work;

/// The request or response to which rules are applied.
#[derive(Clone, Copy)]
pub struct RuleOf<'a> {
    context: &'a RequestContext,
    route: &'a Route,
    /// Status of the response; `None`: the rules are for the request.
    status: Option<StatusCode>,
    /// Length of the response's body, if it is known.
    length: Option<u64>,
    /// The headers that expressions read in place of the changed ones.
    seen: Option<&'a HeaderMap>,
}

impl<'a> RuleOf<'a> {
    pub fn request(context: &'a RequestContext, route: &'a Route) -> RuleOf<'a> {
        RuleOf { context, route, status: None, length: None, seen: None }
    }

    pub fn response(
        context: &'a RequestContext,
        route: &'a Route,
        status: StatusCode,
        length: Option<u64>,
    ) -> RuleOf<'a> {
        RuleOf { context, route, status: Some(status), length, seen: None }
    }

    fn as_source<'b>(&'b self, headers: &'b HeaderMap) -> ExprOf<'b> {
        let headers = self.seen.unwrap_or(headers);
        let response = self.status.map(|status| SeenResponse { status, headers, length: self.length });
        ExprOf { response, ..ExprOf::request(self.context, &self.context.head, self.route) }
    }

    /// Finds the answers that these expressions need.
    pub async fn answer_questions(self, asking: Vec<AskingRule<'_>>, headers: &HeaderMap) {
        if asking.is_empty() {
            return;
        }
        let source = self.as_source(headers);
        let evaluate = || {
            for (condition, value) in &asking {
                if condition.is_none_or(|condition| self.context.is_true(&source, condition)) {
                    value.map(|value| self.context.text_of(&source, value));
                }
            }
        };
        self.context.answered(&self.context.head, self.route, evaluate).await;
    }
}

/// Condition and value of a rule, as far as they are expressions with questions.
pub type AskingRule<'a> = (Option<&'a Expr>, Option<&'a ExprText>);

pub fn asking<'a>(rules: impl Iterator<Item = &'a HeaderRule>) -> Vec<AskingRule<'a>> {
    rules.map(HeaderRule::asking).filter(|asking| *asking != (None, None)).collect()
}

/// Applies the rules that are due: all, or only those of `Header always`.
pub fn change(of: RuleOf<'_>, tables: &mut HeaderTables, rules: &[HeaderRule], is_due: fn(&HeaderRule) -> bool) {
    let mut store = work::WorkStore::default();
    let due = |early: bool| rules.iter().filter(move |rule| is_due(rule) && rule.early == early);
    if due(true).next().is_some() {
        let mut early = HeaderTables::default();
        due(true).for_each(|rule| apply_to(rule, of, &mut early, &mut store));
        tables.add_missing(&early);
    }
    // As in httpd, those of `Header always` are first.
    for always in [true, false] {
        due(false).filter(|rule| rule.always == always).for_each(|rule| apply_to(rule, of, tables, &mut store));
    }
}

fn apply_to(rule: &HeaderRule, of: RuleOf<'_>, tables: &mut HeaderTables, store: &mut work::WorkStore) {
    let seen = rule.has_expressions().then(|| tables.seen());
    apply(rule, RuleOf { seen: seen.as_ref(), ..of }, tables.of_rule(rule.always, &rule.name), store);
}

pub fn apply(rule: &HeaderRule, of: RuleOf<'_>, headers: &mut HeaderMap, store: &mut work::WorkStore) {
    let context = of.context;
    let holds = |condition: &EnvCondition| {
        let is_true = |expr: &Expr| context.is_true(&of.as_source(headers), expr);
        condition.holds(|name| context.has_variable(name), is_true)
    };
    if !work::spend(work::RULE) || rule.condition.as_ref().is_some_and(|condition| !holds(condition)) {
        return;
    }
    let expression = rule.action.expr().map(|text| context.text_of(&of.as_source(headers), text));
    let variables = context.variables();
    let moment = Moment {
        received: context.received.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64),
        took: context.started.elapsed().as_micros() as u64,
        variables: &variables,
        tls: &|name| context.tls_variable_at(name, &of.route.settings.response.ssl),
        load: &|figure| load(context, figure),
        expr: expression.as_deref().unwrap_or_default(),
    };
    if let HeaderChange::Echo(pattern) = &rule.action {
        let echoed = context.headers_of(&context.head).filter(|(name, _)| pattern.is_match(name.as_str()));
        let echoed = echoed.take_while(|(name, value)| store.has_room(name.as_str().len() + value.len()));
        return echoed.for_each(|(name, value)| {
            headers.append(name.clone(), value.clone());
        });
    }
    let Ok(name) = HeaderName::from_bytes(rule.name.as_bytes()) else { return };
    let mut value = |text: &str| HeaderValue::from_str(text).ok().filter(|_| store.has_room(text.len()));
    match &rule.action {
        HeaderChange::Set(text) => match value(&text.text(moment)) {
            Some(value) => drop(headers.insert(name, value)),
            // The client's own value must not pass for that of the rule.
            None => drop(headers.remove(name)),
        },
        HeaderChange::SetIfEmpty(text) if !headers.contains_key(&name) => {
            drop(value(&text.text(moment)).map(|value| headers.insert(name, value)));
        }
        HeaderChange::SetIfEmpty(_) => {}
        HeaderChange::Add(text) => drop(value(&text.text(moment)).map(|value| headers.append(name, value))),
        HeaderChange::Append(text) => append(headers, name, &text.text(moment), store),
        HeaderChange::Merge(text) => {
            let text = text.text(moment);
            if !listed(headers, &name, &text) {
                append(headers, name, &text, store);
            }
        }
        HeaderChange::Unset => drop(headers.remove(name)),
        HeaderChange::Edit { pattern, by, all } => {
            let by = by.text(moment);
            work::spend(headers.len());
            for found in headers.iter_mut().filter(|(known, _)| **known == name).map(|(_, value)| value) {
                let text = String::from_utf8_lossy(found.as_bytes());
                if !work::spend(text.len()) {
                    return;
                }
                if let Some(edited) = pattern.replaced(&text, &by, *all, MAX_BYTES).and_then(|edited| value(&edited)) {
                    *found = edited;
                }
            }
        }
        HeaderChange::Note(note) => {
            let values: Vec<_> =
                headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            let value = values.join(", ");
            if !values.is_empty() && store.has_room(note.len() + value.len()) {
                context.set_note(note, value);
            }
        }
        HeaderChange::Echo(_) => {}
    }
}

fn load(context: &RequestContext, figure: LoadFigure) -> String {
    let load = || context.generation.pools.iter().map(|pool| pool.load());
    let (idle, busy) = load().fold((0, 0), |(idle, busy), load| (idle + load.idle as usize, busy + load.busy as usize));
    let percent = |part: usize| (100 * part / (idle + busy).max(1)).to_string();
    match figure {
        LoadFigure::Averages => status::auto::load_averages().join("/"),
        LoadFigure::Idle => percent(idle),
        LoadFigure::Busy => percent(busy),
    }
}

/// Maximum length in bytes of a value edited by rules. Each rule could double the value of the previous one.
const MAX_BYTES: usize = 32 << 10;

/// Appends to the first field of this name; further fields stay unchanged.
pub fn append(headers: &mut HeaderMap, name: HeaderName, text: &str, store: &mut work::WorkStore) {
    let values: Vec<HeaderValue> = headers.get_all(&name).iter().cloned().collect();
    let joined = match values.first() {
        Some(known) => [known.as_bytes(), b", ", text.as_bytes()].concat(),
        None => text.as_bytes().to_vec(),
    };
    work::spend(joined.len() + values.len() * work::RULE);
    if joined.len() <= MAX_BYTES
        && store.has_room(text.len())
        && let Ok(value) = HeaderValue::from_bytes(&joined)
    {
        headers.insert(name.clone(), value);
        for value in values.into_iter().skip(1) {
            headers.append(name.clone(), value);
        }
    }
}

fn listed(headers: &HeaderMap, name: &HeaderName, text: &str) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let lists = lists.take_while(|list| work::spend(list.len() + work::RULE));
    lists.flat_map(|list| list.split(',')).any(|item| item.trim() == text)
}

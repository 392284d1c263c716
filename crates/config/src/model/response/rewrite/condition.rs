//! `RewriteCond`: a condition of the next rule.

use std::cmp::Ordering;

use super::ahead::{Question, RuleAnswer};
use super::map::Maps;
use super::source::{FileTest, MatchedGroups, RuleSource, STEP, TemplateSource};
use super::template::Template;
use crate::model::response::expr::{self, Expr, LookAhead};
use crate::syntax::pattern::{Budget, Case, Pattern};

/// A `RewriteCond`.
#[derive(Debug, Clone)]
pub struct Condition {
    what: ConditionTest,
    negated: bool,
    /// `[OR]`: this condition or the next one must hold.
    pub or_next: bool,
    /// `[NV]`: headers that it tests are not added to `Vary`.
    no_vary: bool,
    /// The pattern as written, for the log.
    source: String,
}

#[derive(Debug, Clone)]
enum ConditionTest {
    /// `expr "…"`
    Expr(Expr),
    Matches(Template, Pattern),
    /// `=text`, `<text`, …: see [`compare`].
    Text(Template, Comparison, String, Case),
    /// `-eq number`, …
    Number(Template, Comparison, i64),
    File(Template, FileTest),
    /// `-U`: a request for the path would be answered.
    Path(Template),
    /// `-F`: a request for the file would be answered.
    Served(Template),
}

/// Work for one file test, in bytes.
const FILE_TEST: usize = 64 << 10;

const FILE_TESTS: &[(&str, FileTest)] = &[
    ("-d", FileTest::Folder),
    ("-f", FileTest::File),
    ("-s", FileTest::Size),
    ("-l", FileTest::Link),
    ("-L", FileTest::Link),
    ("-h", FileTest::Link),
    ("-x", FileTest::Executable),
];

/// Whether a comparison result satisfies an operator.
type Comparison = fn(Ordering) -> bool;

const NUMBERS: &[(&str, Comparison)] = &[
    ("-eq", Ordering::is_eq),
    ("-ne", Ordering::is_ne),
    ("-lt", Ordering::is_lt),
    ("-le", Ordering::is_le),
    ("-gt", Ordering::is_gt),
    ("-ge", Ordering::is_ge),
];

const TEXTS: &[(&str, Comparison)] = &[
    ("<=", Ordering::is_le),
    (">=", Ordering::is_ge),
    ("<", Ordering::is_lt),
    (">", Ordering::is_gt),
    ("=", Ordering::is_eq),
];

impl Condition {
    /// Parses `TestString CondPattern [flags]`.
    pub fn parse(
        test: &str,
        pattern: &str,
        flags: &str,
        maps: &Maps,
        budget: &mut Budget,
    ) -> Result<Condition, String> {
        let (mut case, mut or_next, mut no_vary) = (Case::Exact, false, false);
        for flag in split_flags(flags)? {
            match flag.to_ascii_uppercase().as_str() {
                "NC" | "NOCASE" => case = Case::Either,
                "OR" | "ORNEXT" => or_next = true,
                "NV" | "NOVARY" => no_vary = true,
                _ => return Err(format!("expected the flags NC, OR or NV, got \"{flag}\"")),
            }
        }
        let source = pattern.to_owned();
        let (negated, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |rest| (true, rest));
        let what = match test {
            "expr" => ConditionTest::Expr(Expr::parse(pattern, budget)?),
            _ => what(Template::parse(test, maps)?, pattern, case, budget)?,
        };
        Ok(Condition { what, negated, or_next, no_vary, source })
    }

    /// Headers that the condition tests, for `Vary`.
    pub fn headers(&self) -> Vec<&str> {
        match &self.what {
            _ if self.no_vary => Vec::new(),
            ConditionTest::Expr(_) => Vec::new(),
            ConditionTest::Matches(test, _)
            | ConditionTest::Text(test, ..)
            | ConditionTest::Number(test, ..)
            | ConditionTest::File(test, _) => test.headers(),
            ConditionTest::Path(test) | ConditionTest::Served(test) => test.headers(),
        }
    }

    /// Evaluates the condition. `found` receives the groups of its pattern.
    pub fn holds<S: RuleSource>(
        &self,
        seen: &S,
        state: &dyn TemplateSource,
        rule: &[String],
        found: &mut Vec<String>,
    ) -> bool {
        state.spend(STEP);
        let mut input = String::new();
        let groups = MatchedGroups { rule, condition: found };
        let mut fill = |template: &Template| {
            input = template.text(state, groups).unwrap_or_default();
            input.clone()
        };
        let mut matched = None;
        let holds = match &self.what {
            ConditionTest::Expr(expr) => {
                matched = seen.found(expr);
                matched.is_some()
            }
            ConditionTest::File(name, test) => {
                state.spend(FILE_TEST);
                seen.file(&fill(name), *test)
            }
            ConditionTest::Number(text, is, number) => is(expr::number(&fill(text)).cmp(number)),
            ConditionTest::Text(text, is, other, case) => is(compare(&fill(text), other, *case)),
            ConditionTest::Path(path) => passes(state, LookAhead::Path, fill(path)),
            ConditionTest::Served(file) => passes(state, LookAhead::File, fill(file)),
            ConditionTest::Matches(text, pattern) => {
                matched = pattern.find(&fill(text)).map(|groups| groups.all());
                matched.is_some()
            }
        };
        if let Some(matched) = matched.filter(|_| !self.negated) {
            state.spend(matched.iter().map(String::len).sum());
            *found = matched;
        }
        let holds = holds != self.negated;
        let outcome = if holds { "matched" } else { "not-matched" };
        state.note(4, format_args!("RewriteCond: input='{input}' pattern='{}' => {outcome}", self.source));
        holds
    }
}

fn passes(state: &dyn TemplateSource, kind: fn(String) -> LookAhead, name: String) -> bool {
    // As in httpd, an empty name is not looked up.
    if name.is_empty() {
        return false;
    }
    let ahead = kind(name);
    let answer = state.answer(Question::LookAhead(ahead.clone()));
    matches!(answer, Some(RuleAnswer::LookedUp(found)) if found.passes(&ahead))
}

fn what(test: Template, pattern: &str, case: Case, budget: &mut Budget) -> Result<ConditionTest, String> {
    if let Some((_, kind)) = FILE_TESTS.iter().find(|(word, _)| *word == pattern) {
        return Ok(ConditionTest::File(test, *kind));
    }
    match pattern {
        "-F" => return Ok(ConditionTest::Served(test)),
        "-U" => return Ok(ConditionTest::Path(test)),
        _ => {}
    }
    for (word, is) in NUMBERS {
        if let Some(number) = pattern.strip_prefix(word) {
            let number =
                number.trim().parse().map_err(|_| format!("expected a number after {word}, got \"{number}\""))?;
            return Ok(ConditionTest::Number(test, *is, number));
        }
    }
    for (sign, is) in TEXTS {
        if let Some(text) = pattern.strip_prefix(sign) {
            let text = if text == "\"\"" { "" } else { text };
            return Ok(ConditionTest::Text(test, *is, text.to_owned(), case));
        }
    }
    Ok(ConditionTest::Matches(test, budget.compile(pattern, case)?))
}

/// Compares as httpd does: a longer text is greater, but with `NC` the alphabet decides.
fn compare(left: &str, right: &str, case: Case) -> Ordering {
    match case {
        Case::Exact => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
        Case::Either => left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase()),
    }
}

/// Splits `[A,B=c]` into flags.
pub fn split_flags(flags: &str) -> Result<Vec<&str>, String> {
    if flags.is_empty() {
        return Ok(Vec::new());
    }
    let inner = flags.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let inner = inner.ok_or_else(|| format!("expected flags in brackets, like [L,NC], got \"{flags}\""))?;
    Ok(inner.split(',').map(str::trim).filter(|flag| !flag.is_empty()).collect())
}

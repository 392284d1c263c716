//! Variables of a request: `SetEnv`, `PassEnv`, `UnsetEnv`, and `SetEnvIf` and `BrowserMatch`, which depend on the
//! request.

use std::borrow::Cow;

use super::expr::Expr;
use crate::syntax::pattern::{Budget, Pattern};
use crate::syntax::work;

use super::variables::{Attribute, Variables};

/// Maximum length in bytes of a value derived from the request. Without it each rule could double the value of another.
const MAX_BYTES: usize = 8 << 10;

/// `SetEnvIf attribute regex [!]name[=value]…`, `SetEnvIfExpr expression [!]name[=value]…`
#[derive(Debug, Clone)]
pub struct SetEnvIf {
    /// Condition of the changes.
    pub when: SetEnvCondition,
    /// Variables and values; `None` unsets a variable.
    pub changes: Vec<(String, Option<String>)>,
}

/// The condition of a [`SetEnvIf`].
#[derive(Debug, Clone)]
pub enum SetEnvCondition {
    /// The pattern matches the attribute.
    Found(Attribute, Pattern),
    /// The expression is true.
    Holds(Expr),
}

/// `env=name`, `env=!name`, `expr=expression`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvCondition {
    /// Whether a variable is set.
    Env {
        /// The variable's name.
        name: String,
        /// Whether the variable must be set or unset.
        wanted: bool,
    },
    /// An expression that must be true.
    Expr(Expr),
}

impl Variables {
    /// Applies rules to a request whose attributes `look` returns. `found` evaluates an expression with the variables
    /// so far, and returns its groups if it is true. The result is meaningless once the request's [`work::Allowance`]
    /// is used up.
    pub fn apply<'a>(
        &mut self,
        rules: &[SetEnvIf],
        look: impl Fn(&Attribute) -> Option<Cow<'a, str>>,
        found: impl Fn(&Expr, &Variables) -> Option<Vec<String>>,
    ) {
        let mut store = work::WorkStore::default();
        for rule in rules {
            if !work::spend(work::RULE) {
                return;
            }
            match &rule.when {
                SetEnvCondition::Found(attribute, pattern) => {
                    let seen = look(attribute);
                    // Only joined header fields are copied, and their copy counts as work.
                    if let Some(Cow::Owned(copied)) = &seen {
                        work::spend(copied.len());
                    }
                    let value = match (&seen, attribute) {
                        (Some(seen), _) => seen.as_ref(),
                        (None, Attribute::Named(_, name)) => self.get(name).unwrap_or_default(),
                        (None, _) => "",
                    };
                    let Some(found) = pattern.find(value) else { continue };
                    let filled =
                        |value: &String| found.expand(value, &str::to_owned, MAX_BYTES).unwrap_or_else(|cut| cut);
                    let changes: Vec<_> =
                        rule.changes.iter().map(|(name, value)| (name, value.as_ref().map(filled))).collect();
                    changes.into_iter().for_each(|(name, value)| self.set_within(&mut store, name, value));
                }
                SetEnvCondition::Holds(expr) => {
                    let Some(found) = found(expr, self) else { continue };
                    let filled = |value: &String| filled(value, &found);
                    for (name, value) in &rule.changes {
                        self.set_within(&mut store, name, value.as_ref().map(filled));
                    }
                }
            }
        }
    }
}

impl Variables {
    fn set_within(&mut self, store: &mut work::WorkStore, name: &str, value: Option<String>) {
        let length = name.len() + value.as_ref().map_or(0, String::len);
        if work::spend(length) && store.has_room(length) {
            self.set(name, value);
        }
    }
}

/// Replaces `$0` to `$9` by the groups of an expression's last pattern.
fn filled(template: &str, found: &[String]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template.chars().peekable();
    while let Some(c) = rest.next() {
        let group = if c == '$' { rest.peek().and_then(|digit| digit.to_digit(10)) } else { None };
        let piece = match group {
            Some(group) => {
                rest.next();
                found.get(group as usize).cloned().unwrap_or_default()
            }
            None => c.to_string(),
        };
        if out.len() + piece.len() > MAX_BYTES {
            break;
        }
        out.push_str(&piece);
    }
    out
}

impl EnvCondition {
    /// Whether the condition holds. `is_set` looks for a variable, `is_true` evaluates an expression.
    pub fn holds(&self, is_set: impl FnOnce(&str) -> bool, is_true: impl FnOnce(&Expr) -> bool) -> bool {
        match self {
            EnvCondition::Env { name, wanted } => is_set(name) == *wanted,
            EnvCondition::Expr(expr) => is_true(expr),
        }
    }

    /// The expression, if the condition is one.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            EnvCondition::Env { .. } => None,
            EnvCondition::Expr(expr) => Some(expr),
        }
    }

    /// Parses `env=[!]name`, `expr=expression`.
    pub fn parse(text: &str, budget: &mut Budget) -> Result<EnvCondition, String> {
        match text.split_once('=') {
            Some((key, name)) if key.eq_ignore_ascii_case("env") && !name.trim_start_matches('!').is_empty() => {
                let wanted = !name.starts_with('!');
                Ok(EnvCondition::Env { name: name.trim_start_matches('!').to_owned(), wanted })
            }
            Some((key, expression)) if key.eq_ignore_ascii_case("expr") => {
                Expr::parse(expression, budget).map(EnvCondition::Expr)
            }
            _ => Err(format!("expected env=name or env=!name, got \"{text}\"")),
        }
    }
}

/// Parses `name`, `name=value`, `!name`.
pub fn parse_change(text: &str) -> (String, Option<String>) {
    match (text.strip_prefix('!'), text.split_once('=')) {
        (Some(name), _) => (name.to_owned(), None),
        (None, Some((name, value))) => (name.to_owned(), Some(value.to_owned())),
        (None, None) => (text.to_owned(), Some("1".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Case;

    fn rule(attribute: &str, regex: &str, changes: &[&str]) -> SetEnvIf {
        let changes = changes.iter().map(|change| parse_change(change)).collect();
        let mut budget = Budget::of_htaccess();
        let pattern = budget.compile(regex, Case::Exact).unwrap();
        SetEnvIf { when: SetEnvCondition::Found(Attribute::parse(&mut budget, attribute).unwrap(), pattern), changes }
    }

    #[test]
    fn later_rules_see_variables_of_earlier_rules() {
        let rules = [
            rule("User-Agent", "^Mozilla/([0-9])", &["version=$1", "old"]),
            rule("version", "^[5-9]$", &["!old", "modern=yes"]),
            rule("Referer", "^$", &["direct"]),
            rule("Request_URI", "^/x", &["never"]),
        ];
        let mut variables = Variables::default();
        let look = |attribute: &Attribute| match attribute {
            Attribute::Named(name, _) if name == "user-agent" => Some("Mozilla/5.0".into()),
            Attribute::RequestUri => Some("/y".into()),
            _ => None,
        };
        variables.apply(&rules, look, |_, _| None);
        let all: Vec<_> = variables.iter().collect();
        assert_eq!(all, [("direct", "1"), ("modern", "yes"), ("version", "5")]);
    }

    #[test]
    fn an_env_condition_tests_whether_a_variable_is_set() {
        let mut variables = Variables::default();
        variables.set("a", Some(String::new()));
        let holds = |text: &str| {
            let condition = EnvCondition::parse(text, &mut Budget::of_htaccess()).unwrap();
            condition.holds(|name| variables.get(name).is_some(), |expr| expr.as_str() == "true")
        };
        for (condition, expected) in [("env=a", true), ("env=!a", false), ("ENV=!b", true), ("expr=true", true)] {
            assert_eq!(holds(condition), expected, "{condition}");
        }
        assert!(
            EnvCondition::parse("env=", &mut Budget::of_htaccess()).is_err()
                && EnvCondition::parse("a", &mut Budget::of_htaccess()).is_err()
        );
    }
}

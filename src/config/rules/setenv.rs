//! Variables of a request: `SetEnv`, `PassEnv`, `UnsetEnv`; `SetEnvIf` and `BrowserMatch`, which look at it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::super::pattern::{Budget, Case, Pattern};
use super::expr::{Expr, Seen};

/// Of a value that is made from what a client sends: one rule could double what another has set, and the next again.
const LONGEST: usize = 8 << 10;

/// `SetEnvIf attribute regex [!]name[=value]…`, `SetEnvIfExpr expression [!]name[=value]…`
#[derive(Debug, Clone)]
pub struct SetEnvIf {
    when: When,
    /// `None` takes the variable away.
    changes: Vec<(String, Option<String>)>,
}

#[derive(Debug, Clone)]
enum When {
    /// The pattern is found in it.
    Found(Attribute, Pattern),
    Holds(Expr),
}

impl SetEnvIf {
    /// What it does when it holds; `None` takes a variable away.
    pub fn changes(&self) -> &[(String, Option<String>)] {
        &self.changes
    }
}

/// What of a request a pattern is held against.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "Apache's names")]
pub enum Attribute {
    RemoteAddr,
    RemoteHost,
    RequestMethod,
    RequestProtocol,
    RequestUri,
    ServerAddr,
    QueryString,
    /// A header, in lower case, or else a variable, as written.
    Named(String, String),
    /// Headers whose names it is found in; as in httpd the last of them counts.
    Headers(Pattern),
}

/// `env=name`, `env=!name`, `expr=expression`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Whether a variable is set, or is not.
    Env {
        /// Which.
        name: String,
        /// It is to be set.
        wanted: bool,
    },
    /// Whether it holds.
    Expr(Expr),
}

/// The variables of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets one, or takes it away.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => drop(self.0.insert(name.to_owned(), value)),
            None => drop(self.0.remove(name)),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was set since they were `before`, and what was taken away.
    pub fn changes_since(&self, before: &Variables) -> Vec<(String, Option<String>)> {
        let set = self.iter().filter(|(name, value)| before.get(name) != Some(value));
        let gone = before.iter().filter(|(name, _)| self.get(name).is_none());
        let set = set.map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
        set.chain(gone.map(|(name, _)| (name.to_owned(), None))).collect()
    }

    /// The same, each name with `REDIRECT_` in front: what the request was before it was sent on.
    pub fn redirected(&self) -> Variables {
        Variables(self.iter().map(|(name, value)| (format!("REDIRECT_{name}"), value.to_owned())).collect())
    }

    /// Changes them as a request that `look` describes wants it.
    pub fn apply<'a>(&mut self, rules: &[SetEnvIf], look: impl Fn(&Attribute) -> Option<Cow<'a, str>>) {
        for rule in rules {
            let change = |name: &String, value: Option<String>, all: &mut Variables| all.set(name, value);
            match &rule.when {
                When::Found(attribute, pattern) => {
                    let seen = look(attribute);
                    let value = match (&seen, attribute) {
                        (Some(seen), _) => seen.as_ref(),
                        (None, Attribute::Named(_, name)) => self.get(name).unwrap_or_default(),
                        (None, _) => "",
                    };
                    let Some(found) = pattern.find(value) else { continue };
                    let filled =
                        |value: &String| found.expand(value, &str::to_owned, LONGEST).unwrap_or_else(|cut| cut);
                    let changes: Vec<_> =
                        rule.changes.iter().map(|(name, value)| (name, value.as_ref().map(filled))).collect();
                    changes.into_iter().for_each(|(name, value)| change(name, value, self));
                }
                When::Holds(expr) => {
                    let owned = |attribute: &Attribute| look(attribute).map(Cow::into_owned);
                    let Some(found) = expr.found(Seen { variables: self, look: &owned }) else { continue };
                    let filled = |value: &String| filled(value, &found);
                    rule.changes.iter().for_each(|(name, value)| change(name, value.as_ref().map(filled), self));
                }
            }
        }
    }
}

/// `$0` to `$9` in a value are what the last pattern of an expression found.
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
        if out.len() + piece.len() > LONGEST {
            break;
        }
        out.push_str(&piece);
    }
    out
}

impl Condition {
    /// Whether it holds for these variables.
    pub fn holds(&self, seen: Seen<'_>) -> bool {
        match self {
            Condition::Env { name, wanted } => seen.variables.get(name).is_some() == *wanted,
            Condition::Expr(expr) => expr.holds(seen),
        }
    }

    /// `env=[!]name`, `expr=expression`
    pub fn parse(text: &str, budget: &mut Budget) -> Result<Condition, String> {
        match text.split_once('=') {
            Some((key, name)) if key.eq_ignore_ascii_case("env") && !name.trim_start_matches('!').is_empty() => {
                let wanted = !name.starts_with('!');
                Ok(Condition::Env { name: name.trim_start_matches('!').to_owned(), wanted })
            }
            Some((key, expression)) if key.eq_ignore_ascii_case("expr") => {
                Expr::parse(expression, budget).map(Condition::Expr)
            }
            _ => Err(format!("expected env=name or env=!name, got \"{text}\"")),
        }
    }
}

/// `SetEnv name [value]`
pub fn set_env(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.is_looked_at_always()?;
    let value = args.get(1).cloned().unwrap_or_default();
    say(draft, &args[0], Some(value));
    Ok(())
}

/// `UnsetEnv name…`
pub fn unset_env(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        draft.is_looked_at_always()?;
        say(draft, name, None);
    }
    Ok(())
}

/// `PassEnv name…`
pub fn pass_env(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        draft.is_looked_at_always()?;
        match draft.facts.env.iter().find(|(known, _)| known == name).cloned() {
            Some((name, value)) => say(draft, &name, Some(value)),
            None => draft.warn(&format!("{name} is not in the environment: it is not passed")),
        }
    }
    Ok(())
}

fn say(draft: &mut Draft, name: &str, value: Option<String>) {
    // The last of a name counts: whoever merges sees to it.
    draft.said().rules.env.push((name.to_owned(), value));
}

/// `SetEnvIf attribute regex [!]name[=value]…`, `SetEnvIfNoCase`
pub fn set_env_if(draft: &mut Draft, args: &[String], case: Case) -> Result<(), String> {
    let [attribute, regex, changes @ ..] = args else { return Ok(()) };
    for _ in changes {
        draft.is_looked_at_always()?;
    }
    let rule = SetEnvIf {
        when: When::Found(Attribute::of(draft, attribute)?, draft.patterns.compile(regex, case)?),
        changes: changes.iter().map(|change| checked_change(change)).collect::<Result<_, _>>()?,
    };
    draft.said().rules.set_env_if.push(rule);
    Ok(())
}

/// `SetEnvIfExpr expression [!]name[=value]…`
pub fn set_env_if_expr(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [expression, changes @ ..] = args else { return Ok(()) };
    for _ in changes {
        draft.is_looked_at_always()?;
    }
    let rule = SetEnvIf {
        when: When::Holds(Expr::parse(expression, &mut draft.patterns)?),
        changes: changes.iter().map(|change| checked_change(change)).collect::<Result<_, _>>()?,
    };
    draft.said().rules.set_env_if.push(rule);
    Ok(())
}

/// `BrowserMatch regex [!]name[=value]…`, `BrowserMatchNoCase`
pub fn browser_match(draft: &mut Draft, args: &[String], case: Case) -> Result<(), String> {
    let named = [&["User-Agent".to_owned()], args].concat();
    set_env_if(draft, &named, case)
}

/// Many programs send their own requests to where `HTTP_PROXY` says: no client may say it (httpoxy).
fn checked_change(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = parse_change(text);
    if name.eq_ignore_ascii_case("HTTP_PROXY") && value.as_ref().is_some_and(|value| value.contains('$')) {
        return Err(format!(
            "{name} would be a client's word, and programs send their own requests there: write its value"
        ));
    }
    Ok((name, value))
}

fn parse_change(text: &str) -> (String, Option<String>) {
    match (text.strip_prefix('!'), text.split_once('=')) {
        (Some(name), _) => (name.to_owned(), None),
        (None, Some((name, value))) => (name.to_owned(), Some(value.to_owned())),
        (None, None) => (text.to_owned(), Some("1".to_owned())),
    }
}

impl Attribute {
    fn of(draft: &mut Draft, name: &str) -> Result<Attribute, String> {
        Attribute::within(&mut draft.patterns, name)
    }

    fn within(budget: &mut Budget, name: &str) -> Result<Attribute, String> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "remote_addr" => Attribute::RemoteAddr,
            "remote_host" => Attribute::RemoteHost,
            "request_method" => Attribute::RequestMethod,
            "request_protocol" => Attribute::RequestProtocol,
            "request_uri" => Attribute::RequestUri,
            "server_addr" => Attribute::ServerAddr,
            lower if lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) => {
                Attribute::Named(lower.to_owned(), name.to_owned())
            }
            _ => Attribute::Headers(budget.compile(name, Case::Either)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::pattern::Budget;

    fn rule(attribute: &str, regex: &str, changes: &[&str]) -> SetEnvIf {
        let changes = changes.iter().map(|change| parse_change(change)).collect();
        let mut budget = Budget::of_htaccess();
        let pattern = budget.compile(regex, Case::Exact).unwrap();
        SetEnvIf { when: When::Found(Attribute::within(&mut budget, attribute).unwrap(), pattern), changes }
    }

    #[test]
    fn later_rules_see_what_earlier_ones_set() {
        let rules = [
            rule("User-Agent", "^Mozilla/([0-9])", &["version=$1", "old"]),
            rule("version", "^[5-9]$", &["!old", "modern=yes"]),
            rule("Referer", "^$", &["direct"]),
            rule("Request_URI", "^/x", &["never"]),
        ];
        let mut variables = Variables::default();
        variables.apply(&rules, |attribute| match attribute {
            Attribute::Named(name, _) if name == "user-agent" => Some("Mozilla/5.0".into()),
            Attribute::RequestUri => Some("/y".into()),
            _ => None,
        });
        let all: Vec<_> = variables.iter().collect();
        assert_eq!(all, [("direct", "1"), ("modern", "yes"), ("version", "5")]);
    }

    #[test]
    fn a_condition_asks_whether_a_variable_is_set() {
        let mut variables = Variables::default();
        variables.set("a", Some(String::new()));
        let seen = Seen { variables: &variables, look: &|_| None };
        assert!(Condition::parse("env=a", &mut Budget::of_htaccess()).unwrap().holds(seen));
        assert!(!Condition::parse("env=!a", &mut Budget::of_htaccess()).unwrap().holds(seen));
        assert!(Condition::parse("ENV=!b", &mut Budget::of_htaccess()).unwrap().holds(seen));
        assert!(Condition::parse("expr=-z %{reqenv:a}", &mut Budget::of_htaccess()).unwrap().holds(seen));
        assert!(
            Condition::parse("env=", &mut Budget::of_htaccess()).is_err()
                && Condition::parse("a", &mut Budget::of_htaccess()).is_err()
        );
    }
}

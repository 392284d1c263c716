//! `RewriteRule`: a path that a pattern is found in, and what takes its place.

use super::condition::Condition;
use super::flags::{self, RuleFlags};
use super::map::Maps;
use super::template::Template;
use crate::config::syntax::pattern::{Budget, Pattern};

/// A rule and its conditions.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// All must hold; see [`Condition::or_next`].
    pub conditions: Vec<Condition>,
    /// What the path is held against.
    pub pattern: Option<Pattern>,
    /// `!pattern`: it must not be found.
    pub negated: bool,
    /// What takes the path's place; `None` for `-`: it stays.
    pub to: Option<Template>,
    /// What else it does.
    pub flags: RuleFlags,
}

impl Rule {
    /// `Pattern Substitution [flags]`
    pub fn parse(
        pattern: &str,
        to: &str,
        flags: &str,
        conditions: Vec<Condition>,
        maps: &Maps,
        budget: &mut Budget,
    ) -> Result<Rule, String> {
        let (flags, case) = flags::parse(flags, maps)?;
        let (negated, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |rest| (true, rest));
        let pattern = Some(budget.compile(pattern, case)?);
        let to = if to == "-" { None } else { Some(Template::parse(to, maps)?) };
        Ok(Rule { conditions, pattern, negated, to, flags })
    }
}

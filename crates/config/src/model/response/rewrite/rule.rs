//! `RewriteRule`: a pattern of paths, and a substitution.

use super::condition::Condition;
use super::flags::{self, RuleFlags};
use super::map::Maps;
use super::template::Template;
use crate::syntax::pattern::{Budget, Pattern};

/// A rule and its conditions.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// Conditions that must all hold; see [`Condition::or_next`].
    pub conditions: Vec<Condition>,
    /// The pattern as written, for the log.
    pub source: String,
    /// Pattern of the path.
    pub pattern: Option<Pattern>,
    /// `!pattern`: the pattern must not match.
    pub negated: bool,
    /// Substitution of the path. `None` for `-`: no substitution.
    pub to: Option<Template>,
    /// `[L,R=301]` and the like.
    pub flags: RuleFlags,
}

impl Rule {
    /// ` (FILE:LINE)`, for the log.
    pub fn place(&self) -> String {
        let at = self.pattern.as_ref().map(|pattern| pattern.at()).filter(|at| at.line > 0);
        at.map(|at| format!(" ({at})")).unwrap_or_default()
    }

    /// Parses `Pattern Substitution [flags]`. The rule has no conditions yet.
    pub fn parse(pattern: &str, to: &str, flags: &str, maps: &Maps, budget: &mut Budget) -> Result<Rule, String> {
        let (flags, case) = flags::parse(flags, maps)?;
        let source = pattern.to_owned();
        let (negated, pattern) = pattern.strip_prefix('!').map_or((false, pattern), |rest| (true, rest));
        let pattern = Some(budget.compile(pattern, case)?);
        let to = if to == "-" { None } else { Some(Template::parse(to, maps)?) };
        Ok(Rule { conditions: Vec::new(), source, pattern, negated, to, flags })
    }
}

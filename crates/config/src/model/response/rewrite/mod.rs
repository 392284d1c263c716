//! httpd's mod_rewrite (its manual, and "RewriteRule Flags").
//!
//! Rules of a host see the path of a request before it is mapped to a file. Rules of folders and `.htaccess` files see
//! the part of the file name after their folder; their result is processed as a new path. This module does no I/O.

mod ahead;
mod condition;
mod cookie;
mod flags;
mod forced;
mod location;
mod map;
mod options;
mod outcome;
mod rule;
mod run;
mod source;
mod state;
mod template;
#[cfg(test)]
mod tests;
mod trace;
mod variable;

use std::sync::Arc;

pub use ahead::{LookedUp, Question, RuleAnswer};
pub use condition::Condition;
pub use flags::RuleFlags;
pub use forced::ForcedByRule;
pub use map::{Map, MapProgram, MapQuery, MapSource, Maps};
pub use options::{Inherit, RewriteOptions};
pub use outcome::{Rewritten, RuleInput, RuleResponse};
pub use rule::Rule;
pub use run::run;
pub use source::{FileTest, RuleSource};
pub use trace::TraceLine;
pub use variable::RuleVariable;

/// Rewrite settings of a place, or merged settings.
#[derive(Debug, Clone, Default)]
pub struct Rewrite {
    /// `RewriteEngine`
    pub engine: Option<bool>,
    /// `RewriteBase`: URL path of the folder of the rules, with a trailing slash.
    pub base: Option<String>,
    /// Folder of the rules, with a trailing slash. `None` for a host.
    pub folder: Option<Arc<str>>,
    /// Rules in the order in which they are tried.
    pub rules: Vec<Arc<Rule>>,
    /// `RewriteOptions`; `None`: those of the outer place.
    pub options: Option<RewriteOptions>,
    /// Conditions since the last rule, for the next one.
    pub pending: Vec<Condition>,
    /// Whether the place has any rewrite directive besides `RewriteOptions` of a host, so that outer rules do not
    /// apply.
    pub is_set: bool,
}

impl Rewrite {
    /// Merges the settings of an inner place.
    pub fn merge(&mut self, inner: &Rewrite) {
        let outer_options = self.options();
        self.options = inner.options.or(self.options);
        if !inner.is_set {
            return;
        }
        let options = self.options();
        let outer = std::mem::take(&mut self.rules);
        self.rules = match options.inherits(&outer_options) {
            None => inner.rules.clone(),
            Some(Inherit::Behind) => [&inner.rules[..], &outer].concat(),
            Some(Inherit::Before) => [&outer[..], &inner.rules].concat(),
        };
        self.engine = inner.engine.or(self.engine);
        let kept = self.base.take().filter(|_| options.merge_base);
        self.base = inner.base.clone().or(kept);
        self.folder.clone_from(&inner.folder);
        self.is_set = true;
    }

    /// Takes missing values from the main server.
    pub fn inherit(&mut self, main: &Rewrite) {
        let own = std::mem::replace(self, main.clone());
        self.merge(&Rewrite { is_set: true, ..own });
    }

    /// The options in force.
    pub fn options(&self) -> RewriteOptions {
        self.options.unwrap_or_default()
    }

    /// Whether any rule applies.
    pub fn is_on(&self) -> bool {
        self.engine == Some(true) && !self.rules.is_empty()
    }
}

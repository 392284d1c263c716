//! `RewriteRule` and its kin: httpd's mod_rewrite (its manual, and "RewriteRule Flags").
//!
//! A host's own rules see the path of a request before it leads anywhere. Those of folders and of `.htaccess` files see what
//! the name of the file has behind their folder; what they make of it is asked for anew. Nothing here knows clients or disks.

mod asked;
mod condition;
mod cookie;
mod flags;
mod map;
mod rule;
mod run;
mod template;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use asked::{FileTest, Known, Seen};
pub use condition::Condition;
pub use flags::RuleFlags;
pub use map::{Map, Maps};
pub use rule::Rule;
pub use run::{Away, Rewritten, Start, run};

/// What a place says about rewriting, and what all that apply come to.
#[derive(Debug, Clone, Default)]
pub struct Rewrite {
    /// `RewriteEngine`
    pub engine: Option<bool>,
    /// `RewriteBase`: what the folder of the rules is called in paths, with a slash at its end.
    pub base: Option<String>,
    /// The folder that the rules stand in, with a slash at its end; none in a `<Location>`.
    pub folder: Option<Arc<str>>,
    /// In the order in which they are tried.
    pub rules: Vec<Arc<Rule>>,
    /// `RewriteOptions`
    pub options: RewriteOptions,
    /// Since the last rule: they are for the next one.
    pub pending: Vec<Condition>,
    /// Whether anything is said: then the rules of outer places do not hold.
    pub said: bool,
}

/// What of an outer place holds in an inner one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RewriteOptions {
    /// `Inherit`, `InheritBefore`: its rules, too.
    pub inherit: Option<Inherit>,
    /// `MergeBase`
    pub merge_base: bool,
}

/// Where the rules of an outer place stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "what they say")]
pub enum Inherit {
    Behind,
    Before,
}

impl Rewrite {
    /// Merges what an inner place says.
    pub fn merge(&mut self, inner: &Rewrite) {
        if !inner.said {
            return;
        }
        let outer = std::mem::take(&mut self.rules);
        self.rules = match inner.options.inherit {
            None => inner.rules.clone(),
            Some(Inherit::Behind) => [&inner.rules[..], &outer].concat(),
            Some(Inherit::Before) => [&outer[..], &inner.rules].concat(),
        };
        self.engine = inner.engine.or(self.engine);
        let kept = self.base.take().filter(|_| inner.options.merge_base);
        self.base = inner.base.clone().or(kept);
        self.folder.clone_from(&inner.folder);
        self.options = inner.options;
        self.said = true;
    }

    /// A virtual host takes from the main server what it does not say itself.
    pub fn inherit(&mut self, main: &Rewrite) {
        let own = std::mem::replace(self, main.clone());
        let options = if own.said { own.options } else { main.options };
        self.rules.retain(|_| options.inherit.is_some());
        self.merge(&Rewrite { said: true, options, ..own });
    }

    /// Whether there is anything to do.
    pub fn is_on(&self) -> bool {
        self.engine == Some(true) && !self.rules.is_empty()
    }
}

//! httpd's mod_rewrite (its manual, and "RewriteRule Flags").
//!
//! Rules of a host see the path of a request before it is mapped to a file. Rules of folders and `.htaccess` files see the part
//! of the file name after their folder; their result is processed as a new path. This module does no I/O.

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
    /// `RewriteOptions`
    pub options: RewriteOptions,
    /// Conditions since the last rule, for the next one.
    pub pending: Vec<Condition>,
    /// Whether the place has any rewrite directive, so that outer rules do not apply.
    pub said: bool,
}

/// `RewriteOptions`: settings that an inner place inherits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RewriteOptions {
    /// `Inherit`, `InheritBefore`: the outer rules.
    pub inherit: Option<Inherit>,
    /// `MergeBase`
    pub merge_base: bool,
}

/// Position of the inherited rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "what they say")]
pub enum Inherit {
    Behind,
    Before,
}

impl Rewrite {
    /// Merges the settings of an inner place.
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

    /// Takes missing values from the main server.
    pub fn inherit(&mut self, main: &Rewrite) {
        let own = std::mem::replace(self, main.clone());
        let options = if own.said { own.options } else { main.options };
        self.rules.retain(|_| options.inherit.is_some());
        self.merge(&Rewrite { said: true, options, ..own });
    }

    /// Whether any rule applies.
    pub fn is_on(&self) -> bool {
        self.engine == Some(true) && !self.rules.is_empty()
    }
}

//! Checks of a line of the configuration by the row of its directive.

use super::fixed;
use super::row::{CONTAINERS, Form, Row};
use crate::model::context::SectionContext;
use crate::model::overrides::Class;
use crate::syntax::tree::Directive;

impl Row {
    /// Error message for a wrong number of arguments.
    pub fn wrong_count(&self, args: &[String]) -> String {
        let advice = match args.iter().any(|arg| arg.starts_with('#')) {
            true => ": comments stand on lines of their own",
            false if args.len() > *self.takes.count().end() => ": put values with spaces in quotation marks",
            false => "",
        };
        format!("expected `{}`, got {}{advice}", self.syntax(), arguments(args.len()))
    }

    /// Checks that a section is written as a section, and a line as a line.
    pub fn check_form(&self, directive: &Directive) -> Result<(), String> {
        match (self.takes.form(), &directive.section) {
            (Form::Section, None) => Err(format!("is a section: write {} … </{}>", self.syntax(), self.name)),
            (Form::Line, Some(_)) => Err(format!("is not a section: write `{}`", self.syntax())),
            _ => Ok(()),
        }
    }

    /// Whether `${NAME}` without a value stays in the line, as in httpd. In paths, addresses, sections and access rules
    /// it is a mistake: a file of that name, or a rule that nobody meets.
    pub fn keeps_names(&self) -> bool {
        let is_text = !matches!(self.contexts.htaccess, Class::NEVER | Class::AUTH_CONFIG | Class::LIMIT);
        is_text && self.takes.form() == Form::Line
    }

    /// Checks that the directive is allowed in `context`.
    pub fn check_context(&self, context: SectionContext) -> Result<(), String> {
        if context == SectionContext::If {
            return self.check_branch();
        }
        if self.contexts.has(context) {
            return Ok(());
        }
        Err(format!("is not allowed in {}: move it to {}", context.name(), self.contexts.names().join(" or ")))
    }

    /// Checks that the directive is allowed in `<If>`: as in a container, if it can differ between requests.
    fn check_branch(&self) -> Result<(), String> {
        if let Some(reason) = fixed::refusal(self.name) {
            return Err(format!("is not allowed in <If>: {reason}"));
        }
        if self.contexts.overlaps(CONTAINERS) {
            return Ok(());
        }
        Err(format!("is not allowed in <If>: move it to {}", self.contexts.names().join(" or ")))
    }
}

/// `1 argument`, `3 arguments`
pub fn arguments(count: usize) -> String {
    format!("{count} argument{}", if count == 1 { "" } else { "s" })
}

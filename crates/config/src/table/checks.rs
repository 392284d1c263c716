//! Checks of a line of the configuration by the row of its directive.

use super::fixed;
use super::row::{CONTAINERS, Form, Row, Takes};
use crate::model::context::SectionContext;
use crate::model::overrides::Class;
use crate::syntax::tree::Directive;
use crate::syntax::value;

impl Row {
    /// Error message for a wrong number of arguments.
    pub fn wrong_count(&self, args: &[String]) -> String {
        let has_comment = args.iter().any(|arg| arg.starts_with('#'));
        let has_more = args.len() > *self.takes.count().end();
        if has_more
            && !has_comment
            && let Some(message) = self.takes.refusal(&args.join(" "))
        {
            return message;
        }
        let advice = match has_comment {
            true => ": comments stand on lines of their own",
            false if has_more && self.takes.has_text() => "; put values with spaces in quotation marks",
            false => "",
        };
        format!("expected `{}`, got {}{advice}", self.syntax(), arguments(args.len()))
    }

    /// Checks that a section is written as a section, and a line as a line.
    pub fn check_form(&self, directive: &Directive) -> Result<(), String> {
        match (self.takes.form(), &directive.section) {
            (Form::Section, None) => Err(format!("is a section; write {} … </{}>", self.syntax(), self.name)),
            (Form::Line, Some(_)) => Err(format!("is not a section; write `{}`", self.syntax())),
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
        Err(format!("is not allowed in {}; move it to {}", context.name(), alternatives(&self.contexts.names())))
    }

    /// Checks that the directive is allowed in `<If>`: as in a container, if it can differ between requests.
    fn check_branch(&self) -> Result<(), String> {
        if let Some(reason) = fixed::refusal(self.name) {
            return Err(format!("is not allowed in <If>: {reason}"));
        }
        if self.contexts.overlaps(CONTAINERS) {
            return Ok(());
        }
        Err(format!("is not allowed in <If>; move it to {}", alternatives(&self.contexts.names())))
    }
}

impl Takes {
    /// Error message for a text that is not the one value of these arguments; `None` if other values are possible.
    fn refusal(&self, text: &str) -> Option<String> {
        match self {
            Takes::Flag(_) => value::flag(text).err(),
            Takes::Number(bounds, _) => value::number(text, bounds).err(),
            Takes::Size(_) => value::size(text).err(),
            Takes::Duration(_) => value::duration(text).err(),
            _ => None,
        }
    }

    /// Whether an argument is a text or path, which may contain blanks.
    fn has_text(&self) -> bool {
        let is_figure = |word: &str| ["number", "size", "duration", "bytes", "seconds"].contains(&word);
        !self.words().split(|c: char| !c.is_ascii_alphabetic()).any(is_figure)
    }
}

/// `a`, `a or b`, `a, b or c`
fn alternatives(names: &[&str]) -> String {
    match names {
        [others @ .., one_more, last] => [others, &[&format!("{one_more} or {last}")]].concat().join(", "),
        _ => names.concat(),
    }
}

/// `1 argument`, `3 arguments`
pub fn arguments(count: usize) -> String {
    format!("{count} argument{}", if count == 1 { "" } else { "s" })
}

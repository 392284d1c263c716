//! One file while it is read: the sections that are open in it.

use std::collections::HashMap;

use crate::config::syntax::lines::Lines;
use crate::config::syntax::tree::{At, Directive};

/// A file while it is read.
pub(super) struct SectionStack<'a> {
    pub lines: Lines<'a>,
    /// Sections not closed yet, the innermost last.
    pub open: Vec<OpenSection>,
    pub done: Vec<Directive>,
    /// [`Lines::ends`], once somebody has asked.
    ends: Option<HashMap<String, u32>>,
}

pub(super) struct OpenSection {
    pub name: String,
    pub args: Vec<String>,
    pub at: At,
    pub fate: SectionFate,
    pub inside: Vec<Directive>,
}

/// What becomes of a section when it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionFate {
    /// It stands in the tree.
    Kept,
    /// A condition that holds: its contents take its place.
    Dissolved,
    /// A condition that does not hold, or a wrong section: nothing is left of it.
    Skipped,
}

impl<'a> SectionStack<'a> {
    /// Nothing read yet.
    pub fn new(text: &'a str) -> SectionStack<'a> {
        SectionStack { lines: Lines::new(text), open: Vec::new(), done: Vec::new(), ends: None }
    }

    /// Whether a line `</name>` is still to come. To look for it from each section on would cost by the square of a file
    /// that opens many and closes none.
    pub fn is_closed_later(&mut self, name: &str) -> bool {
        let ends = self.ends.get_or_insert_with(|| self.lines.ends());
        let last = ends.get(&name.to_ascii_lowercase());
        last.is_some_and(|last| self.lines.next_number().is_some_and(|next| next <= *last))
    }

    /// Where the next directive belongs.
    pub fn inside(&mut self) -> &mut Vec<Directive> {
        match self.open.last_mut() {
            Some(open) => &mut open.inside,
            None => &mut self.done,
        }
    }

    pub fn is_skipping(&self) -> bool {
        self.open.last().is_some_and(|open| open.fate == SectionFate::Skipped)
    }

    pub fn close(&mut self, name: &str) -> Result<(), String> {
        let Some(innermost) = self.open.last() else {
            return Err(format!("</{name}> has no <{name}> before it: remove it, or write the beginning"));
        };
        if innermost.name.eq_ignore_ascii_case(name) {
            self.close_innermost();
            return Ok(());
        }
        let message =
            format!("expected </{}> for the section that begins at {}, got </{name}>", innermost.name, innermost.at);
        if let Some(place) = self.open.iter().rposition(|open| open.name.eq_ignore_ascii_case(name)) {
            while self.open.len() > place {
                self.close_innermost();
            }
        }
        Err(message)
    }

    pub fn close_innermost(&mut self) {
        let Some(OpenSection { name, args, at, fate, inside }) = self.open.pop() else { return };
        match fate {
            SectionFate::Kept => self.inside().push(Directive { name, args, at, section: Some(inside) }),
            SectionFate::Dissolved => self.inside().extend(inside),
            SectionFate::Skipped => {}
        }
    }
}

/// `<IfModule [!]name>`, `<IfDefine [!]name>`
pub(super) fn condition(section: &str, args: &[String], holds: impl Fn(&str) -> bool) -> Result<SectionFate, String> {
    let [arg] = args else {
        return Err(format!("<{section}>: expected one name, perhaps with a ! in front"));
    };
    let fulfilled = match arg.strip_prefix('!') {
        Some(name) => !holds(name),
        None => holds(arg),
    };
    Ok(if fulfilled { SectionFate::Dissolved } else { SectionFate::Skipped })
}

//! One file while it is read: the sections that are open in it.

use super::lines::Lines;
use super::{At, Directive};

/// A file while it is read.
pub(super) struct Page<'a> {
    pub lines: Lines<'a>,
    /// Sections not closed yet, the innermost last.
    pub open: Vec<Open>,
    pub done: Vec<Directive>,
}

pub(super) struct Open {
    pub name: String,
    pub args: Vec<String>,
    pub at: At,
    pub fate: Fate,
    pub inside: Vec<Directive>,
}

/// What becomes of a section when it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It stands in the tree.
    Kept,
    /// A condition that holds: its contents take its place.
    Dissolved,
    /// A condition that does not hold, or a wrong section: nothing is left of it.
    Skipped,
}

impl Page<'_> {
    /// Where the next directive belongs.
    pub fn inside(&mut self) -> &mut Vec<Directive> {
        match self.open.last_mut() {
            Some(open) => &mut open.inside,
            None => &mut self.done,
        }
    }

    pub fn is_skipping(&self) -> bool {
        self.open.last().is_some_and(|open| open.fate == Fate::Skipped)
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
        let Some(Open { name, args, at, fate, inside }) = self.open.pop() else { return };
        match fate {
            Fate::Kept => self.inside().push(Directive { name, args, at, section: Some(inside) }),
            Fate::Dissolved => self.inside().extend(inside),
            Fate::Skipped => {}
        }
    }
}

/// `<IfModule [!]name>`, `<IfDefine [!]name>`
pub(super) fn condition(section: &str, args: &[String], holds: impl Fn(&str) -> bool) -> Result<Fate, String> {
    let [arg] = args else {
        return Err(format!("<{section}>: expected one name, perhaps with a ! in front"));
    };
    let fulfilled = match arg.strip_prefix('!') {
        Some(name) => !holds(name),
        None => holds(arg),
    };
    Ok(if fulfilled { Fate::Dissolved } else { Fate::Skipped })
}

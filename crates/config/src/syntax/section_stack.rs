//! Open sections of the file being read.

use std::collections::HashMap;

use crate::syntax::lines::LineReader;
use crate::syntax::tree::{At, Directive};

/// State of the file being read.
pub(super) struct SectionStack<'a> {
    pub lines: LineReader<'a>,
    /// Open sections, the innermost last.
    pub open: Vec<OpenSection>,
    pub done: Vec<Directive>,
    /// [`LineReader::ends`], computed on first use.
    ends: Option<HashMap<String, u32>>,
}

pub(super) struct OpenSection {
    pub name: String,
    pub args: Vec<String>,
    pub at: At,
    pub fate: SectionFate,
    pub inside: Vec<Directive>,
}

/// Treatment of a section at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionFate {
    /// The section is added to the tree.
    Kept,
    /// The condition is true: the contents replace the section.
    Dissolved,
    /// The condition is false, or the section is invalid: it is dropped.
    Skipped,
}

impl<'a> SectionStack<'a> {
    /// State at the beginning of a file.
    pub fn new(text: &'a str) -> SectionStack<'a> {
        SectionStack { lines: LineReader::new(text), open: Vec::new(), done: Vec::new(), ends: None }
    }

    /// Whether a line `</name>` follows. The positions are cached: a search for each section would take quadratic time
    /// for a file that opens many and closes none.
    pub fn is_closed_later(&mut self, name: &str) -> bool {
        let ends = self.ends.get_or_insert_with(|| self.lines.ends());
        let last = ends.get(&name.to_ascii_lowercase());
        last.is_some_and(|last| self.lines.next_number().is_some_and(|next| next <= *last))
    }

    /// The list to which the next directive is added.
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
            return Err(format!("</{name}> has no <{name}> before it; remove it, or add the beginning"));
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

/// Evaluates `<IfModule [!]name>`, `<IfDefine [!]name>` and similar.
pub(super) fn condition(section: &str, args: &[String], holds: impl Fn(&str) -> bool) -> Result<SectionFate, String> {
    let [arg] = args else {
        return Err(format!("<{section}>: expected one name, optionally with a ! before it"));
    };
    let fulfilled = match arg.strip_prefix('!') {
        Some(name) => !holds(name),
        None => holds(arg),
    };
    Ok(if fulfilled { SectionFate::Dissolved } else { SectionFate::Skipped })
}

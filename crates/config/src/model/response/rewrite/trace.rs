//! The trace of rules, in the words of mod_rewrite's log: for `LogLevel rewrite:trace1` to `trace8`, and `cameleer
//! explain`.

use std::cell::RefCell;
use std::fmt::Display;

/// One step of a run, as mod_rewrite logs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    /// Level, from 1 (results) to 8 (everything).
    pub level: u8,
    /// The folder of the rules, and what happened.
    pub text: String,
}

/// Maximum lines of a run; further ones are dropped.
const MAX_LINES: usize = 10_000;

/// Lines of a run.
pub(super) struct Trace<'a> {
    most: u8,
    folder: Option<&'a str>,
    lines: RefCell<Vec<TraceLine>>,
}

impl<'a> Trace<'a> {
    /// A trace of lines up to the level `most`; 0: no lines.
    pub fn new(most: u8, folder: Option<&'a str>) -> Trace<'a> {
        Trace { most, folder, lines: RefCell::default() }
    }

    /// Whether a line of this level is recorded.
    pub fn is_on(&self, level: u8) -> bool {
        level <= self.most
    }

    /// Records a line. Returns its length in bytes, as work.
    pub fn line(&self, level: u8, text: impl Display) -> usize {
        let mut lines = self.lines.borrow_mut();
        if !self.is_on(level) || lines.len() >= MAX_LINES {
            return 0;
        }
        let place = self.folder.map(|folder| format!("[perdir {folder}] ")).unwrap_or_default();
        let text = format!("{place}{text}");
        let length = text.len();
        lines.push(TraceLine { level, text });
        length
    }

    /// All recorded lines.
    pub fn into_lines(self) -> Vec<TraceLine> {
        self.lines.into_inner()
    }
}

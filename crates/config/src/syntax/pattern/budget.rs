//! Memory limit for the compiled patterns of one text.

use std::borrow::Cow;
use std::sync::Arc;

use super::engine::PatternEngine;
use super::meter::Meter;
use super::shape::Shape;
use super::{Case, Pattern};
use crate::syntax::tree::At;

/// Limit for the patterns of one text, and the place that their messages name.
#[derive(Debug, Clone)]
pub struct Budget {
    /// Remaining size in bytes; `None` for the main configuration, which has no limit of its own.
    left: Option<usize>,
    spent: usize,
    memory: usize,
    meter: Option<Arc<Meter>>,
    /// Position of the current directive.
    pub at: At,
    /// Name of the directive whose patterns are compiled now, for messages.
    pub directive: String,
}

/// Maximum total size for a `.htaccess` file, and for all files that apply to a request, in bytes.
pub const OF_HTACCESS: usize = 1 << 20;
/// Maximum total memory in bytes for a `.htaccess` file, and for all files that apply to a request.
pub const MEMORY_OF_HTACCESS: usize = 12 << 20;
/// Maximum size of each pattern of a `.htaccess` file, in bytes.
const MAX_BYTES: usize = 10 << 10;
/// Smallest size that is charged.
const MIN_CHARGED_BYTES: usize = 256;
/// Memory of a compiled pattern for each byte of its size: machine code for both kinds of search.
const MEMORY_OF_BYTE: usize = 32;
/// Memory of a compiled pattern of any size, in bytes.
const MEMORY_OF_PATTERN: usize = 8 << 10;

impl Budget {
    /// The limit of the main configuration: each pattern as large as PCRE2 permits, 64 KB.
    pub fn of_the_administrator() -> Budget {
        Budget { left: None, spent: 0, memory: 0, meter: None, at: At::default(), directive: String::new() }
    }

    /// The limit of a `.htaccess` file.
    pub fn of_htaccess() -> Budget {
        Budget { left: Some(OF_HTACCESS), ..Budget::of_the_administrator() }
    }

    /// Measures the time of all patterns compiled from now on.
    pub fn measured_by(self, meter: Arc<Meter>) -> Budget {
        Budget { meter: Some(meter), ..self }
    }

    /// Whether the limit is that of a `.htaccess` file.
    pub fn is_of_htaccess(&self) -> bool {
        self.left.is_some()
    }

    /// Size of all patterns so far.
    pub fn spent(&self) -> usize {
        self.spent
    }

    /// Approximate memory of all patterns so far, in bytes.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Charges a rule without a pattern that each request evaluates.
    pub fn spend(&mut self, size: usize) -> Result<(), String> {
        self.take(size, size * 2)
    }

    fn take(&mut self, size: usize, memory: usize) -> Result<(), String> {
        self.memory = self.memory.saturating_add(memory);
        self.spent = self.spent.saturating_add(size);
        let Some(left) = self.left else { return Ok(()) };
        match left.checked_sub(size).filter(|_| self.memory <= MEMORY_OF_HTACCESS) {
            Some(left) => {
                self.left = Some(left);
                Ok(())
            }
            None => Err("the regular expressions of this .htaccess file need too much memory; write simpler or fewer ones, or write \
                         them in the main configuration"
                .to_owned()),
        }
    }

    /// Charges the pattern to the limit. The error quotes at most 200 characters of it.
    pub fn compile(&mut self, source: &str, case: Case) -> Result<Pattern, String> {
        let engine = match self.left {
            None => PatternEngine::trusted(source, case).map_err(|reason| invalid(source, &reason)),
            Some(_) => self.compile_within_limit(source, case),
        };
        if engine.is_err() && self.left.is_some() {
            // The file is invalid in any case, so no time is spent on its other patterns.
            self.left = Some(0);
        }
        Ok(Pattern::new(engine?, self.meter.clone(), self.at.clone(), &self.directive))
    }

    fn compile_within_limit(&mut self, source: &str, case: Case) -> Result<PatternEngine, String> {
        let shape = Shape::of(source);
        if shape.size > MAX_BYTES || source.len() > MAX_BYTES {
            return Err(format!(
                "regular expression `{}` is too large: it needs more than {} KB, the limit of .htaccess files; write a simpler one, \
                 or write it in the main configuration",
                shortened(source),
                MAX_BYTES >> 10
            ));
        }
        self.take(shape.size.max(MIN_CHARGED_BYTES), shape.size * MEMORY_OF_BYTE + MEMORY_OF_PATTERN)?;
        PatternEngine::watched(source, case, shape).map_err(|reason| invalid(source, &reason))
    }
}

fn invalid(source: &str, reason: &str) -> String {
    if reason.contains("too large") {
        return format!(
            "regular expression `{}` is too large: compiled it needs more than 64 KB; split it into several directives",
            shortened(source)
        );
    }
    // Reasons of PCRE2 have no semicolon; ours have their advice behind one.
    let advice = if reason.contains(';') { "" } else { "; write \\ before a character that stands for itself" };
    format!("invalid regular expression `{}`: {reason}{advice}", shortened(source))
}

/// The first 200 characters of the source, for messages.
pub fn shortened(source: &str) -> Cow<'_, str> {
    match source.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", source.get(..end).unwrap_or_default()).into(),
        None => source.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_patterns_are_refused_and_so_are_many() {
        for large in [
            r"(a{0,1000}){0,1000}",
            r"((a{0,1000}){0,1000}){0,1000}",
            r"((((((((x{1000}){1000}){1000}){1000}){1000}){1000}){1000}){1000})",
            &"[a-z]".repeat(400),
            &"a".repeat(20_000),
        ] {
            let error = Budget::of_htaccess().compile(large, Case::Exact).unwrap_err();
            assert!(error.contains("too large") && error.len() < 1000, "{error}");
        }
        let mut budget = Budget::of_htaccess();
        let many = (0..1000).take_while(|_| budget.compile("(?:[a-z]x){150}N", Case::Exact).is_ok()).count();
        assert!((30..100).contains(&many), "{many}");
        assert!(budget.compile("a", Case::Exact).is_err(), "the limit stays exhausted");
        assert!(Budget::of_the_administrator().compile(r"(a{0,1000}){0,100}", Case::Exact).is_ok());
        let error = Budget::of_the_administrator().compile(r"((a{0,1000}){0,100}){0,1000}", Case::Exact).unwrap_err();
        assert!(error.contains("too large"), "{error}");
    }

    #[test]
    fn lists_of_hundreds_of_names_fit() {
        let mut budget = Budget::of_htaccess();
        for number in 0..400 {
            budget.compile(&format!("^SomeRobot{number}[/ ]"), Case::Either).unwrap();
        }
        let mut budget = Budget::of_htaccess();
        budget.compile("([a-z0-9]{2000,})", Case::Either).unwrap();
        let names: Vec<String> = (0..150).map(|n| format!("robot{n}")).collect();
        budget.compile(&format!("({})", names.join("|")), Case::Either).unwrap();
    }
}

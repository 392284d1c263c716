//! Searches with PCRE2, bounded in steps, time and memory.
//!
//! PCRE2 backtracks, and counts its steps anew at each position of the text. Patterns of the main configuration have
//! that limit alone: their author is trusted, and the limit stops a client whose text makes a pattern explode. The
//! author of a `.htaccess` file is not trusted. Its patterns are searched position by position
//! ([`PatternEngine::walk`]), so that the time is checked in between, except where the number of steps bounds the time
//! ([`Shape::is_countable`]).

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};

use super::Case;
use super::literal::Literal;
use super::meter::cpu_time;
use super::shape::Shape;

/// Maximum steps at one position for patterns of the main configuration.
const STEPS: u32 = 100_000;
/// Maximum steps at one position for patterns of `.htaccess` files.
const STEPS_OF_HTACCESS: u32 = 10_000;
/// Maximum steps at one position where a search does not check its time.
const STEPS_UNWATCHED: u32 = 256;
/// Maximum of text length in bytes times [`Shape::reach`] where a search does not check its time.
const UNWATCHED: usize = 128 << 10;
/// Maximum memory of a search without compiled code, in KB.
const HEAP: u32 = 8 << 10;
/// Maximum processor time of a search with a pattern of a `.htaccess` file: more than a tenant's reserve.
const MAX_SEARCH_TIME: Duration = Duration::from_millis(150);
/// Time from which on the processor time of a search is measured.
const MEASURED: Duration = Duration::from_millis(1);
/// Maximum length of a text for patterns of `.htaccess` files, in bytes. A step may read the whole text.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Number of positions between two checks of the time.
const POSITIONS: usize = 8;

/// PCRE2's error codes for a compiled pattern that needs more stack than a thread lends it.
const JIT_STACK: i32 = -46;

/// Positions of the groups 0 to 9 of a match, in bytes.
pub type GroupSpans = [Option<(usize, usize)>; 10];

/// A search that exceeded a limit, so that its result is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfinished;

/// A pattern, compiled as its use demands: as plain text, with a limit on its work, or without a limit.
pub struct PatternEngine {
    source: String,
    case: Case,
    shape: Shape,
    /// The text, if the pattern is plain text; nothing is compiled then.
    literal: Option<Literal>,
    /// Searches from the position to the end of the text. `None` for patterns of `.htaccess` files that must be
    /// watched.
    whole: Option<Code>,
    /// Matches at one position only. `None` for patterns of the main configuration.
    stepwise: Option<OnceLock<Option<Code>>>,
}

/// A pattern compiled for one kind of search.
struct Code {
    regex: Regex,
    /// The pattern for [`Code::interpreted`].
    source: String,
    case: Case,
    /// The same pattern without compiled machine code, which needs no stack.
    interpreted: OnceLock<Option<Regex>>,
    /// Memory for positions, reused by the next search.
    spare: Mutex<Option<CaptureLocations>>,
}

impl PatternEngine {
    /// Compiles a pattern of the main configuration.
    pub fn trusted(source: &str, case: Case) -> Result<PatternEngine, String> {
        let mut engine = PatternEngine::plain(source, case, Shape::of(source));
        if engine.literal.is_none() {
            engine.whole = Some(Code::new(format!("(*LIMIT_MATCH={STEPS}){source}"), case)?);
        }
        Ok(engine)
    }

    /// Compiles a pattern of a `.htaccess` file.
    pub fn watched(source: &str, case: Case, shape: Shape) -> Result<PatternEngine, String> {
        let engine = PatternEngine::plain(source, case, shape);
        if engine.literal.is_some() {
            return Ok(engine);
        }
        if shape.is_countable {
            let counted = format!("(*NO_AUTO_POSSESS)(*LIMIT_MATCH={STEPS_UNWATCHED}){source}");
            return Ok(PatternEngine {
                whole: Some(Code::new(counted, case)?),
                stepwise: Some(OnceLock::new()),
                ..engine
            });
        }
        // The pattern is compiled alone first, so that an error is about the pattern as written, and its brackets
        // cannot close the added ones.
        build(source, case, false)?;
        if source.contains("(?R)") || source.contains("(?0)") {
            return Err(
                "recursion into the whole expression is not allowed in .htaccess files; give it a group".to_owned()
            );
        }
        Ok(PatternEngine { stepwise: Some(OnceLock::from(Some(Code::new(stepwise(source), case)?))), ..engine })
    }

    /// A pattern without compiled code.
    fn plain(source: &str, case: Case, shape: Shape) -> PatternEngine {
        let literal = Literal::of(source, case);
        PatternEngine { source: source.to_owned(), case, shape, literal, whole: None, stepwise: None }
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn group_count(&self) -> usize {
        self.compiled().map_or(0, |regex| regex.captures_len().saturating_sub(1))
    }

    /// Names of groups with their numbers.
    pub fn group_names(&self) -> impl Iterator<Item = (usize, &str)> {
        let names = self.compiled().map_or(&[][..], |regex| regex.capture_names());
        names.iter().enumerate().filter_map(|(number, name)| Some((number, name.as_deref()?)))
    }

    fn compiled(&self) -> Option<&Regex> {
        let stepwise = || self.stepwise.as_ref()?.get()?.as_ref();
        self.whole.as_ref().or_else(stepwise).map(|code| &code.regex)
    }

    /// The first match at or behind the position `from`.
    pub fn search(&self, text: &[u8], from: usize) -> Result<Option<GroupSpans>, Unfinished> {
        if let Some(literal) = &self.literal {
            let found = literal.find(text, from);
            return Ok(found.map(|whole| std::array::from_fn(|group| Some(whole).filter(|_| group == 0))));
        }
        let is_unwatched = self.stepwise.is_none() || self.is_short(text);
        match self.whole.as_ref().filter(|_| is_unwatched).map(|code| code.search(text, from)) {
            Some(Ok(found)) => Ok(found),
            Some(Err(Unfinished)) | None => self.walk(text, from),
        }
    }

    /// Whether the number of steps bounds the time of a search in `text`.
    fn is_short(&self, text: &[u8]) -> bool {
        self.shape.reach.saturating_mul(text.len()) <= UNWATCHED
    }

    /// Tries one position after the other, and stops when the time is over.
    fn walk(&self, text: &[u8], from: usize) -> Result<Option<GroupSpans>, Unfinished> {
        let compile = || Code::new(stepwise(&self.source), self.case).ok();
        let code = self.stepwise.as_ref().and_then(|code| code.get_or_init(compile).as_ref()).ok_or(Unfinished)?;
        if text.len() > MAX_TEXT_BYTES {
            return Err(Unfinished);
        }
        let (begun, mut end) = (Instant::now(), None);
        let last = if self.shape.is_anchored { 0 } else { text.len() };
        for at in (from..=last).filter(|at| !self.shape.is_utf || begins_character(text, *at)) {
            if let Some(found) = code.search(text, at)? {
                return Ok(Some(found));
            }
            // The limit is on CPU time. Reading it takes longer than reading the clock, so the clock is read first.
            if at % POSITIONS == 0 && begun.elapsed() > MEASURED {
                let now = cpu_time();
                if now > *end.get_or_insert(now + MAX_SEARCH_TIME) {
                    return Err(Unfinished);
                }
            }
        }
        Ok(None)
    }
}

impl Code {
    fn new(source: String, case: Case) -> Result<Code, String> {
        let regex = build(&source, case, true)?;
        Ok(Code { regex, source, case, interpreted: OnceLock::new(), spare: Mutex::default() })
    }

    fn search(&self, bytes: &[u8], from: usize) -> Result<Option<GroupSpans>, Unfinished> {
        if from > bytes.len() {
            return Ok(None);
        }
        match self.spare.try_lock() {
            Ok(mut spare) => {
                let places = spare.get_or_insert_with(|| self.regex.capture_locations());
                self.search_with(places, bytes, from)
            }
            // Another thread has locked the match data: this search allocates its own.
            Err(_) => self.search_with(&mut self.regex.capture_locations(), bytes, from),
        }
    }

    fn search_with(
        &self,
        places: &mut CaptureLocations,
        bytes: &[u8],
        from: usize,
    ) -> Result<Option<GroupSpans>, Unfinished> {
        match self.regex.captures_read_at(places, bytes, from) {
            Ok(found) => Ok(found.is_some().then(|| spans(places))),
            Err(error) if error.code() == JIT_STACK => self.search_interpreted(bytes, from),
            Err(_) => Err(Unfinished),
        }
    }

    fn search_interpreted(&self, bytes: &[u8], from: usize) -> Result<Option<GroupSpans>, Unfinished> {
        let compile = || build(&self.source, self.case, false).ok();
        let regex = self.interpreted.get_or_init(compile).as_ref().ok_or(Unfinished)?;
        let mut places = regex.capture_locations();
        let found = regex.captures_read_at(&mut places, bytes, from).map_err(|_| Unfinished)?;
        Ok(found.is_some().then(|| spans(&places)))
    }
}

/// Whether a search of UTF-8 may begin at this position.
pub fn begins_character(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}

fn spans(places: &CaptureLocations) -> GroupSpans {
    std::array::from_fn(|group| places.get(group))
}

/// Compiles for bytes, as httpd does, with its defaults DOTALL and DOLLAR_ENDONLY. A path contains no zero byte, so
/// with zero as the line end `$` does not match before a newline at the end: `/private%0a` must not evade `^/private$`.
fn build(source: &str, case: Case, is_compiled: bool) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new();
    builder.dotall(true).caseless(case == Case::Either).jit_if_available(is_compiled);
    builder.build(&format!("(*NUL)(*LIMIT_HEAP={HEAP}){source}")).map_err(|error| {
        let message = error.to_string();
        message.rsplit(": ").next().unwrap_or_default().to_owned()
    })
}

/// The pattern, made to match only where the search begins. Options like `(*UTF)` stay in front.
fn stepwise(source: &str) -> String {
    let mut start = 0;
    while let Some(rest) = source.get(start..).filter(|rest| rest.starts_with("(*")) {
        let Some(end) = rest.find(')') else { break };
        start += end + 1;
    }
    let (options, pattern) = source.split_at(start);
    format!("(*LIMIT_MATCH={STEPS_OF_HTACCESS}){options}\\G(?:{pattern}\\E)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(engine: &PatternEngine, text: &str) -> Result<Option<(usize, usize)>, Unfinished> {
        engine.search(text.as_bytes(), 0).map(|found| found.and_then(|groups| groups[0]))
    }

    #[test]
    fn pcre2_and_the_interpreter_find_the_same_matches() {
        for (source, text, expected) in [
            ("b+", "abbc", Some((1, 3))),
            ("(?<!a)b", "ab b", Some((3, 4))),
            (r"(.)\1", "abccd", Some((2, 4))),
            ("a(?!b)", "abac", Some((2, 3))),
            ("a++b", "caab", Some((1, 4))),
            ("^/[^/]+$|x", "/a", Some((0, 2))),
            ("^a|b", "cb", Some((1, 2))),
            ("(?>a|ab)c", "abc", None),
            ("(*UTF)(?<=é).", "éa", Some((2, 3))),
            (r"\Qa.b", "a.b", Some((0, 3))),
            ("", "ab", Some((0, 0))),
            ("^ab", "abc", Some((0, 2))),
            (r"\.c$", "b.c", Some((1, 3))),
            ("^(?!x)a?", "xab", None),
        ] {
            for engine in [PatternEngine::trusted(source, Case::Exact), watched(source)] {
                assert_eq!(of(&engine.expect(source), text), Ok(expected), "{source}");
            }
        }
    }

    fn watched(source: &str) -> Result<PatternEngine, String> {
        PatternEngine::watched(source, Case::Exact, Shape::of(source))
    }

    #[test]
    fn a_search_that_exceeds_its_steps_is_unfinished() {
        let text = "a".repeat(4000);
        for source in ["(a+)+[bc]", "(a|aa)+[bc]", "(?=(a+)+[bc])a", "^(?:a|a?)+[bc]", r"(a*)*\1[bc]"] {
            for engine in [PatternEngine::trusted(source, Case::Exact), watched(source)] {
                assert_eq!(of(&engine.expect(source), &text), Err(Unfinished), "{source}");
            }
        }
        let own_limit = watched("(*LIMIT_MATCH=4000000000)(?=(a+)+[bc])a").expect("a pattern");
        assert_eq!(of(&own_limit, &text), Err(Unfinished), "a pattern cannot raise its limit");
    }

    #[test]
    fn a_deep_match_needs_no_large_stack() {
        let (source, text) = ("^(?:(a)|(b))*$", "ab".repeat(500));
        for engine in [PatternEngine::trusted(source, Case::Exact), watched(source)] {
            assert_eq!(of(&engine.expect(source), &text), Ok(Some((0, 1000))));
        }
    }
}

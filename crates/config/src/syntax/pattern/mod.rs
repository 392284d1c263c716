//! Regular expressions of the configuration: PCRE2, as in httpd. They match bytes, and `\w` and similar classes are
//! ASCII.
//!
//! Size and time of each are limited, strictly for `.htaccess` files: see `engine`, `budget` and [`meter`].

mod budget;
mod engine;
mod literal;
pub mod meter;
mod shape;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use budget::shortened;
pub use budget::{Budget, MEMORY_OF_HTACCESS, OF_HTACCESS};
pub use engine::GroupSpans;
use engine::{PatternEngine, Unfinished, begins_character};
use meter::Meter;

use crate::syntax::tree::At;
use crate::syntax::work;
use base::path::Text;

/// Version of the linked PCRE2: `10.46`. The crate's own number is that of the header of its bindings, so the library
/// itself decides, by a condition in an expression (pcre2pattern(3), "Checking the PCRE2 version").
pub fn pcre2_version() -> String {
    let (major, minor) = pcre2::version();
    let is_since = |minor: &u32| {
        let condition = pcre2::bytes::Regex::new(&format!("(?(VERSION>={major}.{minor})|(?!))"));
        condition.is_ok_and(|condition| condition.is_match(b"").unwrap_or(false))
    };
    // With one digit, 10.4 would mean 10.40.
    let linked = (10..=99).take_while(is_since).last().unwrap_or(minor);
    format!("{major}.{linked}")
}

/// A compiled regular expression. Clones share it.
#[derive(Clone)]
pub struct Pattern(Arc<Compiled>);

struct Compiled {
    engine: PatternEngine,
    /// Time meter, for expressions of `.htaccess` files.
    meter: Option<Arc<Meter>>,
    at: At,
    directive: String,
}

/// Whether case matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Case matters.
    Exact,
    /// Case is ignored: `BrowserMatchNoCase`.
    Either,
}

impl Pattern {
    fn new(engine: PatternEngine, meter: Option<Arc<Meter>>, at: At, directive: &str) -> Pattern {
        Pattern(Arc::new(Compiled { engine, meter, at, directive: directive.to_owned() }))
    }

    /// Source of the expression.
    pub fn as_str(&self) -> &str {
        self.0.engine.source()
    }

    /// Position of its directive.
    pub fn at(&self) -> &At {
        &self.0.at
    }

    /// Whether the expression matches anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.search(&bytes(text), 0).is_some()
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t str) -> Option<Groups<'t>> {
        let text = bytes(text);
        self.search(&text, 0).map(|spans| Groups { text, spans })
    }

    /// Positions of the groups of the first match in `text`. The error is a line for the error log: the search has
    /// exceeded a limit, or its `.htaccess` file is disabled.
    pub fn spans(&self, text: &[u8]) -> Result<Option<GroupSpans>, String> {
        let Compiled { engine, meter, at, .. } = &*self.0;
        let found = match meter {
            Some(meter) => meter.run(at.line, || engine.search(text, 0)).ok_or_else(|| disabled(meter))?,
            None => engine.search(text, 0),
        };
        found.map_err(|Unfinished| self.message(text.len(), "the response ends here"))
    }

    /// Only capturing groups count.
    pub fn has_groups(&self) -> bool {
        self.0.engine.group_count() > 0
    }

    /// Names of the expression's groups with their numbers.
    pub fn group_names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.engine.group_names()
    }

    /// Cuts a text at the first match.
    pub fn cut(&self, text: &str) -> Option<MatchedText> {
        let text = bytes(text);
        let groups = Groups { spans: self.search(&text, 0)?, text: Cow::Borrowed(&*text) };
        let (start, end) = groups.whole();
        let part = |from, to| piece(&text, from, to).into_owned();
        Some(MatchedText { before: part(0, start), groups: groups.all(), after: part(end.max(start), text.len()) })
    }

    /// Searches from a position. A search that exceeds a limit counts as not matched, and uses up the request's
    /// [`work::Allowance`]: the caller must refuse the request, since a missing match may mean access.
    fn search(&self, text: &[u8], from: usize) -> Option<GroupSpans> {
        let Compiled { engine, meter, at, .. } = &*self.0;
        let found = match meter {
            Some(meter) => meter.run(at.line, || engine.search(text, from))?,
            None => engine.search(text, from),
        };
        found.unwrap_or_else(|Unfinished| {
            work::fail(|| self.message(text.len(), "the request is refused"));
            None
        })
    }

    fn message(&self, length: usize, outcome: &str) -> String {
        let Compiled { at, directive, .. } = &*self.0;
        let source = shortened(self.as_str());
        format!(
            "{at}: {directive}: the regular expression `{source}` needs too many steps for a text of {length} bytes, and {outcome}; \
             avoid repetitions within repetitions, and begin it with ^"
        )
    }

    /// Replaces the first match, or all; `$1` in `by` is a group. `None`: the result would be longer than
    /// `longest` bytes.
    pub fn replaced(&self, text: &str, by: &str, all: bool, longest: usize) -> Option<String> {
        let (bytes, mut out) = (bytes(text), String::new());
        let (mut copied, mut from, mut last) = (0, 0, None);
        while let Some(spans) = self.search(&bytes, from).filter(|_| from <= bytes.len()) {
            let groups = Groups { text: Cow::Borrowed(&*bytes), spans };
            let (start, end) = groups.whole();
            from = if end > from { end } else { after(&bytes, from) };
            // An empty match directly behind the last match does not count.
            if start == end && last == Some(end) {
                continue;
            }
            last = Some(end);
            out.push_str(&piece(&bytes, copied, start));
            out.push_str(&groups.expand(by, &str::to_owned, longest.checked_sub(out.len())?).ok()?);
            copied = end.max(copied);
            if !all {
                break;
            }
        }
        out.push_str(&piece(&bytes, copied, bytes.len()));
        (out.len() <= longest).then_some(out)
    }
}

/// The message about an expression of a disabled file.
fn disabled(meter: &Meter) -> String {
    let unlogged = meter.unlogged();
    unlogged.unwrap_or_else(|| {
        format!("{}: the regular expressions of this file took too long; write simpler or fewer ones", meter.file())
    })
}

/// The bytes that `text` represents, see [`Text`].
fn bytes(text: &str) -> Cow<'_, [u8]> {
    if text.is_ascii() { text.as_bytes().into() } else { Text::bytes_in(text).into() }
}

/// The position of the next character behind `at`, or a position beyond the end of the text.
fn after(text: &[u8], at: usize) -> usize {
    (at + 1..=text.len()).find(|next| begins_character(text, *next)).unwrap_or(text.len() + 1)
}

/// A part of a text. Bytes that are not UTF-8, for instance a part of a character, are retained.
fn piece(text: &[u8], start: usize, end: usize) -> Cow<'_, str> {
    let part = text.get(start..end).unwrap_or_default();
    std::str::from_utf8(part).map_or_else(|_| Text::new(part).0.into(), Cow::Borrowed)
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Regex({:?})", self.as_str())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The parts of a text around a match.
pub struct MatchedText {
    /// From the beginning of the text up to the match.
    pub before: String,
    /// Groups 0 to 9.
    pub groups: Vec<String>,
    /// The text behind the match.
    pub after: String,
}

/// A match and its groups.
pub struct Groups<'t> {
    text: Cow<'t, [u8]>,
    spans: GroupSpans,
}

impl Groups<'_> {
    /// Positions of the whole match.
    fn whole(&self) -> (usize, usize) {
        self.spans.first().copied().flatten().unwrap_or_default()
    }

    /// A group by its number from 0 to 9; 0 is the whole match.
    pub fn get(&self, number: usize) -> Cow<'_, str> {
        let span = self.spans.get(number).copied().flatten();
        span.map_or(Cow::Borrowed(""), |(start, end)| piece(&self.text, start, end))
    }

    /// Groups 0 to 9.
    pub fn all(&self) -> Vec<String> {
        (0..10).map(|number| self.get(number).into_owned()).collect()
    }

    /// Replaces `$0` to `$9` in `template` by groups, each passed through `escape`; `\$` is a dollar sign. If the
    /// result would be longer than `longest` bytes, the error is its beginning.
    pub fn expand(&self, template: &str, escape: &dyn Fn(&str) -> String, longest: usize) -> Result<String, String> {
        let mut out = String::with_capacity(template.len());
        let mut rest = template.chars().peekable();
        while let Some(c) = rest.next() {
            let length = out.len();
            let group = if c == '$' { rest.peek().and_then(|digit| digit.to_digit(10)) } else { None };
            if let Some(group) = group {
                rest.next();
                out.push_str(&escape(&self.get(group as usize)));
            } else if c == '\\' && rest.peek() == Some(&'$') {
                out.extend(rest.next());
            } else {
                out.push(c);
            }
            if out.len() > longest {
                out.truncate(length);
                return Err(out);
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(source: &str) -> Result<Pattern, String> {
        Budget::of_htaccess().compile(source, Case::Exact)
    }

    #[test]
    fn words_and_digits_are_ascii_as_in_httpd() {
        for (source, text, expected) in [
            (r"^\w+$", "abc_9", true),
            (r"^\w+$", "é", false),
            (r"^[^/]+/.$", "é/x", true),
            ("é+$", "aéé", true),
            ("^[éx]$", "é", false),
            (r"^[^/]{2}$", "é", true),
            (r"^/caf\xe9$", &Text::new(b"/caf\xe9").0, true),
            (r"^\d$", "٣", false),
            (r"^/private/.*$", "/private/a\nb", true),
            (r"^/a$", "/a\n", false),
        ] {
            assert_eq!(made(source).unwrap().is_match(text), expected, "{source} {text}");
        }
        assert!(Budget::of_htaccess().compile("bot", Case::Either).unwrap().is_match("GoogleBOT"));
    }

    #[test]
    fn matches_are_replaced_up_to_a_length() {
        let pattern = made("(b)(c)?").unwrap();
        assert_eq!(pattern.replaced("abcab", "[$1$2]", true, 99).as_deref(), Some("a[bc]a[b]"));
        assert_eq!(pattern.replaced("abcab", "-", false, 99).as_deref(), Some("a-ab"));
        assert_eq!(made(".").unwrap().replaced("aaaa", "12345", true, 19), None);
        assert_eq!(made("x").unwrap().replaced("aaaa", "", true, 3), None);
    }

    #[test]
    fn groups_are_inserted_in_a_template() {
        let pattern = made("^/a/(.*)/(b)?").unwrap();
        let found = pattern.find("/a/x y/").expect("it matches");
        let escape = |text: &str| text.replace(' ', "%20");
        for (template, expected) in
            [("/n/$1&$2?$9", "/n/x%20y&?"), (r"\$1 $x $", "$1 $x $"), ("$0", "/a/x%20y/"), ("ü$1", "üx%20y")]
        {
            assert_eq!(found.expand(template, &escape, 99).as_deref(), Ok(expected), "{template}");
        }
        assert_eq!(found.expand("$1$1$1", &escape, 10), Err("x%20yx%20y".to_owned()));
    }

    #[test]
    fn replacements_step_over_empty_matches() {
        let pattern = |source: &str| made(source).unwrap();
        assert_eq!(pattern("b*").replaced("abc", "-", true, 99).as_deref(), Some("-a-c-"));
        assert_eq!(pattern("").replaced("éa", ".", true, 99).as_deref(), Some(".é.a."));
        assert_eq!(pattern(r"a\Kb").replaced("abab", "-", true, 99).as_deref(), Some("a-a-"));
    }
}

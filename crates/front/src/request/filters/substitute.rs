//! SUBSTITUTE: replaces text in the lines of a response, as httpd's mod_substitute.
//!
//! A line is searched as a whole, with its newline, so it is stored until its end arrives. `SubstituteMaxLineLength`
//! limits it, also with its replacements; a response is never stored.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use memchr::{memchr, memmem};

use crate::request::respond::body::{STEP, TextTransform, TransformNeed};
use config::meter::{cpu_time, stretch};
use config::pattern::{Case, GroupSpans};
use config::response::substitute::{LineSubstitution, ReplacementPart, Searched, Substitute};

/// Time after which other responses have a turn; a line is not interrupted.
const SLICE: Duration = Duration::from_millis(20);
/// Bytes that are searched on the event thread, times the number of texts to replace. A short line costs more than its
/// bytes, and a piece of a file is longer than this.
const AT_ONCE: usize = 4 << 10;
/// Maximum processor time of a rule for one line, from its first [`MATCHES`] matches on.
const MAX_LINE_TIME: Duration = Duration::from_secs(2);
/// Number of matches between two checks of the processor time.
const MATCHES: usize = 64;

/// Replaces text, line by line.
pub struct Substituter {
    rules: Vec<Arc<LineSubstitution>>,
    longest: usize,
    /// Text that was not processed yet; lines before `at` were.
    text: Vec<u8>,
    at: usize,
    /// Position up to which there is no newline.
    searched: usize,
    has_ended: bool,
    has_failed: bool,
}

impl Substituter {
    pub fn new(settings: &Substitute) -> Substituter {
        Substituter {
            rules: settings.rules.clone(),
            longest: settings.longest_line(),
            text: Vec::new(),
            at: 0,
            searched: 0,
            has_ended: false,
            has_failed: false,
        }
    }

    /// End of the next line. The last line may have no newline.
    fn line_end(&self) -> Option<usize> {
        let from = self.searched.max(self.at);
        let newline = memchr(b'\n', self.text.get(from..).unwrap_or_default()).map(|found| from + found + 1);
        newline.or((self.has_ended && self.at < self.text.len()).then_some(self.text.len()))
    }

    fn is_too_long(&self, end: usize) -> bool {
        end - self.at > self.longest
    }

    /// Processes lines until there are enough bytes, or other responses should have their turn.
    fn lines(&mut self) -> Result<Vec<u8>, String> {
        let (begun, mut out) = (Instant::now(), Vec::new());
        let mut pieces = [Pieces::new(self.longest), Pieces::new(self.longest)];
        while let Some(end) = self.line_end() {
            if self.is_too_long(end) {
                return Err(self.too_long());
            }
            let line = self.text.get(self.at..end).unwrap_or_default();
            substitute(&self.rules, line, &mut pieces, &mut out)?;
            (self.at, self.searched) = (end, end);
            if out.len() >= STEP || begun.elapsed() > SLICE {
                break;
            }
        }
        self.text.drain(..self.at);
        (self.at, self.searched) = (0, 0);
        Ok(out)
    }

    fn too_long(&self) -> String {
        too_long(self.longest)
    }
}

impl TextTransform for Substituter {
    fn name(&self) -> &'static str {
        "substitute"
    }

    fn feed(&mut self, piece: Bytes) {
        self.searched = self.text.len();
        self.text.extend_from_slice(&piece);
    }

    fn end(&mut self) {
        self.has_ended = true;
    }

    fn need(&self) -> TransformNeed {
        let is_over = self.has_ended && self.text.is_empty();
        match self.line_end().is_some() || self.is_too_long(self.text.len()) {
            _ if is_over || self.has_failed => TransformNeed::Nothing,
            true => TransformNeed::Turn,
            false => TransformNeed::Text,
        }
    }

    fn is_quick(&self) -> bool {
        let is_text = |rule: &Arc<LineSubstitution>| matches!(rule.search, Searched::Text(..));
        self.text.len().saturating_mul(self.rules.len()) <= AT_ONCE && self.rules.iter().all(is_text)
    }

    fn run(&mut self) -> Result<Vec<u8>, String> {
        if self.line_end().is_none() && self.is_too_long(self.text.len()) {
            self.has_failed = true;
            return Err(self.too_long());
        }
        let done = stretch(|| self.lines());
        self.has_failed = done.is_err();
        done
    }
}

fn too_long(longest: usize) -> String {
    format!(
        "a line has more than {longest} bytes, or gets more by its replacements, and the response ends here; see \
         SubstituteMaxLineLength"
    )
}

/// A line, cut where a replacement with the flag `q` begins and ends.
struct Pieces {
    text: Vec<u8>,
    /// Ends of the pieces, in bytes.
    ends: Vec<usize>,
    longest: usize,
}

impl Pieces {
    fn new(longest: usize) -> Pieces {
        Pieces { text: Vec::new(), ends: Vec::new(), longest }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    fn add(&mut self, text: &[u8]) -> Result<(), String> {
        if text.len() > self.longest - self.text.len() {
            return Err(too_long(self.longest));
        }
        self.text.extend_from_slice(text);
        Ok(())
    }

    fn cut(&mut self) {
        if self.ends.last().copied().unwrap_or_default() < self.text.len() {
            self.ends.push(self.text.len());
        }
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(from, to)| self.text.get(from..*to).unwrap_or_default())
    }
}

/// Applies all rules to a line, one after the other, and appends the result to `out`. A line is one piece at first.
fn substitute(
    rules: &[Arc<LineSubstitution>],
    line: &[u8],
    pieces: &mut [Pieces; 2],
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let [now, next] = pieces;
    now.clear();
    now.add(line)?;
    now.cut();
    for rule in rules {
        next.clear();
        for piece in now.iter() {
            replace(rule, piece, next)?;
        }
        std::mem::swap(now, next);
    }
    out.extend_from_slice(&now.text);
    Ok(())
}

/// Replaces all matches in a piece. As in httpd, what follows a match is a text of its own: `^` matches there, and
/// nothing is seen behind it. An error after [`MAX_LINE_TIME`]: each match may search the
/// rest of the line.
fn replace(rule: &LineSubstitution, piece: &[u8], out: &mut Pieces) -> Result<(), String> {
    let lower = match rule.search {
        Searched::Text(_, Case::Either) => Some(piece.to_ascii_lowercase()),
        _ => None,
    };
    let seen = lower.as_deref().unwrap_or(piece);
    let (mut at, mut matches, mut until) = (0, 0_usize, None);
    while let Some(spans) = find(&rule.search, seen.get(at..).unwrap_or_default())? {
        matches += 1;
        if matches % MATCHES == 0 {
            let now = cpu_time();
            if now > *until.get_or_insert(now + MAX_LINE_TIME) {
                let most = MAX_LINE_TIME.as_secs();
                return Err(format!("the patterns take more than {most} s for one line, and the response ends here"));
            }
        }
        let rest = piece.get(at..).unwrap_or_default();
        let part = |(from, to)| rest.get(from..to).unwrap_or_default();
        let (start, end) = spans.first().copied().flatten().unwrap_or_default();
        let end = end.max(start);
        out.add(part((0, start)))?;
        if !rule.joins {
            out.cut();
        }
        for by in &rule.by {
            match by {
                ReplacementPart::Text(text) => out.add(text)?,
                ReplacementPart::Group(number) => {
                    out.add(spans.get(*number).copied().flatten().map(part).unwrap_or_default())?;
                }
            }
        }
        if !rule.joins {
            out.cut();
        }
        // A match of no length would be found again at the same place.
        let next = if end == start { end + 1 } else { end };
        out.add(part((end, next.min(rest.len()))))?;
        at += next;
        if at >= piece.len() {
            break;
        }
    }
    out.add(piece.get(at..).unwrap_or_default())?;
    out.cut();
    Ok(())
}

/// Positions of the first match and its groups.
fn find(search: &Searched, text: &[u8]) -> Result<Option<GroupSpans>, String> {
    match search {
        Searched::Text(wanted, _) => Ok(memmem::find(text, wanted).map(|at| {
            let whole = (at, at + wanted.len());
            std::array::from_fn(|group| (group == 0).then_some(whole))
        })),
        Searched::Pattern(pattern) => pattern.spans(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::pattern::Budget;

    fn filter(rules: &[&str], longest: u64) -> Substituter {
        let mut budget = Budget::of_the_administrator();
        let parse = |rule: &&str| Arc::new(LineSubstitution::parse(rule, &mut budget).expect("a rule"));
        let rules = { rules }.iter().map(parse).collect();
        Substituter::new(&Substitute { rules, longest_line: Some(longest), inherit_before: None })
    }

    fn changed(mut filter: Substituter, pieces: &[&[u8]]) -> Result<Vec<u8>, String> {
        let (mut out, mut pieces) = (Vec::new(), pieces.iter());
        loop {
            match filter.need() {
                TransformNeed::Text => match pieces.next() {
                    Some(piece) => filter.feed(Bytes::copy_from_slice(piece)),
                    None => filter.end(),
                },
                TransformNeed::Turn => out.extend(filter.run()?),
                TransformNeed::Nothing => return Ok(out),
            }
        }
    }

    #[test]
    fn lines_are_found_however_the_text_is_cut() {
        let text = "one foo\n\nfoo two foo\nend foo".repeat(100).into_bytes();
        let expected = "one bar\n\nbar two bar\nend bar".repeat(100).into_bytes();
        for rule in ["s/foo/bar/", "s/f(o)\\1/bar/", "s/FOO/bar/i", "s/foo/bar/q"] {
            for size in [1, 3, 8, 1000] {
                let pieces: Vec<&[u8]> = text.chunks(size).collect();
                assert!(changed(filter(&[rule], 1000), &pieces).as_ref() == Ok(&expected), "{rule} {size}");
            }
        }
    }

    #[test]
    fn a_match_of_no_length_is_replaced_once_at_each_place() {
        for (rule, text, expected) in [
            ("s/x*/-/", "axb", "-a--b"),
            ("s/$/-/", "ab", "ab-"),
            ("s/^/-/", "ab\ncd", "-a-b-\n-c-d"),
            ("s/b|$/-/", "ab", "a-"),
        ] {
            assert_eq!(changed(filter(&[rule], 99), &[text.as_bytes()]), Ok(expected.as_bytes().to_vec()), "{rule}");
        }
    }

    #[test]
    fn a_line_ends_at_the_limit_before_and_after_its_replacements() {
        assert_eq!(changed(filter(&["s/a/b/"], 4), &[b"aaa\naaa\n"]).as_deref(), Ok(&b"bbb\nbbb\n"[..]));
        assert!(changed(filter(&["s/a/b/"], 4), &[b"aaaa\n"]).is_err());
        assert!(changed(filter(&["s/a/bb/"], 4), &[b"aaa"]).is_err());
        let mut endless = filter(&["s/a/b/"], 1000);
        for _ in 0..11 {
            endless.feed(Bytes::from_static(&[b'a'; 100]));
        }
        assert_eq!(endless.need(), TransformNeed::Turn);
        assert!(endless.run().is_err_and(|error| error.contains("SubstituteMaxLineLength")));
    }

    #[test]
    fn a_growing_text_is_returned_in_parts() {
        let by = "b".repeat(1000);
        let mut filter = filter(&[&format!("s/a/{by}/")], 1 << 20);
        filter.feed(Bytes::from("a\n".repeat(32 << 10)));
        let (mut longest, mut sum) = (0, 0);
        while filter.need() == TransformNeed::Turn {
            let part = filter.run().expect("it fits").len();
            (longest, sum) = (longest.max(part), sum + part);
        }
        assert_eq!(sum, (32 << 10) * 1001);
        assert!(longest < 2 * STEP, "{longest}");
    }
}

//! Regular expressions of the configuration, as httpd understands them: of bytes, `\w` and its kin are ASCII's.
//!
//! What one needs is bounded before it is made: `\w{150}` in each of a hundred lines would take the time and the memory of
//! all who are served. The administrator has much to spend, whoever writes a `.htaccess` file little.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::config::syntax::meter::Meter;

/// A regular expression; its copies are one, and share what it needs at work.
#[derive(Clone)]
pub struct Pattern {
    regex: Arc<Regex>,
    /// Of a `.htaccess` file: what measures its time, and its line.
    measured: Option<(Arc<Meter>, u32)>,
}

/// Whether a letter is one of either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// It is as it stands.
    Exact,
    /// `BrowserMatchNoCase`
    Either,
}

/// What the expressions of one text may take, in bytes of their automata.
#[derive(Debug, Clone)]
pub struct Budget {
    whose: BudgetOwner,
    left: usize,
    spent: usize,
    memory: usize,
    meter: Option<Arc<Meter>>,
    /// The line that is read.
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BudgetOwner {
    Administrator,
    Htaccess,
}

/// For each expression of the main configuration.
const GENEROUS: usize = 10 << 20;
/// For all of a `.htaccess` file, and of all that apply to a request.
pub const OF_HTACCESS: usize = 1 << 20;
/// For all of a `.htaccess` file, and of all that apply to a request, in bytes of memory.
pub const MEMORY_OF_HTACCESS: usize = 12 << 20;
/// For one of them.
const EACH: usize = 256 << 10;
/// An expression is tried with so much first, then with twice that, until it fits: so it is known what it takes.
const LEAST: usize = 256;
/// Classes of all alphabets are large before they are an automaton: with them an expression may be so long.
const LONGEST_UNICODE: usize = 256;

impl Pattern {
    /// What it was made from.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// Whether it is found in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.look(|regex| regex.is_match(text.as_bytes())).unwrap_or_default()
    }

    /// `None`: the time of its file is used up. Whoever asked refuses the request then.
    fn look<T>(&self, look: impl FnOnce(&Regex) -> T) -> Option<T> {
        match &self.measured {
            Some((meter, line)) => meter.run(*line, || look(&self.regex)),
            None => Some(look(&self.regex)),
        }
    }

    /// Where it is found first.
    pub fn find<'t>(&self, text: &'t str) -> Option<Groups<'t>> {
        self.look(|regex| regex.captures(text.as_bytes()))?.map(Groups)
    }

    /// `text` with what takes the place of the first find, or of all; `$1` in `by` is a group. `None`: it would be longer
    /// than `longest`.
    pub fn replaced(&self, text: &str, by: &str, all: bool, longest: usize) -> Option<String> {
        self.look(|regex| replaced(regex, text, by, all, longest))?
    }
}

fn replaced(regex: &Regex, text: &str, by: &str, all: bool, longest: usize) -> Option<String> {
    let bytes = text.as_bytes();
    let piece = |from: usize, to: usize| String::from_utf8_lossy(bytes.get(from..to).unwrap_or_default());
    let (mut out, mut rest) = (String::new(), 0);
    for found in regex.captures_iter(bytes).take(if all { usize::MAX } else { 1 }) {
        let whole = found.get_match();
        out.push_str(&piece(rest, whole.start()));
        out.push_str(&Groups(found).expand(by, &str::to_owned, longest.checked_sub(out.len())?).ok()?);
        rest = whole.end();
    }
    out.push_str(&piece(rest, bytes.len()));
    (out.len() <= longest).then_some(out)
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.regex.fmt(f)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What was found, and its groups.
pub struct Groups<'t>(Captures<'t>);

impl<'t> Groups<'t> {
    /// A group by its number; 0 is all that was found.
    pub fn get(&self, number: usize) -> Cow<'t, str> {
        self.0.get(number).map_or(Cow::Borrowed(""), |found| String::from_utf8_lossy(found.as_bytes()))
    }

    /// The first ten.
    pub fn all(&self) -> Vec<String> {
        (0..10).map(|number| self.get(number).into_owned()).collect()
    }

    /// `template` with `$0` to `$9` replaced, each passed through `escape`; `\$` is a dollar sign. An error when it is longer
    /// than `longest`: as much of it as is not.
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

impl Budget {
    /// Of the main configuration.
    pub fn of_the_administrator() -> Budget {
        Budget { whose: BudgetOwner::Administrator, left: usize::MAX, spent: 0, memory: 0, meter: None, line: 0 }
    }

    /// Of a `.htaccess` file.
    pub fn of_htaccess() -> Budget {
        Budget { whose: BudgetOwner::Htaccess, left: OF_HTACCESS, spent: 0, memory: 0, meter: None, line: 0 }
    }

    /// What is made from now on has its time measured.
    pub fn measured_by(self, meter: Arc<Meter>) -> Budget {
        Budget { meter: Some(meter), ..self }
    }

    /// What was spent of it.
    pub fn spent(&self) -> usize {
        self.spent
    }

    /// How much memory all that was made takes, about: what finds the likely places of an expression comes to its automaton.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Takes what a thing needs that is no expression but is looked at for each request, too.
    pub fn spend(&mut self, size: usize) -> Result<(), String> {
        self.take(size, size * 2)
    }

    fn take(&mut self, size: usize, memory: usize) -> Result<(), String> {
        let memory = self.memory.saturating_add(memory);
        let fits = self.whose == BudgetOwner::Administrator || memory <= MEMORY_OF_HTACCESS;
        match self.left.checked_sub(size).filter(|_| fits) {
            Some(left) => {
                (self.left, self.spent) = (left, self.spent.saturating_add(size));
                self.memory = memory;
                Ok(())
            }
            None => Err(self.exhausted()),
        }
    }

    /// An expression, or what is wrong with it.
    pub fn compile(&mut self, source: &str, case: Case) -> Result<Pattern, String> {
        let compiled = match self.whose {
            BudgetOwner::Administrator => build(source, case, GENEROUS).map_err(|error| complaint(source, &error)),
            BudgetOwner::Htaccess => self.fitting(source, case),
        };
        if compiled.is_err() && self.whose == BudgetOwner::Htaccess {
            // The file is an error as it is: no further expression of it costs anything.
            self.left = 0;
        }
        let measured = self.meter.clone().map(|meter| (meter, self.line));
        compiled.map(|regex| Pattern { regex: Arc::new(regex), measured })
    }

    fn fitting(&mut self, source: &str, case: Case) -> Result<Regex, String> {
        if self.left < LEAST {
            return Err(self.exhausted());
        }
        if source.len() > EACH.min(self.left) || source.len() > LONGEST_UNICODE && is_unicode(source) {
            return Err(format!("`{}…` is too long a regular expression for a .htaccess file", cut(source)));
        }
        let mut size = LEAST;
        loop {
            match build(source, case, size) {
                Ok(regex) => return self.take(size.max(source.len()), size * 4 + (8 << 10)).map(|()| regex),
                Err(regex::Error::CompiledTooBig(_)) if size < EACH.min(self.left) => size *= 2,
                Err(regex::Error::CompiledTooBig(_)) if self.left < EACH => return Err(self.exhausted()),
                Err(error) => return Err(complaint(source, &error)),
            }
        }
    }

    fn exhausted(&self) -> String {
        "the regular expressions of this .htaccess file need too much memory: write simpler ones, fewer, or write them in the \
         main configuration"
            .to_owned()
    }
}

/// Bytes as in httpd; where that cannot be, because of a letter in a class or `\p{…}`, characters.
fn build(source: &str, case: Case, size: usize) -> Result<Regex, regex::Error> {
    let build = |unicode: bool| {
        let mut builder = RegexBuilder::new(source);
        builder.unicode(unicode).case_insensitive(case == Case::Either).size_limit(size);
        // As httpd: nobody gets around `^/private/.*$` by a line end.
        builder.dot_matches_new_line(true);
        // What it remembers at work, in either direction; with too little it would be slow.
        builder.dfa_size_limit((size * 2 + (16 << 10)).min(2 << 20)).build()
    };
    match build(false) {
        Err(regex::Error::Syntax(_)) => build(true),
        answer => answer,
    }
}

/// Whether it may speak of all alphabets: letters beyond ASCII, `\p`, the flag `u`.
fn is_unicode(source: &str) -> bool {
    let flagged = |rest: &str| rest.chars().take_while(|c| c.is_ascii_alphabetic() || *c == '-').any(|c| c == 'u');
    !source.is_ascii() || source.contains("\\p") || source.contains("\\P") || source.split("(?").skip(1).any(flagged)
}

fn complaint(source: &str, error: &regex::Error) -> String {
    if let regex::Error::CompiledTooBig(limit) = error {
        return format!("`{}` is too large a regular expression: it needs more than {} KB", cut(source), limit >> 10);
    }
    let reason = error.to_string();
    let last = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
    format!("`{}` is not a regular expression that we understand: {last}", cut(source))
}

/// As much of it as a line of the log bears.
fn cut(source: &str) -> Cow<'_, str> {
    match source.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", source.get(..end).unwrap_or_default()).into(),
        None => source.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(source: &str) -> Result<Pattern, String> {
        Budget::of_htaccess().compile(source, Case::Exact)
    }

    #[test]
    fn words_and_digits_are_those_of_ascii_as_in_httpd() {
        for (source, text, expected) in [
            (r"^\w+$", "abc_9", true),
            (r"^\w+$", "é", false),
            (r"^[^/]+/.$", "é/x", true),
            ("é+$", "aéé", true),
            ("^[éx]$", "é", true),
            (r"^\p{Lu}", "Éa", true),
            (r"^\d$", "٣", false),
            (r"^/private/.*$", "/private/a\nb", true),
            (r"^/a$", "/a\n", false),
        ] {
            assert_eq!(made(source).unwrap().is_match(text), expected, "{source} {text}");
        }
        assert!(Budget::of_htaccess().compile("bot", Case::Either).unwrap().is_match("GoogleBOT"));
    }

    #[test]
    fn what_is_found_is_replaced_up_to_a_length() {
        let pattern = made("(b)(c)?").unwrap();
        assert_eq!(pattern.replaced("abcab", "[$1$2]", true, 99).as_deref(), Some("a[bc]a[b]"));
        assert_eq!(pattern.replaced("abcab", "-", false, 99).as_deref(), Some("a-ab"));
        assert_eq!(made(".").unwrap().replaced("aaaa", "12345", true, 19), None);
        assert_eq!(made("x").unwrap().replaced("aaaa", "", true, 3), None);
    }

    #[test]
    fn groups_stand_where_the_template_names_them() {
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
    fn large_ones_are_refused_and_so_are_many() {
        for large in [
            r"(a{0,1000}){0,1000}",
            r"(?u)\w{150}N",
            r"((((((((x{1000}){1000}){1000}){1000}){1000}){1000}){1000}){1000})",
            &r"\p{L}".repeat(100),
            &"(?u:\\w)".repeat(5000),
        ] {
            let error = made(large).unwrap_err();
            assert!(error.contains("too large") || error.contains("too long"), "{error}");
            assert!(error.len() < 1000);
        }
        let mut budget = Budget::of_htaccess();
        let many = (0..100).take_while(|_| budget.compile(r"\w{150}N", Case::Exact).is_ok()).count();
        assert!((20..100).contains(&many), "{many}");
        assert!(budget.compile("a", Case::Exact).is_err(), "and what follows costs nothing");
        assert!(Budget::of_the_administrator().compile(r"(a{0,1000}){0,10}", Case::Exact).is_ok());
        assert!(Budget::of_the_administrator().compile(r"(a{0,1000}){0,1000}", Case::Exact).is_err());
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

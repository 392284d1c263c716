//! Regular expressions of the configuration. As in httpd they match bytes, and `\w` and similar classes are ASCII.
//!
//! The size of each is limited before it is compiled: `\w{150}` in a hundred lines would use the CPU time and memory of all
//! clients. The limit is generous for the main configuration, and strict for `.htaccess` files.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::syntax::meter::Meter;

/// A compiled regular expression. Clones share it.
#[derive(Clone)]
pub struct Pattern {
    regex: Arc<Regex>,
    /// Time meter and line number, for expressions of `.htaccess` files.
    measured: Option<(Arc<Meter>, u32)>,
}

/// Whether case matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Case matters.
    Exact,
    /// Case is ignored: `BrowserMatchNoCase`.
    Either,
}

/// Limit for the expressions of one text, in bytes of compiled automata.
#[derive(Debug, Clone)]
pub struct Budget {
    whose: BudgetOwner,
    left: usize,
    spent: usize,
    memory: usize,
    meter: Option<Arc<Meter>>,
    /// Number of the current line.
    pub line: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BudgetOwner {
    Administrator,
    Htaccess,
}

/// Maximum size of each expression of the main configuration.
const MAIN_LIMIT: usize = 10 << 20;
/// Maximum total size for a `.htaccess` file, and for all files that apply to a request.
pub const OF_HTACCESS: usize = 1 << 20;
/// Maximum total memory in bytes for a `.htaccess` file, and for all files that apply to a request.
pub const MEMORY_OF_HTACCESS: usize = 12 << 20;
/// Maximum size of each expression of a `.htaccess` file.
const HTACCESS_LIMIT_EACH: usize = 256 << 10;
/// First size limit for compiling. It is doubled until the expression fits, which determines its size.
const FIRST_LIMIT: usize = 256;
/// Maximum length of the source with Unicode classes, which are large even before compilation.
const LONGEST_UNICODE: usize = 256;

impl Pattern {
    /// Source of the expression.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    /// Whether the expression matches anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.look(|regex| regex.is_match(text.as_bytes())).unwrap_or_default()
    }

    /// Runs a search. `None`: the file's time is used up, and the caller must refuse the request.
    fn look<T>(&self, look: impl FnOnce(&Regex) -> T) -> Option<T> {
        match &self.measured {
            Some((meter, line)) => meter.run(*line, || look(&self.regex)),
            None => Some(look(&self.regex)),
        }
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t str) -> Option<Groups<'t>> {
        self.look(|regex| regex.captures(text.as_bytes()))?.map(Groups)
    }

    /// Replaces the first match, or all; `$1` in `by` is a group. `None`: the result would be longer than
    /// `longest` bytes.
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

/// A match and its groups.
pub struct Groups<'t>(Captures<'t>);

impl<'t> Groups<'t> {
    /// A group by its number; 0 is the whole match.
    pub fn get(&self, number: usize) -> Cow<'t, str> {
        self.0.get(number).map_or(Cow::Borrowed(""), |found| String::from_utf8_lossy(found.as_bytes()))
    }

    /// Groups 0 to 9.
    pub fn all(&self) -> Vec<String> {
        (0..10).map(|number| self.get(number).into_owned()).collect()
    }

    /// Replaces `$0` to `$9` in `template` by groups, each passed through `escape`; `\$` is a dollar sign. If the result
    /// would be longer than `longest` bytes, the error is its beginning.
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
    /// The limit of the main configuration.
    pub fn of_the_administrator() -> Budget {
        Budget { whose: BudgetOwner::Administrator, left: usize::MAX, spent: 0, memory: 0, meter: None, line: 0 }
    }

    /// The limit of a `.htaccess` file.
    pub fn of_htaccess() -> Budget {
        Budget { whose: BudgetOwner::Htaccess, left: OF_HTACCESS, spent: 0, memory: 0, meter: None, line: 0 }
    }

    /// Measures the time of all expressions compiled from now on.
    pub fn measured_by(self, meter: Arc<Meter>) -> Budget {
        Budget { meter: Some(meter), ..self }
    }

    /// Size of all expressions so far.
    pub fn spent(&self) -> usize {
        self.spent
    }

    /// Approximate memory of all expressions so far, in bytes, including their prefilters.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Charges a rule without an expression that each request evaluates.
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

    /// Compiles an expression.
    pub fn compile(&mut self, source: &str, case: Case) -> Result<Pattern, String> {
        let compiled = match self.whose {
            BudgetOwner::Administrator => build(source, case, MAIN_LIMIT).map_err(|error| complaint(source, &error)),
            BudgetOwner::Htaccess => self.compile_within_budget(source, case),
        };
        if compiled.is_err() && self.whose == BudgetOwner::Htaccess {
            // The file is invalid in any case, so no time is spent on its other expressions.
            self.left = 0;
        }
        let measured = self.meter.clone().map(|meter| (meter, self.line));
        compiled.map(|regex| Pattern { regex: Arc::new(regex), measured })
    }

    fn compile_within_budget(&mut self, source: &str, case: Case) -> Result<Regex, String> {
        if self.left < FIRST_LIMIT {
            return Err(self.exhausted());
        }
        if source.len() > HTACCESS_LIMIT_EACH.min(self.left) || source.len() > LONGEST_UNICODE && is_unicode(source) {
            return Err(format!("regular expression `{}…` is too long for a .htaccess file", shortened(source)));
        }
        let mut size = FIRST_LIMIT;
        loop {
            match build(source, case, size) {
                Ok(regex) => return self.take(size.max(source.len()), size * 4 + (8 << 10)).map(|()| regex),
                Err(regex::Error::CompiledTooBig(_)) if size < HTACCESS_LIMIT_EACH.min(self.left) => size *= 2,
                Err(regex::Error::CompiledTooBig(_)) if self.left < HTACCESS_LIMIT_EACH => return Err(self.exhausted()),
                Err(error) => return Err(complaint(source, &error)),
            }
        }
    }

    fn exhausted(&self) -> String {
        "the regular expressions of this .htaccess file need too much memory: write simpler or fewer ones, or write them in the \
         main configuration"
            .to_owned()
    }
}

/// Compiles for bytes, as httpd does, or else for characters, if a class contains non-ASCII letters or `\p{…}`.
fn build(source: &str, case: Case, size: usize) -> Result<Regex, regex::Error> {
    let build = |unicode: bool| {
        let mut builder = RegexBuilder::new(source);
        builder.unicode(unicode).case_insensitive(case == Case::Either).size_limit(size);
        // As in httpd, `.` matches newlines. Otherwise a path with a newline would evade `^/private/.*$`.
        builder.dot_matches_new_line(true);
        // Cache of the lazy DFA in each direction; a smaller one would be slow.
        builder.dfa_size_limit((size * 2 + (16 << 10)).min(2 << 20)).build()
    };
    match build(false) {
        Err(regex::Error::Syntax(_)) => build(true),
        answer => answer,
    }
}

/// Whether the source may contain Unicode classes: non-ASCII letters, `\p`, the flag `u`.
fn is_unicode(source: &str) -> bool {
    let flagged = |rest: &str| rest.chars().take_while(|c| c.is_ascii_alphabetic() || *c == '-').any(|c| c == 'u');
    !source.is_ascii() || source.contains("\\p") || source.contains("\\P") || source.split("(?").skip(1).any(flagged)
}

fn complaint(source: &str, error: &regex::Error) -> String {
    if let regex::Error::CompiledTooBig(limit) = error {
        return format!(
            "regular expression `{}` is too large: it needs more than {} KB",
            shortened(source),
            limit >> 10
        );
    }
    let reason = error.to_string();
    let last = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
    format!("invalid regular expression `{}`: {last}", shortened(source))
}

/// At most 200 characters of the source, for messages.
fn shortened(source: &str) -> Cow<'_, str> {
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
    fn words_and_digits_are_ascii_as_in_httpd() {
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
    fn large_expressions_are_refused_and_so_are_many() {
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
        assert!(budget.compile("a", Case::Exact).is_err(), "the limit stays exhausted");
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

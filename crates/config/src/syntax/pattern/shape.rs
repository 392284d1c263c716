//! Estimates the size of a pattern before it is compiled, and whether the time of a search is bounded. PCRE2 reports
//! neither.

/// Facts about a pattern that its text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Approximate size of the compiled pattern in bytes, without machine code. A repeated group is compiled as often
    /// as it may be repeated.
    pub size: usize,
    /// Approximate number of characters that a search compares in one step.
    pub reach: usize,
    /// Whether the pattern can match at the begin of the text only.
    pub is_anchored: bool,
    /// Whether the time of each search step is bounded by the pattern's size. Look-around, possessive repetition and
    /// references to groups may read the whole text in one step.
    pub is_countable: bool,
    /// Whether the pattern matches UTF-8 instead of bytes: `(*UTF)`.
    pub is_utf: bool,
}

/// Size of a single character in compiled patterns.
const CHARACTER: usize = 2;
/// Size of a set of characters.
const SET: usize = 34;
/// Size of a group besides its contents.
const GROUP: usize = 12;
/// Size that a repetition adds to the size of the repeated part.
const REPETITION: usize = 4;

/// Size and reach, see [`Shape`].
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    size: usize,
    reach: usize,
}

/// Options of groups that change nothing in the cost.
const PLAIN_GROUPS: [&str; 4] = [":", "i)", "i:", "s)"];

struct Scan<'a> {
    rest: &'a str,
    /// Costs of the open groups, the outermost first.
    open: Vec<Cost>,
    /// Cost of the last item, which a repetition multiplies.
    last: Cost,
    /// Whether the last item is a group.
    is_group: bool,
    has_alternatives: bool,
    is_countable: bool,
}

impl Shape {
    /// The shape of a pattern. A malformed pattern has one, too: PCRE2 refuses it later.
    pub fn of(source: &str) -> Shape {
        let mut scan = Scan {
            rest: source,
            open: vec![Cost::default()],
            last: Cost::default(),
            is_group: false,
            has_alternatives: false,
            is_countable: true,
        };
        while let Some(c) = scan.next() {
            scan.item(c);
        }
        let begins = source.strip_prefix('^').is_some_and(|rest| !rest.starts_with(['?', '*', '{']));
        Shape {
            size: scan.open.iter().fold(0, |sum, cost| sum.saturating_add(cost.size)),
            reach: scan.open.iter().fold(0, |sum, cost| sum.saturating_add(cost.reach)),
            is_anchored: begins && !scan.has_alternatives && !source.contains("(?m") && !source.contains("(*"),
            is_countable: scan.is_countable,
            is_utf: source.contains("(*UTF"),
        }
    }
}

impl Scan<'_> {
    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let c = letters.next();
        self.rest = letters.as_str();
        c
    }

    fn item(&mut self, c: char) {
        match c {
            '\\' => self.escape(),
            '[' => self.set(),
            '(' => self.group(),
            ')' => {
                let inner = if self.open.len() > 1 { self.open.pop().unwrap_or_default() } else { Cost::default() };
                self.add_cost(Cost { size: inner.size.saturating_add(GROUP), ..inner });
                self.is_group = true;
            }
            '|' => {
                self.has_alternatives |= self.open.len() == 1;
                self.add(CHARACTER);
            }
            '*' | '+' | '?' => self.end_repetition(1),
            '{' => match self.count() {
                Some(count) => self.end_repetition(count),
                None => self.add(CHARACTER),
            },
            c => self.add(c.len_utf8() * CHARACTER),
        }
    }

    fn add(&mut self, size: usize) {
        self.add_cost(Cost { size, reach: 1 });
    }

    fn add_cost(&mut self, cost: Cost) {
        (self.last, self.is_group) = (cost, false);
        if let Some(group) = self.open.last_mut() {
            group.size = group.size.saturating_add(cost.size);
            group.reach = group.reach.saturating_add(cost.reach);
        }
    }

    /// The maximum of `{n}`, `{n,}`, `{n,m}` or `{,m}`; `None` for a plain brace.
    fn count(&mut self) -> Option<usize> {
        let (within, after) = self.rest.split_once('}')?;
        let (least, most) = within.split_once(',').unwrap_or((within, within));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ');
        if within.trim().is_empty() || !is_number(least) || !is_number(most) {
            return None;
        }
        let number = |text: &str| text.trim().parse().unwrap_or(0);
        self.rest = after;
        Some(number(least).max(number(most)).max(1))
    }

    fn end_repetition(&mut self, count: usize) {
        let copies = if self.is_group { count } else { 1 };
        let all = Cost { size: self.last.size.saturating_mul(copies), reach: self.last.reach.saturating_mul(count) };
        if let Some(group) = self.open.last_mut() {
            group.size = group.size.saturating_sub(self.last.size).saturating_add(all.size).saturating_add(REPETITION);
            group.reach = group.reach.saturating_sub(self.last.reach).saturating_add(all.reach);
        }
        self.last = all;
        self.is_countable &= !self.rest.starts_with('+');
        if self.rest.starts_with(['?', '+']) {
            self.next();
        }
    }

    fn escape(&mut self) {
        let c = self.next();
        let refers = |c: char| c.is_ascii_digit() && c != '0' || "gkXRKGC".contains(c);
        self.is_countable &= !c.is_some_and(refers);
        let is_named = c.is_some_and(|c| "pPxogkN".contains(c)) && self.rest.starts_with('{');
        if let Some((_, after)) = self.rest.split_once('}').filter(|_| is_named) {
            self.rest = after;
        }
        self.add(2 * CHARACTER);
    }

    fn set(&mut self) {
        let mut place = 0;
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                '^' if place == 0 => continue,
                '[' if self.rest.starts_with(':') => {
                    self.rest = self.rest.split_once(":]").map_or(self.rest, |(_, after)| after);
                }
                ']' if place > 0 => break,
                _ => {}
            }
            place += 1;
        }
        self.add(SET);
    }

    fn group(&mut self) {
        self.is_countable &= match self.rest.strip_prefix('?') {
            Some(kind) => PLAIN_GROUPS.iter().any(|plain| kind.starts_with(plain)),
            None => !self.rest.starts_with('*'),
        };
        self.rest = self.rest.strip_prefix("?:").or(self.rest.strip_prefix('?')).unwrap_or(self.rest);
        self.open.push(Cost::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_multiply_the_size_of_what_they_repeat() {
        for (source, size, reach) in [
            ("abc", 6, 3),
            ("[a-z]{100}", 38, 100),
            ("(?:[a-z]x){100}", 4804, 200),
            ("(a{0,1000}){0,1000}", 18_004, 1_000_000),
            ("((ab?){9}c)*", 202, 19),
            ("a{b}{", 10, 5),
            (r"[]\]{9}]{2}", 38, 2),
            ("[[:alpha:]]{3}", 38, 3),
            (r"\p{Lu}{4}", 8, 4),
            (r"\Q", 4, 1),
        ] {
            let shape = Shape::of(source);
            assert_eq!((shape.size, shape.reach), (size, reach), "{source}");
        }
        assert!(Shape::of(&format!("{}x{}", "(".repeat(9), "{1000}){1000}".repeat(9))).size > 1 << 40);
    }

    #[test]
    fn a_pattern_that_reads_the_text_in_one_step_is_not_countable() {
        for source in ["^/a/(.*)$", "(?i)bot|(?:a+)*", r"[?+(*]\.\d{2,}?x", "a{2}b", r"\\1"] {
            assert!(Shape::of(source).is_countable, "{source}");
        }
        for source in [
            "(?=a)",
            "(?!a)",
            "(?<=a)",
            "(?>a)",
            "a*+",
            "a{2}+",
            r"(.)\1",
            r"\g{1}",
            "(?1)",
            "(*ACCEPT)",
            "(?m)^a",
            "(?<n>a)",
        ] {
            assert!(!Shape::of(source).is_countable, "{source}");
        }
    }

    #[test]
    fn only_a_circumflex_before_all_alternatives_ties_a_pattern_to_the_begin() {
        for (source, expected) in [
            ("^a(b|c)", true),
            ("^(?!x)", true),
            ("^a|b", false),
            ("^*a", false),
            ("(?m)^a", false),
            ("a", false),
            ("^[|]$", true),
            (r"^\|", true),
        ] {
            assert_eq!(Shape::of(source).is_anchored, expected, "{source}");
        }
    }
}

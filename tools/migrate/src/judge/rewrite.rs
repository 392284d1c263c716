//! Rules of mod_rewrite that cannot stay. A rule may keep visitors out, or lead them away from a file: requests that it
//! matched are refused instead. The number of rules stays the same, because a flag S counts them.

use std::collections::HashMap;

use config::{At, Directive, LineReader};

use super::ledger::{Ledger, LineVerdict, without_help};
use crate::write::{Copies, FileCopy, LineEdit};

/// Lines whose absence would turn rules off, or move them.
const OF_ALL_RULES: &[&str] = &["rewriteengine", "rewriteoptions", "rewritebase"];

#[derive(Debug, PartialEq, Eq)]
struct RuleLines {
    rule: At,
    conditions: Vec<At>,
    /// The line that refuses what the rule matched; `None`: nothing but a person can write it.
    instead: Option<String>,
}

/// The rules of all files, by the positions of their lines.
pub struct RewriteLines {
    all: Vec<RuleLines>,
    by_line: HashMap<At, usize>,
}

impl RewriteLines {
    /// Finds the rules of the old files.
    pub fn of(copies: &Copies) -> RewriteLines {
        let all: Vec<RuleLines> = copies.all.iter().flat_map(of_file).collect();
        let lines = |(index, one): (usize, &RuleLines)| {
            let lines: Vec<&At> = one.conditions.iter().chain([&one.rule]).collect();
            lines.into_iter().map(|at| (at.clone(), index)).collect::<Vec<_>>()
        };
        let by_line = all.iter().enumerate().flat_map(lines).collect();
        RewriteLines { all, by_line }
    }

    /// The verdicts about a line of mod_rewrite with an error; `None` for other lines.
    pub fn of_error(&self, message: &str, line: &Directive, ledger: &Ledger) -> Option<Vec<LineVerdict>> {
        let name = line.name.to_ascii_lowercase();
        let stays = || vec![LineVerdict::open(&line.at, without_help(message), Some(LineEdit::Note))];
        if OF_ALL_RULES.contains(&name.as_str()) {
            return Some(stays());
        }
        if !["rewriterule", "rewritecond"].contains(&name.as_str()) {
            return None;
        }
        let lines = self.by_line.get(&line.at).map(|index| &self.all[*index]);
        Some(lines.and_then(|lines| lines.refused(message, &line.at, ledger)).unwrap_or_else(stays))
    }
}

impl RuleLines {
    /// Without one of its conditions a rule may match less, because of a flag OR: then it refuses all that its pattern
    /// matches.
    fn refused(&self, message: &str, wrong: &At, ledger: &Ledger) -> Option<Vec<LineVerdict>> {
        let edit = LineEdit::Replace(vec![self.instead.clone()?]);
        if *wrong == self.rule {
            let sentence = format!("{}; requests that it matches are refused", without_help(message));
            return Some(vec![LineVerdict::open(wrong, sentence, Some(edit))]);
        }
        // A line that has a comment above it cannot be changed any more.
        if self.conditions.iter().chain([&self.rule]).any(|at| ledger.has_note(at)) {
            return None;
        }
        let of_condition = |at: &At| match at == wrong {
            true => LineVerdict::open(at, without_help(message), Some(LineEdit::Comment)),
            false => LineVerdict::changed(
                at,
                format!("RewriteCond: line {} refuses all requests that its pattern matches", self.rule.line),
                LineEdit::Comment,
            ),
        };
        let sentence = format!(
            "RewriteRule: the condition in line {} cannot stay, so all requests that the pattern matches are refused",
            wrong.line
        );
        let rule = LineVerdict::open(&self.rule, sentence, Some(edit));
        Some(self.conditions.iter().map(of_condition).chain([rule]).collect())
    }
}

fn of_file(copy: &FileCopy) -> Vec<RuleLines> {
    of_text(&copy.text, &copy.origin.to_string_lossy())
}

fn of_text(text: &str, file: &str) -> Vec<RuleLines> {
    let (mut found, mut conditions, mut is_apart) = (Vec::new(), Vec::new(), false);
    for line in LineReader::new(text) {
        let at = || At { file: file.into(), line: line.number };
        let name = line.text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        match name.as_str() {
            "rewritecond" => conditions.push(at()),
            "rewriterule" => {
                let instead = refusal(&line.text).filter(|_| !is_apart);
                found.push(RuleLines { rule: at(), conditions: std::mem::take(&mut conditions), instead });
                is_apart = false;
            }
            // Which rule follows such a line depends on more than this file.
            "include" | "includeoptional" | "use" => is_apart |= !conditions.is_empty(),
            _ => is_apart |= name.starts_with('<') && !conditions.is_empty(),
        }
    }
    found
}

/// The rule with this pattern that refuses requests. `C` stays: if the rule does not match, the next one is skipped.
fn refusal(rule: &str) -> Option<String> {
    let (_, rest) = word(rule)?;
    let (pattern, rest) = word(rest)?;
    let (_, flags) = word(rest).unwrap_or_default();
    let flags = flags.trim_matches(['"', '\'']).trim_matches(['[', ']']).to_ascii_uppercase();
    let has = |names: [&str; 2]| flags.split(',').any(|flag| names.contains(&flag.trim()));
    let nocase = if has(["NC", "NOCASE"]) { ",NC" } else { "" };
    let chain = if has(["C", "CHAIN"]) { ",C" } else { "" };
    Some(format!("RewriteRule {pattern} - [F{nocase}{chain}]"))
}

/// The first word with its quotation marks, and the text behind it. A backslash escapes a space or a mark.
fn word(text: &str) -> Option<(&str, &str)> {
    let mark = text.chars().next()?;
    let is_quoted = matches!(mark, '"' | '\'');
    let mut is_escaped = false;
    let is_end = |c: char| {
        let ends = !is_escaped && if is_quoted { c == mark } else { c.is_whitespace() };
        is_escaped = c == '\\' && !is_escaped;
        ends
    };
    let begin = usize::from(is_quoted);
    let end = match text[begin..].find(is_end) {
        Some(end) => begin + end + begin,
        None if is_quoted => return None,
        None => text.len(),
    };
    Some((&text[..end], text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_pattern_as_it_was_written() {
        for (rule, refusal_of_it) in [
            ("RewriteRule ^/x/(.*) ${m:$1} [L]", "RewriteRule ^/x/(.*) - [F]"),
            ("RewriteRule !^/a\\ b /c [nc, chain]", "RewriteRule !^/a\\ b - [F,NC,C]"),
            ("rewriterule \"^/a b\" '/c' \"[QSA,NC]\"", "RewriteRule \"^/a b\" - [F,NC]"),
            ("RewriteRule ^/x", "RewriteRule ^/x - [F]"),
        ] {
            assert_eq!(refusal(rule).as_deref(), Some(refusal_of_it), "{rule}");
        }
        assert_eq!(refusal("RewriteRule \"^/x /y"), None);
        assert_eq!(refusal("RewriteRule"), None);
    }

    #[test]
    fn conditions_belong_to_the_next_rule_of_their_section() {
        let text = "RewriteCond a b\nRewriteEngine On\nRewriteCond c d\nRewriteRule ^/a - [F]\nRewriteRule ^/b - [F]\n\
            RewriteCond e f\n<IfDefine X>\nRewriteRule ^/c - [F]\n</IfDefine>\nRewriteRule ^/d - [F]\n";
        let found: Vec<(u32, Vec<u32>, bool)> = of_text(text, "/a")
            .iter()
            .map(|one| (one.rule.line, one.conditions.iter().map(|at| at.line).collect(), one.instead.is_some()))
            .collect();
        assert_eq!(found, [(4, vec![1, 3], true), (5, vec![], true), (8, vec![6], false), (10, vec![], true)]);
    }
}

//! `Include` lines: each reads the copies of its files. Where that is not possible, the check fails until somebody
//! decides: the files may protect something.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use config::parse::INCLUDED;
use config::{At, LineReader, split_words};

use super::ledger::{Ledger, LineVerdict};
use crate::naming::quoted;
use crate::read::OldSite;
use crate::write::{Copies, FOLDER_NAME, Layout, LineEdit};

/// Judges all `Include` lines, and what is wrong with them.
pub fn judge(site: &OldSite, layout: &Layout, copies: &Copies, ledger: &mut Ledger) {
    let lines = IncludeLine::all(site, copies);
    let circles = circles(&lines, copies);
    for error in &site.errors {
        let Some(at) = &error.at else {
            ledger.add(LineVerdict::of_site(&error.message));
            continue;
        };
        let at = copies.old(at);
        let has_files = lines.iter().any(|line| line.at == at && !line.files.is_empty());
        if error.message.contains("includes itself") {
            match (has_files, circles.is_empty()) {
                (false, _) => ledger.add(LineVerdict::open(&at, &error.message, Some(LineEdit::Comment))),
                (true, true) => ledger.add(undecided(&at, &error.message)),
                // The line that closes the circle has its own verdict.
                (true, false) => {}
            }
        } else if error.message.starts_with("Include") {
            ledger.add(LineVerdict::open(&at, &error.message, Some(LineEdit::Note)));
        }
    }
    let judge = IncludeJudge { site, layout, copies };
    for line in &lines {
        if circles.contains(&line.at) {
            ledger.add(in_a_circle(line));
            continue;
        }
        judge.line(line, ledger);
    }
}

/// A line, with all that it has read: the values of variables may change between two readings.
struct IncludeLine {
    at: At,
    /// Absolute patterns, and whether each had a file.
    patterns: Vec<(String, bool)>,
    files: BTreeSet<PathBuf>,
    /// Index of the pattern that is being read.
    now: usize,
}

impl IncludeLine {
    fn all(site: &OldSite, copies: &Copies) -> Vec<IncludeLine> {
        let mut lines: Vec<IncludeLine> = Vec::new();
        let mut by_at: HashMap<At, usize> = HashMap::new();
        for passed in site.passed.iter().filter(|passed| passed.name == "Include" || passed.name == INCLUDED) {
            let Some(arg) = passed.args.first() else { continue };
            let at = copies.old(&passed.at);
            let index = *by_at.entry(at.clone()).or_insert_with(|| {
                lines.push(IncludeLine { at, patterns: Vec::new(), files: BTreeSet::new(), now: 0 });
                lines.len() - 1
            });
            match passed.name == INCLUDED {
                true => lines[index].read(Path::new(arg), site),
                false => lines[index].begin(arg),
            }
        }
        lines
    }

    fn begin(&mut self, pattern: &str) {
        self.now = self.patterns.iter().position(|(known, _)| known == pattern).unwrap_or(self.patterns.len());
        if self.now == self.patterns.len() {
            self.patterns.push((pattern.to_owned(), false));
        }
    }

    fn read(&mut self, file: &Path, site: &OldSite) {
        self.files.insert(file.to_owned());
        if let Some((_, has_files)) = self.patterns.get_mut(self.now) {
            *has_files |= !site.unread.contains_key(file);
        }
    }
}

/// The lines that close a circle whose files have several spellings, which the parser does not recognize.
fn circles(lines: &[IncludeLine], copies: &Copies) -> HashSet<At> {
    let mut found = HashSet::new();
    // The file whose line was the first to include a file.
    let mut includer: HashMap<String, String> = HashMap::new();
    let name = |file: &str| copies.find(file).map_or(file.to_owned(), |copy| copy.origin.display().to_string());
    for line in lines {
        for file in &line.files {
            let (from, to) = (line.at.file.to_string(), name(&file.to_string_lossy()));
            let mut next = Some(&from);
            let mut steps = 0;
            while let Some(file) = next.filter(|file| **file != to && steps <= includer.len()) {
                (next, steps) = (includer.get(file), steps + 1);
            }
            if next == Some(&to) {
                found.insert(line.at.clone());
            } else {
                includer.entry(to).or_insert(from);
            }
        }
    }
    found
}

fn in_a_circle(line: &IncludeLine) -> LineVerdict {
    let file = line.files.first().map(|file| file.display().to_string()).unwrap_or_default();
    match line.files.len() {
        1 => {
            let sentence = format!("Include: {file} includes itself; remove this line");
            LineVerdict::open(&line.at, sentence, Some(LineEdit::Comment))
        }
        _ => undecided(&line.at, "Include: one of the files includes itself; name the others"),
    }
}

/// A file that does not exist stands for the decision, so that the check fails.
pub const UNDECIDED: &str = "Include \"${CAMELEER_SITE}/to-be-decided.conf\"";

fn undecided(at: &At, sentence: &str) -> LineVerdict {
    LineVerdict::open(at, sentence, Some(LineEdit::Replace(vec![UNDECIDED.to_owned()])))
}

struct IncludeJudge<'a> {
    site: &'a OldSite,
    layout: &'a Layout,
    copies: &'a Copies,
}

impl IncludeJudge<'_> {
    fn line(&self, line: &IncludeLine, ledger: &mut Ledger) {
        if let Some(file) = line.files.iter().find(|file| self.copies.lost.contains(*file)) {
            let sentence = format!("Include: {} has no copy: another file has the same place", file.display());
            return ledger.add(undecided(&line.at, &sentence));
        }
        let verdict = self.included(line);
        let unread = self.unread(line);
        let Some((last, others)) = unread.split_last() else { return ledger.add(verdict) };
        // The sentences have no change but for the last one, which has that of the line.
        let open = |path: &Path, edit| LineVerdict::open(&line.at, self.why(path), edit);
        others.iter().for_each(|path| ledger.add(open(path, None)));
        let edit = match verdict.edit {
            Some(LineEdit::Replace(mut new)) if line.patterns.iter().any(|(_, has_files)| *has_files) => {
                new.extend(unread.iter().map(|path| format!("Include {}", quoted(&path.to_string_lossy()))));
                LineEdit::Replace(new)
            }
            _ => LineEdit::Note,
        };
        ledger.add(open(last, Some(edit)));
    }

    fn why(&self, path: &Path) -> String {
        let why = self.site.unread.get(path).map_or("", |unread| unread.why.as_str());
        format!("Include: cannot read {}: {why}; correct the path, or make it readable", path.display())
    }

    /// The files of the line that could not be read, and the folders of its patterns that could not be listed.
    fn unread(&self, line: &IncludeLine) -> Vec<PathBuf> {
        let folders = line.patterns.iter().flat_map(|(pattern, _)| Path::new(pattern).ancestors()).map(Path::to_owned);
        let all: BTreeSet<PathBuf> = line.files.iter().cloned().chain(folders).collect();
        let mut unread: Vec<PathBuf> = all.into_iter().filter(|path| self.site.unread.contains_key(path)).collect();
        if !unread.is_empty() && !self.words(&line.at).first().is_some_and(|name| name.eq_ignore_ascii_case("Include"))
        {
            unread.retain(|path| self.site.unread.get(path).is_some_and(|unread| !unread.is_missing));
        }
        unread
    }

    /// `Include` of a file of the old folder: the copy is read instead.
    fn included(&self, line: &IncludeLine) -> LineVerdict {
        let name = if line.patterns.iter().all(|(_, has_files)| *has_files) { "Include" } else { "IncludeOptional" };
        let places: BTreeSet<String> = line.patterns.iter().map(|(pattern, _)| self.place(pattern)).collect();
        let (place, what) = match (places.first(), line.patterns.as_slice()) {
            (Some(place), [(pattern, _), ..]) if places.len() == 1 => (place.clone(), pattern.clone()),
            _ => {
                let written = self.words(&line.at).into_iter().nth(1).unwrap_or_default();
                match self.with_variables(&written, line) {
                    Some(place) => (place, written),
                    None => {
                        let sentence = "Include: its variables lead to several places; write a line for each copy";
                        return undecided(&line.at, sentence);
                    }
                }
            }
        };
        let new = format!("{name} {}", quoted(&format!("${{{FOLDER_NAME}}}/{place}")));
        LineVerdict::changed(&line.at, format!("Include: reads the copy of {what}"), LineEdit::Replace(vec![new]))
    }

    fn place(&self, pattern: &str) -> String {
        self.layout.below(Path::new(pattern)).to_string_lossy().into_owned()
    }

    /// The place with the variables of the line, if it leads to the place of each pattern.
    fn with_variables(&self, written: &str, line: &IncludeLine) -> Option<String> {
        let whole = self.site.server_root.join(written).to_string_lossy().into_owned();
        let place = self.place(&whole);
        let ((old_start, old_end), (start, end)) = (around_variables(&whole)?, around_variables(&place)?);
        let variables = |text: &str, start: &str, end: &str| text[start.len()..text.len() - end.len()].to_owned();
        if variables(&whole, old_start, old_end) != variables(&place, start, end) {
            return None;
        }
        let fits = |pattern: &str| {
            let value = pattern.strip_prefix(old_start).and_then(|rest| rest.strip_suffix(old_end));
            value.is_some_and(|value| self.place(pattern) == format!("{start}{value}{end}"))
        };
        line.patterns.iter().all(|(pattern, _)| fits(pattern)).then_some(place)
    }

    /// The words of an old line, without the values of its variables.
    fn words(&self, at: &At) -> Vec<String> {
        let line = self.copies.find(&at.file).and_then(|copy| {
            let mut lines = LineReader::new(&copy.text);
            lines.find(|line| line.number == at.line)
        });
        line.and_then(|line| split_words(&line.text).ok()).unwrap_or_default()
    }
}

/// The text before the first variable, and behind the last one.
fn around_variables(text: &str) -> Option<(&str, &str)> {
    let (start, rest) = text.split_once("${")?;
    Some((start, rest.rsplit_once('}')?.1))
}

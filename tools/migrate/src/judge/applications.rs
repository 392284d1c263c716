//! Lines that give paths to a program. Where one cannot stay, its paths are refused: files there may be the program's
//! sources.

use std::collections::HashSet;

use config::{At, LineReader, split_words};

use super::access;
use super::ledger::{LineVerdict, without_help};
use super::macros::PlacedLine;
use crate::write::{Copies, FileCopy, LineEdit};

/// Refuses every request of its place.
const CLOSED: &str = "RedirectMatch 403 ^";

/// Lines of the old files that give paths to programs.
pub struct ProgramLines(HashSet<At>);

impl ProgramLines {
    /// Finds the lines. A message may begin with the name of a directive that is elsewhere, for instance at a `Use`
    /// line.
    pub fn of(copies: &Copies) -> ProgramLines {
        ProgramLines(copies.all.iter().flat_map(of_file).collect())
    }

    /// The verdict about such a line with an error; `None` for other lines.
    pub fn of_error(&self, message: &str, place: &PlacedLine) -> Option<LineVerdict> {
        self.0.contains(&place.directive.at).then(|| of_error(message, place))?
    }
}

fn of_file(copy: &FileCopy) -> Vec<At> {
    let file = copy.origin.to_string_lossy();
    let is_wanted = |text: &str| text.split_whitespace().next().is_some_and(|name| edit(name, &[], &[]).is_some());
    let lines = LineReader::new(&copy.text).filter(|line| is_wanted(&line.text));
    lines.map(|line| At { file: file.as_ref().into(), line: line.number }).collect()
}

fn of_error(message: &str, place: &PlacedLine) -> Option<LineVerdict> {
    let edit = edit(&place.directive.name, &place.directive.args, &place.around)?;
    let sentence = format!("{}{}", without_help(message), outcome(&edit));
    Some(LineVerdict::open(&place.directive.at, sentence, Some(edit)))
}

/// End of the sentence about such a line.
pub fn outcome(edit: &LineEdit) -> &'static str {
    match edit {
        LineEdit::Replace(_) => "; its paths are refused until then",
        LineEdit::Note => "; the line stays, because its paths are not known: refuse them with RedirectMatch 403",
        _ => "",
    }
}

/// The edit of a line that gives paths to a program; `None` for other lines. `around` are the sections, in lower
/// case.
pub fn edit(name: &str, args: &[String], around: &[String]) -> Option<LineEdit> {
    let (name, args) = (name.to_ascii_lowercase(), words(args));
    let first = args.first().map_or("", String::as_str);
    let is_in_place = around.iter().any(|section| section != "virtualhost");
    let pattern = match name.as_str() {
        "addhandler" => {
            let endings = args.get(1..).unwrap_or_default();
            return Some(LineEdit::Replace(access::without_files(endings, around)));
        }
        "jkmountfile" | "jkmountcopy" | "jkautoalias" if first.eq_ignore_ascii_case("off") => return None,
        "jkmountfile" | "jkmountcopy" | "jkautoalias" => None,
        "jkmount" if first.starts_with('!') => return Some(LineEdit::Comment),
        "sethandler"
        | "proxypass"
        | "proxypassmatch"
        | "wsgiscriptalias"
        | "wsgiscriptaliasmatch"
        | "scriptalias"
        | "scriptaliasmatch"
        | "jkmount"
            if is_in_place || name == "sethandler" || args.len() == 1 =>
        {
            return Some(LineEdit::Replace(vec![CLOSED.to_owned()]));
        }
        "proxypass" | "wsgiscriptalias" | "scriptalias" => prefix(first),
        "proxypassmatch" | "wsgiscriptaliasmatch" | "scriptaliasmatch" => regex(first),
        "jkmount" => wildcards(first),
        _ => return None,
    };
    Some(pattern.map_or(LineEdit::Note, |pattern| LineEdit::Replace(vec![format!("RedirectMatch 403 {pattern}")])))
}

/// The arguments one by one: those of an unknown directive are one text in the tree.
pub fn words(args: &[String]) -> Vec<String> {
    match args {
        [text] => split_words(text).unwrap_or_else(|_| args.to_vec()),
        _ => args.to_vec(),
    }
}

/// The regular expression of a path and everything below it.
fn prefix(path: &str) -> Option<String> {
    let name = path.trim_end_matches('/');
    let end = if name.len() == path.len() { "(?:/|$)" } else { "/" };
    is_plain(path).then(|| format!("^{}{end}", escaped(name)))
}

/// The regular expression of a path of mod_jk: `/a/*`, `/*.jsp`, `/a|/*` for both `/a` and `/a/*`.
fn wildcards(path: &str) -> Option<String> {
    let (name, below) = path.split_once('|').unwrap_or((path, ""));
    let below = if below.is_empty() { String::new() } else { format!("(?:{})?", escaped(below)) };
    is_plain(path).then(|| format!("^{}{below}$", escaped(name)))
}

fn regex(pattern: &str) -> Option<String> {
    let is_clear = !pattern.is_empty() && !pattern.contains("${") && !pattern.contains(char::is_control);
    is_clear.then(|| format!("\"{}\"", pattern.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Whether the path is one, and has no variable of a macro or of the configuration.
fn is_plain(path: &str) -> bool {
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "$@%\"'\\".contains(c);
    path.starts_with('/') && !path.contains(is_odd)
}

/// A regular expression for a path. Slashes match repeated ones; `*` and `?` match more than the wildcards of a path.
fn escaped(path: &str) -> String {
    let mut out = String::new();
    for c in path.chars() {
        match c {
            '/' if out.ends_with("/+") => {}
            '/' => out.push_str("/+"),
            '*' => out.push_str(".*"),
            '?' => out.push('.'),
            c if c.is_alphanumeric() || "-_~".contains(c) => out.push(c),
            c => out.extend(['\\', c]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instead(line: &str, around: &[&str]) -> String {
        let (name, args) = line.split_once(' ').unwrap_or_default();
        let around: Vec<String> = around.iter().map(|name| (*name).to_owned()).collect();
        match edit(name, &[args.to_owned()], &around) {
            Some(LineEdit::Replace(lines)) => lines.join("; "),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn the_paths_of_a_program_are_refused() {
        for (line, lines) in [
            ("WSGIScriptAlias / /w/app.wsgi", "RedirectMatch 403 ^/"),
            ("WSGIScriptAlias /a.b /w/app.wsgi", "RedirectMatch 403 ^/+a\\.b(?:/|$)"),
            ("ProxyPass /app//x/ ajp://127.0.0.1:8009/", "RedirectMatch 403 ^/+app/+x/"),
            ("ProxyPassMatch ^/(a\\.b)$ ajp://127.0.0.1:8009/", "RedirectMatch 403 \"^/(a\\\\.b)$\""),
            ("JkMount /*.jsp worker", "RedirectMatch 403 ^/+.*\\.jsp$"),
            ("JkMount /a|/* worker", "RedirectMatch 403 ^/+a(?:/+.*)?$"),
            ("JkMount worker", CLOSED),
            ("AddHandler x .c", "<FilesMatch \"\\.(?:c)(?:\\.|$)\">; Require all denied; </FilesMatch>"),
            ("SetHandler x", CLOSED),
        ] {
            assert_eq!(instead(line, &["virtualhost"]), lines, "{line}");
        }
        assert_eq!(instead("ProxyPass ajp://127.0.0.1:8009/", &["location"]), CLOSED);
    }

    #[test]
    fn a_line_whose_paths_are_not_known_stays() {
        for line in ["JkMountFile map", "JkMountCopy All", "ProxyPass $path ajp://127.0.0.1/", "WSGIScriptAlias /@x /w"]
        {
            assert_eq!(instead(line, &[]), "Some(Note)", "{line}");
        }
        assert_eq!(instead("JkMountCopy Off", &[]), "None");
        assert_eq!(instead("WSGIDaemonProcess x", &[]), "None");
    }
}

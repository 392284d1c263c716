//! Text to [`Directive`]s: Apache's language. What depends on the reading itself is done here: variables, `Define`,
//! `Include`, `<IfModule>`, `<IfDefine>`; none of these is left in the tree. What the rest means, `build` knows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::syntax::defines::Defines;
use crate::config::syntax::section_stack::{OpenSection, SectionFate, SectionStack};
use crate::config::syntax::tree::{At, ConfigError, Directive};
use crate::config::syntax::words;

pub use crate::config::syntax::source::Source;

/// Sections in one another: what walks the tree needs stack for each.
const DEEPEST: usize = 100;

/// Reads a file and all it includes.
pub fn load(path: &Path, source: &Source<'_>) -> Result<Vec<Directive>, Vec<ConfigError>> {
    let mut reader = Reader::new(source);
    reader.load(path);
    reader.finish()
}

/// Reads a text; errors call it `name`, for instance `command line`.
pub fn text(text: &str, name: &str, source: &Source<'_>) -> Result<Vec<Directive>, Vec<ConfigError>> {
    let mut reader = Reader::new(source);
    reader.text(text, name);
    reader.finish()
}

/// Reads several texts and files as if they were one: `-C` lines, the file, `-c` lines.
pub struct Reader<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) variables: Defines<'a>,
    pub(super) server_root: PathBuf,
    /// The included files that are being read, the innermost last.
    pub(super) reading: Vec<PathBuf>,
    tree: Vec<Directive>,
    errors: Vec<ConfigError>,
    /// Whether `Include` may read others.
    pub(super) reads_files: bool,
    /// Whether an `<IfModule>` that does not hold is kept in the tree, with its contents.
    pub(super) keeps_skipped: bool,
    /// What is read was made there, by Perl code: all lines are that one, and `${name}` would be Perl's.
    pub(super) made_at: Option<At>,
}

impl<'a> Reader<'a> {
    /// Nothing read yet.
    pub fn new(source: &'a Source<'a>) -> Self {
        Reader {
            source,
            variables: Defines::new(&source.defines, source.env),
            server_root: source.server_root.clone(),
            reading: Vec::new(),
            tree: Vec::new(),
            errors: Vec::new(),
            reads_files: true,
            keeps_skipped: false,
            made_at: None,
        }
    }

    /// The same for a text that must not read others: a `.htaccess` file.
    pub fn without_files(source: &'a Source<'a>) -> Self {
        Reader { reads_files: false, ..Reader::new(source) }
    }

    /// The same for a survey, which wants to know what the modules that we lack had to do: an `<IfModule>` of such a one
    /// stands in the tree like a section. `Bundle::without_skipped` takes it out.
    pub fn surveying(source: &'a Source<'a>) -> Self {
        Reader { keeps_skipped: true, ..Reader::new(source) }
    }

    /// Takes over what another reader had [`defined`](Reader::defined).
    pub fn define(&mut self, defined: &[(String, Option<String>)]) {
        defined.iter().for_each(|(name, value)| self.variables.define(name, value.as_ref()));
    }

    /// Reads what Perl code at `at` made.
    pub fn made(&mut self, text: &str, at: &At) {
        self.made_at = Some(at.clone());
        self.text(text, &at.file);
        self.made_at = None;
    }

    /// What is defined now, with values.
    pub fn defined(&self) -> Vec<(String, Option<String>)> {
        self.variables.defined()
    }

    /// What was read so far.
    pub fn tree(&self) -> &[Directive] {
        &self.tree
    }

    /// Whether that name is defined.
    pub fn defines(&self, name: &str) -> bool {
        self.variables.is_defined(name)
    }

    /// Reads a text; errors call it `name`.
    pub fn text(&mut self, text: &str, name: &str) {
        let tree = self.one_file(text, name.into());
        self.tree.extend(tree);
    }

    /// Reads what an option of the command line stands for; errors name the option and no line.
    pub fn option(&mut self, text: &str, name: &str) {
        self.made_at = Some(At { file: name.into(), line: 0 });
        self.text(text, name);
        self.made_at = None;
    }

    /// Reads a file.
    pub fn load(&mut self, path: &Path) {
        match (self.source.read)(path) {
            Ok(text) => self.text(&text, &path.to_string_lossy()),
            Err(error) => {
                let message = format!("{}: cannot read this configuration: {error}", path.display());
                self.errors.push(ConfigError { at: None, message });
            }
        }
    }

    /// All that was read, or everything that is wrong with it.
    pub fn finish(self) -> Result<Vec<Directive>, Vec<ConfigError>> {
        if self.errors.is_empty() { Ok(self.tree) } else { Err(self.errors) }
    }

    /// What could be read, and what is wrong with the rest.
    pub fn into_parts(self) -> (Vec<Directive>, Vec<ConfigError>) {
        (self.tree, self.errors)
    }

    /// One file: sections do not reach over its end.
    pub(super) fn one_file(&mut self, text: &str, file: Arc<str>) -> Vec<Directive> {
        let mut stack = SectionStack::new(text);
        while let Some(line) = stack.lines.next() {
            let at = self.made_at.clone().unwrap_or_else(|| At { file: file.clone(), line: line.number });
            if let Err(message) = self.line(&line.text, &at, &mut stack) {
                self.errors.push(ConfigError::at(&at, message));
            }
        }
        while let Some(open) = stack.open.last() {
            let message = format!("<{0}>: this section is never closed: write </{0}> in the same file", open.name);
            self.errors.push(ConfigError::at(&open.at, message));
            stack.close_innermost();
        }
        stack.done
    }

    fn line(&mut self, text: &str, at: &At, stack: &mut SectionStack<'_>) -> Result<(), String> {
        if let Some(name) = text.strip_prefix("</") {
            return stack.close(name.trim_end_matches('>').trim());
        }
        if let Some(inner) = text.strip_prefix('<') {
            return self.open(inner, at, stack);
        }
        if stack.is_skipping() {
            return Ok(());
        }
        if let Some(code) = perl_line(text) {
            let args = vec![code.to_owned()];
            stack.inside().push(Directive { name: "Perl".to_owned(), args, at: at.clone(), section: Some(Vec::new()) });
            return Ok(());
        }
        if let Some(directive) = self.unknown(text, at) {
            stack.inside().push(directive);
            return Ok(());
        }
        let mut args = self.words(text)?.into_iter();
        match args.next() {
            Some(name) => self.plain(name, args.collect(), at, stack),
            // The whole line was a variable without contents.
            None => Ok(()),
        }
    }

    /// What opens is put on the stack even when it is wrong, so that its end finds it.
    fn open(&mut self, inner: &str, at: &At, stack: &mut SectionStack<'_>) -> Result<(), String> {
        let name = inner.trim_end_matches('>').split_whitespace().next().unwrap_or_default();
        let mut open = OpenSection {
            name: name.to_owned(),
            args: Vec::new(),
            at: at.clone(),
            fate: SectionFate::Skipped,
            inside: Vec::new(),
        };
        if name.eq_ignore_ascii_case("Perl") {
            let raw =
                stack.lines.raw_until_end_of(name).ok_or("<Perl>: this section is never closed: write </Perl>")?;
            open.args.push(raw);
            open.fate = if stack.is_skipping() { SectionFate::Skipped } else { SectionFate::Kept };
            stack.open.push(open);
            stack.close_innermost();
            return Ok(());
        }
        if !stack.is_skipping()
            && name.starts_with(|c: char| c.is_alphabetic())
            && inner.ends_with('>')
            && !(self.source.is_known)(name)
            && stack.is_closed_later(name)
            && let Some(raw) = stack.lines.raw_until_end_of(name)
        {
            let inner = inner.trim_end_matches('>').trim();
            let args = vec![inner.strip_prefix(name).unwrap_or_default().trim().to_owned(), raw];
            stack.inside().push(Directive { name: open.name, args, at: open.at, section: Some(Vec::new()) });
            return Ok(());
        }
        if stack.open.len() >= DEEPEST && !stack.is_skipping() {
            stack.open.push(open);
            return Err(format!("<{name}>: more than {DEEPEST} sections stand in one another: close some"));
        }
        let args = if stack.is_skipping() { Ok(None) } else { self.section(inner) };
        if let Ok(Some((args, fate))) = &args {
            (open.args, open.fate) = (args.clone(), *fate);
        }
        stack.open.push(open);
        args.map(drop)
    }

    /// A name that the table does not have may be a Perl module's: only that one knows how its line is to be read.
    fn unknown(&self, line: &str, at: &At) -> Option<Directive> {
        let line = self.variables.replace(line).unwrap_or_else(|_| line.to_owned());
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        let plain = name.starts_with(|c: char| c.is_alphabetic());
        (plain && !(self.source.is_known)(name)).then(|| Directive {
            name: name.to_owned(),
            args: vec![rest.trim().to_owned()],
            at: at.clone(),
            section: None,
        })
    }

    pub(super) fn words(&self, line: &str) -> Result<Vec<String>, String> {
        if line.contains(char::REPLACEMENT_CHARACTER) {
            return Err(
                "this line is not UTF-8: convert the file, for instance with iconv -f latin1 -t utf8".to_owned()
            );
        }
        if self.made_at.is_some() || is_perl_code(line) {
            return words::split(line);
        }
        let replaced = self.variables.replace(line).map_err(|name| {
            format!("${{{name}}} has no value: write `Define {name} value` above, or set it in the environment")
        })?;
        if is_error_document(line) {
            return Ok(words::split_old(&replaced));
        }
        if is_requirement(line) {
            return words::split_requirement(&replaced);
        }
        if is_rule(line) {
            return words::split_rule(&replaced);
        }
        words::split(&replaced)
    }
}

/// Regular expressions of `RewriteRule` and `RewriteCond` may have escaped spaces.
fn is_rule(line: &str) -> bool {
    let name = line.split_whitespace().next().unwrap_or_default();
    ["RewriteRule", "RewriteCond"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// `Require` may have an expression.
fn is_requirement(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|name| name.eq_ignore_ascii_case("Require"))
}

/// `Perl code`: a section of one line.
fn perl_line(line: &str) -> Option<&str> {
    let (name, code) = line.split_once(char::is_whitespace)?;
    name.eq_ignore_ascii_case("Perl").then(|| code.trim())
}

/// Apache 1.3 wants the text of an error document to begin with a quotation mark that is never closed.
fn is_error_document(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|name| name.eq_ignore_ascii_case("ErrorDocument"))
}

/// `${name}` in Perl code is Perl's variable; the environment's HOME must not slip in there.
fn is_perl_code(line: &str) -> bool {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let name = name.to_ascii_lowercase();
    let is_sub = || rest.trim_start().trim_start_matches(['"', '\'']).trim_start().starts_with("sub");
    matches!(&*name, "perleval" | "psgieval") || (name.starts_with("perl") && name.ends_with("handler") && is_sub())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_env(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn sections_stand_in_one_another_to_a_depth_only() {
        let nested = |depth| "<Location /a>\n".repeat(depth) + &"</Location>\n".repeat(depth);
        let read = |input: &str| text(input, "c", &Source::disk("/", &no_env));
        assert!(read(&nested(DEEPEST)).is_ok());
        let errors = read(&nested(100_000)).expect_err("too deep");
        assert_eq!((errors.len(), errors[0].at.as_ref().map(|at| at.line)), (1, Some(DEEPEST as u32 + 1)));
    }

    #[test]
    fn an_unknown_section_ends_at_its_own_end_whatever_stands_before() {
        let input = "<Odd a>\n</Odd>\n<odd b>\nx\n</ODD>\n<Odd c>\n";
        let errors = text(input, "c", &Source::disk("/", &no_env)).expect_err("the last one is never closed");
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].at.as_ref().map(|at| at.line), Some(6));
    }

    #[test]
    fn a_missing_file_is_reported_by_its_name() {
        let errors = load(Path::new("/nowhere/httpd.conf"), &Source::disk("/nowhere", &no_env)).unwrap_err();
        assert!(errors[0].to_string().starts_with("/nowhere/httpd.conf: cannot read this configuration: "));
    }

    #[test]
    fn files_of_the_disk_are_included() {
        let source = Source::disk(env!("CARGO_MANIFEST_DIR"), &no_env);
        let tree = text("Include tests/golden/config/poo[l].conf", "command line", &source).unwrap();
        assert_eq!(tree[0].name, "Listen");
        assert!(tree[0].at.to_string().ends_with("tests/golden/config/pool.conf:1"));
    }

    #[test]
    fn definitions_of_one_text_hold_in_the_next() {
        let source = Source::disk("/srv", &no_env);
        let mut reader = Reader::new(&source);
        reader.text("Define PORT 8080", "command line");
        reader.text("Listen ${PORT}", "httpd.conf");
        assert_eq!(reader.finish().unwrap()[0].args, ["8080"]);
    }

    #[test]
    fn no_bytes_make_the_parser_panic() {
        let pieces = [
            "<", ">", "</", "a", " ", "\"", "'", "\\", "\n", "${", "}", "Perl", "IfDefine", "!", "é", "Define",
            "Include",
        ];
        let source = Source::disk("/nowhere", &no_env);
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let mut input = String::new();
            for _ in 0..12 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                input.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            let _ = text(&input, "noise", &source);
        }
    }
}

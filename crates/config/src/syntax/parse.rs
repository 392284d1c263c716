//! Parser of text to [`Directive`]s. It processes variables, `Define`, `<Macro>`, `Include`, `<IfModule>` and
//! `<IfDefine>` itself, and none of them is left in the tree. `build` processes all other directives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::syntax::defines::{self, Defines};
use crate::syntax::macros::Macros;
use crate::syntax::section_stack::{OpenSection, SectionFate, SectionStack};
use crate::syntax::source::{LineSyntax, Replacing, Splitting};
use crate::syntax::tree::{At, ConfigError, Directive};
use crate::syntax::words;

pub use crate::syntax::source::ParserSource;

/// Maximum nesting of sections, because functions that walk the tree are recursive.
const MAX_DEPTH: usize = 100;
/// Name under which [`ConfigReader::passed`] has a file that an `Include` of a macro has read, at the `Use` line.
pub const INCLUDED_BY_MACRO: &str = "(file of a macro)";
/// Name under which [`ConfigReader::passed`] has a file that an `Include` has read.
pub const INCLUDED: &str = "IncludedFile";

/// Parses a file and all files that it includes.
pub fn load(path: &Path, source: &ParserSource<'_>) -> Result<Vec<Directive>, Vec<ConfigError>> {
    let mut reader = ConfigReader::new(source);
    reader.load(path);
    reader.finish()
}

/// Parses a text. `name` replaces the file name in errors, for instance `command line`.
pub fn text(text: &str, name: &str, source: &ParserSource<'_>) -> Result<Vec<Directive>, Vec<ConfigError>> {
    let mut reader = ConfigReader::new(source);
    reader.text(text, name);
    reader.finish()
}

/// Parses several texts and files as one: `-C` lines, the file, `-c` lines.
pub struct ConfigReader<'a> {
    pub(super) source: &'a ParserSource<'a>,
    pub(super) variables: Defines<'a>,
    pub(super) server_root: PathBuf,
    /// Included files that are being read, the innermost last.
    pub(super) reading: Vec<PathBuf>,
    tree: Vec<Directive>,
    errors: Vec<ConfigError>,
    /// Whether `Include` and other directives may read files.
    pub(super) reads_files: bool,
    /// Whether an `<IfModule>` whose condition is false is retained in the tree, with its contents.
    pub(super) keeps_skipped: bool,
    /// Position of the Perl code that generated the text. All lines get this position, and `${name}` is not replaced.
    pub(super) made_at: Option<At>,
    pub(super) macros: Macros,
    /// Position of the outermost `Use` whose lines are being read. All of them get this position.
    pub(super) used_at: Option<At>,
    /// See [`ConfigReader::passed`].
    pub(super) passed: Vec<Directive>,
}

impl<'a> ConfigReader<'a> {
    /// A reader without input so far.
    pub fn new(source: &'a ParserSource<'a>) -> Self {
        ConfigReader {
            source,
            variables: Defines::new(&source.defines, source.env),
            server_root: source.server_root.clone(),
            reading: Vec::new(),
            tree: Vec::new(),
            errors: Vec::new(),
            reads_files: true,
            keeps_skipped: false,
            made_at: None,
            macros: Macros::default(),
            used_at: None,
            passed: Vec::new(),
        }
    }

    /// A reader of `.htaccess` files, which must not read other files.
    pub fn without_files(source: &'a ParserSource<'a>) -> Self {
        ConfigReader { reads_files: false, ..ConfigReader::new(source) }
    }

    /// A reader for a survey, which reports the blocks of missing modules: such an `<IfModule>` is retained in the tree
    /// as a section. `Bundle::without_skipped` removes it.
    pub fn surveying(source: &'a ParserSource<'a>) -> Self {
        ConfigReader { keeps_skipped: true, ..ConfigReader::new(source) }
    }

    /// Adds definitions of another reader, from [`defined`](ConfigReader::defined).
    pub fn define(&mut self, defined: &[(String, Option<String>)]) {
        defined.iter().for_each(|(name, value)| self.variables.define(name, value.as_ref()));
    }

    /// Parses text that Perl code at `at` generated.
    pub fn made(&mut self, text: &str, at: &At) {
        self.made_at = Some(at.clone());
        self.text(text, &at.file);
        self.made_at = None;
    }

    /// Current definitions with their values.
    pub fn defined(&self) -> Vec<(String, Option<String>)> {
        self.variables.defined()
    }

    /// Directives parsed so far.
    pub fn tree(&self) -> &[Directive] {
        &self.tree
    }

    /// Lines processed so far that are not left in the tree: `Include`, for every directive of its kind, with the
    /// absolute pattern; [`INCLUDED`] for each file that it has read; `IfModule` with its condition.
    pub fn passed(&self) -> &[Directive] {
        &self.passed
    }

    /// By `Define` so far, or by `-D`.
    pub fn defines(&self, name: &str) -> bool {
        self.variables.is_defined(name)
    }

    /// Parses a text. `name` replaces the file name in errors.
    pub fn text(&mut self, text: &str, name: &str) {
        let tree = self.one_file(text, name.into());
        self.tree.extend(tree);
    }

    /// Parses the directives of a command line option. Errors name the option and no line.
    pub fn option(&mut self, text: &str, name: &str) {
        self.made_at = Some(At { file: name.into(), line: 0 });
        self.text(text, name);
        self.made_at = None;
    }

    /// Parses a file.
    pub fn load(&mut self, path: &Path) {
        match (self.source.read)(path) {
            Ok(text) => self.text(&text, &path.to_string_lossy()),
            Err(error) => {
                let message = format!(
                    "{}: cannot read this configuration: {error}; correct the path, or make it readable",
                    path.display()
                );
                self.errors.push(ConfigError { at: None, message });
            }
        }
    }

    /// All directives, or all errors.
    pub fn finish(self) -> Result<Vec<Directive>, Vec<ConfigError>> {
        if self.errors.is_empty() { Ok(self.tree) } else { Err(self.errors) }
    }

    /// For callers that use the directives in spite of errors.
    pub fn into_parts(self) -> (Vec<Directive>, Vec<ConfigError>) {
        (self.tree, self.errors)
    }

    /// Parses one file. Sections must end in the same file.
    pub(super) fn one_file(&mut self, text: &str, file: Arc<str>) -> Vec<Directive> {
        let mut stack = SectionStack::new(text);
        while let Some(line) = stack.lines.next() {
            let at = self.made_at.clone().or_else(|| self.used_at.clone());
            let at = at.unwrap_or_else(|| At { file: file.clone(), line: line.number });
            if let Err(message) = self.line(&line.text, &at, &mut stack) {
                self.errors.push(ConfigError::at(&at, message));
            }
        }
        while let Some(open) = stack.open.last() {
            let message = format!("<{0}>: this section is never closed; write </{0}> in the same file", open.name);
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
            // The line consisted of a variable with an empty value.
            None => Ok(()),
        }
    }

    /// Opens a section. An invalid section is pushed on the stack, too, so that its end is found.
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
                stack.lines.raw_until_end_of(name).ok_or("<Perl>: this section is never closed; write </Perl>")?;
            open.args.push(raw);
            open.fate = if stack.is_skipping() { SectionFate::Skipped } else { SectionFate::Kept };
            stack.open.push(open);
            stack.close_innermost();
            return Ok(());
        }
        if name.eq_ignore_ascii_case("Macro") {
            return self.define_macro(inner, at, stack);
        }
        if !stack.is_skipping()
            && name.starts_with(|c: char| c.is_alphabetic())
            && inner.ends_with('>')
            && (self.source.syntax_of)(name).is_none()
            && stack.is_closed_later(name)
            && let Some(raw) = stack.lines.raw_until_end_of(name)
        {
            let inner = inner.trim_end_matches('>').trim();
            let args = vec![inner.strip_prefix(name).unwrap_or_default().trim().to_owned(), raw];
            stack.inside().push(Directive { name: open.name, args, at: open.at, section: Some(Vec::new()) });
            return Ok(());
        }
        if stack.open.len() >= MAX_DEPTH && !stack.is_skipping() {
            stack.open.push(open);
            return Err(format!("<{name}>: more than {MAX_DEPTH} nested sections; close some"));
        }
        let args = if stack.is_skipping() { Ok(None) } else { self.section(inner) };
        if let Ok(Some((args, fate))) = &args {
            (open.args, open.fate) = (args.clone(), *fate);
            if name.eq_ignore_ascii_case("IfModule") {
                self.pass("IfModule", &open.args, at);
            }
        }
        stack.open.push(open);
        args.map(drop)
    }

    /// A directive with an unknown name and an unparsed line: a Perl module may define it, including its syntax.
    fn unknown(&self, line: &str, at: &At) -> Option<Directive> {
        let line = self.variables.replace(line);
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
        let plain = name.starts_with(|c: char| c.is_alphabetic());
        (plain && (self.source.syntax_of)(name).is_none()).then(|| Directive {
            name: name.to_owned(),
            args: vec![rest.trim().to_owned()],
            at: at.clone(),
            section: None,
        })
    }

    pub(super) fn words(&self, line: &str) -> Result<Vec<String>, String> {
        if line.contains(char::REPLACEMENT_CHARACTER) {
            return Err(
                "this line is not UTF-8; convert the file, for instance with iconv -f latin1 -t utf8".to_owned()
            );
        }
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let syntax = (self.source.syntax_of)(name).unwrap_or(LineSyntax::PLAIN);
        let is_code = match syntax.variables {
            Replacing::Code => true,
            Replacing::UnlessSub => is_sub(rest),
            Replacing::Always | Replacing::UnlessInterpolated => false,
        };
        if self.made_at.is_some() || is_code {
            return words::split(line);
        }
        let replaced = self.variables.replace(line);
        let may_stay = syntax.keeps_names || syntax.variables == Replacing::UnlessInterpolated && is_interpolated(rest);
        if !may_stay && let Some(name) = defines::unknown_name(&replaced) {
            return Err(defines::without_value(name));
        }
        match syntax.words {
            Splitting::Quoted => words::split(&replaced),
            Splitting::UnclosedText => Ok(words::split_old(&replaced)),
            Splitting::Expression => words::split_requirement(&replaced),
            Splitting::Whole => Ok(words::split_whole(&replaced)),
            Splitting::Rule => words::split_rule(&replaced),
        }
    }
}

/// The code of a line `Perl code`, which is a section of one line.
fn perl_line(line: &str) -> Option<&str> {
    let (name, code) = line.split_once(char::is_whitespace)?;
    name.eq_ignore_ascii_case("Perl").then(|| code.trim())
}

/// Whether the arguments have the word `interpolate`, so that their variables may be those of a request.
fn is_interpolated(arguments: &str) -> bool {
    arguments.split_whitespace().any(|word| word.eq_ignore_ascii_case("interpolate"))
}

/// Whether the arguments are an anonymous sub.
fn is_sub(arguments: &str) -> bool {
    arguments.trim_start().trim_start_matches(['"', '\'']).trim_start().starts_with("sub")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_env(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn nesting_of_sections_is_limited() {
        let nested = |depth| "<Location /a>\n".repeat(depth) + &"</Location>\n".repeat(depth);
        let read = |input: &str| text(input, "c", &ParserSource::disk("/", &no_env));
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        let errors = read(&nested(100_000)).expect_err("too deep");
        assert_eq!((errors.len(), errors[0].at.as_ref().map(|at| at.line)), (1, Some(MAX_DEPTH as u32 + 1)));
    }

    #[test]
    fn an_unknown_section_ends_at_the_line_that_closes_it() {
        let input = "<Odd a>\n</Odd>\n<odd b>\nx\n</ODD>\n<Odd c>\n";
        let errors = text(input, "c", &ParserSource::disk("/", &no_env)).expect_err("the last one is never closed");
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].at.as_ref().map(|at| at.line), Some(6));
    }

    #[test]
    fn a_missing_file_is_reported_by_its_name() {
        let errors = load(Path::new("/nowhere/httpd.conf"), &ParserSource::disk("/nowhere", &no_env)).unwrap_err();
        assert!(errors[0].to_string().starts_with("/nowhere/httpd.conf: cannot read this configuration: "));
    }

    #[test]
    fn files_on_disk_are_included() {
        let source = ParserSource::disk(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), &no_env);
        let tree = text("Include tests/golden/config/poo[l].conf", "command line", &source).unwrap();
        assert_eq!(tree[0].name, "Listen");
        assert!(tree[0].at.to_string().ends_with("tests/golden/config/pool.conf:1"));
    }

    #[test]
    fn a_definition_applies_to_the_following_texts() {
        let source = ParserSource::disk("/srv", &no_env);
        let mut reader = ConfigReader::new(&source);
        reader.text("Define PORT 8080", "command line");
        reader.text("Listen ${PORT}", "httpd.conf");
        assert_eq!(reader.finish().unwrap()[0].args, ["8080"]);
    }

    #[test]
    fn no_input_makes_the_parser_panic() {
        let pieces = [
            "<", ">", "</", "a", " ", "\"", "'", "\\", "\n", "${", "}", "Perl", "IfDefine", "!", "é", "Define",
            "Include",
        ];
        let source = ParserSource::disk("/nowhere", &no_env);
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

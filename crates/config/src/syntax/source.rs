//! Inputs of the parser.

use std::io;
use std::path::{Path, PathBuf};

/// Definitions, and functions by which the parser accesses files and the environment.
pub struct ParserSource<'a> {
    /// Names given by `-D`.
    pub defines: Vec<String>,
    /// Environment variables, for `${NAME}`.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Reads a file. Invalid UTF-8 becomes U+FFFD, which is an error outside of comments.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Whether a file or folder exists.
    pub exists: &'a dyn Fn(&Path) -> bool,
    /// Lists a folder as full paths. Fails if the path is no folder.
    pub list: &'a dyn Fn(&Path) -> io::Result<Vec<PathBuf>>,
    /// The syntax of a directive of the table, by its name. A Perl module may define other directives.
    pub syntax_of: &'a dyn Fn(&str) -> Option<LineSyntax>,
    /// Whether a module of httpd counts as loaded, for `<IfModule>`.
    pub is_module: &'a dyn Fn(&str) -> bool,
    /// Base of relative includes until a `ServerRoot` is read.
    pub server_root: PathBuf,
    /// Base of a relative `ServerRoot`.
    pub started_in: PathBuf,
}

/// How the parser reads the line of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSyntax {
    pub words: Splitting,
    pub variables: Replacing,
    /// Whether the directive is a section.
    pub is_section: bool,
    /// Whether `${NAME}` without a value stays in the line; otherwise it is an error.
    pub keeps_names: bool,
    /// The kind of the file that an argument names, if the parser reads that file.
    pub file: Option<ValueFile>,
}

impl LineSyntax {
    pub const PLAIN: LineSyntax = LineSyntax {
        words: Splitting::Quoted,
        variables: Replacing::Always,
        is_section: false,
        keeps_names: true,
        file: None,
    };
}

/// How a line is split into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Splitting {
    /// By httpd's quoting rules.
    Quoted,
    /// The last quotation mark may be unclosed: Apache 1.3's syntax for the text of an error document.
    UnclosedText,
    /// The arguments may be an unquoted expression.
    Expression,
    /// All behind the name is one argument, as written.
    Whole,
    /// Regular expressions may contain escaped spaces.
    Rule,
}

/// Whether `${NAME}` in a line is a variable of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replacing {
    Always,
    /// The argument is Perl code: the variable is Perl's.
    Code,
    /// As `Code`, if the argument begins with `sub`; otherwise as `Always`.
    UnlessSub,
    /// With the word `interpolate` the line may contain variables of the request.
    UnlessInterpolated,
}

/// The syntax of a file whose lines are values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueFile {
    /// MIME types and their extensions.
    Types,
    /// Addresses and networks, for directives that the lines of the file replace.
    Proxies,
    /// Keys and values, if the second argument names a file.
    Map,
}

/// `path` relative to `folder`, unless it is absolute.
pub fn below(folder: &Path, path: &str) -> PathBuf {
    match path.strip_prefix("./").map_or(path, |inside| inside.trim_start_matches('/')) {
        "" | "." => folder.to_owned(),
        inside => folder.join(inside),
    }
}

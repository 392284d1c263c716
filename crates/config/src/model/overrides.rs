//! `AllowOverride` and `PerlHtaccess`: directives that `.htaccess` files may contain.

use crate::model::options::{self, DirectoryOptions, PartialOptions};
use crate::syntax::tree::Directive;

/// A set of httpd's classes of directives, as `AllowOverride` names them.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Overrides {
    classes: u8,
    /// `Options=…`: the options that may be changed; `None` is all.
    options: Option<DirectoryOptions>,
    /// `Options` without a list: as in httpd, MultiViews is then not among the options that may be changed.
    forbids_multi_views: bool,
    /// `Nonfatal=…`
    nonfatal: Nonfatal,
}

/// Kinds of invalid lines in `.htaccess` files that cause a warning instead of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Nonfatal {
    /// Directives that are not allowed there.
    forbidden: bool,
    /// Unknown directives.
    unknown: bool,
}

/// One class, or several classes of which a directive needs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class(u8);

impl Class {
    /// Never allowed in `.htaccess`.
    pub const NEVER: Class = Class(0);
    /// Access control by user.
    pub const AUTH_CONFIG: Class = Class(1);
    /// Types and handlers of documents.
    pub const FILE_INFO: Class = Class(2);
    /// Listings and index files of folders.
    pub const INDEXES: Class = Class(4);
    /// Access control by address.
    pub const LIMIT: Class = Class(8);
    /// `Options`
    pub const OPTIONS: Class = Class(16);
    /// Allowed if any class is.
    pub const ANY: Class = Class(31);

    /// Names of the classes, joined by "or". Empty for [`Class::NEVER`].
    pub fn words(self) -> String {
        if self == Class::ANY {
            return "All".to_owned();
        }
        let words = WORDS.iter().filter(|(_, class)| self.0 & class.0 != 0).map(|(word, _)| *word);
        words.collect::<Vec<_>>().join(" or ")
    }
}

const WORDS: [(&str, Class); 5] = [
    ("AuthConfig", Class::AUTH_CONFIG),
    ("FileInfo", Class::FILE_INFO),
    ("Indexes", Class::INDEXES),
    ("Limit", Class::LIMIT),
    ("Options", Class::OPTIONS),
];

/// Classes in the order of httpd's bits, from the lowest.
const OF_HTTPD: [Class; 5] = [Class::LIMIT, Class::OPTIONS, Class::FILE_INFO, Class::AUTH_CONFIG, Class::INDEXES];

impl Overrides {
    /// `.htaccess` files are not looked up.
    pub const NONE: Overrides = Overrides {
        classes: 0,
        options: None,
        forbids_multi_views: false,
        nonfatal: Nonfatal { forbidden: false, unknown: false },
    };

    /// Whether no class is allowed.
    pub fn is_none(self) -> bool {
        self.classes == 0
    }

    fn has(self, class: Class) -> bool {
        self.classes & class.0 != 0
    }

    /// Whether `.htaccess` files may enable scripts, by SetHandler, PerlHandler and Options ExecCGI.
    pub(crate) fn lets_scripts_run(self) -> bool {
        let exec_cgi = self.options.is_none_or(|options| options.exec_cgi);
        self.lets_handlers_be_set() && self.has(Class::OPTIONS) && exec_cgi
    }

    /// Whether `.htaccess` files may have SetHandler and AddHandler.
    pub fn lets_handlers_be_set(self) -> bool {
        self.has(Class::FILE_INFO)
    }

    /// From httpd's bits of classes (`OR_LIMIT` 1, `OR_OPTIONS` 2, `OR_FILEINFO` 4, `OR_AUTHCFG` 8, `OR_INDEXES` 16)
    /// and of allowed options.
    pub fn of_numbers(classes: u32, options: u32) -> Overrides {
        let allowed = OF_HTTPD.iter().enumerate().filter(|(bit, _)| classes & 1 << bit != 0);
        let classes = allowed.fold(0, |all, (_, class)| all | class.0);
        Overrides { classes, options: Some(DirectoryOptions::of_bits(options)), ..Overrides::NONE }
    }

    /// httpd's bits of classes and of allowed options; `None`: all options.
    pub fn numbers(self) -> (u32, Option<u32>) {
        let set = OF_HTTPD.iter().enumerate().filter(|(_, class)| self.has(**class));
        (set.fold(0, |all, (bit, _)| all | 1 << bit), self.options.map(DirectoryOptions::bits))
    }

    /// Parses the arguments of `AllowOverride`.
    pub fn parse(args: &[String]) -> Result<Overrides, String> {
        let mut allowed = Overrides::NONE;
        for arg in args {
            allowed = allowed.with(arg)?;
        }
        Ok(allowed)
    }

    fn with(mut self, arg: &str) -> Result<Overrides, String> {
        let (word, list) = arg.split_once('=').map_or((arg, None), |(word, list)| (word, Some(list)));
        match (word.to_ascii_lowercase().as_str(), list) {
            ("none", None) => self = Overrides { nonfatal: self.nonfatal, ..Overrides::NONE },
            ("all", None) => (self.classes, self.options, self.forbids_multi_views) = (Class::ANY.0, None, false),
            ("nonfatal", Some(what)) => self.nonfatal.add(what).ok_or_else(|| unknown(arg))?,
            ("options", Some(list)) => {
                let names: Vec<String> = list.split(',').map(str::to_owned).collect();
                let (PartialOptions::Set(only), _) = options::parse(&names)? else {
                    return Err(format!("expected options without + and -, got \"{arg}\""));
                };
                self.classes |= Class::OPTIONS.0;
                self.options = Some(only);
            }
            // As in httpd, a list behind the word does not count.
            ("fileinfo", Some(_)) => self.classes |= Class::FILE_INFO.0,
            (lower, None) => {
                let known = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(lower));
                let (_, class) = known.ok_or_else(|| unknown(arg))?;
                self.classes |= class.0;
                self.forbids_multi_views |= *class == Class::OPTIONS;
            }
            _ => return Err(unknown(arg)),
        }
        Ok(self)
    }
}

impl Nonfatal {
    fn add(&mut self, what: &str) -> Option<()> {
        let all = what.eq_ignore_ascii_case("All");
        let (forbidden, unknown) = (what.eq_ignore_ascii_case("Override"), what.eq_ignore_ascii_case("Unknown"));
        self.forbidden |= all || forbidden;
        self.unknown |= all || unknown;
        (all || forbidden || unknown).then_some(())
    }
}

fn unknown(arg: &str) -> String {
    format!(
        "expected All, None, AuthConfig, FileInfo, Indexes, Limit, Options, Options=name,… or \
         Nonfatal=Override|Unknown|All, got \"{arg}\""
    )
}

impl std::fmt::Debug for Overrides {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = WORDS.iter().filter(|(_, class)| self.has(*class)).map(|(word, _)| *word);
        write!(f, "({}", words.collect::<Vec<_>>().join("+"))?;
        if self.options.is_some() {
            f.write_str("=some")?;
        }
        let nonfatal = [(self.nonfatal.forbidden, "Override"), (self.nonfatal.unknown, "Unknown")];
        nonfatal.iter().filter(|(is_on, _)| *is_on).try_for_each(|(_, word)| write!(f, " nonfatal={word}"))?;
        f.write_str(")")
    }
}

/// How much Perl `.htaccess` files may contain. Each level includes the preceding ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PerlHtaccess {
    /// No Perl is allowed.
    #[default]
    Off,
    /// Values: `PerlSetVar`, `PerlSetEnv`, `PerlSendHeader`.
    Vars,
    /// Handlers by their names.
    Handlers,
    /// Code, and files with code: everything that the worker's user can do.
    On,
}

const LEVELS: [(&str, PerlHtaccess); 4] = [
    ("Off", PerlHtaccess::Off),
    ("Vars", PerlHtaccess::Vars),
    ("Handlers", PerlHtaccess::Handlers),
    ("On", PerlHtaccess::On),
];

impl PerlHtaccess {
    /// Parses a word of `PerlHtaccess`.
    pub fn parse(word: &str) -> Result<PerlHtaccess, String> {
        let known = LEVELS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        known.map(|(_, level)| *level).ok_or_else(|| format!("expected Off, Vars, Handlers or On, got \"{word}\""))
    }

    fn name(self) -> &'static str {
        LEVELS.iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }

    /// The level that a directive needs. `is_code`: its arguments are code, or name a file or module of it.
    fn needed(directive: &Directive, is_code: bool) -> PerlHtaccess {
        let name = directive.name.to_ascii_lowercase();
        let hands_over = |word: &String| word.eq_ignore_ascii_case("perl-script") || word.eq_ignore_ascii_case("psgi");
        match name.as_str() {
            _ if is_code => PerlHtaccess::On,
            "sethandler" | "addhandler" if directive.args.iter().any(hands_over) => PerlHtaccess::Handlers,
            perl if perl.starts_with("perl") && perl.ends_with("handler") => {
                if directive.args.iter().all(|handler| is_name(handler)) {
                    PerlHtaccess::Handlers
                } else {
                    PerlHtaccess::On
                }
            }
            perl if perl.starts_with("perl") => PerlHtaccess::Vars,
            _ => PerlHtaccess::Off,
        }
    }
}

/// Whether a handler is a name and no code: `Package`, `Package::sub`, `Class->method`, `$Object->method`, with `+` to
/// load the package at the start, or `-` not to.
fn is_name(handler: &str) -> bool {
    let handler = handler.strip_prefix(['+', '-']).unwrap_or(handler);
    let (handler, is_object) = handler.strip_prefix('$').map_or((handler, false), |object| (object, true));
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let (package, method) = handler.split_once("->").map_or((handler, None), |(class, method)| (class, Some(method)));
    package.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && package.chars().all(is_word)
        && method.is_none_or(|method| !method.is_empty() && method.chars().all(is_word))
        && (method.is_some() || !is_object)
}

/// Restrictions of directives in a `.htaccess` file.
#[derive(Debug, Clone, Copy)]
pub struct HtaccessRules {
    /// `AllowOverride`
    pub allowed: Overrides,
    /// `PerlHtaccess`
    pub perl: PerlHtaccess,
    /// Whether reading ends at the first error, which disables the folder. Tools read on to report all errors.
    pub ends_at_first_error: bool,
}

impl HtaccessRules {
    /// `AllowOverride Nonfatal=Override`: forbidden directives are ignored.
    pub fn ignores_forbidden(&self) -> bool {
        self.allowed.nonfatal.forbidden
    }

    /// `AllowOverride Nonfatal=Unknown`: unknown directives are ignored.
    pub fn ignores_unknown(&self) -> bool {
        self.allowed.nonfatal.unknown
    }

    /// Checks that a directive is allowed. `needed` are its classes; for `is_code` see [`PerlHtaccess::needed`].
    pub fn check(&self, needed: Class, is_code: bool, directive: &Directive) -> Result<(), String> {
        if needed == Class::NEVER {
            return Err("is not allowed in .htaccess files; write it in the main configuration".to_owned());
        }
        if !self.allowed.has(needed) {
            return Err(format!("is not allowed here: its <Directory> needs AllowOverride {}", needed.words()));
        }
        let perl = PerlHtaccess::needed(directive, is_code);
        if perl > self.perl {
            return Err(too_little_perl(perl));
        }
        if perl == PerlHtaccess::On && !self.allowed.lets_scripts_run() {
            return Err(
                "is not allowed here: it contains code, so its <Directory> needs AllowOverride FileInfo Options"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// Checks a directive that a Perl module defines. The Perl side checks its classes.
    pub fn check_own(&self) -> Result<(), String> {
        match self.perl < PerlHtaccess::Vars {
            true => Err(too_little_perl(PerlHtaccess::Vars)),
            false => Ok(()),
        }
    }

    /// Checks `Options` against `AllowOverride Options=…`.
    pub fn check_options(&self, options: &PartialOptions) -> Result<(), String> {
        let touched = match options {
            PartialOptions::Set(options) => *options,
            PartialOptions::Change { add, remove } => add.with(*remove),
        };
        if self.allowed.forbids_multi_views && self.allowed.options.is_none() && touched.multi_views {
            return Err(
                "contains MultiViews, which needs AllowOverride All or Options=MultiViews, as in httpd".to_owned()
            );
        }
        match self.allowed.options {
            Some(only) if touched.without(only) != DirectoryOptions::default() => {
                Err("contains an option that AllowOverride Options=… does not list".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn too_little_perl(needed: PerlHtaccess) -> String {
    format!("is not allowed in .htaccess files: the main configuration needs PerlHtaccess {}", needed.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &str) -> Result<Overrides, String> {
        Overrides::parse(&args.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn classes_add_up_and_none_resets_them() {
        let both = parsed("AuthConfig limit").unwrap();
        assert!(both.has(Class::LIMIT) && both.has(Class::AUTH_CONFIG) && !both.has(Class::FILE_INFO));
        assert!(parsed("All").unwrap().has(Class::OPTIONS));
        assert!(parsed("All None").unwrap().is_none());
        assert_eq!(
            format!("{:?}", parsed("Nonfatal=All Limit").unwrap()),
            "(Limit nonfatal=Override nonfatal=Unknown)"
        );
        assert_eq!(format!("{:?}", parsed("Nonfatal=unknown All None Options").unwrap()), "(Options nonfatal=Unknown)");
        assert_eq!(format!("{:?}", parsed("FileInfo=RewriteRule,RewriteCond").unwrap()), "(FileInfo)");
        for wrong in ["Everything", "Nonfatal", "Nonfatal=Some", "Options=+Indexes", "Limit=GET"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_handler_that_contains_code_is_not_a_name() {
        for name in ["Apache::ASP", "My::Handler::handler", "_x", "My->method", "+A", "-A", "$A::B->m"] {
            assert!(is_name(name), "{name}");
        }
        for code in [
            "sub { 1 }",
            "sub{1}",
            "A::B;system('x')",
            "A->",
            "->m",
            "",
            "A->b->c",
            "A'B",
            "&x",
            "$A",
            "$$A->b",
            "$A{b}->c",
            "+$A",
        ] {
            assert!(!is_name(code), "{code}");
        }
    }
}

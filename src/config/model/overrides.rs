//! `AllowOverride` and `PerlHtaccess`: what a `.htaccess` file may say.

use crate::config::model::options::{self, Options, PartialOptions};
use crate::config::syntax::tree::Directive;

/// The classes of directives that `AllowOverride` names; httpd's.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Overrides {
    classes: u8,
    /// `Options=…`: only these; `None` is all.
    options: Option<Options>,
    /// `Nonfatal=…`
    nonfatal: Nonfatal,
}

/// Which lines of a `.htaccess` file are passed over, with a warning, instead of being an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Nonfatal {
    /// Those that are not allowed there.
    forbidden: bool,
    /// Those that nobody knows.
    unknown: bool,
}

/// A class, or what a directive needs: one of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Class(u8);

impl Class {
    /// Never in `.htaccess`.
    pub const NEVER: Class = Class(0);
    /// Who may come in, by name and password.
    pub const AUTH_CONFIG: Class = Class(1);
    /// What a document is, and who answers for it.
    pub const FILE_INFO: Class = Class(2);
    /// Folders and their indexes.
    pub const INDEXES: Class = Class(4);
    /// Who may come in, by address.
    pub const LIMIT: Class = Class(8);
    /// `Options`
    pub const OPTIONS: Class = Class(16);
    /// Wherever anything is allowed.
    pub const ANY: Class = Class(31);

    /// The words of `AllowOverride` of which one is needed; empty for [`Class::NEVER`].
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

/// The classes whose bits httpd's numbers have, from the lowest on.
const OF_HTTPD: [Class; 5] = [Class::LIMIT, Class::OPTIONS, Class::FILE_INFO, Class::AUTH_CONFIG, Class::INDEXES];

impl Overrides {
    /// `.htaccess` files are not even looked for.
    pub const NONE: Overrides =
        Overrides { classes: 0, options: None, nonfatal: Nonfatal { forbidden: false, unknown: false } };

    /// Whether nothing is allowed.
    pub fn is_none(self) -> bool {
        self.classes == 0
    }

    fn has(self, class: Class) -> bool {
        self.classes & class.0 != 0
    }

    /// Whether the file's owner may have scripts of their own run: SetHandler, PerlHandler and Options ExecCGI.
    fn lets_scripts_run(self) -> bool {
        let exec_cgi = self.options.is_none_or(|options| options.exec_cgi);
        self.has(Class::FILE_INFO) && self.has(Class::OPTIONS) && exec_cgi
    }

    /// By httpd's numbers of classes (`OR_LIMIT` 1, `OR_OPTIONS` 2, `OR_FILEINFO` 4, `OR_AUTHCFG` 8, `OR_INDEXES` 16) and of
    /// what `Options` may say.
    pub fn of_numbers(classes: u32, options: u32) -> Overrides {
        let allowed = OF_HTTPD.iter().enumerate().filter(|(bit, _)| classes & 1 << bit != 0);
        let classes = allowed.fold(0, |all, (_, class)| all | class.0);
        Overrides { classes, options: Some(Options::of_bits(options)), ..Overrides::NONE }
    }

    /// The same two numbers; of `Options` `None` where all may be said.
    pub fn numbers(self) -> (u32, Option<u32>) {
        let set = OF_HTTPD.iter().enumerate().filter(|(_, class)| self.has(**class));
        (set.fold(0, |all, (bit, _)| all | 1 << bit), self.options.map(Options::bits))
    }

    /// The arguments of `AllowOverride`.
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
            ("all", None) => (self.classes, self.options) = (Class::ANY.0, None),
            ("nonfatal", Some(what)) => self.nonfatal.add(what).ok_or_else(|| unknown(arg))?,
            ("options", Some(list)) => {
                let names: Vec<String> = list.split(',').map(str::to_owned).collect();
                let (PartialOptions::Set(only), _) = options::parse(&names)? else {
                    return Err(format!("expected options without + and -, got \"{arg}\""));
                };
                self.classes |= Class::OPTIONS.0;
                self.options = Some(only);
            }
            (lower, None) => {
                let known = WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(lower));
                let (_, class) = known.ok_or_else(|| unknown(arg))?;
                self.classes |= class.0;
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

/// How much Perl `.htaccess` files may say; each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PerlHtaccess {
    /// Nothing.
    #[default]
    Off,
    /// Values: `PerlSetVar`, `PerlSetEnv`, `PerlSendHeader`.
    Vars,
    /// Handlers by their names.
    Handlers,
    /// Whatever the worker's user could do: code, files with code.
    On,
}

const LEVELS: [(&str, PerlHtaccess); 4] = [
    ("Off", PerlHtaccess::Off),
    ("Vars", PerlHtaccess::Vars),
    ("Handlers", PerlHtaccess::Handlers),
    ("On", PerlHtaccess::On),
];

impl PerlHtaccess {
    /// By its word in the directive.
    pub fn parse(word: &str) -> Result<PerlHtaccess, String> {
        let known = LEVELS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        known.map(|(_, level)| *level).ok_or_else(|| format!("expected Off, Vars, Handlers or On, got \"{word}\""))
    }

    fn name(self) -> &'static str {
        LEVELS.iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }

    /// What a directive needs, if it is about Perl at all; `is_code`: its arguments are code, or name it.
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

/// `Package`, `Package::sub`, `Class->method`, `$Object->method`, `+Package` to load it at the start, `-Package` not to: what
/// cannot hold code.
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

/// By what the directives of a `.htaccess` file are measured.
#[derive(Debug, Clone, Copy)]
pub struct HtaccessRules {
    /// `AllowOverride`
    pub allowed: Overrides,
    /// `PerlHtaccess`
    pub perl: PerlHtaccess,
}

impl HtaccessRules {
    /// `AllowOverride Nonfatal=Override`: what is not allowed is passed over.
    pub fn passes_over_forbidden(&self) -> bool {
        self.allowed.nonfatal.forbidden
    }

    /// `AllowOverride Nonfatal=Unknown`: what nobody knows is passed over.
    pub fn passes_over_unknown(&self) -> bool {
        self.allowed.nonfatal.unknown
    }

    /// Whether a directive may stand there; `needed` is what AllowOverride must allow for it, for
    /// `is_code` see [`PerlHtaccess::needed`].
    pub fn check(&self, needed: Class, is_code: bool, directive: &Directive) -> Result<(), String> {
        if needed == Class::NEVER {
            return Err("is not allowed in .htaccess files: write it in the main configuration".to_owned());
        }
        if !self.allowed.has(needed) {
            return Err(format!(
                "is not allowed here: its <Directory> would have to say AllowOverride {}",
                needed.words()
            ));
        }
        let perl = PerlHtaccess::needed(directive, is_code);
        if perl > self.perl {
            return Err(too_little_perl(perl));
        }
        if perl == PerlHtaccess::On && !self.allowed.lets_scripts_run() {
            return Err(
                "is not allowed here: it is code, so its <Directory> would have to say AllowOverride FileInfo Options"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// The same for one that a Perl module defines. Which classes it needs, the module says, where its Perl runs.
    pub fn check_own(&self) -> Result<(), String> {
        match self.perl < PerlHtaccess::Vars {
            true => Err(too_little_perl(PerlHtaccess::Vars)),
            false => Ok(()),
        }
    }

    /// `AllowOverride Options=…`
    pub fn check_options(&self, said: &PartialOptions) -> Result<(), String> {
        let touched = match said {
            PartialOptions::Set(options) => *options,
            PartialOptions::Change { add, remove } => add.with(*remove),
        };
        match self.allowed.options {
            Some(only) if touched.without(only) != Options::default() => {
                Err("names an option that is not among those of AllowOverride Options=…".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn too_little_perl(needed: PerlHtaccess) -> String {
    format!(
        "is not allowed in .htaccess files: the main configuration would have to say PerlHtaccess {}",
        needed.name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &str) -> Result<Overrides, String> {
        Overrides::parse(&args.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn classes_add_up_and_none_begins_anew() {
        let both = parsed("AuthConfig limit").unwrap();
        assert!(both.has(Class::LIMIT) && both.has(Class::AUTH_CONFIG) && !both.has(Class::FILE_INFO));
        assert!(parsed("All").unwrap().has(Class::OPTIONS));
        assert!(parsed("All None").unwrap().is_none());
        assert_eq!(
            format!("{:?}", parsed("Nonfatal=All Limit").unwrap()),
            "(Limit nonfatal=Override nonfatal=Unknown)"
        );
        assert_eq!(format!("{:?}", parsed("Nonfatal=unknown All None Options").unwrap()), "(Options nonfatal=Unknown)");
        for wrong in ["Everything", "Nonfatal", "Nonfatal=Some", "Options=+Indexes", "Limit=GET"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_handler_with_code_in_it_is_no_name() {
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

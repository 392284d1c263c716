//! The `Options` directive.

use crate::model::context::Scope;

/// `Options` of a section: either a new set, or changes of the outer set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartialOptions {
    /// `Options ExecCGI Indexes`
    Set(DirectoryOptions),
    /// `Options +ExecCGI -Indexes`
    Change {
        /// Options with `+`.
        add: DirectoryOptions,
        /// Options with `-`.
        remove: DirectoryOptions,
    },
}

/// The words of `Options`; by default none is set.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectoryOptions {
    /// CGI scripts may run.
    pub exec_cgi: bool,
    /// Symbolic links are followed.
    pub follow_sym_links: bool,
    /// Symbolic links are followed if link and target have the same owner.
    pub sym_links_if_owner_match: bool,
    /// Folders without an index are listed.
    pub indexes: bool,
    /// Server-side includes are parsed.
    pub includes: bool,
    /// Server-side includes may run programs.
    pub includes_exec: bool,
    /// A name without its extensions finds the best of the files that have it.
    pub multi_views: bool,
}

impl std::fmt::Debug for DirectoryOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = [
            (self.exec_cgi, "ExecCGI"),
            (self.follow_sym_links, "FollowSymLinks"),
            (self.sym_links_if_owner_match, "SymLinksIfOwnerMatch"),
            (self.indexes, "Indexes"),
            (self.includes && self.includes_exec, "Includes"),
            (self.includes && !self.includes_exec, "IncludesNOEXEC"),
            (self.multi_views, "MultiViews"),
        ];
        let on: Vec<&str> = names.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
        write!(f, "({})", on.join(","))
    }
}

/// Parses the arguments. Options of httpd that are not supported are returned as the second value.
pub fn parse(args: &[String]) -> Result<(PartialOptions, Vec<String>), String> {
    let signed = args.iter().filter(|arg| arg.starts_with(['+', '-'])).count();
    if signed != 0 && signed != args.len() {
        return Err(
            "either all options need a + or -, or none: an option without a sign would replace the others".into()
        );
    }
    let (mut add, mut remove, mut ignored) = (DirectoryOptions::default(), DirectoryOptions::default(), Vec::new());
    for arg in args {
        let set = if arg.starts_with('-') { &mut remove } else { &mut add };
        match known(arg.trim_start_matches(['+', '-']))? {
            Some(options) => *set = set.with(options),
            // Options that are not supported are off anyway.
            None if arg.starts_with('-') => {}
            None => ignored.push(arg.clone()),
        }
    }
    Ok((if signed == 0 { PartialOptions::Set(add) } else { PartialOptions::Change { add, remove } }, ignored))
}

/// The option with this name. `None`: an option of httpd that is not supported.
fn known(name: &str) -> Result<Option<DirectoryOptions>, String> {
    let none = DirectoryOptions::default();
    Ok(Some(match name.to_ascii_lowercase().as_str() {
        "none" => none,
        "execcgi" => DirectoryOptions { exec_cgi: true, ..none },
        "followsymlinks" => DirectoryOptions { follow_sym_links: true, ..none },
        "symlinksifownermatch" => DirectoryOptions { sym_links_if_owner_match: true, ..none },
        "indexes" => DirectoryOptions { indexes: true, ..none },
        "includes" => DirectoryOptions { includes: true, includes_exec: true, ..none },
        "includesnoexec" => DirectoryOptions { includes: true, ..none },
        // As in httpd, All contains the options that loosen restrictions; SymLinksIfOwnerMatch tightens them.
        "all" => DirectoryOptions { sym_links_if_owner_match: false, multi_views: false, ..ALL },
        "multiviews" => DirectoryOptions { multi_views: true, ..none },
        _ => {
            return Err(format!(
                "expected None, All, ExecCGI, FollowSymLinks, SymLinksIfOwnerMatch, Includes, IncludesNOEXEC, Indexes or MultiViews, got \"{name}\""
            ));
        }
    }))
}

type Field = fn(&mut DirectoryOptions) -> &mut bool;

const ALL: DirectoryOptions = DirectoryOptions {
    exec_cgi: true,
    follow_sym_links: true,
    sym_links_if_owner_match: true,
    indexes: true,
    includes: true,
    includes_exec: true,
    multi_views: true,
};

const BITS: [(u32, Field); 7] = [
    (1, |options| &mut options.indexes),
    (2, |options| &mut options.includes),
    (4, |options| &mut options.follow_sym_links),
    (8, |options| &mut options.exec_cgi),
    (32, |options| &mut options.includes_exec),
    (64, |options| &mut options.sym_links_if_owner_match),
    (128, |options| &mut options.multi_views),
];

impl DirectoryOptions {
    /// Options from httpd's bits (`OPT_INDEXES` 1 to `OPT_MULTI` 128).
    pub fn of_bits(bits: u32) -> DirectoryOptions {
        let mut options = DirectoryOptions::default();
        for (bit, option) in BITS {
            *option(&mut options) = bits & bit != 0;
        }
        options
    }

    /// httpd's bits of the options.
    pub fn bits(mut self) -> u32 {
        BITS.iter().map(|(bit, option)| u32::from(*option(&mut self)) * bit).sum()
    }

    /// Union.
    pub fn with(self, other: DirectoryOptions) -> DirectoryOptions {
        DirectoryOptions {
            exec_cgi: self.exec_cgi || other.exec_cgi,
            follow_sym_links: self.follow_sym_links || other.follow_sym_links,
            sym_links_if_owner_match: self.sym_links_if_owner_match || other.sym_links_if_owner_match,
            indexes: self.indexes || other.indexes,
            includes: self.includes || other.includes,
            includes_exec: self.includes_exec || other.includes_exec,
            multi_views: self.multi_views || other.multi_views,
        }
    }

    /// Difference.
    pub fn without(self, other: DirectoryOptions) -> DirectoryOptions {
        DirectoryOptions {
            exec_cgi: self.exec_cgi && !other.exec_cgi,
            follow_sym_links: self.follow_sym_links && !other.follow_sym_links,
            sym_links_if_owner_match: self.sym_links_if_owner_match && !other.sym_links_if_owner_match,
            indexes: self.indexes && !other.indexes,
            includes: self.includes && !other.includes,
            includes_exec: self.includes_exec && !other.includes_exec,
            multi_views: self.multi_views && !other.multi_views,
        }
    }

    /// The options after the changes of a section.
    pub fn after(self, change: &PartialOptions) -> DirectoryOptions {
        match change {
            PartialOptions::Set(options) => *options,
            PartialOptions::Change { add, remove } => self.without(*remove).with(*add),
        }
    }
}

impl DirectoryOptions {
    /// The options after the changes of a section with this scope. As in httpd, a section of URLs does not change the
    /// options for links.
    pub fn at(self, scope: &Scope, change: &PartialOptions) -> DirectoryOptions {
        let next = self.after(change);
        match scope {
            Scope::Host | Scope::Directory(_) | Scope::DirectoryMatch(_) | Scope::Files(_) | Scope::Program(..) => next,
            Scope::Location(_) | Scope::LocationMatch(_) | Scope::Backend(_) | Scope::If(_) => DirectoryOptions {
                follow_sym_links: self.follow_sym_links,
                sym_links_if_owner_match: self.sym_links_if_owner_match,
                ..next
            },
        }
    }
}

impl PartialOptions {
    /// Whether CGI scripts may run after these changes, whatever was set before.
    pub(crate) fn adds_exec_cgi(&self) -> bool {
        match self {
            PartialOptions::Set(options) => options.exec_cgi,
            PartialOptions::Change { add, .. } => add.exec_cgi,
        }
    }

    /// Combines two lines of one section.
    pub fn then(&self, next: &PartialOptions) -> PartialOptions {
        match (self, next) {
            (_, PartialOptions::Set(_)) => next.clone(),
            (PartialOptions::Set(options), _) => PartialOptions::Set(options.after(next)),
            (PartialOptions::Change { add, remove }, PartialOptions::Change { add: more, remove: less }) => {
                PartialOptions::Change {
                    add: add.without(*less).with(*more),
                    remove: remove.without(*more).with(*less),
                }
            }
        }
    }
}

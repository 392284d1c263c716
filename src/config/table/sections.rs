//! Sections, and what the reader of files does itself.

use std::path::PathBuf;

use crate::config::draft::{Draft, Opened};
use crate::config::model::address;
use crate::config::model::context::{Context, Rank, Scope};
use crate::config::model::overrides::Class;
use crate::config::model::pools::CODE_ELSEWHERE;
use crate::config::model::start_up::StartUpStep;
use crate::config::syntax::tree::Directive;
use crate::config::syntax::wildcard::{self, Slash};
use crate::config::table::row::{ANYWHERE, Effect, Form, HOSTS, MANY, NOT_LOCATION, ROW, Row, SERVER, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "VirtualHost",
        contexts: SERVER,
        takes: Takes::Section("address[:port]…", 1..=MANY, virtual_host),
        because: "one site needs none",
        about: "A site of its own on these addresses (`*` is any), found by ServerName and ServerAlias among those of the same address; \
            the first of them answers for other names.",
        ..ROW
    },
    Row {
        name: "Location",
        contexts: HOSTS,
        takes: Takes::Section("/url-path", 1..=2, location),
        because: "see the directives in it",
        about: "Settings for a URL path and all below it. Merged last, in the order of the file. `~` takes a regular expression. As in httpd, a path without a slash at its beginning is legal and holds for no request; there is a warning.",
        ..ROW
    },
    Row {
        name: "LocationMatch",
        contexts: HOSTS,
        takes: Takes::Section("regex", 1..=1, location_match),
        because: "see the directives in it",
        about: "As Location, for paths in which the regular expression is found.",
        ..ROW
    },
    Row {
        name: "Directory",
        contexts: HOSTS,
        takes: Takes::Section("path", 1..=2, directory),
        because: "see the directives in it",
        about: "Settings for the files in a folder and all below it. Merged first, the shortest path first. `~` takes a regular expression.",
        ..ROW
    },
    Row {
        name: "DirectoryMatch",
        contexts: HOSTS,
        takes: Takes::Section("regex", 1..=1, directory_match),
        because: "see the directives in it",
        about: "As Directory, for folders in which the regular expression is found. Merged after Directory.",
        ..ROW
    },
    Row {
        name: "Files",
        contexts: NOT_LOCATION.and_htaccess(Class::ANY),
        takes: Takes::Section("name", 1..=2, files),
        because: "see the directives in it",
        about: "Settings for files of this name, in any folder or in that of the enclosing Directory. Merged after Directory, before \
            Location. `~` takes a regular expression.",
        ..ROW
    },
    Row {
        name: "FilesMatch",
        contexts: NOT_LOCATION.and_htaccess(Class::ANY),
        takes: Takes::Section("regex", 1..=1, files_match),
        because: "see the directives in it",
        about: "As Files, for names in which the regular expression is found.",
        ..ROW
    },
    Row {
        name: "Perl",
        contexts: ANYWHERE,
        takes: Takes::Section("", 0..=1, |d, code, _| {
            if !d.config.may_configure(d.position.pool) {
                return Err(CODE_ELSEWHERE.to_owned());
            }
            let host = d.position.host;
            code.iter().for_each(|code| d.start_up(StartUpStep::Section { code: code.clone(), host }));
            Ok(None)
        }),
        because: "the site says which",
        effect: Effect::Generation,
        about: "Perl code, run in package Apache::ReadConfig (with mod_perl 2: one of its own) while the configuration is read: its variables become \
            directives and sections here, `$Port`, `@PerlModule`, `%Location`. A line `Perl code` is a section of one line. See \
            docs/guide/perl-in-the-configuration.md.",
        ..ROW
    },
    Row {
        name: "IfModule",
        contexts: ANYWHERE,
        takes: Takes::Reading("[!]module", Form::Section),
        because: "see the directives in it",
        effect: Effect::Start,
        about: "Read only if the module (`mod_perl.c` or `perl_module`) is one whose work we do, or with `!` is not. Only here there is \
            `cameleer.c`.",
        ..ROW
    },
    Row {
        name: "IfDefine",
        contexts: ANYWHERE,
        takes: Takes::Reading("[!]name", Form::Section),
        because: "see the directives in it",
        effect: Effect::Start,
        about: "Read only if the name is given by `-D` or Define, or with `!` is not.",
        ..ROW
    },
    Row {
        name: "IfDirective",
        contexts: ANYWHERE,
        takes: Takes::Reading("[!]directive", Form::Section),
        because: "see the directives in it",
        effect: Effect::Start,
        about: "Read only if there is such a directive here, or with `!` is none.",
        ..ROW
    },
    Row {
        name: "IfVersion",
        contexts: ANYWHERE,
        takes: Takes::Reading("[[!]operator] version", Form::Section),
        because: "see the directives in it",
        effect: Effect::Start,
        about: "Read only if the comparison holds for httpd 2.4, whose language this is: `<IfVersion >= 2.4>`. Operators are =, >, >=, <, <= and ~ \
            for an expression, with `!` the contrary.",
        ..ROW
    },
    Row {
        name: "IfFile",
        contexts: ANYWHERE,
        takes: Takes::Reading("[!]path", Form::Section),
        because: "see the directives in it",
        about: "Read only if there is such a file or folder, or with `!` is none; a relative path starts at ServerRoot.",
        ..ROW
    },
    Row {
        name: "Define",
        contexts: ANYWHERE,
        takes: Takes::Reading("name [value]", Form::Line),
        because: "`-D` and the environment",
        about: "Gives `${name}` a value for the lines below; defined names come before environment variables.",
        ..ROW
    },
    Row {
        name: "UnDefine",
        contexts: ANYWHERE,
        takes: Takes::Reading("name", Form::Line),
        because: "what is defined stays so",
        about: "Takes back a Define or a `-D`.",
        ..ROW
    },
    Row {
        name: "Include",
        contexts: ANYWHERE,
        takes: Takes::Reading("file|folder|pattern", Form::Line),
        because: "one file is enough for many",
        about: "Reads other files here: one, all in a folder and below, or those that match `*`, `?` and `[…]`; sorted by name.",
        ..ROW
    },
    Row {
        name: "IncludeOptional",
        contexts: ANYWHERE,
        takes: Takes::Reading("file|folder|pattern", Form::Line),
        because: "one file is enough for many",
        about: "As Include; it is no error when there is no such file.",
        ..ROW
    },
];

/// `<VirtualHost address[:port]…>`
fn virtual_host(draft: &mut Draft, args: &[String], _: &[Directive]) -> Opened {
    let addresses = args.iter().map(|arg| address::host(arg)).collect::<Result<_, _>>()?;
    draft.virtual_host(addresses)
}

/// `<Location path>`, `<Location ~ regex>`
fn location(draft: &mut Draft, args: &[String], _: &[Directive]) -> Opened {
    let scope = match args {
        [tilde, regex] if tilde == "~" => Scope::LocationMatch(draft.pattern(regex)?),
        [path] if wildcard::is_pattern(path) => {
            Scope::LocationMatch(draft.pattern(&wildcard::whole(path, Slash::Separates))?)
        }
        [path] => {
            if !path.starts_with('/') {
                draft.warn(
                    "holds for no request, as in httpd, because paths begin with /: nothing in it protects anything",
                );
            }
            Scope::Location(path.clone())
        }
        _ => return Err(format!("expected one path, got \"{}\": put it in quotation marks", args.join(" "))),
    };
    draft.container(Context::Location, scope, Rank::LOCATION)
}

/// `<LocationMatch regex>`
fn location_match(draft: &mut Draft, args: &[String], _: &[Directive]) -> Opened {
    let scope = Scope::LocationMatch(draft.pattern(&args[0])?);
    draft.container(Context::Location, scope, Rank::LOCATION)
}

/// `<Directory path>`, `<Directory ~ regex>`; a path with wildcards takes its turn among the paths of its depth.
fn directory(draft: &mut Draft, args: &[String], _: &[Directive]) -> Opened {
    let (scope, rank) = match args {
        [tilde, regex] if tilde == "~" => (Scope::DirectoryMatch(draft.pattern(regex)?), Rank::DIRECTORY_MATCH),
        [path] => {
            let path = draft.document_path(path);
            let rank = Rank::directory(path.components().count());
            (directory_scope(draft, path)?, rank)
        }
        _ => return Err(format!("expected one path, got \"{}\": put it in quotation marks", args.join(" "))),
    };
    draft.container(Context::Directory, scope, rank)
}

fn directory_scope(draft: &mut Draft, path: PathBuf) -> Result<Scope, String> {
    match path.to_str().filter(|text| wildcard::is_pattern(text)) {
        Some(text) => {
            let pattern = wildcard::to_regex(text.trim_end_matches('/'), Slash::Separates);
            Ok(Scope::DirectoryMatch(draft.pattern(&format!("^{pattern}(/|$)"))?))
        }
        None => Ok(Scope::Directory(path)),
    }
}

/// `<DirectoryMatch regex>`
fn directory_match(draft: &mut Draft, args: &[String], _: &[Directive]) -> Opened {
    let scope = Scope::DirectoryMatch(draft.pattern(&args[0])?);
    draft.container(Context::Directory, scope, Rank::DIRECTORY_MATCH)
}

/// `<Files name>`, `<Files ~ regex>`
fn files(draft: &mut Draft, args: &[String], _: &[Directive]) -> Opened {
    let regex = match args {
        [tilde, regex] if tilde == "~" => draft.pattern(regex)?,
        [name] => draft.pattern(&wildcard::whole(name, Slash::Ordinary))?,
        _ => return Err(format!("expected one name, got \"{}\": put it in quotation marks", args.join(" "))),
    };
    let rank = draft.files_rank();
    draft.container(Context::Files, Scope::Files(regex), rank)
}

/// `<FilesMatch regex>`
fn files_match(draft: &mut Draft, args: &[String], _: &[Directive]) -> Opened {
    let rank = draft.files_rank();
    let scope = Scope::Files(draft.pattern(&args[0])?);
    draft.container(Context::Files, scope, rank)
}

//! Sections, and the directives that `parse` handles while it reads files.

use std::path::PathBuf;

use crate::draft::{Draft, OpenedSection};
use crate::model::address;
use crate::model::context::{Rank, Scope, SectionContext};
use crate::model::overrides::Class;
use crate::model::pools::CODE_ELSEWHERE;
use crate::model::start_up::StartUpStep;
use crate::syntax::tree::Directive;
use crate::syntax::wildcard::{self, Slash};
use crate::table::row::{ANYWHERE, Effect, Form, HOSTS, MANY, NOT_LOCATION, Row, SERVER, reading, rows, section};

pub(super) static ROWS: &[Row] = rows![
    "core.c",
    section("VirtualHost", SERVER, "address[:port]…", 1..=MANY, virtual_host).because("a single site needs none"),
    "A separate site on these addresses (`*` is any). Among hosts of the same address, ServerName and ServerAlias \
     select one; the first of them answers other names.",
    section("Location", HOSTS, "/url-path", 1..=2, location).because("the directives inside have their own defaults"),
    "Settings for a URL path and everything below it. Locations are merged last, in the order of the file. `~` takes a \
     regular expression. As in httpd, a path that does not begin with a slash matches no request; a warning is logged.",
    section("LocationMatch", HOSTS, "regex", 1..=1, location_match)
        .because("the directives inside have their own defaults"),
    "As Location, for paths that match the regular expression anywhere.",
    section("Directory", HOSTS, "path", 1..=2, directory).because("the directives inside have their own defaults"),
    "Settings for the files in a folder and everything below it. Directories are merged first, the shortest path \
     first. `~` takes a regular expression.",
    section("DirectoryMatch", HOSTS, "regex", 1..=1, directory_match)
        .because("the directives inside have their own defaults"),
    "As Directory, for folders that match the regular expression anywhere. Merged after Directory.",
    section("Files", NOT_LOCATION.and_htaccess(Class::ANY), "name", 1..=2, files)
        .because("the directives inside have their own defaults"),
    "Settings for files of this name, in any folder or in the enclosing Directory. Merged after Directory, before \
     Location. `~` takes a regular expression.",
    section("FilesMatch", NOT_LOCATION.and_htaccess(Class::ANY), "regex", 1..=1, files_match)
        .because("the directives inside have their own defaults"),
    "As Files, for names that match the regular expression anywhere.",
    section("Perl", ANYWHERE, "", 0..=1, |d, code, _| {
        if !d.config.may_configure(d.position.pool) {
            return Err(CODE_ELSEWHERE.to_owned());
        }
        let host = d.position.host;
        code.iter().for_each(|code| d.start_up(StartUpStep::Section { code: code.clone(), host }));
        Ok(None)
    })
    .of("mod_perl.c")
    .effect(Effect::Generation)
    .because("only the site knows its code"),
    "Perl code that runs while the configuration is read, in package Apache::ReadConfig (with mod_perl 2: in a package \
     of its own). Its variables become directives and sections: `$Port`, `@PerlModule`, `%Location`. A line `Perl \
     code` is a section of one line. See docs/guide/perl-in-the-configuration.md.",
    reading("IfModule", ANYWHERE, "[!]module", Form::Section)
        .effect(Effect::Start)
        .because("the directives inside have their own defaults"),
    "Reads the contents only if the module (`mod_perl.c` or `perl_module`) is built in; with `!` only if it is not. \
     `cameleer.c` is present only in Cameleer.",
    reading("IfDefine", ANYWHERE, "[!]name", Form::Section)
        .effect(Effect::Start)
        .because("the directives inside have their own defaults"),
    "Reads the contents only if `-D` or Define defined the name; with `!` only if neither did.",
    reading("IfDirective", ANYWHERE, "[!]directive", Form::Section)
        .effect(Effect::Start)
        .because("the directives inside have their own defaults"),
    "Reads the contents only if Cameleer has this directive; with `!` only if it does not.",
    reading("IfSection", ANYWHERE, "[!]section", Form::Section)
        .effect(Effect::Start)
        .because("the directives inside have their own defaults"),
    "Reads the contents only if Cameleer has this section, such as VirtualHost; with `!` only if it does not.",
    reading("IfVersion", ANYWHERE, "[[!]operator] version", Form::Section)
        .of("mod_version.c")
        .effect(Effect::Start)
        .because("the directives inside have their own defaults"),
    "Reads the contents only if the comparison with httpd 2.4, whose language this is, holds: `<IfVersion >= 2.4>`. \
     Operators: =, >, >=, <, <= and ~ for a regular expression; `!` negates.",
    reading("IfFile", ANYWHERE, "[!]path", Form::Section).because("the directives inside have their own defaults"),
    "Reads the contents only if the file or folder exists; with `!` only if it does not. A relative path starts at \
     ServerRoot.",
    reading("Define", ANYWHERE, "name [value]", Form::Line).because("`-D` and the environment define the usual names"),
    "Gives `${name}` a value in the lines that follow. Defined names take precedence over environment variables.",
    reading("UnDefine", ANYWHERE, "name", Form::Line).because("a name stays defined to the end of the configuration"),
    "Removes the definition by a Define or a `-D`.",
    reading("Macro", ANYWHERE, "name parameter…", Form::Section)
        .of("mod_macro.c")
        .because("few lines repeat with other values"),
    "Stores lines that `Use` inserts. Parameters begin with $, % or @; the value of one with @ is quoted. Not allowed in \
     .htaccess files, nor within another macro.",
    reading("Use", ANYWHERE, "name value…", Form::Line).of("mod_macro.c").because("see Macro"),
    "Reads the lines of a macro, with these values for its parameters. Errors in them name the line of the outermost \
     Use. All uses together may have 16 MB.",
    reading("UndefMacro", ANYWHERE, "name", Form::Line).of("mod_macro.c").because("see Macro"),
    "Removes the definition of a macro.",
    reading("Include", ANYWHERE, "file|folder|pattern", Form::Line).because("one file is enough for many sites"),
    "Reads other files at this point: a file, all files in a folder and below it, or those that match `*`, `?` and \
     `[…]`. Files are read sorted by name.",
    reading("IncludeOptional", ANYWHERE, "file|folder|pattern", Form::Line)
        .because("one file is enough for many sites"),
    "As Include, but a missing file is no error.",
];

/// `<VirtualHost address[:port]…>`
fn virtual_host(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let addresses = args.iter().map(|arg| address::host(arg)).collect::<Result<_, _>>()?;
    draft.virtual_host(addresses)
}

/// `<Location path>`, `<Location ~ regex>`
fn location(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let scope = match args {
        [tilde, regex] if tilde == "~" => Scope::LocationMatch(draft.pattern(regex)?),
        [path] if wildcard::is_pattern(path) => {
            Scope::LocationMatch(draft.pattern(&wildcard::to_anchored_regex(path, Slash::Separates))?)
        }
        [path] => {
            if !path.starts_with('/') {
                draft.warn(
                    "matches no request, as in httpd, because URL paths begin with /: nothing in it takes effect; write a path that begins with /",
                );
            }
            Scope::Location(path.clone())
        }
        _ => return Err(format!("expected one path, got \"{}\"; put it in quotation marks", args.join(" "))),
    };
    draft.container(SectionContext::Location, scope, Rank::LOCATION)
}

/// `<LocationMatch regex>`
fn location_match(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let scope = Scope::LocationMatch(draft.pattern(&args[0])?);
    draft.container(SectionContext::Location, scope, Rank::LOCATION)
}

/// `<Directory path>`, `<Directory ~ regex>`. A path with wildcards is merged with the other paths of the same depth.
fn directory(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let (scope, rank) = match args {
        [tilde, regex] if tilde == "~" => (Scope::DirectoryMatch(draft.pattern(regex)?), Rank::DIRECTORY_MATCH),
        [path] => {
            let path = draft.document_path(path);
            let rank = Rank::directory(path.components().count());
            (directory_scope(draft, path)?, rank)
        }
        _ => return Err(format!("expected one path, got \"{}\"; put it in quotation marks", args.join(" "))),
    };
    draft.container(SectionContext::Directory, scope, rank)
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
fn directory_match(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let scope = Scope::DirectoryMatch(draft.pattern(&args[0])?);
    draft.container(SectionContext::Directory, scope, Rank::DIRECTORY_MATCH)
}

/// `<Files name>`, `<Files ~ regex>`
fn files(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let regex = match args {
        [tilde, regex] if tilde == "~" => draft.pattern(regex)?,
        [name] => draft.pattern(&wildcard::to_anchored_regex(name, Slash::Ordinary))?,
        _ => return Err(format!("expected one name, got \"{}\"; put it in quotation marks", args.join(" "))),
    };
    let rank = draft.files_rank();
    draft.container(SectionContext::Files, Scope::Files(regex), rank)
}

/// `<FilesMatch regex>`
fn files_match(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let rank = draft.files_rank();
    let scope = Scope::Files(draft.pattern(&args[0])?);
    draft.container(SectionContext::Files, scope, rank)
}

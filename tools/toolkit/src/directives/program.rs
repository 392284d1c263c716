//! Determines the kind of program, and the directives that serve it.

use std::path::{Path, PathBuf};

use super::super::Misuse;
use super::super::options::Program;
use super::Surroundings;
use super::application::{gives_pagi_application, is_pagi, is_script};
use super::folders;
use super::text::DirectiveText;
use config::program::CgiMode;

enum ProgramKind {
    Psgi(PathBuf),
    Code(String),
    Script(PathBuf),
    Folder(PathBuf),
    Handler(String),
}

/// Adds the directives that load and serve the program.
pub fn program(program: &Program, around: &Surroundings, text: &mut DirectiveText) -> anyhow::Result<()> {
    for folder in &program.include {
        text.by("-I").line("PerlLib", &[&around.folder.join(folder).display().to_string()]);
    }
    let kind = kind(program, around)?;
    let preloaded = match kind {
        ProgramKind::Handler(_) => &program.modules[..program.modules.len() - 1],
        _ => &program.modules[..],
    };
    text.by("the environment");
    if matches!(kind, ProgramKind::Psgi(_) | ProgramKind::Code(_)) {
        // Frameworks return an application if PLACK_ENV is set.
        text.line("PerlPassEnv", &["PLACK_ENV"]);
    }
    if !around.env.is_empty() {
        let names: Vec<&str> = around.env.iter().map(String::as_str).collect();
        text.line("PerlPassEnv", &names);
    }
    for module in preloaded {
        text.by("-M").line("PerlModule", &[module]);
    }
    let statics = statics(program, around)?;
    if let Some(folder) = &statics {
        match is_cgi(&kind) {
            true => folders::serve_static_files(folder, text.by("--static")),
            false => folders::find_static_files(folder, text.by("--static")),
        }
    }
    let is_event = event_mode(program, &kind, text)?;
    let is_kept = cgi_mode(program, &kind, around, text)? != CgiMode::Program;
    text.by(&named(program));
    match kind {
        ProgramKind::Psgi(file) if program.in_development && !is_event => {
            psgi("PsgiEval", &in_development("load_file", &file.display().to_string(), program), text)
        }
        ProgramKind::Code(code) if program.in_development && !is_event => {
            psgi("PsgiEval", &in_development("load_code", &one_line(&code), program), text)
        }
        ProgramKind::Psgi(file) => psgi("PsgiApp", &file.display().to_string(), text),
        ProgramKind::Code(code) => psgi("PsgiEval", &one_line(&code), text),
        ProgramKind::Script(file) => script(&file, is_kept, text),
        ProgramKind::Folder(folder) => folders::serve_scripts(&folder, statics.as_deref(), is_kept, text),
        ProgramKind::Handler(module) => handler(&module, text),
    }
    Ok(())
}

/// Adds `--event`, which programs of PAGI have without being asked. Whether the program runs in an event loop.
fn event_mode(program: &Program, kind: &ProgramKind, text: &mut DirectiveText) -> anyhow::Result<bool> {
    let is_pagi = match kind {
        ProgramKind::Psgi(file) => is_pagi(file),
        ProgramKind::Code(code) => gives_pagi_application(code),
        _ => false,
    };
    if !program.event {
        if is_pagi {
            text.by("the program, which is one of PAGI,").line("PsgiMode", &["event"]);
        }
        return Ok(is_pagi);
    }
    if !matches!(kind, ProgramKind::Psgi(_) | ProgramKind::Code(_)) {
        return Err(
            Misuse("--event: applies only to applications, and not to CGI scripts and handlers".to_owned()).into()
        );
    }
    text.by("--event").line("PsgiMode", &["event"]);
    Ok(true)
}

/// Adds `--cgi-mode` and, for scripts run as programs, the folders of `-I` as PERL5LIB.
fn cgi_mode(
    program: &Program,
    kind: &ProgramKind,
    around: &Surroundings,
    text: &mut DirectiveText,
) -> anyhow::Result<CgiMode> {
    let is_cgi = is_cgi(kind);
    let mode_word = program.cgi_mode.as_deref();
    if mode_word.is_some() && !is_cgi {
        return Err(Misuse("--cgi-mode: applies only to CGI scripts and folders of them".to_owned()).into());
    }
    let expected = |word| Misuse(format!("--cgi-mode: expected program, fork or persistent, got \"{word}\""));
    let mode = mode_word.map(|word| CgiMode::named(word).ok_or_else(|| expected(word))).transpose()?;
    if let Some(word) = mode_word {
        text.by("--cgi-mode").line("CgiMode", &[word]);
    }
    let mode = mode.unwrap_or_default();
    if is_cgi && mode == CgiMode::Program && !program.include.is_empty() {
        let folders = program.include.iter().map(|folder| around.folder.join(folder).display().to_string());
        text.by("-I").line("PerlSetEnv", &["PERL5LIB", &folders.collect::<Vec<_>>().join(":")]);
    }
    Ok(mode)
}

fn is_cgi(kind: &ProgramKind) -> bool {
    matches!(kind, ProgramKind::Script(_) | ProgramKind::Folder(_))
}

/// The folder of `--static`.
fn statics(program: &Program, around: &Surroundings) -> anyhow::Result<Option<PathBuf>> {
    let Some(folder) = &program.statics else { return Ok(None) };
    let folder: PathBuf = around.folder.join(folder).components().collect();
    match folder.is_dir() {
        true => Ok(Some(folder)),
        false => Err(Misuse(format!("--static {}: no such folder", folder.display())).into()),
    }
}

/// The argument that names the program, for messages.
fn named(program: &Program) -> String {
    match (&program.eval, program.path(), program.modules.last()) {
        (Some(_), ..) => "-e".to_owned(),
        (None, Some(path), _) => path.display().to_string(),
        (None, None, Some(_)) => "-M".to_owned(),
        (None, None, None) => "app.psgi".to_owned(),
    }
}

fn psgi(directive: &str, value: &str, text: &mut DirectiveText) {
    text.line(directive, &[value]);
    text.section("Location", "/", &[("SetHandler", "psgi")]);
}

fn script(file: &Path, is_kept: bool, text: &mut DirectiveText) {
    let name = file.display().to_string();
    // The rest of the path is the script's PATH_INFO.
    text.line("ScriptAlias", &["/", &format!("{name}/")]);
    if is_kept {
        text.line("RegistryPreload", &["/", &name]);
    }
}

fn handler(module: &str, text: &mut DirectiveText) {
    text.line("PerlModule", &[module]);
    text.section("Location", "/", &[("SetHandler", "perl-script"), ("PerlHandler", module)]);
}

fn kind(program: &Program, around: &Surroundings) -> anyhow::Result<ProgramKind> {
    if let Some(code) = &program.eval {
        return Ok(ProgramKind::Code(code.clone()));
    }
    let path = match (program.path(), program.modules.last()) {
        (Some(path), _) => around.folder.join(path),
        (None, Some(module)) => return Ok(ProgramKind::Handler(module.clone())),
        (None, None) => around.folder.join("app.psgi"),
    };
    if path.is_dir() {
        // Removes a trailing slash.
        return Ok(ProgramKind::Folder(path.components().collect()));
    }
    if !path.is_file() {
        let advice = "give app.psgi, a CGI script, a folder of scripts, -M Module or -e CODE";
        return Err(Misuse(format!("{}: no such file; {advice}", path.display())).into());
    }
    Ok(if is_script(&path) { ProgramKind::Script(path) } else { ProgramKind::Psgi(path) })
}

/// Code that loads a PSGI application by a function of Cameleer::Development.
fn in_development(function: &str, argument: &str, program: &Program) -> String {
    let list = program.loaded_list.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let (argument, list) = (perl_string(argument), perl_string(&list));
    format!("require Cameleer::Development; Cameleer::Development::{function}({argument}, {list})")
}

/// A string literal of Perl.
fn perl_string(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Converts code to one line, since a directive is a line: several lines become an evaluated string.
pub fn one_line(code: &str) -> String {
    if !code.contains(['\n', '\r']) {
        return code.to_string();
    }
    let mut quoted = String::from("eval \"");
    for c in code.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '"' | '\\' | '$' | '@' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted + "\" || die $@"
}

//! Start-up: boots the interpreter and runs the configuration's steps in the order of the file.

mod doubt;
mod mistakes;
mod scripts;
mod trial;

use mistakes::without_folders;
pub use mistakes::{CodeMistakes, mistake};

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, anyhow};
use libperl::{Code, Hooks, Interpreter, Interrupted};
use wire::control::ProgramFacts;

use super::place::server;
use base::log;
use config::program::CgiMode;
use config::{
    At, Config, ConfigError, Facts, Handler, Host, NamedHandler, PerlGeneration, PerlHtaccess, PsgiApp, Scope, StartUp,
    StartUpStep, pools, regular, split_words, table,
};

/// Boots Perl for a configuration, which may still be incomplete.
pub fn boot(config: &Config, facts: &Facts) -> anyhow::Result<Interpreter> {
    let hooks: Hooks = apache::hooks();
    apache::speak(api_of(config));
    let perl =
        Interpreter::boot_with(&hooks, Some(apache::xs_init()), config.perl.taint_check).map_err(|e| anyhow!(e))?;
    apache::servers((0..config.hosts.len() as u16).map(|host| Rc::new(server(config, host))).collect());
    prepare(&perl, &perl_library(facts)?, config, facts)?;
    Ok(perl)
}

/// Boots Perl, and runs the code of `PerlPrepare`.
pub fn boot_and_prepare(config: &Config, facts: &Facts) -> anyhow::Result<Interpreter> {
    config.apply_log_levels(None);
    let perl = boot(config, facts)?;
    if let Some((code, at)) = &config.perl_prepare {
        perl.eval(code, &at.file, at.line).map_err(|error| anyhow!("{at}: PerlPrepare: {error}"))?;
    }
    Ok(perl)
}

/// Prepares perl for the start-up steps: adds Cameleer's library to `@INC` and sets `MOD_PERL` before the first module
/// is loaded.
fn prepare(perl: &Interpreter, library: &Path, config: &Config, facts: &Facts) -> anyhow::Result<()> {
    let quoted = |folder: &Path| -> anyhow::Result<String> {
        Ok(folder.to_str().context("the Perl library's path is not UTF-8")?.replace(['\\', '\''], ""))
    };
    let (library, objects) = (quoted(library)?, shared_objects()?.as_deref().map(quoted).transpose()?);
    let objects = objects.map(|folder| format!(", '{folder}'")).unwrap_or_default();
    let folders = format!("unshift @INC, '{library}'{objects}; require Cameleer; require Cameleer::PSGI;");
    perl.eval(&folders, file!(), line!())?;
    if api_of(config) == apache::Api::Two {
        // mod_perl 2's modules have the same names as Debian's packages, so Cameleer's folder is only added in this
        // process.
        perl.eval(&format!("unshift @INC, '{library}2';"), file!(), line!())?;
    }
    if speaks_mod_perl(config, facts) {
        let api = api_of(config);
        perl.call(c"Cameleer::start_mod_perl", Some(api.mod_perl()))?;
        if api == apache::Api::Two {
            perl.request_class_is(c"Apache2::RequestRec");
            perl.keep_autoflush();
            perl.call(c"Cameleer::ModPerl2::configuration_is", Some(&config.outline))?;
        }
        perl.call(c"Cameleer::define", Some(&defined(facts)))?;
        perl.call(c"Cameleer::server_root", Some(&config.server_root.to_string_lossy()))?;
        perl.call(c"Cameleer::starting", Some(reading(facts.expanded.is_some(), facts)))?;
        if facts.expanded.is_some() {
            perl.call(c"Cameleer::configuration_is", Some("known"))?;
        }
    } else {
        perl.eval("delete $ENV{MOD_PERL}; $ENV{PLACK_SERVER} = 'Cameleer'", file!(), line!())?;
    }
    if config.perl.warn {
        perl.eval("$^W = 1", file!(), line!())?;
    }
    for (name, value) in main_server_env(config) {
        set_env(perl, name, value)?;
    }
    perl.call(c"Cameleer::StartUp::begin", None)?;
    Ok(())
}

/// The mod_perl API that the configuration selects.
pub fn api_of(config: &Config) -> apache::Api {
    match config.perl.generation {
        PerlGeneration::One => apache::Api::One,
        PerlGeneration::Two => apache::Api::Two,
    }
}

/// Names for `Apache->define`, one per line.
fn defined(facts: &Facts) -> String {
    facts.defined.iter().map(|(name, _)| format!("{name}\n")).collect()
}

/// Arguments of `Cameleer::starting`: the number of the reading, and whether this is a reload. Apache 1.x reads its
/// configuration twice at a start. Without Perl in the configuration we read it once.
pub fn reading(again: bool, facts: &Facts) -> &'static str {
    match (again, facts.reload) {
        (false, false) => "1 0",
        (true, false) => "2 0",
        (false, true) => "1 1",
        (true, true) => "2 1",
    }
}

/// `PerlSetEnv` and `PerlPassEnv` outside any container, which start-up code sees too. In mod_perl 2 these are
/// start-up steps, so that their order is preserved.
fn main_server_env(config: &Config) -> &[(String, String)] {
    match config.perl.generation {
        PerlGeneration::One => config.sections.get(main_base(config)).map_or(&[], |section| &section.own.set_env),
        PerlGeneration::Two => &[],
    }
}

fn main_base(config: &Config) -> usize {
    config.hosts.first().map_or(0, |host| usize::from(host.base))
}

/// Applies changes that start-up code made in `%ENV` to the variables of PerlSetEnv. In mod_perl 2 such changes affect
/// requests, too.
pub fn take_over_env(config: &mut Config, env: &[(Vec<u8>, Vec<u8>)]) {
    if config.perl.generation == PerlGeneration::One {
        return;
    }
    let base = main_base(config);
    let variables = config.sections.get_mut(base).map_or(&mut [][..], |section| &mut section.own.set_env);
    for (name, value) in variables {
        if let Some((_, now)) = env.iter().find(|(known, _)| known == name.as_bytes()) {
            *value = String::from_utf8_lossy(now).into_owned();
        }
    }
}

/// Facts of the loaded code, whose `%ENV` is `env`, for CGI programs.
pub fn program_facts(config: &Config, env: &[(Vec<u8>, Vec<u8>)]) -> ProgramFacts {
    let variables = config.sections.get(main_base(config)).map_or(&[][..], |section| &section.own.set_env);
    let is_taken_over = |name: &[u8]| {
        config.perl.generation == PerlGeneration::Two && variables.iter().any(|(known, _)| known.as_bytes() == name)
    };
    let are_found = |(name, _): &&(Vec<u8>, Vec<u8>)| apache::is_handed_on(name) || is_taken_over(name);
    ProgramFacts {
        components: apache::version_components(),
        variables: env.iter().filter(are_found).cloned().collect(),
    }
}

fn set_env(perl: &Interpreter, name: &str, value: &str) -> Result<(), Interrupted> {
    perl.call(c"Cameleer::set_env", Some(&format!("{name}={value}")))
}

/// Whether the site uses mod_perl. A plain PSGI site does not, and its modules must not detect mod_perl.
pub fn speaks_mod_perl(config: &Config, facts: &Facts) -> bool {
    if config.perl.generation == PerlGeneration::Two {
        return true;
    }
    let sections = || config.sections.iter().filter(|it| [pools::DEFAULT, config.own_pool].contains(&it.pool));
    let by_handler = sections().filter_map(|s| s.own.handler.as_ref());
    let overrides = config.allows_overrides() && config.perl_htaccess >= PerlHtaccess::Handlers;
    // Scripts run as programs need no mod_perl. Scripts run in the worker do, and start-up code may serve either API.
    let modes = sections().filter_map(|s| s.own.program.mode);
    let keeps_scripts =
        modes.into_iter().any(|mode| mode != CgiMode::Program) || config.start_up.iter().any(|it| it.step.is_code());
    let has_scripts = |host: &Host| host.virtual_folders.have_scripts() || host.aliases.iter().any(|a| a.script);
    let scripts = keeps_scripts && config.hosts.iter().any(has_scripts);
    let is_ours = |handler: &Handler| match handler {
        Handler::PerlScript | Handler::ModPerl => true,
        Handler::CgiScript | Handler::FcgidScript => keeps_scripts,
        _ => false,
    };
    let by_extension = sections().flat_map(|s| s.own.response.types.handlers()).any(is_ours);
    // The element `perl` of a page calls subs that start-up code has loaded.
    let has_pages = config.start_up.iter().any(|it| it.step.is_code())
        && sections().any(|s| s.own.response.may_include() || s.own.handler == Some(Handler::ServerParsed));
    let phases = sections().any(|s| !s.own.phases.is_empty() || s.own.perl_handlers.is_some());
    facts.expanded.is_some()
        || has_pages
        || phases
        || overrides
        || scripts
        || by_extension
        || by_handler.into_iter().any(is_ours)
}

/// Loaded PSGI applications by their sources.
pub type Apps = HashMap<PsgiApp, Rc<Code>>;

/// Results of the start-up steps.
pub struct Loaded {
    /// Applications by their sources.
    pub apps: Apps,
    /// Scripts that end the process that compiles them.
    pub fatal: Vec<PathBuf>,
}

/// Runs all steps of a mold in the order of the file. The first failure ends the start, except for a broken script in
/// a folder. With `check`, all errors are collected.
pub fn take_all(perl: &Interpreter, config: &Config, check: bool) -> Result<Loaded, CodeMistakes> {
    let (mut apps, mut fatal, mut mistakes) = (Apps::new(), Vec::new(), Vec::new());
    for step in &config.start_up {
        let broken = match &step.step {
            StartUpStep::Registry { file, uri } => {
                let preloaded = scripts::preload(perl, uri, file);
                fatal.extend(preloaded.fatal);
                preloaded.broken
            }
            _ => take(perl, config, step, &mut apps).err().map(|error| mistake(step, &error)).into_iter().collect(),
        };
        match &step.step {
            StartUpStep::Registry { file, .. } if file.is_dir() && !check => {
                broken.iter().for_each(|broken| log::error("perl", broken));
            }
            _ => mistakes.extend(broken),
        }
        if !check && !mistakes.is_empty() {
            break;
        }
    }
    if check {
        let missing = missing_handlers(perl, config, &mistakes);
        mistakes.extend(missing);
    }
    if mistakes.is_empty() { Ok(Loaded { apps, fatal }) } else { Err(CodeMistakes(mistakes)) }
}

/// Reports every configured handler that Perl does not find. With a PerlDispatchHandler no handler is checked, since a
/// dispatcher may interpret names in its own way. A `+Name` whose line is in `known` failed to load.
fn missing_handlers(perl: &Interpreter, config: &Config, known: &[ConfigError]) -> Vec<ConfigError> {
    let mut ours = config.sections.iter().filter(|section| section.pool == config.own_pool);
    if ours.any(|section| section.own.phases.dispatch.is_some()) {
        return Vec::new();
    }
    let missing = |handler: &NamedHandler| {
        let NamedHandler { at, directive, name, .. } = handler;
        if name.starts_with('+') && known.iter().any(|mistake| mistake.at.as_ref() == Some(at)) {
            return None;
        }
        let error = without_folders(&perl.resolve_handler(name).err()?.to_string());
        let message = format!("{directive}: {}; correct the name, or add its folder with PerlLib", error.trim_end());
        Some(ConfigError { at: Some(at.clone()), message })
    };
    config.handlers.iter().filter_map(missing).collect()
}

pub fn take(perl: &Interpreter, config: &Config, step: &StartUp, apps: &mut Apps) -> Result<(), Interrupted> {
    match &step.step {
        StartUpStep::Own { section, host, .. } => own(perl, step, &ModulePosition::of(config, *section, *host)),
        StartUpStep::Psgi(app) => {
            if config.pool.is_event() {
                perl.require_module("Cameleer::Event")?;
                perl.call(c"Cameleer::Event::begin", None)?;
            }
            let code = load_app(perl, app)?;
            apps.insert(app.clone(), Rc::new(code));
            Ok(())
        }
        StartUpStep::Section { code, host } => section(perl, code, &step.at, *host, api_of(config)).map(drop),
        _ => load(perl, step),
    }
}

/// Runs one step that may define names for the configuration after it.
pub fn load(perl: &Interpreter, step: &StartUp) -> Result<(), Interrupted> {
    match &step.step {
        StartUpStep::Module(name) | StartUpStep::LoadModule(name) => perl.require_module(name),
        // As in mod_perl, the name may be that of a sub that is there.
        StartUpStep::HandlerModule { module, .. } => match perl.call_for_text(c"Cameleer::is_sub", module)?.as_str() {
            "1" => Ok(()),
            _ => perl.require_module(module),
        },
        StartUpStep::Require(file) | StartUpStep::ConfigRequire(file) | StartUpStep::PostConfigRequire(file) => {
            check_kind(file)?;
            perl.require(&file.to_string_lossy())
        }
        StartUpStep::Eval(code) => perl.eval(code, &step.at.file, step.at.line),
        StartUpStep::SetEnv { name, value } => set_env(perl, name, value),
        StartUpStep::Lib(folder) => perl.call(c"Cameleer::add_library", Some(&folder.to_string_lossy())),
        StartUpStep::Psgi(_) | StartUpStep::Registry { .. } | StartUpStep::Section { .. } | StartUpStep::Own { .. } => {
            Ok(())
        }
    }
}

/// Position of a Perl module's directive in the configuration. Sections have numbers; the server and virtual hosts
/// count as sections.
#[derive(Debug, Clone, Default)]
pub struct ModulePosition {
    pub section: u32,
    pub server: u16,
    /// Number of the virtual host, as in `Apache->server`.
    pub host: u16,
    /// Kind of the section, for example `Location`; empty outside sections.
    pub kind: String,
    pub path: String,
    /// Overrides allowed in a `.htaccess` file, in httpd's numbers: the classes, and the `Options` if not all are
    /// allowed.
    pub allowed: Option<(u32, Option<u32>)>,
}

impl ModulePosition {
    fn of(config: &Config, section: u16, host: u16) -> ModulePosition {
        let server = config.hosts.get(usize::from(host)).map_or(1, |host| host.base);
        let scope = config.sections.get(usize::from(section)).map(|section| &section.scope);
        let kind = scope.map(Scope::kind).unwrap_or_default().to_owned();
        let path = scope.map(Scope::argument).unwrap_or_default();
        ModulePosition { section: section.into(), server, host, kind, path, allowed: None }
    }
}

/// Passes a directive to the Perl module that defines it.
pub fn own(perl: &Interpreter, step: &StartUp, within: &ModulePosition) -> Result<(), Interrupted> {
    let StartUpStep::Own { name, args, inside, .. } = &step.step else { return Ok(()) };
    let words = split_words(args).map_err(|error| Interrupted::Died(format!("{name}: {error}")))?;
    let rest = if inside.is_some() { format!("{args}>") } else { args.clone() };
    let mut fields = vec![step.at.file.to_string(), step.at.line.to_string(), name.clone(), rest];
    fields.push(inside.clone().unwrap_or_default());
    fields.extend([within.section, within.server.into(), within.host.into()].map(|number| number.to_string()));
    fields.extend([within.kind.clone(), within.path.clone()]);
    let (classes, options) = within.allowed.unzip();
    fields.extend([classes, options.flatten()].map(|number| number.map_or_else(String::new, |it| it.to_string())));
    fields.extend(words);
    perl.call(c"Cameleer::Directives::apply", Some(&fields.join("\0")))
}

/// Runs a `<Perl>` section of a host. Returns the directives that it produced, as text.
pub fn section(perl: &Interpreter, code: &str, at: &At, host: u16, api: apache::Api) -> Result<String, Interrupted> {
    perl.call(c"Cameleer::begin_section", Some(&table::for_perl()))?;
    let begin = match api {
        apache::Api::One => "package Apache::ReadConfig;".to_owned(),
        // Each section gets its own package, and `$0` is the file's name. `$0` is aliased to another scalar, since
        // assigning to perl's own would rename the process.
        apache::Api::Two => {
            let place = format!("{host}\0{}\0{}", at.line, at.file);
            let package = perl.call_for_text(c"Cameleer::Sections::package_of", &place)?;
            format!("package {package}; local *0 = \\do {{ my $file = __FILE__ }};")
        }
    };
    // The section's first line is on the line of its tag; the code of a `Perl` directive is on the directive's line.
    let line_end = if code.ends_with('\n') { "\n" } else { " " };
    perl.eval(&format!("{begin}{line_end}{code}"), &at.file, at.line)?;
    perl.call_for_text(c"Cameleer::Sections::directives", "")
}

/// Rejects files that are not regular: Perl would block on a named pipe. All other errors of a file are reported by
/// Perl.
fn check_kind(file: &Path) -> Result<(), Interrupted> {
    match regular::open(file) {
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(Interrupted::Died(format!("{}: {error}", file.display())))
        }
        _ => Ok(()),
    }
}

/// Loads the PSGI application of a file or of inline code.
pub fn load_app(perl: &Interpreter, app: &PsgiApp) -> Result<Code, Interrupted> {
    match app {
        PsgiApp::File(file) => {
            check_kind(file)?;
            perl.load_psgi(&file.to_string_lossy(), true)
        }
        PsgiApp::Code(code) => perl.load_psgi(code, false),
    }
}

/// The folder of shared objects that Perl loads on demand (`APR::*`): installed beside the program, or in the build
/// tree.
fn shared_objects() -> anyhow::Result<Option<PathBuf>> {
    let program = std::env::current_exe().context("cannot read /proc/self/exe for the path of this program")?;
    let mut near =
        program.ancestors().skip(1).flat_map(|folder| [folder.join("perl-xs"), folder.join("lib/cameleer/perl")]);
    Ok(near.find(|folder| folder.join("auto").is_dir()))
}

/// The folder of our Perl modules: `CAMELEER_PERL_LIB`, installed beside the program, or the source tree.
fn perl_library(facts: &Facts) -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("cannot read /proc/self/exe for the path of this program")?;
    let near =
        program.ancestors().skip(1).flat_map(|folder| [folder.join("share/cameleer/perl"), folder.join("perl/lib")]);
    let named = facts.env.iter().filter(|(name, _)| name == "CAMELEER_PERL_LIB");
    named
        .map(|(_, folder)| PathBuf::from(folder))
        .chain(near)
        .find(|folder| folder.join("Cameleer.pm").is_file())
        .with_context(|| {
            format!(
                "no share/cameleer/perl near {}; install the program with its library, or name it in CAMELEER_PERL_LIB",
                program.display()
            )
        })
}

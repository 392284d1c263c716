//! Perl code loaded at the start, response handlers, and the environment of programs.

use std::path::PathBuf;

use crate::draft::Draft;
use crate::model::handler::Handler;
use crate::model::overrides::{Class, PerlHtaccess};
use crate::model::perl::api::PerlGeneration;
use crate::model::start_up::warm_up::{WarmUpSource, WarmUpUrl};
use crate::model::start_up::{PsgiApp, StartUpStep};
use crate::syntax::source::Replacing;
use crate::table::SectionContext;
use crate::table::perl::phases;
use crate::table::row::{ANY, ANYWHERE, Effect, FILE_INFO, HOSTS, MANY, POOLS, Row, SERVER, flag, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_perl.c",
    words("PerlHandler", FILE_INFO, "handler…", 1..=MANY, answering)
        .replacing(Replacing::UnlessSub)
        .effect(Effect::Generation)
        .because("only the site knows its code"),
    "Packages, subs or `sub { … }` that handle requests of `SetHandler perl-script`, in this order until one does not \
     decline. An inner section replaces the list of the outer section.",
    words("PerlCleanupHandler", FILE_INFO, "handler…", 1..=MANY, |d, names| {
        phases::register(d, names)?;
        d.settings().cleanup_handlers.get_or_insert_default().extend_from_slice(names);
        Ok(())
    })
    .replacing(Replacing::UnlessSub)
    .effect(Effect::Generation)
    .because("most requests need no clean-up"),
    "Handlers that run after the response has been sent.",
    words("PerlModule", ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO), "Name…", 1..=MANY, |d, names| {
        steps(d, names, |_, name| StartUpStep::Module(name.to_owned()))
    })
    .code()
    .effect(Effect::Generation)
    .because("only the site knows its code"),
    "Modules loaded before the workers are forked, so that workers share their memory. Loaded in the order of the \
     file, together with PerlRequire.",
    words("PerlRequire", ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO), "file…", 1..=MANY, |d, files| {
        steps(d, files, |d, file| StartUpStep::Require(required(d, file)))
    })
    .aliases(&["PerlScript"])
    .code()
    .effect(Effect::Generation)
    .because("only the site knows its code"),
    "Perl files that run before the workers are forked, for instance startup.pl.",
    words("PerlLib", POOLS, "folder…", 1..=MANY, |d, folders| {
        steps(d, folders, |d, folder| StartUpStep::Lib(d.path(folder)))
    })
    .of("cameleer.c")
    .effect(Effect::Generation)
    .because("perl's own @INC, and PERL5LIB"),
    "Folders prepended to @INC, at this point of the start-up.",
    words("PerlEval", POOLS, "code", 1..=1, |d, code| steps(d, code, |_, code| StartUpStep::Eval(code.to_owned())))
        .of("cameleer.c")
        .replacing(Replacing::Code)
        .effect(Effect::Generation)
        .because("code belongs in files"),
    "Perl code that runs before the workers are forked. `${name}` in it is Perl's, and not replaced.",
    word("PsgiApp", FILE_INFO, "file", |d, file| {
        let app = PsgiApp::File(d.path(file));
        psgi_app(d, app);
        Ok(())
    })
    .of("cameleer.c")
    .code()
    .effect(Effect::Generation)
    .because("only the site knows its code"),
    "A .psgi file, loaded before the workers are forked. It handles this section (`SetHandler psgi` is implied), with \
     the Location as SCRIPT_NAME.",
    word("PsgiEval", FILE_INFO, "code", |d, code| {
        psgi_app(d, PsgiApp::Code(code.to_owned()));
        Ok(())
    })
    .of("cameleer.c")
    .replacing(Replacing::Code)
    .code()
    .effect(Effect::Generation)
    .because("code belongs in files"),
    "As PsgiApp, with the code itself; `cameleer run -e` generates it. `${name}` in it is Perl's, and not replaced.",
    words("RegistryPreload", HOSTS.and_pools(), "/uri file|folder", 2..=2, registry_preload)
        .of("cameleer.c")
        .effect(Effect::Generation)
        .because("scripts are compiled at their first request"),
    "A CGI script, or all executable scripts of a folder, compiled before the workers are forked, as with \
     Apache::RegistryLoader. A file that does not compile is an error at the start; in a folder, such scripts are \
     named in the error log, and the others work. `check` lists all of them.",
    word("PerlPreload", SERVER, "auto|off", preload).default(
        "off",
        "a trial cannot show all that code does when it is loaded; `cameleer mem --advise` writes the list for the \
             configuration"
    ),
    "`auto`: at a start and at each reload the mold also loads the modules and Registry scripts that at least half of \
     the workers of the last run loaded after the fork. Between two runs the list is in the file `preload` of systemd's \
     StateDirectory, or else HistoryFile with `.preload` at the end. Code that changes its process when it is loaded, \
     that fails or hangs in a trial in a separate process, is left out and named in the log.",
    word("PerlPrepare", SERVER, "code", |d, code| {
        d.config.perl_prepare = Some((code.to_owned(), d.at.clone()));
        Ok(())
    })
    .of("cameleer.c")
    .replacing(Replacing::Code)
    .code()
    .effect(Effect::Generation)
    .because("a process that only waits needs memory, so it is for development; `cameleer dev` sets it"),
    "A process waits for the next reload: Perl is booted in it, and has run this code. A reload with an unchanged \
     configuration then only loads the site's own code. Code that may change has no place here; `1` is enough. A \
     configuration without the line leaves the process for one more reload, and at most ten minutes.",
    words("PerlWarmup", HOSTS, "/path|http://host/path…", 1..=MANY, warm_up)
        .of("cameleer.c")
        .effect(Effect::Generation)
        .because("only the site knows which requests are worth it"),
    "URLs requested once before the workers are forked, each by a GET whose response is discarded. Code and data that \
     the requests load are shared by all workers. The requests come from 127.0.0.1, without a user, with \
     `CAMELEER_WARMUP` in their environment. Each is tried in a separate process first; one that fails, hangs or \
     crashes there is logged and skipped.",
    words("PerlWarmupLog", HOSTS, "file number", 2..=2, warm_up_log)
        .of("cameleer.c")
        .effect(Effect::Generation)
        .because("PerlWarmup names the important URLs"),
    "As PerlWarmup, with this many of the most frequent paths of an access log in common or combined format. Paths \
     that Perl handles are taken from GET requests with status 200, without their queries. Only the last 8 MB of the \
     log are read.",
    words("PerlSetVar", ANY, "name value", 2..=2, |d, args| {
        d.settings().set_vars.push((args[0].clone(), args[1].clone(), false));
        Ok(())
    })
    .because("programs have their own defaults"),
    "A value for the program, which reads it with `$r->dir_config('name')`. It replaces earlier values of the name.",
    words("PerlAddVar", ANY, "name value…", 2..=MANY, |d, args| {
        let added = args[1..].iter().map(|value| (args[0].clone(), value.clone(), true));
        d.settings().set_vars.extend(added);
        Ok(())
    })
    .because("programs have their own defaults"),
    "As PerlSetVar, but adds to earlier values of the name: `$r->dir_config->get('name')` returns all.",
    words("PerlSetEnv", FILE_INFO, "name [value]", 1..=2, |d, args| {
        let value = args.get(1).cloned().unwrap_or_default();
        set_env(d, args[0].clone(), value);
        Ok(())
    })
    .because("programs get only the CGI variables"),
    "Sets an environment variable of requests. The value may be empty.",
    words("PerlPassEnv", FILE_INFO, "name…", 1..=MANY, pass_env)
        .because("the environment of the master may contain secrets"),
    "Passes environment variables of the master to requests.",
    flag("PerlSendHeader", FILE_INFO, |d, on| d.settings().send_header = Some(on))
        .default("Off", "mod_perl 1's default: handlers send their header themselves"),
    "Whether the output of a PerlHandler begins with a CGI header.",
    flag("PerlSetupEnv", FILE_INFO, |d, on| d.settings().setup_env = Some(on))
        .default("On", "mod_perl 1's default: programs expect the CGI variables in %ENV"),
    "Whether %ENV is filled for every request. Off is faster for handlers that do not read it.",
    word("PerlHtaccess", SERVER, "Off|Vars|Handlers|On", |d, word| {
        d.config.perl_htaccess = PerlHtaccess::parse(word)?;
        Ok(())
    })
    .of("cameleer.c")
    .effect(Effect::Generation)
    .default("On", "sites of mod_perl 1 have Perl in .htaccess files wherever AllowOverride permits it"),
    "Perl that .htaccess files may contain where AllowOverride permits it. Off: none; Vars: values like PerlSetVar; \
     Handlers: also handlers by name, whose modules are loaded from @INC; On: also code (`sub { … }`, PerlModule, \
     PerlRequire, PsgiApp). Code needs AllowOverride FileInfo and Options: these two permit running it as a script in \
     any case.",
];

fn steps(draft: &mut Draft, args: &[String], step: fn(&Draft, &str) -> StartUpStep) -> Result<(), String> {
    for arg in args {
        let step = step(draft, arg);
        draft.start_up(step);
    }
    Ok(())
}

/// `PsgiApp file`: the application handles the section, and is loaded once at the start.
fn psgi_app(draft: &mut Draft, app: PsgiApp) {
    let step = StartUpStep::Psgi(app.clone());
    if !draft.config.start_up.iter().any(|known| known.step == step) {
        draft.start_up(step);
    }
    let settings = draft.settings();
    settings.psgi_app = Some(app);
    settings.handler = Some(Handler::Psgi);
}

/// `RegistryPreload uri file`
fn registry_preload(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (uri, file) = (args[0].clone(), draft.path(&args[1]));
    if !uri.starts_with('/') {
        return Err(format!("expected the script's URI first, beginning with /, got \"{uri}\""));
    }
    draft.start_up(StartUpStep::Registry { file, uri });
    Ok(())
}

fn preload(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.config.perl.preload = match word.to_ascii_lowercase().as_str() {
        "auto" => true,
        "off" => false,
        _ => return Err(format!("expected auto or off, got \"{word}\"")),
    };
    Ok(())
}

/// `PerlWarmup url…`
fn warm_up(draft: &mut Draft, urls: &[String]) -> Result<(), String> {
    for url in urls {
        let url = WarmUpUrl::parse(url)?;
        draft.warm_up(WarmUpSource::Url(url));
    }
    Ok(())
}

/// `PerlWarmupLog file number`
fn warm_up_log(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    const MAX_COUNT: usize = 1000;
    let most = args[1].parse().ok().filter(|most| (1..=MAX_COUNT).contains(most));
    let most = most.ok_or_else(|| format!("expected a number from 1 to {MAX_COUNT}, got \"{}\"", args[1]))?;
    let file = draft.path(&args[0]);
    draft.warm_up(WarmUpSource::Log { file, most });
    Ok(())
}

/// Sets the variable for requests; in mod_perl 2 also for start-up code between this line and the next of that name.
fn set_env(draft: &mut Draft, name: String, value: String) {
    let is_two = draft.config.perl_of(draft.position.pool).generation == PerlGeneration::Two;
    if is_two && draft.position.context == SectionContext::Server {
        draft.start_up(StartUpStep::SetEnv { name: name.clone(), value: value.clone() });
    }
    draft.settings().set_env.push((name, value));
}

/// `PerlPassEnv name…`
fn pass_env(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        match draft.facts.env.iter().find(|(known, _)| known == name) {
            Some((name, value)) => {
                let (name, value) = (name.clone(), value.clone());
                set_env(draft, name, value);
            }
            None => draft.warn(&format!("{name} is not in the server's environment and is not passed")),
        }
    }
    Ok(())
}

/// Path of a required file. mod_perl 2 searches @INC for a relative name, and ServerRoot comes last in it.
pub fn required(draft: &Draft, file: &str) -> PathBuf {
    match draft.config.perl_of(draft.position.pool).generation {
        PerlGeneration::One => draft.path(file),
        PerlGeneration::Two => PathBuf::from(file),
    }
}

/// `PerlHandler handler…`, `PerlResponseHandler handler…`: the response handlers.
pub fn answering(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    phases::register(draft, names)?;
    draft.settings().perl_handlers.get_or_insert_default().extend_from_slice(names);
    Ok(())
}

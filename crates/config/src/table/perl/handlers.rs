//! Perl code loaded at the start, response handlers, and the environment of programs.

use std::path::PathBuf;

use crate::draft::Draft;
use crate::model::handler::Handler;
use crate::model::overrides::{Class, PerlHtaccess};
use crate::model::perl::api::Generation;
use crate::model::start_up::warm_up::{WarmUpSource, WarmUpUrl};
use crate::model::start_up::{PsgiApp, StartUpStep};
use crate::table::Context;
use crate::table::perl::phases;
use crate::table::row::{ANYWHERE, Effect, HOSTS, MANY, POOLS, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "PerlHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("handler…", 1..=MANY, answering),
        because: "only the site knows its code",
        effect: Effect::Generation,
        about: "Packages, subs or `sub { … }` that handle requests of `SetHandler perl-script`, in this order until one does not decline. \
            An inner section replaces the list of the outer section.",
        ..ROW
    },
    Row {
        name: "PerlCleanupHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("handler…", 1..=MANY, |d, names| {
            phases::name(d, names);
            d.settings().cleanup_handlers.get_or_insert_default().extend_from_slice(names);
            Ok(())
        }),
        because: "most requests need no clean-up",
        effect: Effect::Generation,
        about: "Handlers that run after the response has been sent.",
        ..ROW
    },
    Row {
        name: "PerlModule",
        contexts: ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("Name…", 1..=MANY, |d, names| {
            steps(d, names, |_, name| StartUpStep::Module(name.to_owned()))
        }),
        because: "only the site knows its code",
        effect: Effect::Generation,
        is_code: true,
        about: "Modules loaded before the workers are forked, so that workers share their memory. Loaded in the order of the file, together with PerlRequire.",
        ..ROW
    },
    Row {
        name: "PerlRequire",
        aliases: &["PerlScript"],
        contexts: ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("file…", 1..=MANY, |d, files| {
            steps(d, files, |d, file| StartUpStep::Require(required(d, file)))
        }),
        because: "only the site knows its code",
        effect: Effect::Generation,
        is_code: true,
        about: "Perl files that run before the workers are forked, for instance startup.pl.",
        ..ROW
    },
    Row {
        name: "PerlLib",
        contexts: POOLS,
        takes: Takes::Words("folder…", 1..=MANY, |d, folders| {
            steps(d, folders, |d, folder| StartUpStep::Lib(d.path(folder)))
        }),
        because: "perl's own @INC, and PERL5LIB",
        effect: Effect::Generation,
        about: "Folders prepended to @INC, at this point of the start-up.",
        ..ROW
    },
    Row {
        name: "PerlEval",
        contexts: POOLS,
        takes: Takes::Words("code", 1..=1, |d, code| steps(d, code, |_, code| StartUpStep::Eval(code.to_owned()))),
        because: "code belongs in files",
        effect: Effect::Generation,
        about: "Perl code that runs before the workers are forked. `${name}` in it is Perl's, and not replaced.",
        ..ROW
    },
    Row {
        name: "PsgiApp",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("file", |d, file| {
            let app = PsgiApp::File(d.path(file));
            psgi_app(d, app);
            Ok(())
        }),
        because: "only the site knows its code",
        effect: Effect::Generation,
        is_code: true,
        about: "A .psgi file, loaded before the workers are forked. It handles this section (`SetHandler psgi` is implied), with the \
            Location as SCRIPT_NAME.",
        ..ROW
    },
    Row {
        name: "PsgiEval",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("code", |d, code| {
            psgi_app(d, PsgiApp::Code(code.to_owned()));
            Ok(())
        }),
        because: "code belongs in files",
        effect: Effect::Generation,
        is_code: true,
        about: "As PsgiApp, with the code itself; `cameleer run -e` generates it. `${name}` in it is Perl's, and not replaced.",
        ..ROW
    },
    Row {
        name: "RegistryPreload",
        contexts: HOSTS.and_pools(),
        takes: Takes::Words("/uri file|folder", 2..=2, registry_preload),
        because: "scripts are compiled at their first request",
        effect: Effect::Generation,
        about: "A CGI script, or all executable scripts of a folder, compiled before the workers are forked, as with \
                Apache::RegistryLoader. A file that does not compile is an error at the start; in a folder, such scripts are \
                named in the error log, and the others work. `check` lists all of them.",
        ..ROW
    },
    Row {
        name: "PerlPreload",
        contexts: SERVER,
        takes: Takes::Word("auto|off", preload),
        default: Some("off"),
        because: "the configuration should list all code that is loaded before the fork; `cameleer mem --advise` writes that list",
        about: "`auto`: at each reload the new mold also loads the modules and Registry scripts that at least half of the workers loaded after \
            the fork. A trial in a separate process must succeed first.",
        ..ROW
    },
    Row {
        name: "PerlWarmup",
        contexts: HOSTS,
        takes: Takes::Words("/path|http://host/path…", 1..=MANY, warm_up),
        because: "only the site knows which requests are worth it",
        effect: Effect::Generation,
        about: "URLs requested once before the workers are forked, each by a GET whose response is discarded. Code and data that the requests load \
            are shared by all workers. The requests come from 127.0.0.1, without a user, with `CAMELEER_WARMUP` in their \
            environment. Each is tried in a separate process first; one that fails, hangs or crashes there is logged and skipped.",
        ..ROW
    },
    Row {
        name: "PerlWarmupLog",
        contexts: HOSTS,
        takes: Takes::Words("file number", 2..=2, warm_up_log),
        because: "PerlWarmup names the important URLs",
        effect: Effect::Generation,
        about: "As PerlWarmup, with this many of the most frequent paths of an access log in common or combined format. Paths that Perl \
            handles are taken from GET requests with status 200, without their queries. Only the last 8 MB of the log are read.",
        ..ROW
    },
    Row {
        name: "PerlSetVar",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Words("name value", 2..=2, |d, args| {
            d.settings().set_vars.push((args[0].clone(), args[1].clone(), false));
            Ok(())
        }),
        because: "programs have their own defaults",
        about: "A value for the program, which reads it with `$r->dir_config('name')`. It replaces earlier values of the name.",
        ..ROW
    },
    Row {
        name: "PerlAddVar",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Words("name value…", 2..=MANY, |d, args| {
            let added = args[1..].iter().map(|value| (args[0].clone(), value.clone(), true));
            d.settings().set_vars.extend(added);
            Ok(())
        }),
        because: "programs have their own defaults",
        about: "As PerlSetVar, but adds to earlier values of the name: `$r->dir_config->get('name')` returns all.",
        ..ROW
    },
    Row {
        name: "PerlSetEnv",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name [value]", 1..=2, |d, args| {
            let value = args.get(1).cloned().unwrap_or_default();
            set_env(d, args[0].clone(), value);
            Ok(())
        }),
        because: "programs get only the CGI variables",
        about: "Sets an environment variable of requests. The value may be empty.",
        ..ROW
    },
    Row {
        name: "PerlPassEnv",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name…", 1..=MANY, |d, names| {
            pass_env(d, names);
            Ok(())
        }),
        because: "the environment of the master may contain secrets",
        about: "Passes environment variables of the master to requests.",
        ..ROW
    },
    Row {
        name: "PerlSendHeader",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Flag(|d, on| d.settings().send_header = Some(on)),
        default: Some("Off"),
        because: "mod_perl 1's default: handlers send their header themselves",
        about: "Whether the output of a PerlHandler begins with a CGI header.",
        ..ROW
    },
    Row {
        name: "PerlSetupEnv",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Flag(|d, on| d.settings().setup_env = Some(on)),
        default: Some("On"),
        because: "mod_perl 1's default: programs expect the CGI variables in %ENV",
        about: "Whether %ENV is filled for every request. Off is faster for handlers that do not read it.",
        ..ROW
    },
    Row {
        name: "PerlHtaccess",
        contexts: SERVER,
        takes: Takes::Word("Off|Vars|Handlers|On", |d, word| {
            d.config.perl_htaccess = PerlHtaccess::parse(word)?;
            Ok(())
        }),
        default: Some("On"),
        because: "sites of mod_perl 1 have Perl in .htaccess files wherever AllowOverride permits it",
        effect: Effect::Generation,
        about: "Perl that .htaccess files may contain where AllowOverride permits it. Off: none; Vars: values like PerlSetVar; Handlers: also handlers by \
            name, whose modules are loaded from @INC; On: also code (`sub { … }`, PerlModule, PerlRequire, PsgiApp). Code needs \
            AllowOverride FileInfo and Options: these two permit running it as a script in any case.",
        ..ROW
    },
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
    let said = draft.settings();
    said.psgi_app = Some(app);
    said.handler = Some(Handler::Psgi);
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
    const MOST: usize = 1000;
    let most = args[1].parse().ok().filter(|most| (1..=MOST).contains(most));
    let most = most.ok_or_else(|| format!("expected a number from 1 to {MOST}, got \"{}\"", args[1]))?;
    let file = draft.path(&args[0]);
    draft.warm_up(WarmUpSource::Log { file, most });
    Ok(())
}

/// Sets the variable for requests; in mod_perl 2 also for start-up code between this line and the next of that name.
fn set_env(draft: &mut Draft, name: String, value: String) {
    let is_two = draft.config.perl_of(draft.position.pool).generation == Generation::Two;
    if is_two && draft.position.context == Context::Server {
        draft.start_up(StartUpStep::SetEnv { name: name.clone(), value: value.clone() });
    }
    draft.settings().set_env.push((name, value));
}

/// `PerlPassEnv name…`
fn pass_env(draft: &mut Draft, names: &[String]) {
    for name in names {
        match draft.facts.env.iter().find(|(known, _)| known == name) {
            Some((name, value)) => {
                let (name, value) = (name.clone(), value.clone());
                set_env(draft, name, value);
            }
            None => draft.warn(&format!("{name} is not in the server's environment and is not passed")),
        }
    }
}

/// Path of a required file. mod_perl 2 searches @INC for a relative name, and ServerRoot comes last in it.
pub fn required(draft: &Draft, file: &str) -> PathBuf {
    match draft.config.perl_of(draft.position.pool).generation {
        Generation::One => draft.path(file),
        Generation::Two => PathBuf::from(file),
    }
}

/// `PerlHandler handler…`, `PerlResponseHandler handler…`: the response handlers.
pub fn answering(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    phases::name(draft, names);
    draft.settings().perl_handlers.get_or_insert_default().extend_from_slice(names);
    Ok(())
}

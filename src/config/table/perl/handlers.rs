//! Perl: what is loaded, who answers, what programs see.

use std::path::PathBuf;

use crate::config::draft::Draft;
use crate::config::model::handler::Handler;
use crate::config::model::overrides::{Class, PerlHtaccess};
use crate::config::model::perl::api::Generation;
use crate::config::model::start_up::warm_up::{WarmUpSource, WarmUpUrl};
use crate::config::model::start_up::{PsgiApp, StartUpStep};
use crate::config::table::Context;
use crate::config::table::perl::phases;
use crate::config::table::row::{ANYWHERE, Effect, HOSTS, MANY, POOLS, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "PerlHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("handler…", 1..=MANY, answering),
        because: "the site says which",
        effect: Effect::Generation,
        about: "Packages, subs or `sub { … }` that answer requests of `SetHandler perl-script`, in this order until one does not decline. \
            An inner section replaces the list of the outer.",
        ..ROW
    },
    Row {
        name: "PerlCleanupHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("handler…", 1..=MANY, |d, names| {
            phases::name(d, names);
            d.said().cleanup_handlers.get_or_insert_default().extend_from_slice(names);
            Ok(())
        }),
        because: "most requests leave nothing to clean",
        effect: Effect::Generation,
        about: "Run after the answer has been sent.",
        ..ROW
    },
    Row {
        name: "PerlModule",
        contexts: ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("Name…", 1..=MANY, |d, names| {
            steps(d, names, |_, name| StartUpStep::Module(name.to_owned()))
        }),
        because: "the site says which",
        effect: Effect::Generation,
        is_code: true,
        about: "Modules loaded before the workers are forked, so that they share them. In the order of the file with PerlRequire.",
        ..ROW
    },
    Row {
        name: "PerlRequire",
        aliases: &["PerlScript"],
        contexts: ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("file…", 1..=MANY, |d, files| {
            steps(d, files, |d, file| StartUpStep::Require(required(d, file)))
        }),
        because: "the site says which",
        effect: Effect::Generation,
        is_code: true,
        about: "Perl files run before the workers are forked, for instance startup.pl.",
        ..ROW
    },
    Row {
        name: "PerlLib",
        contexts: POOLS,
        takes: Takes::Words("folder…", 1..=MANY, |d, folders| {
            steps(d, folders, |d, folder| StartUpStep::Lib(d.path(folder)))
        }),
        because: "perl's own @INC, and what PERL5LIB adds",
        effect: Effect::Generation,
        about: "Folders put in front of @INC, at this place of the start-up.",
        ..ROW
    },
    Row {
        name: "PerlEval",
        contexts: POOLS,
        takes: Takes::Words("code", 1..=1, |d, code| steps(d, code, |_, code| StartUpStep::Eval(code.to_owned()))),
        because: "code belongs in files",
        effect: Effect::Generation,
        about: "Perl code run before the workers are forked. `${name}` in it is Perl's, not replaced.",
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
        because: "the site says which",
        effect: Effect::Generation,
        is_code: true,
        about: "A .psgi file, loaded before the workers are forked; it answers this section (`SetHandler psgi` is implied) and finds the \
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
        about: "As PsgiApp with the code itself: `cameleer run -e` makes it. `${name}` in it is Perl's, not replaced.",
        ..ROW
    },
    Row {
        name: "RegistryPreload",
        contexts: HOSTS.and_pools(),
        takes: Takes::Words("/uri file|folder", 2..=2, registry_preload),
        because: "scripts are compiled when they are first asked for",
        effect: Effect::Generation,
        about: "A CGI script, or all of a folder that may be executed, compiled before the workers are forked, as \
                Apache::RegistryLoader does. A file that does not compile is an error at the start; in a folder each is \
                named in the error log, and the others serve. `check` names all.",
        ..ROW
    },
    Row {
        name: "PerlPreload",
        contexts: SERVER,
        takes: Takes::Word("auto|off", preload),
        default: Some("off"),
        because: "what is loaded before the fork should be what somebody has written down; `cameleer mem --advise` writes it",
        about: "`auto`: at each reload the new mold also loads the modules and Registry scripts that at least half of the workers have loaded since \
            the fork, if that goes well in a process of its own.",
        ..ROW
    },
    Row {
        name: "PerlWarmup",
        contexts: HOSTS,
        takes: Takes::Words("/path|http://host/path…", 1..=MANY, warm_up),
        because: "the site says which requests are worth it",
        effect: Effect::Generation,
        about: "URLs that are asked for once before the workers are forked, each by a GET whose answer goes nowhere: what that loads, compiles \
            and keeps is shared by all workers. The requests come from 127.0.0.1, without a user, and find `CAMELEER_WARMUP` in their \
            environment. They are rehearsed in a process of their own first; one that fails, hangs or crashes there is a line in the log, and left out.",
        ..ROW
    },
    Row {
        name: "PerlWarmupLog",
        contexts: HOSTS,
        takes: Takes::Words("file number", 2..=2, warm_up_log),
        because: "PerlWarmup names what matters",
        effect: Effect::Generation,
        about: "As PerlWarmup with the paths that an access log in common or combined format names most often: so many of those that Perl \
            answers, of GETs that were answered 200, without their queries. Of a long log the last 8 MB are read.",
        ..ROW
    },
    Row {
        name: "PerlSetVar",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Words("name value", 2..=2, |d, args| {
            d.said().set_vars.push((args[0].clone(), args[1].clone(), false));
            Ok(())
        }),
        because: "the program has its own",
        about: "A value that the program reads with `$r->dir_config('name')`. Replaces earlier ones of the name.",
        ..ROW
    },
    Row {
        name: "PerlAddVar",
        contexts: ANYWHERE.and_htaccess(Class::ANY),
        takes: Takes::Words("name value…", 2..=MANY, |d, args| {
            let added = args[1..].iter().map(|value| (args[0].clone(), value.clone(), true));
            d.said().set_vars.extend(added);
            Ok(())
        }),
        because: "the program has its own",
        about: "As PerlSetVar, added to earlier values of the name: `$r->dir_config->get('name')` gives all.",
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
        because: "programs get the CGI variables only",
        about: "An environment variable that requests see. The value may be empty.",
        ..ROW
    },
    Row {
        name: "PerlPassEnv",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("name…", 1..=MANY, |d, names| {
            pass_env(d, names);
            Ok(())
        }),
        because: "the environment of the master may hold secrets",
        about: "Environment variables of the master that requests see, too.",
        ..ROW
    },
    Row {
        name: "PerlSendHeader",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Flag(|d, on| d.said().send_header = Some(on)),
        default: Some("Off"),
        because: "mod_perl 1's: handlers send their header themselves",
        about: "Whether what a PerlHandler prints begins with a CGI header.",
        ..ROW
    },
    Row {
        name: "PerlSetupEnv",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Flag(|d, on| d.said().setup_env = Some(on)),
        default: Some("On"),
        because: "mod_perl 1's: programs expect the CGI variables in %ENV",
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
        because: "sites of mod_perl 1 have their Perl in .htaccess files wherever AllowOverride lets them",
        effect: Effect::Generation,
        about: "How much Perl .htaccess files may hold where AllowOverride lets them: nothing; values like PerlSetVar; also handlers by \
            name, which loads their modules from @INC; or also code: `sub { … }`, PerlModule, PerlRequire, PsgiApp. Code needs \
            AllowOverride FileInfo and Options: with these two it can be run as a script in any case.",
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

/// `PsgiApp file`: the section is served by it, and it is loaded at the start, once.
fn psgi_app(draft: &mut Draft, app: PsgiApp) {
    let step = StartUpStep::Psgi(app.clone());
    if !draft.config.start_up.iter().any(|known| known.step == step) {
        draft.start_up(step);
    }
    let said = draft.said();
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

/// For requests; in mod_perl 2 also for the code that is run between this line and the next of that name.
fn set_env(draft: &mut Draft, name: String, value: String) {
    let is_two = draft.config.perl_of(draft.position.pool).generation == Generation::Two;
    if is_two && draft.position.context == Context::Server {
        draft.start_up(StartUpStep::SetEnv { name: name.clone(), value: value.clone() });
    }
    draft.said().set_env.push((name, value));
}

/// `PerlPassEnv name…`
fn pass_env(draft: &mut Draft, names: &[String]) {
    for name in names {
        match draft.facts.env.iter().find(|(known, _)| known == name) {
            Some((name, value)) => {
                let (name, value) = (name.clone(), value.clone());
                set_env(draft, name, value);
            }
            None => draft.warn(&format!("{name} is not in the environment: it is not passed")),
        }
    }
}

/// mod_perl 2 looks for a relative name in @INC, where ServerRoot comes last.
pub fn required(draft: &Draft, file: &str) -> PathBuf {
    match draft.config.perl_of(draft.position.pool).generation {
        Generation::One => draft.path(file),
        Generation::Two => PathBuf::from(file),
    }
}

/// `PerlHandler handler…`, `PerlResponseHandler handler…`: who answers.
pub fn answering(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    phases::name(draft, names);
    draft.said().perl_handlers.get_or_insert_default().extend_from_slice(names);
    Ok(())
}

//! What mod_perl 2 adds to the language. A configuration that says any of it is read for that API: see
//! [`speaks_of`].

use crate::config::draft::Draft;
use crate::config::model::handler::Handler;
use crate::config::model::overrides::Class;
use crate::config::model::perl::api::Generation;
use crate::config::model::pools::{CODE_ELSEWHERE, DEFAULT};
use crate::config::model::start_up::StartUpStep;
use crate::config::syntax::tree::Directive;
use crate::config::table::content::filters;
use crate::config::table::perl::{handlers, phases, switches};
use crate::config::table::row::{ANYWHERE, Effect, HOSTS, MANY, POOLS, ROW, Row, SERVER, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "PerlGeneration",
        contexts: POOLS,
        takes: Takes::Word("1|2", generation),
        because: "what the rest of the configuration says: PerlResponseHandler, `SetHandler modperl`, PerlOptions, names like ModPerl::Registry \
            are mod_perl 2's",
        effect: Effect::Generation,
        about: "Which of mod_perl's APIs Perl code finds: 1 is Apache::*, 2 is Apache2::*, APR::* and ModPerl::*. With 2 `<IfDefine MODPERL2>` \
            holds.",
        ..ROW
    },
    Row {
        name: "PerlResponseHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("handler…", 1..=MANY, handlers::answering),
        because: "the site says which",
        effect: Effect::Generation,
        about: "mod_perl 2's PerlHandler: packages, subs or `sub { … }` that answer requests of `SetHandler modperl` or `perl-script`.",
        ..ROW
    },
    Row {
        name: "PerlOptions",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("[+|-]Option…", 1..=MANY, |d, words| {
            words.iter().try_for_each(|word| d.said().perl_options.say(word))
        }),
        because: "mod_perl 2's: SetupEnv is on for `SetHandler perl-script`, all else is off",
        effect: Effect::Generation,
        about: "mod_perl 2's switches of a place: SetupEnv fills %ENV, ParseHeaders takes headers from what is printed, GlobalRequest lets \
            Apache2::RequestUtil->request find the request, MergeHandlers adds an inner section's handlers to the outer's. A host's `-Access` and \
            the like leave that phase out, -Enable all of them. +Parent makes a virtual host a pool of workers by itself, with a mold that loads what its \
            own PerlSwitches, PerlRequire and PerlModule name, with +InheritSwitches also the main server's PerlSwitches: see WorkerPool. Clone means nothing.",
        ..ROW
    },
    Row {
        name: "PerlSwitches",
        contexts: HOSTS.and_pools(),
        takes: Takes::Words("-switch…", 1..=MANY, switches::perl_switches),
        because: "perl's own",
        effect: Effect::Generation,
        about: "Perl's command line: -T and -t, -w, -W, -X, -I folder, -M module and -m module. Others mean nothing in a server.",
        ..ROW
    },
    Row {
        name: "PerlConfigRequire",
        contexts: ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("file…", 1..=MANY, |d, files| {
            files.iter().for_each(|file| d.start_up(StartUpStep::ConfigRequire(handlers::required(d, file))));
            Ok(())
        }),
        because: "the site says which",
        effect: Effect::Generation,
        is_code: true,
        about: "As PerlRequire: a Perl file, run before the workers are forked.",
        ..ROW
    },
    Row {
        name: "PerlPostConfigRequire",
        contexts: ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("file…", 1..=MANY, |d, files| {
            files.iter().for_each(|file| d.start_up(StartUpStep::PostConfigRequire(handlers::required(d, file))));
            Ok(())
        }),
        because: "the site says which",
        effect: Effect::Generation,
        is_code: true,
        about: "As PerlRequire, after everything that PerlModule, PerlRequire and `<Perl>` load, wherever it stands.",
        ..ROW
    },
    Row {
        name: "PerlLoadModule",
        contexts: ANYWHERE,
        takes: Takes::Words("Name…", 1..=MANY, load_module),
        because: "the site says which",
        effect: Effect::Generation,
        is_code: true,
        about: "A module that defines directives (Apache2::Module), loaded where it stands: the lines behind it may use them.",
        ..ROW
    },
    Row {
        name: "PerlInputFilterHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("handler…", 1..=MANY, |d, names| {
            phases::name(d, names);
            d.said().perl_filters.input.extend_from_slice(names);
            Ok(())
        }),
        because: "programs read what clients send",
        effect: Effect::Generation,
        about: "Filters of request bodies. The first one hands its bytes to the program, the last one gets the client's.",
        ..ROW
    },
    Row {
        name: "PerlOutputFilterHandler",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Words("handler…", 1..=MANY, |d, names| {
            phases::name(d, names);
            d.said().perl_filters.output.extend_from_slice(names);
            Ok(())
        }),
        because: "clients get what programs print",
        effect: Effect::Generation,
        about: "Filters of answers, in the order in which the program's bytes pass them.",
        ..ROW
    },
    Row {
        name: "PerlSetInputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]", |d, names| {
            are_known(names)?;
            filters::set_input_filter(d, names)
        }),
        because: "see PerlInputFilterHandler",
        effect: Effect::Generation,
        about: "As SetInputFilter: DEFLATE unpacks, before the bytes come to any PerlInputFilterHandler.",
        ..ROW
    },
    Row {
        name: "PerlSetOutputFilter",
        contexts: ANYWHERE.and_htaccess(Class::FILE_INFO),
        takes: Takes::Word("filter[;filter…]", |d, names| {
            are_known(names)?;
            filters::set_output_filter(d, names)
        }),
        because: "see PerlOutputFilterHandler",
        effect: Effect::Generation,
        about: "As SetOutputFilter: DEFLATE packs what any PerlOutputFilterHandler has made of the answer.",
        ..ROW
    },
    Row {
        name: "PerlAddAuthnProvider",
        contexts: SERVER,
        takes: Takes::Words("name handler", 2..=2, authn_provider),
        because: "AuthBasicProvider has the file of AuthUserFile",
        effect: Effect::Generation,
        about: "A name for `AuthBasicProvider`, and the code that knows passwords: called with the request, the user and the password, it returns \
            Apache2::Const::AUTH_GRANTED, AUTH_DENIED, AUTH_USER_NOT_FOUND, upon which the next provider is asked, or AUTH_GENERAL_ERROR. It stands \
            above the lines that name it.",
        ..ROW
    },
    Row {
        name: "PerlAddAuthzProvider",
        contexts: SERVER,
        takes: Takes::Words("name handler", 2..=2, authz_provider),
        because: "Require has the words of httpd",
        effect: Effect::Generation,
        about: "A word for `Require`, and the code that decides what it means: called with the request and the rest of the line, it returns \
            Apache2::Const::AUTHZ_GRANTED, AUTHZ_DENIED, AUTHZ_NEUTRAL, AUTHZ_GENERAL_ERROR, or AUTHZ_DENIED_NO_USER, upon which it is asked \
            again when the user is known. It stands above the lines that use the word.",
        ..ROW
    },
    Row {
        name: "PerlInterpStart",
        aliases: &["PerlInterpMax", "PerlInterpMinSpare", "PerlInterpMaxSpare", "PerlInterpMaxRequests"],
        contexts: HOSTS,
        takes: Takes::Words("number", 1..=1, |_, _| Ok(())),
        because: "see StartServers",
        effect: Effect::Start,
        about: "Accepted and ignored: interpreters are not shared by threads, each worker has one.",
        ..ROW
    },
    Row {
        name: "PerlInterpScope",
        aliases: &["PerlTrace"],
        contexts: ANYWHERE,
        takes: Takes::Words("word", 1..=1, |_, _| Ok(())),
        because: "see StartServers",
        effect: Effect::Start,
        about: "Accepted and ignored: a worker's interpreter is its own.",
        ..ROW
    },
];

/// Directives that only mod_perl 2 has, but for those that say nothing about the API.
const SIGNS: &[&str] = &[
    "PerlResponseHandler",
    "PerlOptions",
    "PerlSwitches",
    "PerlConfigRequire",
    "PerlPostConfigRequire",
    "PerlLoadModule",
    "PerlInputFilterHandler",
    "PerlOutputFilterHandler",
    "PerlSetInputFilter",
    "PerlSetOutputFilter",
    "PerlMapToStorageHandler",
    "PerlAddAuthnProvider",
    "PerlAddAuthzProvider",
    "PerlOpenLogsHandler",
    "PerlPostConfigHandler",
    "PerlPreConnectionHandler",
    "PerlProcessConnectionHandler",
    "PerlInterpStart",
    "PerlInterpMax",
    "PerlInterpMinSpare",
    "PerlInterpMaxSpare",
    "PerlInterpMaxRequests",
];

/// Which API these directives speak of, and by which of them that is known.
pub fn speaks_of<'a>(all: impl Iterator<Item = &'a Directive>) -> Option<(Generation, &'a Directive)> {
    let mut sign = None;
    for directive in all {
        if directive.name.eq_ignore_ascii_case("PerlGeneration") {
            let said = directive.args.first().map(|word| named(word));
            return said.flatten().map(|generation| (generation, directive));
        }
        if sign.is_none() && is_sign(directive) {
            sign = Some((Generation::Two, directive));
        }
    }
    sign
}

fn is_sign(directive: &Directive) -> bool {
    let is = |name: &str| directive.name.eq_ignore_ascii_case(name);
    let names_module = |word: &String| {
        let word = word.trim_start_matches(['+', '-']);
        let is_said = |part: &str| part.starts_with("Apache2") || part.starts_with("ApacheMP2");
        word.starts_with("ModPerl::") || word.contains("::") && word.split("::").any(is_said)
    };
    SIGNS.iter().any(|name| is(name))
        || (is("SetHandler") || is("AddHandler")) && directive.args.first().is_some_and(|word| word == "modperl")
        || directive.name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("Perl"))
            && directive.args.iter().any(names_module)
}

fn named(word: &str) -> Option<Generation> {
    match word {
        "1" => Some(Generation::One),
        "2" => Some(Generation::Two),
        _ => None,
    }
}

/// `PerlLoadModule Name…`
fn load_module(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    if !draft.config.may_configure(draft.position.pool) {
        return Err(CODE_ELSEWHERE.to_owned());
    }
    names.iter().for_each(|name| draft.start_up(StartUpStep::LoadModule(name.clone())));
    Ok(())
}

/// `PerlGeneration 1|2`: the reader has looked for it already.
fn generation(draft: &mut Draft, word: &str) -> Result<(), String> {
    let said = named(word).ok_or_else(|| format!("expected 1 or 2, got \"{word}\""))?;
    let speaks = draft.perl().generation;
    match draft.position.pool {
        _ if said == speaks => Ok(()),
        DEFAULT => Err(format!("PerlGeneration {word} contradicts what is defined: MODPERL2 stands for generation 2")),
        pool => {
            let name = draft.config.pool_name(pool);
            Err(format!("PerlGeneration {word} contradicts what is said of pool {name} before: remove one of them"))
        }
    }
}

/// `PerlAddAuthnProvider name handler`
fn authn_provider(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let [name, handler] = words else { return Err("expected a name and a handler".to_owned()) };
    phases::name(draft, std::slice::from_ref(handler));
    draft.config.authn_providers.insert(name.clone(), handler.clone());
    Ok(())
}

/// `PerlAddAuthzProvider name handler`
fn authz_provider(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let [name, handler] = words else { return Err("expected a name and a handler".to_owned()) };
    phases::name(draft, std::slice::from_ref(handler));
    draft.config.authz_providers.insert(name.clone(), handler.clone());
    Ok(())
}

/// What stands under `PerlGeneration 1` and is mod_perl 2's.
pub fn contradiction(directive: &Directive, generation: Generation) -> Option<String> {
    let is_handler = |word: &String| Handler::named(word) == Handler::ModPerl;
    let is_wrong = generation == Generation::One && is_sign(directive);
    is_wrong.then(|| match directive.args.first().is_some_and(is_handler) {
        true => {
            "modperl is mod_perl 2's, and this server speaks mod_perl 1's API: write perl-script, or PerlGeneration 2"
                .to_owned()
        }
        false => {
            "is mod_perl 2's, and this server speaks mod_perl 1's API: write PerlGeneration 2, or remove this line"
                .to_owned()
        }
    })
}

/// The server's own filters stand behind those of Perl code; INCLUDES is none of them.
fn are_known(names: &str) -> Result<(), String> {
    match names.split(';').find(|name| name.trim().eq_ignore_ascii_case("includes")) {
        Some(_) => {
            Err("there are no server-side includes here: a PerlOutputFilterHandler can put parts into an answer, with \
            `$f->r->lookup_uri(…)->run` where a part belongs"
                .to_owned())
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse::{self, Source};

    fn generation_of(text: &str) -> Option<Generation> {
        let tree = parse::text(text, "site.conf", &Source::disk("/srv", &|_| None)).expect("lines");
        speaks_of(tree.iter()).map(|(generation, _)| generation)
    }

    #[test]
    fn a_configuration_says_which_api_it_means() {
        assert_eq!(generation_of("PerlModule Apache::DBI\nPerlHandler Apache::Registry"), None);
        assert_eq!(generation_of("PerlModule ModPerl::Registry"), Some(Generation::Two));
        assert_eq!(generation_of("SetHandler modperl"), Some(Generation::Two));
        assert_eq!(generation_of("PerlHandler Plack::Handler::Apache2"), Some(Generation::Two));
        assert_eq!(generation_of("PerlModule Apache2_4::AuthCookie"), Some(Generation::Two));
        assert_eq!(generation_of("PerlHandler Plack::Handler::Apache1\nPerlSetVar x Apache2"), None);
        assert_eq!(generation_of("PerlSwitches -w"), Some(Generation::Two));
        assert_eq!(generation_of("PerlSwitches -w\nPerlGeneration 1"), Some(Generation::One));
    }

    #[test]
    fn every_sign_is_a_directive() {
        for name in SIGNS {
            assert!(crate::config::table::is_known(name), "{name}");
        }
    }
}

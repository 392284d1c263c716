//! Directives of mod_perl 2. A configuration that uses one of them gets mod_perl 2's API, unless PerlGeneration
//! decides: see [`speaks_of`].

use crate::draft::Draft;
use crate::model::handler::Handler;
use crate::model::overrides::Class;
use crate::model::perl::api::PerlGeneration;
use crate::model::pools::{CODE_ELSEWHERE, DEFAULT};
use crate::model::start_up::StartUpStep;
use crate::syntax::source::Replacing;
use crate::syntax::tree::Directive;
use crate::table::content::filters;
use crate::table::perl::{handlers, phases, switches};
use crate::table::row::{ANYWHERE, Effect, FILE_INFO, HOSTS, MANY, POOLS, Row, SERVER, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_perl.c",
    word("PerlGeneration", POOLS, "1|2", generation).effect(Effect::Generation).because(
        "derived from the configuration: PerlResponseHandler, `SetHandler modperl`, PerlOptions and names like \
             ModPerl::Registry belong to mod_perl 2"
    ),
    "mod_perl's API for Perl code: 1 is Apache::*, 2 is Apache2::*, APR::* and ModPerl::*. With 2, `<IfDefine \
     MODPERL2>` holds.",
    words("PerlResponseHandler", FILE_INFO, "handler…", 1..=MANY, handlers::answering)
        .replacing(Replacing::UnlessSub)
        .effect(Effect::Generation)
        .because("only the site knows its code"),
    "mod_perl 2's PerlHandler: packages, subs or `sub { … }` that handle requests of `SetHandler modperl` or \
     `perl-script`.",
    words("PerlOptions", FILE_INFO, "[+|-]Option…", 1..=MANY, |d, words| {
        words.iter().try_for_each(|word| d.settings().perl_options.set(word))
    })
    .effect(Effect::Generation)
    .because("mod_perl 2's defaults: SetupEnv is on for `SetHandler perl-script`, the others are off"),
    "mod_perl 2's options of a place: SetupEnv fills %ENV, ParseHeaders parses headers in the program's output, \
     GlobalRequest lets Apache2::RequestUtil->request find the request, MergeHandlers adds handlers of inner sections \
     to those of outer ones. In a host, `-Access` and similar disable that phase, -Enable all of them. +Parent gives a \
     virtual host its own pool of workers. Its mold loads the host's PerlSwitches, PerlRequire and PerlModule; \
     +InheritSwitches adds the main server's PerlSwitches: see WorkerPool. Clone has no effect.",
    words("PerlSwitches", HOSTS.and_pools(), "-switch…", 1..=MANY, switches::perl_switches)
        .effect(Effect::Generation)
        .because("perl's defaults"),
    "Perl's command line switches: -T and -t, -w, -W, -X, -I folder, -M module and -m module. Others are refused, \
     because they have no meaning in a server.",
    words("PerlConfigRequire", ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO), "file…", 1..=MANY, |d, files| {
        files.iter().for_each(|file| d.start_up(StartUpStep::ConfigRequire(handlers::required(d, file))));
        Ok(())
    })
    .code()
    .effect(Effect::Generation)
    .because("only the site knows its code"),
    "As PerlRequire: a Perl file that runs before the workers are forked.",
    words(
        "PerlPostConfigRequire",
        ANYWHERE.and_pools().and_htaccess(Class::FILE_INFO),
        "file…",
        1..=MANY,
        |d, files| {
            files.iter().for_each(|file| d.start_up(StartUpStep::PostConfigRequire(handlers::required(d, file))));
            Ok(())
        }
    )
    .code()
    .effect(Effect::Generation)
    .because("only the site knows its code"),
    "As PerlRequire, but runs after all PerlModule, PerlRequire and `<Perl>`, regardless of its position.",
    words("PerlLoadModule", ANYWHERE, "Name…", 1..=MANY, load_module)
        .code()
        .effect(Effect::Generation)
        .because("only the site knows its code"),
    "A module that defines directives (Apache2::Module), loaded at this point: the following lines may use them.",
    words("PerlInputFilterHandler", FILE_INFO, "handler…", 1..=MANY, |d, names| {
        phases::register(d, names)?;
        d.settings().perl_filters.input.extend_from_slice(names);
        Ok(())
    })
    .replacing(Replacing::UnlessSub)
    .effect(Effect::Generation)
    .because("programs get request bodies as clients send them"),
    "Filters of request bodies. The first passes its bytes to the program, the last gets the client's bytes.",
    words("PerlOutputFilterHandler", FILE_INFO, "handler…", 1..=MANY, |d, names| {
        phases::register(d, names)?;
        d.settings().perl_filters.output.extend_from_slice(names);
        Ok(())
    })
    .replacing(Replacing::UnlessSub)
    .effect(Effect::Generation)
    .because("clients get the output of programs unchanged"),
    "Filters of responses, in the order in which the program's output passes them.",
    word("PerlSetInputFilter", FILE_INFO, "filter[;filter…]", |d, names| {
        are_known(names)?;
        filters::set_input_filter(d, names)
    })
    .effect(Effect::Generation)
    .because("see PerlInputFilterHandler"),
    "As SetInputFilter: DEFLATE decompresses before any PerlInputFilterHandler.",
    word("PerlSetOutputFilter", FILE_INFO, "filter[;filter…]", filters::set_output_filter)
        .effect(Effect::Generation)
        .because("see PerlOutputFilterHandler"),
    "As SetOutputFilter: DEFLATE compresses after any PerlOutputFilterHandler.",
    words("PerlAddAuthnProvider", SERVER, "name handler", 2..=2, authn_provider)
        .effect(Effect::Generation)
        .because("AuthBasicProvider uses the file of AuthUserFile"),
    "Defines a name for `AuthBasicProvider` and the code that checks passwords. The code is called with the request, \
     the user and the password. It returns Apache2::Const::AUTH_GRANTED, AUTH_DENIED, AUTH_USER_NOT_FOUND, after which \
     the next provider is tried, or AUTH_GENERAL_ERROR. Write it above the lines that use the name.",
    words("PerlAddAuthzProvider", SERVER, "name handler", 2..=2, authz_provider)
        .effect(Effect::Generation)
        .because("Require supports httpd's words"),
    "Defines a word for `Require` and the code that decides it. The code is called with the request and the rest of \
     the line. It returns Apache2::Const::AUTHZ_GRANTED, AUTHZ_DENIED, AUTHZ_NEUTRAL, AUTHZ_GENERAL_ERROR, or \
     AUTHZ_DENIED_NO_USER, after which it is called again when the user is known. Write it above the lines that use \
     the word.",
    words("PerlInterpStart", HOSTS, "number", 1..=1, |_, _| Ok(()))
        .aliases(&["PerlInterpMax", "PerlInterpMinSpare", "PerlInterpMaxSpare", "PerlInterpMaxRequests"])
        .effect(Effect::Start)
        .because("see StartServers"),
    "Accepted and ignored: threads share no interpreters, each worker has one.",
    words("PerlInterpScope", ANYWHERE, "word", 1..=1, |_, _| Ok(()))
        .aliases(&["PerlTrace"])
        .effect(Effect::Start)
        .because("see StartServers"),
    "Accepted and ignored: each worker has its own interpreter.",
];

/// Directives of mod_perl 2 that imply its API. Others are harmless with both APIs.
const SIGNS: &str = "PerlResponseHandler PerlOptions PerlSwitches PerlConfigRequire \
    PerlPostConfigRequire PerlLoadModule PerlInputFilterHandler PerlOutputFilterHandler PerlSetInputFilter \
    PerlSetOutputFilter PerlMapToStorageHandler PerlAddAuthnProvider PerlAddAuthzProvider PerlOpenLogsHandler \
    PerlPostConfigHandler PerlPreConnectionHandler PerlProcessConnectionHandler PerlInterpStart PerlInterpMax \
    PerlInterpMinSpare PerlInterpMaxSpare PerlInterpMaxRequests";

/// The API that the directives imply, and the directive that implies it.
pub fn speaks_of<'a>(all: impl Iterator<Item = &'a Directive>) -> Option<(PerlGeneration, &'a Directive)> {
    let mut sign = None;
    for directive in all {
        if directive.name.eq_ignore_ascii_case("PerlGeneration") {
            let configured = directive.args.first().map(|word| named(word));
            return configured.flatten().map(|generation| (generation, directive));
        }
        if sign.is_none() && is_sign(directive) {
            sign = Some((PerlGeneration::Two, directive));
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
    SIGNS.split(' ').any(is)
        || (is("SetHandler") || is("AddHandler")) && directive.args.first().is_some_and(|word| word == "modperl")
        || directive.name.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("Perl"))
            && directive.args.iter().any(names_module)
}

fn named(word: &str) -> Option<PerlGeneration> {
    match word {
        "1" => Some(PerlGeneration::One),
        "2" => Some(PerlGeneration::Two),
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

/// `PerlGeneration 1|2`: checks that the value agrees with the API chosen by [`speaks_of`] or `-D`.
fn generation(draft: &mut Draft, word: &str) -> Result<(), String> {
    let configured = named(word).ok_or_else(|| format!("expected 1 or 2, got \"{word}\""))?;
    let speaks = draft.perl().generation;
    match draft.position.pool {
        _ if configured == speaks => Ok(()),
        DEFAULT => Err(format!(
            "PerlGeneration {word} contradicts the definition of MODPERL2, which means generation 2; remove one of them"
        )),
        pool => {
            let name = draft.config.pool_name(pool);
            Err(format!("PerlGeneration {word} contradicts an earlier line of pool {name}; remove one of them"))
        }
    }
}

/// `PerlAddAuthnProvider name handler`
fn authn_provider(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let [name, handler] = words else { return Err("expected a name and a handler".to_owned()) };
    phases::register(draft, std::slice::from_ref(handler))?;
    draft.config.authn_providers.insert(name.clone(), handler.clone());
    Ok(())
}

/// `PerlAddAuthzProvider name handler`
fn authz_provider(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let [name, handler] = words else { return Err("expected a name and a handler".to_owned()) };
    phases::register(draft, std::slice::from_ref(handler))?;
    draft.config.authz_providers.insert(name.clone(), handler.clone());
    Ok(())
}

/// Error message for a mod_perl 2 directive under `PerlGeneration 1`.
pub fn contradiction(directive: &Directive, generation: PerlGeneration) -> Option<String> {
    let is_handler = |word: &String| Handler::named(word) == Handler::ModPerl;
    let is_wrong = generation == PerlGeneration::One && is_sign(directive);
    is_wrong.then(|| match directive.args.first().is_some_and(is_handler) {
        true => {
            "modperl belongs to mod_perl 2, and this server has mod_perl 1's API; write perl-script, or PerlGeneration 2"
                .to_owned()
        }
        false => {
            "belongs to mod_perl 2, and this server has mod_perl 1's API; write PerlGeneration 2, or remove this line"
                .to_owned()
        }
    })
}

/// Refuses INCLUDES, which is no filter of request bodies.
fn are_known(names: &str) -> Result<(), String> {
    match names.split(';').any(|name| name.trim().eq_ignore_ascii_case("includes")) {
        true => Err("INCLUDES filters responses; write PerlSetOutputFilter".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{self, ParserSource};

    fn generation_of(text: &str) -> Option<PerlGeneration> {
        let tree = parse::text(text, "site.conf", &ParserSource::disk("/srv", &|_| None)).expect("lines");
        speaks_of(tree.iter()).map(|(generation, _)| generation)
    }

    #[test]
    fn a_configuration_implies_its_api() {
        assert_eq!(generation_of("PerlModule Apache::DBI\nPerlHandler Apache::Registry"), None);
        assert_eq!(generation_of("PerlModule ModPerl::Registry"), Some(PerlGeneration::Two));
        assert_eq!(generation_of("SetHandler modperl"), Some(PerlGeneration::Two));
        assert_eq!(generation_of("PerlHandler Plack::Handler::Apache2"), Some(PerlGeneration::Two));
        assert_eq!(generation_of("PerlModule Apache2_4::AuthCookie"), Some(PerlGeneration::Two));
        assert_eq!(generation_of("PerlHandler Plack::Handler::Apache1\nPerlSetVar x Apache2"), None);
        assert_eq!(generation_of("PerlSwitches -w"), Some(PerlGeneration::Two));
        assert_eq!(generation_of("PerlSwitches -w\nPerlGeneration 1"), Some(PerlGeneration::One));
    }

    #[test]
    fn every_sign_is_a_directive() {
        for name in SIGNS.split(' ') {
            assert!(crate::table::is_known(name), "{name}");
        }
    }
}

//! `Require` and the sections that combine several.

use super::super::draft::Draft;
use super::super::{ConfigError, Directive};
use super::hosts::host_name;
use super::{Methods, Network};

/// One `Require` line, or one section of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// For which methods.
    pub methods: Methods,
    /// As it was written, `user ana ben`; of a section its name.
    pub text: String,
    /// What it asks.
    pub what: Require,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Require {
    /// `all granted`, `all denied`
    All(bool),
    /// `ip 10.1 192.0.2.0/24`
    Ip(Vec<Network>),
    /// `host example.com`; lower case.
    Host(Vec<String>),
    /// `local`: the client is on this machine.
    Local,
    /// `env NAME…`: one of them is set.
    Env(Vec<String>),
    /// `method GET POST`
    Method(Methods),
    /// `valid-user`
    ValidUser,
    /// `user ana ben`
    User(Vec<String>),
    /// `group staff`
    Group(Vec<String>),
    /// Words that only Perl code can understand.
    Other,
    /// `not …`
    Not(Box<Require>),
    /// `<RequireAny>`
    Any(Vec<Require>),
    /// `<RequireAll>`
    Every(Vec<Require>),
    /// `<RequireNone>`
    None(Vec<Require>),
    /// All that a section says, which is one part of what is asked: `AuthMerging And`.
    Lines(Vec<Requirement>),
}

/// `Require what…`
pub fn require(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let what = parse(args, draft.config.perl_access)?;
    if matches!(what, Require::Not(_)) {
        return Err("`not` alone lets nobody in: put it in <RequireAll> beside what does".to_owned());
    }
    add(draft, words(args), what);
    Ok(())
}

/// `<RequireAll>`
pub fn require_all(draft: &mut Draft, _: &[String], inside: &[Directive]) -> Result<(), String> {
    section(draft, "<RequireAll>", Require::Every, inside)
}

/// `<RequireAny>`
pub fn require_any(draft: &mut Draft, _: &[String], inside: &[Directive]) -> Result<(), String> {
    section(draft, "<RequireAny>", Require::Any, inside)
}

/// `<RequireNone>`
pub fn require_none(_: &mut Draft, _: &[String], _: &[Directive]) -> Result<(), String> {
    Err("alone lets nobody in: put it in <RequireAll> beside what does".to_owned())
}

fn section(
    draft: &mut Draft,
    name: &str,
    combine: fn(Vec<Require>) -> Require,
    inside: &[Directive],
) -> Result<(), String> {
    let parts = parts(draft, inside);
    add(draft, name.to_owned(), combine(parts));
    Ok(())
}

fn add(draft: &mut Draft, text: String, what: Require) {
    let requirement = Requirement { methods: draft.methods, text, what };
    draft.said().access.requires.get_or_insert_default().push(requirement);
}

/// As one line, words with spaces in quotation marks.
fn words(args: &[String]) -> String {
    let word = |arg: &String| if arg.contains(' ') { format!("\"{arg}\"") } else { arg.clone() };
    args.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// What stands in a section; what is wrong there is reported with its own line.
fn parts(draft: &mut Draft, inside: &[Directive]) -> Vec<Require> {
    let mut parts = Vec::new();
    for directive in inside {
        match part(draft, directive) {
            Ok(part) => parts.push(part),
            Err(message) => {
                draft.errors.push(ConfigError::at(&directive.at, format!("{}: {message}", directive.name)));
            }
        }
    }
    parts
}

fn part(draft: &mut Draft, directive: &Directive) -> Result<Require, String> {
    match (directive.name.to_ascii_lowercase().as_str(), &directive.section) {
        ("require", None) => parse(&directive.args, draft.config.perl_access),
        ("requireall", Some(inside)) => Ok(Require::Every(parts(draft, inside))),
        ("requireany", Some(inside)) => Ok(Require::Any(parts(draft, inside))),
        ("requirenone", Some(inside)) => Ok(Require::None(parts(draft, inside))),
        _ => Err("expected Require, <RequireAll>, <RequireAny> or <RequireNone> in this section".to_owned()),
    }
}

fn parse(args: &[String], any_text: bool) -> Result<Require, String> {
    let Some((kind, words)) = args.split_first() else { return Err(expected("")) };
    let listed = |what: fn(Vec<String>) -> Require| match words {
        [] => Err(format!("expected names after {kind}")),
        words => Ok(what(words.to_vec())),
    };
    match kind.to_ascii_lowercase().as_str() {
        "valid-user" => Ok(Require::ValidUser),
        "user" => listed(Require::User),
        "group" => listed(Require::Group),
        "env" => listed(Require::Env),
        "local" => Ok(Require::Local),
        "not" => Ok(Require::Not(Box::new(parse(words, any_text)?))),
        "all" => match words {
            [word] if word.eq_ignore_ascii_case("granted") => Ok(Require::All(true)),
            [word] if word.eq_ignore_ascii_case("denied") => Ok(Require::All(false)),
            _ => Err(format!("expected all granted or all denied, got \"{}\"", args.join(" "))),
        },
        "method" => Ok(Require::Method(words.iter().fold(Methods::NONE, |all, word| all.with(Methods::of(word))))),
        "ip" if !words.is_empty() => networks(words).map(Require::Ip),
        "host" if !words.is_empty() => {
            words.iter().map(|word| host_name(word)).collect::<Result<_, _>>().map(Require::Host)
        }
        _ if any_text => Ok(Require::Other),
        _ => Err(expected(&args.join(" "))),
    }
}

fn networks(words: &[String]) -> Result<Vec<Network>, String> {
    let network = |word: &String| {
        Network::parse(word).unwrap_or_else(|| Err(format!("expected an address or a network, got \"{word}\"")))
    };
    words.iter().map(network).collect()
}

fn expected(text: &str) -> String {
    format!(
        "expected user, group, valid-user, all granted, all denied, ip, host, local, env or method, got \"{text}\": \
         other words need a PerlAuthzHandler, and there is none in this configuration"
    )
}

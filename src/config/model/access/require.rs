//! `Require` and the sections that combine several.

use std::collections::BTreeMap;

use super::hosts::{Network, host_name};
use super::methods::Methods;
use crate::config::model::response::expr::Expr;
use crate::config::syntax::pattern::Budget;

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
    /// `expr %{REQUEST_METHOD} == 'GET'`
    Expr(Expr),
    /// `method GET POST`
    Method(Methods),
    /// `valid-user`
    ValidUser,
    /// `user ana ben`
    User(Vec<String>),
    /// `group staff`
    Group(Vec<String>),
    /// The name of a PerlAddAuthzProvider.
    Provider(AuthzProvider),
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

/// Perl code that decides about one kind of `Require`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthzProvider {
    /// As PerlAddAuthzProvider names it.
    pub handler: String,
    /// What stands behind the provider's name.
    pub words: String,
}

/// Which words `Require` may have besides the server's own.
pub struct Vocabulary<'a> {
    /// PerlAddAuthzProvider's: names, and handlers.
    pub providers: &'a BTreeMap<String, String>,
    /// A Perl handler may know any other.
    pub any_text: bool,
    /// What patterns in expressions may cost.
    pub patterns: &'a mut Budget,
}

impl Require {
    /// What a `Require` line asks.
    pub fn parse(args: &[String], vocabulary: &mut Vocabulary<'_>) -> Result<Require, String> {
        let Some((kind, words)) = args.split_first() else { return Err(expected("")) };
        if let Some(handler) = vocabulary.providers.get(kind) {
            return Ok(Require::Provider(AuthzProvider { handler: handler.clone(), words: words.join(" ") }));
        }
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
            "not" => Ok(Require::Not(Box::new(Require::parse(words, vocabulary)?))),
            "all" => match words {
                [word] if word.eq_ignore_ascii_case("granted") => Ok(Require::All(true)),
                [word] if word.eq_ignore_ascii_case("denied") => Ok(Require::All(false)),
                _ => Err(format!("expected all granted or all denied, got \"{}\"", args.join(" "))),
            },
            "expr" if !words.is_empty() => Expr::parse(&words.join(" "), vocabulary.patterns).map(Require::Expr),
            "method" => Ok(Require::Method(words.iter().fold(Methods::NONE, |all, word| all.with(Methods::of(word))))),
            "ip" if !words.is_empty() => networks(words).map(Require::Ip),
            "host" if !words.is_empty() => {
                words.iter().map(|word| host_name(word)).collect::<Result<_, _>>().map(Require::Host)
            }
            _ if vocabulary.any_text => Ok(Require::Other),
            _ => Err(expected(&args.join(" "))),
        }
    }
}

impl Require {
    /// What it combines.
    pub fn parts(&self) -> &[Require] {
        match self {
            Require::Any(parts) | Require::Every(parts) | Require::None(parts) => parts,
            Require::Not(part) => std::slice::from_ref(part),
            _ => &[],
        }
    }

    /// Whether it, or a part of it, is a provider's.
    pub fn asks_providers(&self) -> bool {
        match self {
            Require::Provider(_) => true,
            Require::Lines(lines) => lines.iter().any(|line| line.what.asks_providers()),
            what => what.parts().iter().any(Require::asks_providers),
        }
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
        "expected user, group, valid-user, all granted, all denied, ip, host, local, env, expr or method, got \"{text}\": \
         other words need a PerlAuthzHandler, and there is none in this configuration, or a PerlAddAuthzProvider above this line"
    )
}

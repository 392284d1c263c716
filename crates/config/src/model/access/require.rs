//! `Require`, and the sections that combine several of them.

use std::collections::BTreeMap;

use super::hosts::host_name;
use super::ldap::LdapRequirement;
use super::methods::Methods;
use super::words::RequireWords;
use super::{GroupLookup, GroupRequirement, GroupSource, ProviderAlias};
use crate::model::response::expr::{Expr, ExprText};
use crate::syntax::pattern::Budget;
use crate::syntax::value::network::Network;

/// A `Require` line, or a section of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// Methods to which the requirement applies.
    pub methods: Methods,
    /// Arguments as written, `user ana ben`, or the name of the section.
    pub text: String,
    /// The requirement itself.
    pub what: Require,
}

/// A condition on the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Require {
    /// `all granted`, `all denied`
    All(bool),
    /// `ip 10.1 192.0.2.0/24`
    Ip(Vec<Network>),
    /// `host example.com`; names in lower case.
    Host(Vec<String>),
    /// `user`, `group` or `host` with expressions.
    Computed(NameKind, RequireWords),
    /// `forward-dns www.example.com`: the client has an address of one of these names.
    ForwardDns(RequireWords),
    /// `file-owner`: the user owns the file. The text is its owner.
    FileOwner(ExprText),
    /// `file-group`: the user is in the group of the file. The text is its group.
    FileGroup(ExprText),
    /// `ldap-user`, `ldap-group`, …
    Ldap(LdapRequirement, RequireWords),
    /// `local`: the client is on this machine.
    Local,
    /// `env NAME…`: one of the variables is set.
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
    /// `dbm-group staff`, `dbm-file-group`, `dbd-group staff`
    Database(GroupRequirement),
    /// `dbd-login`, `dbd-logout`: the statement of AuthzDBDQuery, which is executed for the user.
    Statement,
    /// A name defined by PerlAddAuthzProvider.
    Provider(AuthzProvider),
    /// Words that a Perl handler interprets.
    Other,
    /// `not …`
    Not(Box<Require>),
    /// `<RequireAny>`
    Any(Vec<Require>),
    /// `<RequireAll>`
    Every(Vec<Require>),
    /// `<RequireNone>`
    None(Vec<Require>),
    /// The lines of a section, as one part of a requirement: `AuthMerging And`.
    Lines(Vec<Requirement>),
}

/// The kind of names in a requirement with expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words of Require")]
pub enum NameKind {
    User,
    Group,
    Host,
}

/// A Perl provider and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthzProvider {
    /// Handler as written in PerlAddAuthzProvider.
    pub handler: String,
    /// Arguments after the provider's name, joined by spaces.
    pub words: String,
}

/// Words that `Require` accepts besides the built-in ones.
pub struct Vocabulary<'a> {
    /// Names defined by PerlAddAuthzProvider, with their handlers.
    pub providers: &'a BTreeMap<String, String>,
    /// Names of `<AuthzProviderAlias>`, with their settings.
    pub aliases: &'a BTreeMap<String, ProviderAlias>,
    /// Whether any other word is accepted, because a Perl handler may define it.
    pub any_text: bool,
    /// Limit for patterns in expressions.
    pub patterns: &'a mut Budget,
}

/// Maximum number of names of `Require forward-dns`, each of which is looked up.
pub const MAX_FORWARD_NAMES: usize = 16;

impl Require {
    /// Parses the arguments of `Require`.
    pub fn parse(args: &[String], vocabulary: &mut Vocabulary<'_>) -> Result<Require, String> {
        let Some((kind, words)) = args.split_first() else { return Err(expected("")) };
        if let Some(handler) = vocabulary.providers.get(kind) {
            return Ok(Require::Provider(AuthzProvider { handler: handler.clone(), words: words.join(" ") }));
        }
        if let Some(alias) = vocabulary.aliases.get(&kind.to_ascii_lowercase()) {
            return Require::of_alias(alias, words, vocabulary);
        }
        let listed = |what: fn(Vec<String>) -> Require| match words {
            [] => Err(format!("expected names after {kind}")),
            words => Ok(what(words.to_vec())),
        };
        let named = kind.to_ascii_lowercase();
        let computed = match named.as_str() {
            "user" => Some(NameKind::User),
            "group" => Some(NameKind::Group),
            "host" => Some(NameKind::Host),
            _ => None,
        };
        if let Some(of) = computed.filter(|_| words.iter().any(|word| word.contains("%{"))) {
            return Ok(Require::Computed(of, RequireWords::parse(words, false, vocabulary.patterns)?));
        }
        if let Some(of) = LdapRequirement::named(&named) {
            return ldap(of, kind, words, vocabulary.patterns);
        }
        match named.as_str() {
            "valid-user" => Ok(Require::ValidUser),
            "forward-dns" if words.is_empty() => Err(format!("expected names after {kind}")),
            "forward-dns" if words.len() > MAX_FORWARD_NAMES => {
                Err(format!("expected at most {MAX_FORWARD_NAMES} names after {kind}, got {}", words.len()))
            }
            "forward-dns" => RequireWords::parse(words, false, vocabulary.patterns).map(Require::ForwardDns),
            "file-owner" | "file-group" if !words.is_empty() => {
                Err(format!("expected nothing after {kind}, got \"{}\"", words.join(" ")))
            }
            "file-owner" => ExprText::parse("%{SCRIPT_USER}", vocabulary.patterns).map(Require::FileOwner),
            "file-group" => ExprText::parse("%{SCRIPT_GROUP}", vocabulary.patterns).map(Require::FileGroup),
            "user" => listed(Require::User),
            "group" => listed(Require::Group),
            "dbm-group" | "dbd-group" if words.is_empty() => Err(format!("expected names after {kind}")),
            "dbm-group" => Require::of_database(GroupSource::Dbm, Some(words), vocabulary),
            "dbm-file-group" => Require::of_database(GroupSource::Dbm, None, vocabulary),
            "dbd-group" => Require::of_database(GroupSource::Dbd, Some(words), vocabulary),
            "dbd-login" | "dbd-logout" if !words.is_empty() => {
                Err(format!("expected nothing after {kind}, got \"{}\"", words.join(" ")))
            }
            "dbd-login" | "dbd-logout" => Ok(Require::Statement),
            "env" => listed(Require::Env),
            "local" => Ok(Require::Local),
            "ssl" | "ssl-verify-client" if !words.is_empty() => {
                Err(format!("expected nothing after {kind}, got \"{}\"", words.join(" ")))
            }
            "ssl" => Expr::parse("%{HTTPS} == 'on'", vocabulary.patterns).map(Require::Expr),
            "ssl-verify-client" => {
                Expr::parse("%{SSL_CLIENT_VERIFY} == 'SUCCESS'", vocabulary.patterns).map(Require::Expr)
            }
            "not" if words.first().is_some_and(|word| word.eq_ignore_ascii_case("not")) => {
                Err("expected a requirement after not, got \"not\"".to_owned())
            }
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
    fn of_database(
        source: GroupSource,
        words: Option<&[String]>,
        vocabulary: &mut Vocabulary<'_>,
    ) -> Result<Require, String> {
        let groups = words.map(|words| ExprText::parse(&words.join(" "), vocabulary.patterns)).transpose()?;
        let lookup = GroupLookup { source, own: None };
        Ok(Require::Database(GroupRequirement { lookup, groups }))
    }

    /// The requirement that a name of `<AuthzProviderAlias>` stands for.
    fn of_alias(alias: &ProviderAlias, words: &[String], vocabulary: &mut Vocabulary<'_>) -> Result<Require, String> {
        if !words.is_empty() {
            let (base, words) = (&alias.base, words.join(" "));
            return Err(format!(
                "expected nothing after this name, which stands for {base}, got \"{words}\"; remove it"
            ));
        }
        let all: Vec<String> = [alias.base.clone()].into_iter().chain(alias.words.iter().cloned()).collect();
        let none = BTreeMap::new();
        let Vocabulary { providers, any_text: _, patterns, .. } = vocabulary;
        let meant = Require::parse(&all, &mut Vocabulary { providers, aliases: &none, any_text: false, patterns })?;
        let own = alias.own.clone();
        let has_group_file = own.as_ref().is_some_and(|own| own.group_file.is_some());
        Ok(match meant {
            Require::Database(GroupRequirement { lookup, groups }) => {
                Require::Database(GroupRequirement { lookup: GroupLookup { own, ..lookup }, groups })
            }
            Require::Group(_) | Require::Computed(NameKind::Group, _) if has_group_file => {
                let groups = Some(ExprText::parse(&alias.words.join(" "), vocabulary.patterns)?);
                let lookup = GroupLookup { source: GroupSource::File, own };
                Require::Database(GroupRequirement { lookup, groups })
            }
            Require::FileGroup(_) if has_group_file => {
                return Err("has an AuthGroupFile of its own; write it in the place instead of the alias".to_owned());
            }
            Require::Ldap(..) if own.as_ref().is_some_and(|own| own.directory.is_some()) => {
                return Err(
                    "has a directory of its own; write AuthLDAPURL in the place instead of the alias".to_owned()
                );
            }
            meant => meant,
        })
    }

    /// Whether the requirement, or a part of it, is about the group of the requested file.
    pub fn is_about_files(&self) -> bool {
        match self {
            Require::Database(it) => it.groups.is_none(),
            Require::Lines(lines) => lines.iter().any(|line| line.what.is_about_files()),
            what => what.parts().iter().any(Require::is_about_files),
        }
    }

    /// Adds the databases of groups that the requirement needs.
    pub(super) fn add_lookups<'a>(&'a self, found: &mut Vec<&'a GroupLookup>) {
        match self {
            Require::Database(it) if !found.contains(&&it.lookup) => found.push(&it.lookup),
            Require::Lines(lines) => lines.iter().for_each(|line| line.what.add_lookups(found)),
            what => what.parts().iter().for_each(|part| part.add_lookups(found)),
        }
    }

    /// Whether the requirement, or a part of it, is about the user's entry in a directory.
    pub(super) fn asks_about_entry(&self) -> bool {
        match self {
            Require::Ldap(kind, _) => *kind != LdapRequirement::Search,
            Require::Lines(lines) => lines.iter().any(|line| line.what.asks_about_entry()),
            what => what.parts().iter().any(Require::asks_about_entry),
        }
    }

    /// Requirements that this one combines.
    pub fn parts(&self) -> &[Require] {
        match self {
            Require::Any(parts) | Require::Every(parts) | Require::None(parts) => parts,
            Require::Not(part) => std::slice::from_ref(part),
            _ => &[],
        }
    }

    /// Whether the requirement, or a part of it, needs a Perl provider.
    pub fn needs_providers(&self) -> bool {
        match self {
            Require::Provider(_) => true,
            Require::Lines(lines) => lines.iter().any(|line| line.what.needs_providers()),
            what => what.parts().iter().any(Require::needs_providers),
        }
    }
}

/// Maximum number of words of a requirement, each of which may be a question to the directory.
const MAX_LDAP_WORDS: usize = 100;

/// `ldap-user`, `ldap-group`, …
fn ldap(of: LdapRequirement, kind: &str, words: &[String], patterns: &mut Budget) -> Result<Require, String> {
    if words.is_empty() {
        return Err(format!("expected words after {kind}"));
    }
    if words.len() > MAX_LDAP_WORDS {
        return Err(format!("expected at most {MAX_LDAP_WORDS} words after {kind}, got {}", words.len()));
    }
    let parsed = RequireWords::parse(words, of.is_filter(), patterns)?;
    if of.is_filter() && !words.iter().any(|word| word.contains("%{")) {
        ::ldap::LdapFilter::parse(&words.join(" "))?;
    }
    let is_pair = |word: &&String| word.contains('=') || word.contains("%{");
    match words.iter().find(|word| of == LdapRequirement::Attribute && !is_pair(word)) {
        Some(word) => Err(format!("expected attribute=value after {kind}, got \"{word}\"")),
        None => Ok(Require::Ldap(of, parsed)),
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
        "expected user, group, valid-user, all granted, all denied, ip, host, forward-dns, local, env, expr, method, \
         file-owner, file-group, ssl, ssl-verify-client, dbm-group, dbm-file-group, dbd-group, dbd-login, dbd-logout, ldap-user, ldap-group, ldap-dn, ldap-attribute, \
         ldap-filter or ldap-search, got \"{text}\": \
         other words need a PerlAuthzHandler in this configuration, or a PerlAddAuthzProvider above this line"
    )
}

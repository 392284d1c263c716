//! Users whose passwords and requirements a directory decides.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{AuthAttempt, AuthSubject, Users};
use crate::basic::Credentials;
use crate::directory::{
    AboutRequirement, Directory, DirectoryAnswer, DirectoryEntry, DirectoryKey, DirectoryPassword, DirectoryQuestion,
    QuestionSubject,
};
use crate::proof::{AuthRequest, Proof};
use crate::{User, UserRecords};
use config::access::{AccessRules, LdapPlace, LdapRequirement, LdapServer, PasswordSource};

/// Whether a requirement is met.
pub enum DirectoryRequirement {
    /// The directory has decided.
    Known(bool),
    /// The directory must be asked: pass the result of [`DirectoryQuestion::ask`] to [`Users::remember`].
    Open(DirectoryQuestion),
    /// The configuration is incomplete, with the reason for the log.
    Misconfigured(String),
}

/// A `Require ldap-…`, for a directory.
pub struct RequirementQuery<'a> {
    /// Settings of the connection.
    pub server: &'a LdapServer,
    /// The attribute or the entry that must match.
    pub kind: LdapRequirement,
    /// The arguments, with their expressions replaced.
    pub words: &'a [String],
}

impl Users {
    /// The user, if the directory has checked the password lately; otherwise the question to ask, or why there is none.
    pub(super) fn in_directory(
        &self,
        rules: &AccessRules,
        claimed: &Credentials,
        server: &LdapServer,
        number: usize,
    ) -> Result<User, AuthAttempt> {
        let shown = claimed.user.escape_debug();
        if claimed.user.is_empty() || claimed.password.is_empty() || claimed.password.contains(&0) {
            // A directory takes a bind without a password as anonymous, and lets it succeed. For some, a NUL ends it.
            let why = format!("user {shown}: an empty name or password, or a NUL in it");
            return Err(AuthAttempt::Settled(Proof::Refused(why)));
        }
        let about = QuestionSubject::Password(claimed.user.clone(), claimed.password.clone());
        let place = rules.sources().get(number).and_then(|source| directory_of(source, rules));
        let question = self.question(place.as_ref(), &rules.directory_server(server), about);
        let question = question.map_err(|why| AuthAttempt::Settled(Proof::Misconfigured(why)))?.at(number);
        match self.answer(&question, server.cache_life) {
            Some(DirectoryAnswer::Known(entry)) => Ok(user_of(&question, entry)),
            _ => Err(AuthAttempt::Directory(question)),
        }
    }

    fn question(
        &self,
        place: Option<&Arc<LdapPlace>>,
        server: &LdapServer,
        about: QuestionSubject,
    ) -> Result<DirectoryQuestion, String> {
        let key = DirectoryKey::of(place.map(|place| &**place), server)?;
        let place = place.cloned().unwrap_or_default();
        let make = || Arc::new(Directory::new(key.clone()));
        let directory = self.directories.borrow_mut().get_or_put(key.clone(), make);
        Ok(DirectoryQuestion::new(directory, place, about))
    }

    /// Whether the user meets a requirement of a directory.
    pub fn meets(
        &self,
        rules: &AccessRules,
        user: Option<&User>,
        requirement: &RequirementQuery<'_>,
    ) -> DirectoryRequirement {
        let RequirementQuery { server, kind, words } = *requirement;
        let entry = user.and_then(|user| user.records.entry.as_ref());
        let login = entry.map(|entry| &entry.login).or(user.map(|user| &user.name)).cloned().unwrap_or_default();
        let about = AboutRequirement {
            entry: entry.map(|entry| entry.name.clone()),
            login,
            password: user.and_then(|user| user.records.password.clone()),
            kind,
            words: words.to_vec(),
        };
        let about = QuestionSubject::Requirement(about);
        match self.question(rules.directory.as_ref(), &rules.directory_server(server), about) {
            Err(why) => DirectoryRequirement::Misconfigured(why),
            Ok(question) => match self.answer(&question, server.operation_cache_life) {
                Some(DirectoryAnswer::Meets(met)) => DirectoryRequirement::Known(met),
                _ => DirectoryRequirement::Open(question),
            },
        }
    }

    /// Stores the answer to a requirement. The error is for the log.
    pub fn remember(
        &self,
        question: &DirectoryQuestion,
        answer: Result<DirectoryAnswer, String>,
    ) -> Result<bool, String> {
        let answer = answer?;
        let met = answer == DirectoryAnswer::Meets(true);
        self.answers.borrow_mut().put(self.digest(question), (Instant::now(), answer));
        Ok(met)
    }

    /// Takes the answer of a directory: the user, or the request for the next provider.
    pub fn conclude<'a>(
        &self,
        rules: &AccessRules,
        subject: AuthSubject<'a>,
        question: &DirectoryQuestion,
        answer: Result<DirectoryAnswer, String>,
    ) -> Result<AuthSubject<'a>, Proof> {
        let is_authoritative = question.place().bind_authoritative;
        let why = match answer {
            Ok(DirectoryAnswer::Known(entry)) => {
                let answer = DirectoryAnswer::Known(entry.clone());
                self.answers.borrow_mut().put(self.digest(question), (Instant::now(), answer));
                return Ok(AuthSubject::Proven(user_of(question, entry)));
            }
            Ok(DirectoryAnswer::Unknown(why)) => Proof::Unknown(why),
            Ok(DirectoryAnswer::Refused(why)) if is_authoritative => return Err(Proof::Refused(why)),
            Ok(DirectoryAnswer::Refused(why)) => Proof::Unknown(why),
            Ok(DirectoryAnswer::Meets(_)) => return Err(Proof::Nobody),
            Err(why) => return Err(Proof::Misconfigured(why)),
        };
        let next = question.source() + 1;
        match subject {
            AuthSubject::Request(request) if next < rules.sources().len() => {
                Ok(AuthSubject::Request(AuthRequest { source: next, ..request }))
            }
            _ => Err(why),
        }
    }

    fn answer(&self, question: &DirectoryQuestion, life: Duration) -> Option<DirectoryAnswer> {
        let mut answers = self.answers.borrow_mut();
        let (since, known) = answers.get(&self.digest(question))?;
        (since.elapsed() < life && crate::cached::is_current(*since)).then(|| known.clone())
    }

    fn digest(&self, question: &DirectoryQuestion) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one(Asked(question)))
    }
}

/// A question as the key of its answer.
struct Asked<'a>(&'a DirectoryQuestion);

impl Hash for Asked<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0.key(), self.0.place(), &self.0.about).hash(state);
    }
}

/// The directory that a provider of passwords asks.
fn directory_of(source: &PasswordSource, rules: &AccessRules) -> Option<Arc<LdapPlace>> {
    match source {
        PasswordSource::Alias(alias) => alias.settings(rules).directory,
        _ => rules.directory.clone(),
    }
}

/// The user whose entry a directory has found.
fn user_of(question: &DirectoryQuestion, entry: DirectoryEntry) -> User {
    let place = question.place();
    let attribute = place.remote_user_attribute.as_ref();
    let value = attribute.and_then(|name| entry.attributes.iter().find(|(known, _)| known == name));
    let name = match value {
        Some((_, value)) => value.clone(),
        None if place.remote_user_is_dn => entry.name.clone(),
        None => entry.login.clone(),
    };
    let password = match &question.about {
        QuestionSubject::Password(_, password) if place.search_as_user || place.compare_as_user => {
            Some(Arc::new(DirectoryPassword(password.clone())))
        }
        _ => None,
    };
    let records = UserRecords { entry: Some(Arc::new(entry)), password, ..UserRecords::default() };
    User { records: Box::new(records), ..User::of(name) }
}

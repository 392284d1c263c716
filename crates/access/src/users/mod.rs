//! Authentication of users by files, databases and directories, with the methods Basic and Digest.
//!
//! [`Users::attempt`] never blocks. It returns work that takes time, reading a file, asking a database or directory,
//! or comparing a password, to its caller: the front does it on another thread, a worker directly. Then the caller
//! tries again.

mod directories;

use std::cell::RefCell;
use std::hash::RandomState;
use std::sync::Arc;
use std::time::Instant;

use super::answers::SqlAnswers;
use super::basic::{Credentials, credentials};
use super::digest;
use super::directory::{Directory, DirectoryAnswer, DirectoryKey, DirectoryQuestion};
use super::hash_cost;
use super::password::PasswordCheck;
use super::proof::{AuthRequest, Proof};
use super::user_files::{HashQuery, NoAnswer, StoredHash, UserFileLook, UserFileReading, UserFiles};
use super::verified::Verified;
use super::{AuthMethod, User};
use base::cache::BoundedCache;
use config::access::{AccessRules, HashLimits};
use databases::SqlQuestion;

pub use directories::{DirectoryRequirement, RequirementQuery};

/// Maximum number of directories, and of their answers, in the cache.
const MAX_DIRECTORIES: usize = 256;
const MAX_ANSWERS: usize = 4096;

/// Subject of an authentication.
pub enum AuthSubject<'a> {
    /// The user in the `Authorization` header of a request.
    Request(AuthRequest<'a>),
    /// A user who was authenticated, here or by a Perl handler.
    Proven(User),
}

/// Work that may block is returned to the caller, which runs it on another thread.
pub enum AuthAttempt {
    /// The authentication has a result.
    Settled(Proof),
    /// A password must be compared, which may take long: pass the result of [`PasswordCheck::is_right`] to
    /// [`Users::settle`].
    Slow(PasswordCheck),
    /// A file must be checked: pass the result of [`UserFileReading::take`] to [`Users::learn`].
    Unread(UserFileReading),
    /// A database must be asked: add its answer with [`SqlAnswers::add`].
    Unasked(SqlQuestion),
    /// A directory must be asked: pass the result of [`DirectoryQuestion::ask`] to [`Users::conclude`].
    Directory(DirectoryQuestion),
}

/// Prepares the comparison of a password, unless it would cost too much.
fn check(
    claimed: Credentials,
    realm: Option<&str>,
    stored: StoredHash,
    limits: HashLimits,
) -> Result<PasswordCheck, Proof> {
    match hash_cost::memory(&stored.text, limits) {
        Ok(memory) => {
            let StoredHash { text: hash, columns, .. } = stored;
            let realm = realm.map(Into::into);
            Ok(PasswordCheck { user: claimed.user, password: claimed.password, hash, realm, memory, columns })
        }
        Err(error) => Err(Proof::Misconfigured(format!(
            "{}: user {}: {error}; make a new one, for example with htpasswd -B, or change LimitPasswordHash",
            stored.place,
            claimed.user.escape_debug()
        ))),
    }
}

impl From<NoAnswer> for AuthAttempt {
    fn from(reason: NoAnswer) -> AuthAttempt {
        match reason {
            NoAnswer::Unknown(why) => AuthAttempt::Settled(Proof::Unknown(why)),
            NoAnswer::Misconfigured(why) => AuthAttempt::Settled(Proof::Misconfigured(why)),
            NoAnswer::Unread(reading) => AuthAttempt::Unread(reading),
            NoAnswer::Unasked(question) => AuthAttempt::Unasked(question),
            NoAnswer::Directory(_) => {
                let why = "AuthType Digest cannot use a directory, which has no hashes for it";
                AuthAttempt::Settled(Proof::Misconfigured(why.to_owned()))
            }
        }
    }
}

/// Caches of files and of verified passwords. One per process.
#[derive(Default)]
pub struct Users {
    files: UserFiles,
    verified: Verified,
    directories: RefCell<BoundedCache<DirectoryKey, Arc<Directory>, MAX_DIRECTORIES>>,
    answers: RefCell<BoundedCache<[u64; 2], (Instant, DirectoryAnswer), MAX_ANSWERS>>,
    /// Two keys for answers, because one digest has only 64 bits. No password is stored.
    keys: [RandomState; 2],
}

impl Users {
    /// Authenticates a user, with files that were checked after `since` or within the last second, and with `answers`
    /// of databases.
    pub fn attempt(
        &self,
        rules: &AccessRules,
        subject: &AuthSubject<'_>,
        since: Instant,
        answers: &SqlAnswers,
    ) -> AuthAttempt {
        match subject {
            AuthSubject::Request(request) if rules.is_digest() => self.by_digest(rules, request, since, answers),
            AuthSubject::Request(request) => self.by_password(rules, request, since, answers),
            AuthSubject::Proven(user) => self.with_groups(rules, user.clone(), since, answers),
        }
    }

    fn by_digest(
        &self,
        rules: &AccessRules,
        request: &AuthRequest<'_>,
        since: Instant,
        answers: &SqlAnswers,
    ) -> AuthAttempt {
        if rules.auth_name.is_none() || !rules.has_users() {
            let needs = "Require with AuthType Digest needs AuthName and AuthUserFile here";
            return AuthAttempt::Settled(Proof::Misconfigured(needs.to_owned()));
        }
        if request.authorization.is_none() {
            return AuthAttempt::Settled(Proof::Nobody);
        }
        let find = |user: &str, realm: &str| {
            self.files.hash_of(
                rules,
                HashQuery { user, realm: Some(realm), scope: request.scope, since, answers, source: request.source },
            )
        };
        let mut columns = Vec::new();
        let checked = digest::check(request, rules, |user, realm| match find(user, realm) {
            Ok(stored) => {
                columns = stored.columns;
                Ok(Some(stored.text))
            }
            Err(NoAnswer::Unknown(_)) => Ok(None),
            Err(stopped) => Err(stopped),
        });
        match checked {
            Ok(Ok(proof)) => {
                let user = User::with_columns(proof.user, columns);
                let user = User { method: AuthMethod::Digest, info: proof.info, ..user };
                self.with_groups(rules, user, since, answers)
            }
            Ok(Err(proof)) => AuthAttempt::Settled(proof),
            Err(stopped) => stopped.into(),
        }
    }

    fn by_password(
        &self,
        rules: &AccessRules,
        request: &AuthRequest<'_>,
        since: Instant,
        answers: &SqlAnswers,
    ) -> AuthAttempt {
        if rules.auth_name.is_none() || !rules.is_basic() {
            let needs = "Require needs AuthType Basic or Digest and AuthName here";
            return AuthAttempt::Settled(Proof::Misconfigured(needs.to_owned()));
        }
        let Some(claimed) = request.authorization.and_then(credentials) else {
            return AuthAttempt::Settled(Proof::Nobody);
        };
        if rules.sources().is_empty() {
            let needs = "Require needs an AuthUserFile here to compare passwords";
            return AuthAttempt::Settled(Proof::Misconfigured(needs.to_owned()));
        }
        let realm = Some(request.realm).filter(|_| rules.digest_hashes == Some(true));
        let query =
            HashQuery { user: &claimed.user, realm, scope: request.scope, since, answers, source: request.source };
        match self.files.hash_of(rules, query) {
            Ok(stored) => match check(claimed, realm, stored, request.limits) {
                Ok(check) if self.verified.knows(&check) => self.with_groups(rules, check.into_user(), since, answers),
                Ok(check) => AuthAttempt::Slow(check),
                Err(proof) => AuthAttempt::Settled(proof),
            },
            Err(NoAnswer::Directory(number)) => match self.in_directory(rules, &claimed, request.ldap, number) {
                Ok(user) => self.with_groups(rules, user, since, answers),
                Err(attempt) => attempt,
            },
            Err(reason) => reason.into(),
        }
    }

    /// Records the result of a password comparison.
    pub fn settle(&self, check: PasswordCheck, is_right: bool) -> Result<AuthSubject<'static>, Proof> {
        if !is_right {
            return Err(Proof::Refused(format!("user {}: password mismatch", check.user.escape_debug())));
        }
        self.verified.remember(&check);
        Ok(AuthSubject::Proven(check.into_user()))
    }

    /// Stores the result of checking or reading a file.
    pub fn learn(&self, look: UserFileLook) {
        self.files.learn(look);
    }

    fn with_groups(&self, rules: &AccessRules, user: User, since: Instant, answers: &SqlAnswers) -> AuthAttempt {
        let added = self.files.add_groups(rules, user, since, answers);
        added.map_or_else(AuthAttempt::from, |user| AuthAttempt::Settled(Proof::Is(user)))
    }

    /// Authenticates a user, blocking on files, databases and comparisons: for a process with one task at a time.
    pub fn wait(&self, rules: &AccessRules, subject: AuthSubject<'_>) -> Proof {
        let (mut subject, since, mut answers) = (subject, Instant::now(), SqlAnswers::default());
        loop {
            match self.attempt(rules, &subject, since, &answers) {
                AuthAttempt::Settled(proof) => return proof,
                AuthAttempt::Unread(reading) => self.learn(reading.take()),
                AuthAttempt::Unasked(question) => answers.find(question),
                AuthAttempt::Directory(question) => {
                    let answer = question.ask();
                    match self.conclude(rules, subject, &question, answer) {
                        Ok(next) => subject = next,
                        Err(proof) => return proof,
                    }
                }
                AuthAttempt::Slow(check) => {
                    let is_right = check.is_right();
                    match self.settle(check, is_right) {
                        Ok(proven) => subject = proven,
                        Err(proof) => return proof,
                    }
                }
            }
        }
    }
}

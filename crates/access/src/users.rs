//! Authentication of users by AuthUserFile, with the methods Basic and Digest.
//!
//! [`Users::attempt`] never blocks. It returns work that takes time, reading a file or comparing a password, to its
//! caller: the front does it on another thread, a worker directly. Then the caller tries again.

use std::path::Path;
use std::time::Instant;

use super::basic::{Credentials, credentials};
use super::digest::{self, DigestFile};
use super::files::{self, FileCache};
use super::hash_cost;
use super::lines::{GroupFile, PasswordFile};
use super::password::PasswordCheck;
use super::proof::{AuthRequest, Proof};
use super::verified::Verified;
use super::{AuthMethod, User};
use config::access::{AccessRules, HashLimits};

/// Subject of an authentication.
pub enum AuthSubject<'a> {
    /// The user in the `Authorization` header of a request.
    Request(AuthRequest<'a>),
    /// A user who was authenticated, here or by a Perl handler.
    Proven(String),
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
}

/// A file that has to be checked or read.
pub enum UserFileReading {
    /// An AuthUserFile of htpasswd.
    Users(files::FileReading<PasswordFile>),
    /// An AuthUserFile of htdigest.
    Digests(files::FileReading<DigestFile>),
    /// An AuthGroupFile.
    Groups(files::FileReading<GroupFile>),
}

/// Result of checking or reading a file.
pub enum UserFileLook {
    /// An AuthUserFile of htpasswd.
    Users(files::FileLook<PasswordFile>),
    /// An AuthUserFile of htdigest.
    Digests(files::FileLook<DigestFile>),
    /// An AuthGroupFile.
    Groups(files::FileLook<GroupFile>),
}

impl UserFileReading {
    /// Checks time and size of the file, which may block on the disk. `Err`: it must be read.
    pub fn glance(self) -> Result<UserFileLook, UserFileReading> {
        match self {
            UserFileReading::Users(reading) => {
                reading.glance().map(UserFileLook::Users).map_err(UserFileReading::Users)
            }
            UserFileReading::Digests(reading) => {
                reading.glance().map(UserFileLook::Digests).map_err(UserFileReading::Digests)
            }
            UserFileReading::Groups(reading) => {
                reading.glance().map(UserFileLook::Groups).map_err(UserFileReading::Groups)
            }
        }
    }

    /// Checks or reads the file, which may take long.
    pub fn take(self) -> UserFileLook {
        match self {
            UserFileReading::Users(reading) => UserFileLook::Users(reading.take()),
            UserFileReading::Digests(reading) => UserFileLook::Digests(reading.take()),
            UserFileReading::Groups(reading) => UserFileLook::Groups(reading.take()),
        }
    }
}

/// Prepares the comparison of a password, unless it would cost too much.
fn check(
    file: &Path,
    claimed: Credentials,
    passwords: &PasswordFile,
    limits: HashLimits,
) -> Result<PasswordCheck, Proof> {
    let user = claimed.user.escape_debug();
    let Some(hash) = passwords.hash_of(&claimed.user) else {
        return Err(Proof::Unknown(format!("user {user} not found")));
    };
    match hash_cost::memory(hash.text, limits) {
        Ok(memory) => {
            let hash = hash.text.to_owned();
            Ok(PasswordCheck { user: claimed.user, password: claimed.password, hash, memory })
        }
        Err(error) => Err(Proof::Misconfigured(format!(
            "{}:{}: user {user}: {error}; make a new one, for example with htpasswd -B, or change LimitPasswordHash",
            file.display(),
            hash.line
        ))),
    }
}

/// Caches of files and of verified passwords. One per process.
#[derive(Default)]
pub struct Users {
    passwords: FileCache<PasswordFile>,
    digests: FileCache<DigestFile>,
    groups: FileCache<GroupFile>,
    verified: Verified,
}

impl Users {
    /// Authenticates a user, with files that were checked after `since` or within the last second.
    pub fn attempt(&self, rules: &AccessRules, asked: &AuthSubject<'_>, since: Instant) -> AuthAttempt {
        match asked {
            AuthSubject::Request(request) if rules.is_digest() => self.by_digest(rules, request, since),
            AuthSubject::Request(request) => self.by_password(rules, request, since),
            AuthSubject::Proven(name) => self.with_groups(rules, User::of(name.clone()), since),
        }
    }

    fn by_digest(&self, rules: &AccessRules, request: &AuthRequest<'_>, since: Instant) -> AuthAttempt {
        let (Some(_), Some(file)) = (&rules.auth_name, &rules.user_file) else {
            let needs = "Require with AuthType Digest needs AuthName and AuthUserFile here";
            return AuthAttempt::Settled(Proof::Misconfigured(needs.to_owned()));
        };
        if request.authorization.is_none() {
            return AuthAttempt::Settled(Proof::Nobody);
        }
        match self.digests.get(file, since) {
            Ok(Ok(file)) => match digest::check(request, rules, &file) {
                Ok(proof) => {
                    let user = User { method: AuthMethod::Digest, info: proof.info, ..User::of(proof.user) };
                    self.with_groups(rules, user, since)
                }
                Err(proof) => AuthAttempt::Settled(proof),
            },
            Ok(Err(error)) => AuthAttempt::Settled(Proof::Misconfigured(format!("AuthUserFile: {error}"))),
            Err(reading) => AuthAttempt::Unread(UserFileReading::Digests(reading)),
        }
    }

    fn by_password(&self, rules: &AccessRules, request: &AuthRequest<'_>, since: Instant) -> AuthAttempt {
        if rules.auth_name.is_none() || !rules.is_basic() {
            let needs = "Require needs AuthType Basic or Digest and AuthName here";
            return AuthAttempt::Settled(Proof::Misconfigured(needs.to_owned()));
        }
        let Some(claimed) = request.authorization.and_then(credentials) else {
            return AuthAttempt::Settled(Proof::Nobody);
        };
        let Some(file) = rules.file_of_users() else {
            let needs = "Require needs an AuthUserFile here to compare passwords";
            return AuthAttempt::Settled(Proof::Misconfigured(needs.to_owned()));
        };
        match self.passwords.get(file, since) {
            Ok(Ok(passwords)) => match check(file, claimed, passwords.as_ref(), request.limits) {
                Ok(check) => self.compare(rules, check, since),
                Err(proof) => AuthAttempt::Settled(proof),
            },
            Ok(Err(error)) => AuthAttempt::Settled(Proof::Misconfigured(format!("AuthUserFile: {error}"))),
            Err(reading) => AuthAttempt::Unread(UserFileReading::Users(reading)),
        }
    }

    fn compare(&self, rules: &AccessRules, check: PasswordCheck, since: Instant) -> AuthAttempt {
        match self.verified.knows(&check) {
            true => self.with_groups(rules, User::of(check.user), since),
            false => AuthAttempt::Slow(check),
        }
    }

    /// Records the result of a password comparison.
    pub fn settle(&self, check: PasswordCheck, is_right: bool) -> Result<AuthSubject<'static>, Proof> {
        if !is_right {
            return Err(Proof::Refused(format!("user {}: password mismatch", check.user.escape_debug())));
        }
        self.verified.remember(&check);
        Ok(AuthSubject::Proven(check.user))
    }

    /// Stores the result of checking or reading a file.
    pub fn learn(&self, look: UserFileLook) {
        match look {
            UserFileLook::Users(look) => self.passwords.learn(look),
            UserFileLook::Digests(look) => self.digests.learn(look),
            UserFileLook::Groups(look) => self.groups.learn(look),
        }
    }

    fn with_groups(&self, rules: &AccessRules, user: User, since: Instant) -> AuthAttempt {
        let Some(file) = &rules.group_file else {
            return AuthAttempt::Settled(Proof::Is(user));
        };
        match self.groups.get(file, since) {
            Ok(Ok(groups)) => {
                let groups = groups.of(&user.name).map(str::to_owned).collect();
                AuthAttempt::Settled(Proof::Is(User { groups, ..user }))
            }
            Ok(Err(error)) => AuthAttempt::Settled(Proof::Misconfigured(format!("AuthGroupFile: {error}"))),
            Err(reading) => AuthAttempt::Unread(UserFileReading::Groups(reading)),
        }
    }

    /// Authenticates a user, blocking on files and comparisons: for a process with one task at a time.
    pub fn wait(&self, rules: &AccessRules, asked: AuthSubject<'_>) -> Proof {
        let (mut asked, since) = (asked, Instant::now());
        loop {
            match self.attempt(rules, &asked, since) {
                AuthAttempt::Settled(proof) => return proof,
                AuthAttempt::Unread(reading) => self.learn(reading.take()),
                AuthAttempt::Slow(check) => {
                    let is_right = check.is_right();
                    match self.settle(check, is_right) {
                        Ok(proven) => asked = proven,
                        Err(proof) => return proof,
                    }
                }
            }
        }
    }
}

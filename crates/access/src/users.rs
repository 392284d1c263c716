//! Authentication of users by AuthUserFile.
//!
//! [`Users::attempt`] never blocks. It returns work that takes time, reading a file or comparing a password, to its caller:
//! the front does it on another thread, a worker directly. Then the caller tries again.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use super::User;
use super::basic::{Credentials, credentials};
use super::files::{self, FileCache};
use super::hash_cost;
use super::lines::{GroupFile, PasswordFile};
use super::password::PasswordCheck;
use super::verified::Verified;
use config::access::{AccessRules, HashLimits};

/// Subject of an authentication.
pub enum AuthSubject<'a> {
    /// The user in an `Authorization` header, and the limits on the cost of the hash.
    Header(Option<&'a [u8]>, HashLimits),
    /// A user who was authenticated, here or by a Perl handler.
    Proven(String),
}

/// Result of an attempt.
pub enum AuthAttempt {
    /// The authentication has a result.
    Settled(Proof),
    /// A password must be compared, which may take long: pass the result of [`PasswordCheck::is_right`] to [`Users::settle`].
    Slow(PasswordCheck),
    /// A file must be checked: pass the result of [`UserFileReading::take`] to [`Users::learn`].
    Unread(UserFileReading),
}

/// Result of an authentication.
#[derive(Debug, PartialEq, Eq)]
pub enum Proof {
    /// The user is authenticated.
    Is(User),
    /// No valid credentials: 401.
    Nobody,
    /// The user is not in the file (the reason is for the log): 401, unless a Perl handler knows the user.
    Unknown(String),
    /// The password is wrong, with the reason for the log: 401.
    Refused(String),
    /// The configuration is incomplete, with the reason for the log: 500.
    Misconfigured(String),
}

/// A file that has to be checked or read.
pub enum UserFileReading {
    /// An AuthUserFile.
    Users(files::FileReading<PasswordFile>),
    /// An AuthGroupFile.
    Groups(files::FileReading<GroupFile>),
}

/// Result of checking or reading a file.
pub enum UserFileLook {
    /// An AuthUserFile.
    Users(files::FileLook<PasswordFile>),
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
            UserFileReading::Groups(reading) => {
                reading.glance().map(UserFileLook::Groups).map_err(UserFileReading::Groups)
            }
        }
    }

    /// Checks or reads the file, which may take long.
    pub fn take(self) -> UserFileLook {
        match self {
            UserFileReading::Users(reading) => UserFileLook::Users(reading.take()),
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
    groups: FileCache<GroupFile>,
    verified: Verified,
}

impl Users {
    /// Authenticates a user, with files that were checked after `since` or within the last second.
    pub fn attempt(&self, rules: &AccessRules, asked: &AuthSubject<'_>, since: Instant) -> AuthAttempt {
        match asked {
            AuthSubject::Header(header, limits) => self.by_header(rules, *header, *limits, since),
            AuthSubject::Proven(name) => self.with_groups(rules, name.clone(), since),
        }
    }

    fn by_header(&self, rules: &AccessRules, header: Option<&[u8]>, limits: HashLimits, since: Instant) -> AuthAttempt {
        if rules.auth_name.is_none() || !rules.is_basic() {
            let needs = "Require needs AuthType Basic and AuthName here";
            return AuthAttempt::Settled(Proof::Misconfigured(needs.to_owned()));
        }
        let Some(claimed) = header.and_then(credentials) else { return AuthAttempt::Settled(Proof::Nobody) };
        let Some(file) = rules.file_of_users() else {
            let needs = "Require needs an AuthUserFile here to compare passwords";
            return AuthAttempt::Settled(Proof::Misconfigured(needs.to_owned()));
        };
        match self.passwords.get(file, since) {
            Ok(Ok(passwords)) => match check(file, claimed, passwords.as_ref(), limits) {
                Ok(check) => self.compare(rules, check, since),
                Err(proof) => AuthAttempt::Settled(proof),
            },
            Ok(Err(error)) => AuthAttempt::Settled(Proof::Misconfigured(format!("AuthUserFile: {error}"))),
            Err(reading) => AuthAttempt::Unread(UserFileReading::Users(reading)),
        }
    }

    fn compare(&self, rules: &AccessRules, check: PasswordCheck, since: Instant) -> AuthAttempt {
        match self.verified.knows(&check) {
            true => self.with_groups(rules, check.user, since),
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
            UserFileLook::Groups(look) => self.groups.learn(look),
        }
    }

    fn with_groups(&self, rules: &AccessRules, name: String, since: Instant) -> AuthAttempt {
        let Some(file) = &rules.group_file else {
            return AuthAttempt::Settled(Proof::Is(User { name, groups: HashSet::new() }));
        };
        match self.groups.get(file, since) {
            Ok(Ok(groups)) => {
                let groups = groups.of(&name).map(str::to_owned).collect();
                AuthAttempt::Settled(Proof::Is(User { name, groups }))
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

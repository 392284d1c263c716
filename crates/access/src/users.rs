//! Authentication of users by AuthUserFile.
//!
//! [`Users::attempt`] never blocks. It returns work that takes time, reading a file or comparing a password, to its caller:
//! the front does it on another thread, a worker directly. Then the caller tries again.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use super::User;
use super::basic::{Credentials, credentials};
use super::files::{self, Files};
use super::hash_cost;
use super::lines::{Groups, Passwords};
use super::password::Check;
use super::verified::Verified;
use config::access::{AccessRules, HashLimits};

/// Subject of an authentication.
pub enum Asked<'a> {
    /// The user in an `Authorization` header, and the limits on the cost of the hash.
    Header(Option<&'a [u8]>, HashLimits),
    /// A user who was authenticated, here or by a Perl handler.
    Proven(String),
}

/// Result of an attempt.
pub enum Attempt {
    /// The authentication has a result.
    Settled(Proof),
    /// A password must be compared, which may take long: pass the result of [`Check::is_right`] to [`Users::settle`].
    Slow(Check),
    /// A file must be checked: pass the result of [`Reading::take`] to [`Users::learn`].
    Unread(Reading),
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
pub enum Reading {
    /// An AuthUserFile.
    Users(files::Reading<Passwords>),
    /// An AuthGroupFile.
    Groups(files::Reading<Groups>),
}

/// Result of checking or reading a file.
pub enum Look {
    /// An AuthUserFile.
    Users(files::Look<Passwords>),
    /// An AuthGroupFile.
    Groups(files::Look<Groups>),
}

impl Reading {
    /// Checks time and size of the file, which may block on the disk. `Err`: it must be read.
    pub fn glance(self) -> Result<Look, Reading> {
        match self {
            Reading::Users(reading) => reading.glance().map(Look::Users).map_err(Reading::Users),
            Reading::Groups(reading) => reading.glance().map(Look::Groups).map_err(Reading::Groups),
        }
    }

    /// Checks or reads the file, which may take long.
    pub fn take(self) -> Look {
        match self {
            Reading::Users(reading) => Look::Users(reading.take()),
            Reading::Groups(reading) => Look::Groups(reading.take()),
        }
    }
}

/// Prepares the comparison of a password, unless it would cost too much.
fn check(file: &Path, claimed: Credentials, passwords: &Passwords, limits: HashLimits) -> Result<Check, Proof> {
    let user = claimed.user.escape_debug();
    let Some(hash) = passwords.hash_of(&claimed.user) else {
        return Err(Proof::Unknown(format!("user {user} not found")));
    };
    match hash_cost::memory(hash.text, limits) {
        Ok(memory) => {
            let hash = hash.text.to_owned();
            Ok(Check { user: claimed.user, password: claimed.password, hash, memory })
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
    passwords: Files<Passwords>,
    groups: Files<Groups>,
    verified: Verified,
}

impl Users {
    /// Authenticates a user, with files that were checked after `since` or within the last second.
    pub fn attempt(&self, rules: &AccessRules, asked: &Asked<'_>, since: Instant) -> Attempt {
        match asked {
            Asked::Header(header, limits) => self.by_header(rules, *header, *limits, since),
            Asked::Proven(name) => self.with_groups(rules, name.clone(), since),
        }
    }

    fn by_header(&self, rules: &AccessRules, header: Option<&[u8]>, limits: HashLimits, since: Instant) -> Attempt {
        if rules.auth_name.is_none() || !rules.is_basic() {
            let needs = "Require needs AuthType Basic and AuthName here";
            return Attempt::Settled(Proof::Misconfigured(needs.to_owned()));
        }
        let Some(claimed) = header.and_then(credentials) else { return Attempt::Settled(Proof::Nobody) };
        let Some(file) = rules.file_of_users() else {
            let needs = "Require needs an AuthUserFile here to compare passwords";
            return Attempt::Settled(Proof::Misconfigured(needs.to_owned()));
        };
        match self.passwords.ask(file, since) {
            Ok(Ok(passwords)) => match check(file, claimed, passwords.as_ref(), limits) {
                Ok(check) => self.compare(rules, check, since),
                Err(proof) => Attempt::Settled(proof),
            },
            Ok(Err(error)) => Attempt::Settled(Proof::Misconfigured(format!("AuthUserFile: {error}"))),
            Err(reading) => Attempt::Unread(Reading::Users(reading)),
        }
    }

    fn compare(&self, rules: &AccessRules, check: Check, since: Instant) -> Attempt {
        match self.verified.knows(&check) {
            true => self.with_groups(rules, check.user, since),
            false => Attempt::Slow(check),
        }
    }

    /// Records the result of a password comparison.
    pub fn settle(&self, check: Check, is_right: bool) -> Result<Asked<'static>, Proof> {
        if !is_right {
            return Err(Proof::Refused(format!("user {}: password mismatch", check.user.escape_debug())));
        }
        self.verified.remember(&check);
        Ok(Asked::Proven(check.user))
    }

    /// Stores the result of checking or reading a file.
    pub fn learn(&self, look: Look) {
        match look {
            Look::Users(look) => self.passwords.learn(look),
            Look::Groups(look) => self.groups.learn(look),
        }
    }

    fn with_groups(&self, rules: &AccessRules, name: String, since: Instant) -> Attempt {
        let Some(file) = &rules.group_file else {
            return Attempt::Settled(Proof::Is(User { name, groups: HashSet::new() }));
        };
        match self.groups.ask(file, since) {
            Ok(Ok(groups)) => {
                let groups = groups.of(&name).map(str::to_owned).collect();
                Attempt::Settled(Proof::Is(User { name, groups }))
            }
            Ok(Err(error)) => Attempt::Settled(Proof::Misconfigured(format!("AuthGroupFile: {error}"))),
            Err(reading) => Attempt::Unread(Reading::Groups(reading)),
        }
    }

    /// Authenticates a user, blocking on files and comparisons: for a process with one task at a time.
    pub fn wait(&self, rules: &AccessRules, asked: Asked<'_>) -> Proof {
        let (mut asked, since) = (asked, Instant::now());
        loop {
            match self.attempt(rules, &asked, since) {
                Attempt::Settled(proof) => return proof,
                Attempt::Unread(reading) => self.learn(reading.take()),
                Attempt::Slow(check) => {
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

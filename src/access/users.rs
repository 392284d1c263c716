//! Users of an AuthUserFile: who a request says it is, and whether that is so.
//!
//! [`Users::attempt`] never waits. What takes time, to look at a file and to compare a password, it hands to whoever asks:
//! the front does it on another thread, a worker where it is. Then it is asked again.

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
use crate::config::access::AccessRules;

/// Who is asked about.
pub enum Asked<'a> {
    /// Whom an `Authorization` header names.
    Header(Option<&'a [u8]>),
    /// This user, whose password was right (here, or to a Perl handler).
    Proven(String),
}

/// What comes of a question.
pub enum Attempt {
    /// This.
    Settled(Proof),
    /// The password must be compared, which may take long: give what [`Check::is_right`] says to [`Users::settle`].
    Slow(Check),
    /// A file must be looked at: give what [`Reading::take`] finds to [`Users::learn`].
    Unread(Reading),
}

/// Who a client is.
#[derive(Debug, PartialEq, Eq)]
pub enum Proof {
    /// This user.
    Is(User),
    /// It shows no credentials that can be read: 401.
    Nobody,
    /// 401, unless somebody else knows the user; why, for the log.
    Unknown(String),
    /// 401; why, for the log.
    Refused(String),
    /// 500; what is missing, for the log.
    Misconfigured(String),
}

/// A file that is to be looked at.
pub enum Reading {
    /// An AuthUserFile.
    Users(files::Reading<Passwords>),
    /// An AuthGroupFile.
    Groups(files::Reading<Groups>),
}

/// A file that was looked at.
pub enum Look {
    /// An AuthUserFile.
    Users(files::Look<Passwords>),
    /// An AuthGroupFile.
    Groups(files::Look<Groups>),
}

impl Reading {
    /// What a look at the file's date and size settles; may wait for the disk. `Err`: it must be read.
    pub fn glance(self) -> Result<Look, Reading> {
        match self {
            Reading::Users(reading) => reading.glance().map(Look::Users).map_err(Reading::Users),
            Reading::Groups(reading) => reading.glance().map(Look::Groups).map_err(Reading::Groups),
        }
    }

    /// Looks at the file; may take long.
    pub fn take(self) -> Look {
        match self {
            Reading::Users(reading) => Look::Users(reading.take()),
            Reading::Groups(reading) => Look::Groups(reading.take()),
        }
    }
}

/// What is to be compared, unless it would cost too much.
fn check(file: &Path, claimed: Credentials, passwords: &Passwords) -> Result<Check, Proof> {
    let user = claimed.user.escape_debug();
    let Some(hash) = passwords.hash_of(&claimed.user) else {
        return Err(Proof::Unknown(format!("user {user} not found")));
    };
    match hash_cost::memory(hash.text) {
        Ok(memory) => {
            let hash = hash.text.to_owned();
            Ok(Check { user: claimed.user, password: claimed.password, hash, memory })
        }
        Err(error) => Err(Proof::Misconfigured(format!(
            "{}:{}: user {user}: {error}; make a new one, for example with htpasswd -B",
            file.display(),
            hash.line
        ))),
    }
}

/// The files, and who was right lately. One for each process.
#[derive(Default)]
pub struct Users {
    passwords: Files<Passwords>,
    groups: Files<Groups>,
    verified: Verified,
}

impl Users {
    /// Who it is, by files that were looked at since `since` or a short while ago.
    pub fn attempt(&self, rules: &AccessRules, asked: &Asked<'_>, since: Instant) -> Attempt {
        match asked {
            Asked::Header(header) => self.by_header(rules, *header, since),
            Asked::Proven(name) => self.with_groups(rules, name.clone(), since),
        }
    }

    fn by_header(&self, rules: &AccessRules, header: Option<&[u8]>, since: Instant) -> Attempt {
        if rules.auth_name.is_none() || !rules.is_basic() {
            let needs = "Require needs AuthType Basic and AuthName here";
            return Attempt::Settled(Proof::Misconfigured(needs.to_owned()));
        }
        let Some(claimed) = header.and_then(credentials) else { return Attempt::Settled(Proof::Nobody) };
        let Some(file) = rules.file_of_users() else {
            let needs = "Require needs an AuthUserFile here: nobody's password can be compared";
            return Attempt::Settled(Proof::Misconfigured(needs.to_owned()));
        };
        match self.passwords.ask(file, since) {
            Ok(Ok(passwords)) => match check(file, claimed, passwords.as_ref()) {
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

    /// The password was compared: who it proves the client to be.
    pub fn settle(&self, check: Check, is_right: bool) -> Result<Asked<'static>, Proof> {
        if !is_right {
            return Err(Proof::Refused(format!("user {}: password mismatch", check.user.escape_debug())));
        }
        self.verified.remember(&check);
        Ok(Asked::Proven(check.user))
    }

    /// A file was looked at.
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

    /// Who it is, with all that takes time done here and now: for a process that does one thing at a time.
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

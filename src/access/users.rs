//! Users of an AuthUserFile: who a request says it is, and whether that is so.

use std::collections::HashSet;

use super::User;
use super::basic::credentials;
use super::files::Files;
use super::password::Check;
use super::verified::Verified;
use crate::config::access::Rules;

/// What comes of a request's credentials.
pub enum Attempt {
    /// This.
    Settled(Proof),
    /// The password must be compared, which may take long: give what [`Check::is_right`] says to [`Users::settle`].
    Slow(Check),
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

/// The files, and who was right lately. One for each process.
#[derive(Default)]
pub struct Users {
    files: Files,
    verified: Verified,
}

impl Users {
    /// What an `Authorization` header proves, without slow work.
    pub fn attempt(&self, rules: &Rules, authorization: Option<&[u8]>) -> Attempt {
        let (Some(file), Some(_), true) = (&rules.user_file, &rules.auth_name, rules.has_users()) else {
            let needs = "Require needs AuthType Basic, AuthName and AuthUserFile here";
            return Attempt::Settled(Proof::Misconfigured(needs.to_owned()));
        };
        let Some(claimed) = authorization.and_then(credentials) else { return Attempt::Settled(Proof::Nobody) };
        let hash = match self.files.read(file) {
            Ok(lines) => lines.hash_of(&claimed.user).map(str::to_owned),
            Err(error) => return Attempt::Settled(Proof::Misconfigured(format!("AuthUserFile: {error}"))),
        };
        let Some(hash) = hash else {
            let unknown = format!("user {} not found", claimed.user.escape_debug());
            return Attempt::Settled(Proof::Unknown(unknown));
        };
        let check = Check { user: claimed.user, password: claimed.password, hash };
        match self.verified.knows(&check) {
            true => Attempt::Settled(self.with_groups(rules, check.user)),
            false => Attempt::Slow(check),
        }
    }

    /// The password was compared.
    pub fn settle(&self, rules: &Rules, check: Check, is_right: bool) -> Proof {
        if !is_right {
            return Proof::Refused(format!("user {}: password mismatch", check.user.escape_debug()));
        }
        self.verified.remember(&check);
        self.with_groups(rules, check.user)
    }

    /// A user whose password was right (here, or to a Perl handler), with its groups.
    pub fn with_groups(&self, rules: &Rules, name: String) -> Proof {
        let Some(file) = &rules.group_file else { return Proof::Is(User { name, groups: HashSet::new() }) };
        match self.files.read(file) {
            Ok(lines) => {
                let groups = lines.groups_of(&name).map(str::to_owned).collect();
                Proof::Is(User { name, groups })
            }
            Err(error) => Proof::Misconfigured(format!("AuthGroupFile: {error}")),
        }
    }
}

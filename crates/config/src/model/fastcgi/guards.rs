//! FastCGI programs that decide about access, in the role of an authorizer: `FcgidAuthenticator` and its like.

use std::path::{Path, PathBuf};

use crate::model::merge::{keep, settings};

/// A decision that a FastCGI program takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardKind {
    /// Whether the password is the user's.
    Authenticator,
    /// Whether the user may do that.
    Authorizer,
    /// Whether the client may do that, whoever it is.
    AccessChecker,
}

settings! {
    /// Programs that decide about access. `None`: no program, or the default.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct FcgidGuards {
        /// `FcgidAuthenticator`
        pub authenticator: Option<PathBuf>, keep;
        /// `FcgidAuthorizer`
        pub authorizer: Option<PathBuf>, keep;
        /// `FcgidAccessChecker`
        pub access_checker: Option<PathBuf>, keep;
        /// `FcgidAuthenticatorAuthoritative`; default on.
        pub authenticator_decides: Option<bool>, keep;
        /// `FcgidAuthorizerAuthoritative`; default on.
        pub authorizer_decides: Option<bool>, keep;
        /// `FcgidAccessCheckerAuthoritative`; default on.
        pub access_checker_decides: Option<bool>, keep;
    }
}

impl GuardKind {
    /// The value of `FCGI_APACHE_ROLE`.
    pub fn role(self) -> &'static str {
        match self {
            GuardKind::Authenticator => "AUTHENTICATOR",
            GuardKind::Authorizer => "AUTHORIZER",
            GuardKind::AccessChecker => "ACCESS_CHECKER",
        }
    }

    /// The kind of which [`GuardKind::role`] is `role`.
    pub fn of_role(role: &[u8]) -> Option<GuardKind> {
        let all = [GuardKind::Authenticator, GuardKind::Authorizer, GuardKind::AccessChecker];
        all.into_iter().find(|kind| kind.role().as_bytes() == role)
    }
}

impl FcgidGuards {
    /// Whether a program decides.
    pub fn are_on(&self) -> bool {
        self.authenticator.is_some() || self.authorizer.is_some() || self.access_checker.is_some()
    }

    /// The file that takes this decision.
    pub fn program(&self, kind: GuardKind) -> Option<&Path> {
        match kind {
            GuardKind::Authenticator => self.authenticator.as_deref(),
            GuardKind::Authorizer => self.authorizer.as_deref(),
            GuardKind::AccessChecker => self.access_checker.as_deref(),
        }
    }

    /// Whether a program's refusal is final, so that other rules cannot admit the client.
    pub fn decides(&self, kind: GuardKind) -> bool {
        let set = match kind {
            GuardKind::Authenticator => self.authenticator_decides,
            GuardKind::Authorizer => self.authorizer_decides,
            GuardKind::AccessChecker => self.access_checker_decides,
        };
        set != Some(false)
    }
}

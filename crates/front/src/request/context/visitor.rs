//! The client's identity, as far as a request needed it, and the client's permits of limits.

use std::cell::{Ref, RefMut};
use std::path::PathBuf;
use std::rc::Rc;

use http::Method;
use wire::control::PoolNumber;

use super::RequestContext;
use crate::workers::{ClientId, ConcurrencyTurn};
use ::databases::SqlQuestion;
use access::User;

/// Facts about a request's client from the access check and the limits.
#[derive(Default)]
pub struct Visitor {
    name: Option<Rc<str>>,
    user: Option<User>,
    /// The authentication scheme that Perl code has named in place of the user's.
    scheme: Option<Rc<str>>,
    /// The request's places in `MaxConcurrentReqs`, held until it is answered and its worker has ended.
    turns: Vec<ConcurrencyTurn>,
    /// The admissions of this request by FastCGI programs.
    passes: Vec<GuardPass>,
    /// Statements that were executed for this request's users.
    executed: Vec<SqlQuestion>,
    /// The client for `SpeedLimit` in the last pool, or the seconds after which a client that was too fast may retry.
    speed: Option<Result<(PoolNumber, ClientId), u32>>,
}

/// A program that has admitted the request.
pub struct GuardPass {
    pub admits: GuardedRequest,
    /// The variables that the program has set.
    pub variables: Vec<(String, String)>,
}

/// The question to a program about access.
#[derive(PartialEq, Eq)]
pub struct GuardedRequest {
    pub program: PathBuf,
    /// The role, then user and password of the client.
    pub task: Vec<u8>,
    pub method: Method,
    pub path: Vec<u8>,
    pub query: Option<String>,
    /// The user who is known already.
    pub user: Option<String>,
}

impl Visitor {
    /// The variables of the program that has admitted this request.
    pub fn pass_for(&self, asked: &GuardedRequest) -> Option<Vec<(String, String)>> {
        self.passes.iter().find(|pass| pass.admits == *asked).map(|pass| pass.variables.clone())
    }

    pub fn add_pass(&mut self, pass: GuardPass) {
        self.passes.push(pass);
    }

    /// The client's host name, if it was looked up and exists.
    pub fn name(&self) -> Option<&Rc<str>> {
        self.name.as_ref()
    }

    pub fn user(&self) -> Option<&User> {
        self.user.as_ref()
    }

    /// The scheme by which the user was authenticated, as in `AUTH_TYPE`; empty without a user.
    pub fn auth_type(&self) -> &str {
        self.scheme.as_deref().or(self.user.as_ref().map(|user| user.method.name())).unwrap_or_default()
    }

    /// Replaces user and scheme by those that the phases in a worker have set. An unchanged user keeps its groups.
    pub fn be(&mut self, name: Option<String>, scheme: &str) {
        if self.user.as_ref().map(|user| &user.name) != name.as_ref() {
            self.user = name.map(User::of);
        }
        let own = self.user.as_ref().map(|user| user.method.name());
        self.scheme = own.filter(|own| !scheme.is_empty() && *own != scheme).map(|_| scheme.into());
    }

    /// Makes the name of a client's certificate the user, with httpd's name for this scheme.
    pub fn be_certified(&mut self, name: String) {
        self.user = Some(User::of(name));
        self.scheme = Some("ClientCert".into());
    }

    /// Replaces the name by the result of a lookup.
    pub fn rename(&mut self, name: Option<Rc<str>>) {
        self.name = name;
    }

    /// Adds user and host name that an access check has found.
    pub fn identify(&mut self, name: Option<Rc<str>>, user: Option<User>) {
        self.name = name.or(self.name.take());
        self.user = user.or(self.user.take());
    }

    /// Restores the name and user of before a look-ahead.
    pub(super) fn restore(&mut self, name: Option<Rc<str>>, user: Option<User>) {
        (self.name, self.user) = (name, user);
    }

    /// Whether the request is counted under this line of `MaxConcurrentReqs`.
    pub fn has_turn(&self, line: u32) -> bool {
        self.turns.iter().any(|turn| turn.line == line)
    }

    /// Holds a place in `MaxConcurrentReqs`.
    pub fn hold(&mut self, turn: ConcurrencyTurn) {
        self.turns.push(turn);
    }

    /// The decision of `SpeedLimit` about this request in `pool`, if there is one. The error is the number of seconds
    /// after which the client may retry.
    pub fn pace(&self, pool: PoolNumber) -> Option<Result<(), u32>> {
        let speed = self.speed?;
        (!speed.is_ok_and(|(of, _)| of != pool)).then_some(speed.map(drop))
    }

    /// Sets the decision of `SpeedLimit` about this request in `pool`.
    pub fn set_pace(&mut self, pool: PoolNumber, decision: Result<ClientId, u32>) {
        self.speed = Some(decision.map(|client| (pool, client)));
    }

    /// The client to charge with a worker's time in this pool.
    pub fn charged_in(&self, pool: PoolNumber) -> Option<ClientId> {
        self.speed?.ok().filter(|(of, _)| *of == pool).map(|(_, client)| client)
    }
}

impl RequestContext {
    /// The client's identity.
    pub fn visitor(&self) -> Ref<'_, Visitor> {
        self.visitor.borrow()
    }

    /// Whether the statement was executed for this request, or for one whose page it is a part of.
    pub fn has_executed(&self, statement: &SqlQuestion) -> bool {
        self.page().map_or_else(|| self.visitor().executed.contains(statement), |page| page.has_executed(statement))
    }

    /// Notes for [`RequestContext::has_executed`].
    pub fn note_executed(&self, statement: SqlQuestion) {
        match self.page() {
            Some(page) => page.note_executed(statement),
            None => self.visitor_mut().executed.push(statement),
        }
    }

    /// The client's identity, to be changed.
    pub fn visitor_mut(&self) -> RefMut<'_, Visitor> {
        self.visitor.borrow_mut()
    }
}

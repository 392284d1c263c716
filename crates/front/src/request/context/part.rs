//! A request of a page to its own site: a subrequest of server-side includes. Its response becomes a part of the
//! page's.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use bytes::Bytes;
use http::Method;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};

use super::rules::RuleState;
use super::{RequestContext, answered::Answered};
use crate::request::internal_redirect;

/// State of a request that is part of another one, such as an included page.
#[derive(Default)]
pub struct PageRequest {
    /// The request whose response contains that of this one.
    within: Option<Rc<RequestContext>>,
    /// The command or sub that a worker runs in place of the route's handler.
    task: RefCell<Option<Task>>,
    /// The body of a POST to a page, for the programs that it includes.
    kept_body: RefCell<Option<Bytes>>,
}

/// Command or Perl sub that a worker runs for an element of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// `exec cmd`: a command of /bin/sh.
    Command(Vec<u8>),
    /// `perl`: the name of a sub and its arguments, with zero bytes between them.
    Perl(Vec<u8>),
}

impl RequestContext {
    /// A context for a request whose response becomes a part of this one's: a GET without conditions, with its own
    /// route, variables and user, and the client of this one. It is not logged, and shares the limit of rules.
    pub fn part(&self) -> Rc<RequestContext> {
        let mut head = self.head.clone();
        internal_redirect::unconditional(&mut head);
        head.method = Method::GET;
        for name in [CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING] {
            head.headers.remove(name);
        }
        Rc::new_cyclic(|itself| RequestContext {
            itself: itself.clone(),
            client: self.client.clone(),
            services: self.services.clone(),
            generation: self.generation.clone(),
            head,
            stream: self.stream.clone(),
            served: self.served,
            trace: self.trace,
            received: self.received,
            started: self.started,
            number: OnceCell::from(self.number()),
            proxies: self.proxies.clone(),
            early_headers: self.early_headers.clone(),
            visitor: RefCell::default(),
            route: RefCell::default(),
            environment: RefCell::default(),
            rules: RuleState::default(),
            expressions: self.expressions.of_part(),
            worker: RefCell::default(),
            at_backend: Cell::new(0),
            body: OnceCell::new(),
            answered: Answered::default(),
            part: PageRequest { within: self.itself(), ..PageRequest::default() },
        })
    }

    /// The request whose response this one becomes a part of.
    pub(super) fn page(&self) -> Option<&Rc<RequestContext>> {
        self.part.within.as_ref()
    }

    /// Whether the response becomes a part of another one.
    pub fn is_part(&self) -> bool {
        self.part.within.is_some()
    }

    /// Whether this request, or one around it, is counted under this line of `MaxConcurrentReqs`.
    pub fn has_turn(&self, line: u32) -> bool {
        self.part.within.as_ref().is_some_and(|outer| outer.visitor().has_turn(line) || outer.has_turn(line))
    }

    /// The body of [`RequestContext::keep_body`].
    pub fn kept_body(&self) -> Option<Bytes> {
        self.part.kept_body.borrow().clone()
    }

    /// Stores the request's body, for the programs that a page includes.
    pub fn keep_body(&self, body: Bytes) {
        self.part.kept_body.replace(Some(body));
    }

    /// The task that replaces the route's handler, if there is one.
    pub fn task(&self) -> Option<Task> {
        self.part.task.borrow().clone()
    }

    /// Sets [`RequestContext::task`].
    pub fn set_task(&self, task: Task) {
        self.part.task.replace(Some(task));
    }
}

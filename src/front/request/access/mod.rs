//! Who may come in: finds out what the rules of a place want to know, and answers those who may not.

pub mod reverse_dns;

use std::rc::Rc;
use std::time::Instant;

use http::StatusCode;
use http::header::{ALLOW, AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use http::request::Parts;
use tokio::sync::Semaphore;

use super::context::{Record, variables};
use crate::access::{Asked, Attempt, Check, Facts, Name, Proof, User, Users, Verdict, challenge, judge};
use crate::config::access::{Lookups, Methods, Rules};
use crate::front::base::blocking::{self, NoThread};
use crate::front::base::refusal::Refusal;
use crate::front::base::shared::count;
use crate::front::routing::Route;
use crate::front::workers::{ClientId, Turn};

/// Slow hashes that are computed at once: whoever guesses passwords must not get all processors.
const HASHES_AT_ONCE: usize = 2;
/// Password files that are read at once: many requests may wait for the same.
const FILES_AT_ONCE: usize = 2;

const NO_METHOD: HeaderValue = HeaderValue::from_static("");

/// What the door of a place needs.
pub struct Door {
    users: Users,
    hashing: Semaphore,
    reading: Semaphore,
}

/// What was found out about the client of a request.
#[derive(Default)]
pub struct Visitor {
    /// Its name, if it was looked up and it has one.
    pub name: Option<Rc<str>>,
    /// Who it proved to be.
    pub user: Option<User>,
    /// What it is counted in until it has its answer and the worker has ended.
    turns: Vec<Turn>,
    /// Where its speed is counted; an error when it was too fast.
    speed: Option<Result<ClientId, u32>>,
}

impl Visitor {
    /// Whom the time that a worker works for it is added to.
    pub fn charged_to(&self) -> Option<ClientId> {
        self.speed?.ok()
    }
}

impl Default for Door {
    fn default() -> Door {
        Door {
            users: Users::default(),
            hashing: Semaphore::new(HASHES_AT_ONCE),
            reading: Semaphore::new(FILES_AT_ONCE),
        }
    }
}

/// Lets the request into the place that `route` leads to, or refuses.
pub async fn admit(visit: &Record, head: &Parts, route: &Route) -> Result<(), Refusal> {
    route.refused()?;
    if route.settings.rules.ssl.required == Some(true) && !visit.is_secure() {
        return Err(Refusal::new(StatusCode::FORBIDDEN)
            .because("This page is sent over TLS only: its address begins with https."));
    }
    let rules = &route.settings.access;
    if !rules.allows(head.method.as_str()) {
        visit.complain(route, &format_args!("client method denied by AllowMethods: {}", head.method));
        let allowed = HeaderValue::from_str(&rules.allowed_methods.join(", "));
        return Err(Refusal::with(StatusCode::METHOD_NOT_ALLOWED, ALLOW, allowed.unwrap_or(NO_METHOD)));
    }
    if rules.lookups != Lookups::Off {
        // Nobody is let in or kept out by it: what cannot be looked up is not in the log.
        let name = look_up(visit, rules.lookups == Lookups::Double).await;
        visit.visitor.borrow_mut().name = name.unwrap_or_default();
    }
    if rules.is_open() { Ok(()) } else { ask(visit, head, route).await }
}

/// Finds out what the verdict hangs on until there is one.
async fn ask(visit: &Record, head: &Parts, route: &Route) -> Result<(), Refusal> {
    variables::settle(visit, head, route)?;
    let without_users = route.settings.asks_perl_for_users().then(|| route.settings.access.without_users());
    let rules = without_users.as_ref().unwrap_or(&route.settings.access);
    let (mut name, mut user) = (None, None);
    loop {
        let facts = Facts {
            methods: Methods::of(head.method.as_str()),
            client: visit.remote().ip_addr(),
            local: visit.client.local.ip_addr(),
            name: known(&name),
            user: user.as_ref(),
            env: &|name| visit.variables.borrow().get(name).is_some(),
        };
        match judge(rules, &facts) {
            Verdict::Allowed => break,
            Verdict::Forbidden => return Err(denied(visit, route)),
            Verdict::WrongUser => return Err(not_among(visit, route, user.as_ref())),
            Verdict::NeedsName => name = Some(look_up(visit, true).await?),
            Verdict::NeedsUser => user = Some(identify(visit, head, route).await?),
        }
    }
    let mut visitor = visit.visitor.borrow_mut();
    visitor.name = name.flatten().or(visitor.name.take());
    visitor.user = user.or(visitor.user.take());
    Ok(())
}

fn known(name: &Option<Option<Rc<str>>>) -> Name<'_> {
    match name {
        None => Name::NotAsked,
        Some(None) => Name::Nameless,
        Some(Some(name)) => Name::Is(name),
    }
}

async fn look_up(visit: &Record, verified: bool) -> Result<Option<Rc<str>>, NoThread> {
    visit.services.names.of(visit.remote().ip_addr(), verified).await
}

/// Who the client is, by its `Authorization`.
async fn identify(visit: &Record, head: &Parts, route: &Route) -> Result<User, Refusal> {
    let (door, rules) = (&visit.services.door, &route.settings.access);
    let authorization = head.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
    match door.find_out(rules, Asked::Header(authorization)).await? {
        Proof::Is(user) => Ok(user),
        Proof::Nobody => Err(unauthorized(rules)),
        Proof::Unknown(why) | Proof::Refused(why) => {
            visit.complain(route, &why);
            Err(unauthorized(rules))
        }
        Proof::Misconfigured(why) => {
            visit.complain(route, &why);
            Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR))
        }
    }
}

impl Door {
    /// Who somebody is; what takes long is done on another thread.
    async fn find_out(&self, rules: &Rules, asked: Asked<'_>) -> Result<Proof, NoThread> {
        let (mut asked, since) = (asked, Instant::now());
        loop {
            match self.users.attempt(rules, &asked, since) {
                Attempt::Settled(proof) => return Ok(proof),
                Attempt::Unread(_) => self.read(rules, &asked, since).await?,
                Attempt::Slow(check) => {
                    let is_right = self.compare(check.clone()).await?;
                    match self.users.settle(check, is_right) {
                        Ok(proven) => asked = proven,
                        Err(proof) => return Ok(proof),
                    }
                }
            }
        }
    }

    /// Looks at the file that is needed, unless another request has done so while this one waited for its turn.
    async fn read(&self, rules: &Rules, asked: &Asked<'_>, since: Instant) -> Result<(), NoThread> {
        let _permit = self.reading.acquire().await;
        if let Attempt::Unread(reading) = self.users.attempt(rules, asked, since) {
            self.users.learn(blocking::run("read a password file", move || reading.take()).await?);
        }
        Ok(())
    }

    async fn compare(&self, check: Check) -> Result<bool, NoThread> {
        let _permit = self.hashing.acquire().await;
        blocking::run("compute a password's hash", move || check.is_right()).await
    }
}

fn denied(visit: &Record, route: &Route) -> Refusal {
    visit.complain(route, &"client denied by server configuration");
    Refusal::new(StatusCode::FORBIDDEN)
}

fn not_among(visit: &Record, route: &Route, user: Option<&User>) -> Refusal {
    let rules = &route.settings.access;
    let name = user.map(|user| user.name.escape_debug().to_string()).unwrap_or_default();
    let hint = if rules.group_file.is_none() { " (there is no AuthGroupFile)" } else { "" };
    visit.complain(route, &format_args!("user {name} is none of those that are required{hint}"));
    if rules.forbids == Some(true) {
        return Refusal::new(StatusCode::FORBIDDEN);
    }
    unauthorized(rules)
}

fn unauthorized(rules: &Rules) -> Refusal {
    let question = HeaderValue::from_str(&challenge(rules.auth_name.as_deref().unwrap_or_default()));
    let question = question.unwrap_or(HeaderValue::from_static("Basic"));
    Refusal::with(StatusCode::UNAUTHORIZED, WWW_AUTHENTICATE, question)
}

/// Counts the request where `MaxConcurrentReqs` wants it counted, or refuses it.
pub fn take_turn(visit: &Record, head: &Parts, route: &Route) -> Result<(), Refusal> {
    let method = Methods::of(head.method.as_str());
    let mut visitor = visit.visitor.borrow_mut();
    for throttle in route.settings.access.throttles.iter().filter(|throttle| throttle.methods.has(method)) {
        // A script may have sent it on to a place of the same section.
        if visitor.turns.iter().any(|turn| turn.line == throttle.id) {
            continue;
        }
        let Some(turn) = visit.site.pool.take_turn(throttle) else {
            visit.complain(route, &format_args!("MaxConcurrentReqs {}: so many requests are under way", throttle.most));
            count(&visit.services.shared.counters.throttled);
            return Err(Refusal::busy());
        };
        visitor.turns.push(turn);
    }
    Ok(())
}

/// Counts a request that needs a worker where `SpeedLimit` wants it counted, or refuses it. However often a program sends it
/// on, and to an error's page, it counts once.
pub fn keep_pace(visit: &Record, route: &Route) -> Result<(), Refusal> {
    let rules = &route.settings.admission;
    let (Some(limit), Some(socket)) = (&rules.speed, visit.remote().socket) else { return Ok(()) };
    if rules.exempt.iter().any(|network| network.contains(socket.ip())) {
        return Ok(());
    }
    let mut visitor = visit.visitor.borrow_mut();
    let speed = visitor.speed.get_or_insert_with(|| {
        visit.site.pool.keep_pace(limit, socket.ip()).map_err(|fast| {
            count(&visit.services.shared.counters.too_fast);
            fast.line.inspect(|line| visit.complain(route, line));
            fast.retry_after
        })
    });
    match speed {
        Ok(_) => Ok(()),
        Err(seconds) => Err(Refusal::later(StatusCode::TOO_MANY_REQUESTS, *seconds)),
    }
}

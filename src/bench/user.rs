//! One of those who ask: a connection, and a request on it after the other.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use memchr::memmem::Finder;

use super::alarm::Alarm;
use super::answer::{Answer, Body};
use super::connect::Connector;
use super::failure::{Cause, Failure};
use super::plan::Plan;
use super::schedule::{Schedule, Turn};
use super::tally::{Done, Tally, nanoseconds};
use super::timeout::Timeout;
use super::{Request, http1, http2};

/// What all users of a run have.
pub struct Shared {
    /// What they do.
    pub plan: Plan,
    /// How they get connections.
    pub connector: Connector,
    /// Whose turn it is.
    pub schedule: RefCell<Schedule>,
    /// For turns that have their moment.
    pub alarm: Alarm,
    /// What came of it.
    pub tally: RefCell<Tally>,
}

enum Connection {
    Http1(http1::Connection),
    Http2(http2::Connection),
}

impl Connection {
    fn is_usable(&mut self) -> bool {
        match self {
            Connection::Http1(connection) => connection.is_usable(),
            Connection::Http2(connection) => connection.is_usable(),
        }
    }
}

/// Asks until it is over.
pub async fn run(shared: Rc<Shared>) {
    let finder = shared.plan.expected.body.as_ref().map(|text| Finder::new(text).into_owned());
    let mut user = User { shared: &shared, connection: None, finder };
    let mut timeout = Timeout::new();
    loop {
        let free = Instant::now();
        let turn = shared.schedule.borrow_mut().turn(free);
        let Some(turn) = turn else { return };
        let begun = user.wait_for(turn, free).await;
        let Some(request) = shared.plan.request(turn.number) else { return };
        let answer = timeout.until(begun + shared.plan.timeout, user.ask(request)).await;
        let result = answer.unwrap_or_else(|| Err(user.timed_out()));
        user.note(turn, Done { result, since: turn.due.unwrap_or(begun), at: Instant::now(), sent: request.size() });
    }
}

struct User<'s> {
    shared: &'s Shared,
    connection: Option<Connection>,
    finder: Option<Finder<'static>>,
}

impl User<'_> {
    /// Returns when the turn has come, with the time that it is.
    async fn wait_for(&self, turn: Turn, free: Instant) -> Instant {
        let Some(due) = turn.due else { return free };
        if due > free {
            self.shared.alarm.wait_until(due).await;
        }
        let now = Instant::now();
        if turn.counts {
            let mut tally = self.shared.tally.borrow_mut();
            // Before `free` there was no connection for it, which is the server's doing.
            tally.lateness.saturating_record(nanoseconds(now.saturating_duration_since(due.max(free))));
            tally.waited += u64::from(due < free);
        }
        now
    }

    async fn ask(&mut self, request: &Request) -> Result<Answer, Failure> {
        let mut connection = match self.connection.take_if(Connection::is_usable) {
            Some(kept) => kept,
            None => self.connect().await?,
        };
        let mut body = Body::with(self.finder.as_ref());
        let answer = match &mut connection {
            Connection::Http1(connection) => connection.exchange(request, &mut body).await,
            Connection::Http2(connection) => connection.exchange(request, &mut body).await,
        }?;
        let judged = self.judge(answer, body.was_found());
        if !self.shared.plan.transport.close {
            self.connection = Some(connection);
        }
        judged
    }

    async fn connect(&self) -> Result<Connection, Failure> {
        let stream = self.shared.connector.connect().await?;
        self.shared.tally.borrow_mut().opened += 1;
        let transport = &self.shared.plan.transport;
        Ok(match transport.http2 {
            true => Connection::Http2(http2::Connection::open(stream).await?),
            false => Connection::Http1(http1::Connection::new(stream, transport.throttle)),
        })
    }

    fn judge(&self, answer: Answer, has_text: bool) -> Result<Answer, Failure> {
        match answer.status {
            status if !self.shared.plan.expected.allows(status) => {
                Err(Failure::wrong(Cause::Status, format!("status {status}"), answer))
            }
            _ if !has_text => Err(Failure::wrong(Cause::Body, "the expected text is not in the body", answer)),
            _ => Ok(answer),
        }
    }

    fn timed_out(&self) -> Failure {
        Failure::new(Cause::Timeout, format!("no whole answer in {} s", self.shared.plan.timeout.as_secs_f64()))
    }

    fn note(&self, turn: Turn, done: Done) {
        let mut tally = self.shared.tally.borrow_mut();
        tally.note(&done);
        match turn.counts {
            true => tally.record(done),
            false => tally.warm_up += 1,
        }
        if tally.is_hopeless(self.shared.plan.connections as u64) {
            self.shared.schedule.borrow_mut().stop();
        }
    }
}

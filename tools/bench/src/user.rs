//! A user: sends requests over a connection, one after the other.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use memchr::memmem::Finder;

use super::alarm::Alarm;
use super::connect::{ClientStream, Connector};
use super::failure::{FailedRequest, FailureCause};
use super::plan::RunPlan;
use super::response::{BodySearch, CompleteResponse};
use super::schedule::{Schedule, ScheduledRequest};
use super::tally::{Tally, TimedRequest};
use super::timeout::RequestTimer;
use super::times::nanoseconds;
use super::{EncodedRequest, http1, http2};

/// State shared by all users of a run.
pub struct SharedRun {
    /// The plan of the run, the same for all users.
    pub plan: RunPlan,
    /// Opens connections.
    pub connector: Connector,
    /// Source of turns.
    pub schedule: RefCell<Schedule>,
    /// Wakes users when their turns are due.
    pub alarm: Alarm,
    pub tally: RefCell<Tally>,
}

impl SharedRun {
    /// Opens a connection, and measures the time that takes.
    async fn connect(&self, took: &mut Duration) -> Result<Box<dyn ClientStream>, FailedRequest> {
        let begun = Instant::now();
        let stream = self.connector.connect().await?;
        *took = begun.elapsed();
        self.tally.borrow_mut().opened += 1;
        Ok(stream)
    }
}

/// Sends requests until the run has ended.
pub async fn run(shared: Rc<SharedRun>, line: Rc<http2::SharedConnection>) {
    let finder = shared.plan.expected.body.as_ref().map(|text| Rc::new(Finder::new(text).into_owned()));
    let mut user = User { shared: &shared, line, connection: None, connect: Duration::ZERO, finder };
    let mut timeout = RequestTimer::new();
    loop {
        let free = Instant::now();
        let turn = shared.schedule.borrow_mut().turn(free);
        let Some(turn) = turn else { return };
        let begun = user.wait_for(turn, free).await;
        let Some(request) = shared.plan.request(turn.number) else { return };
        user.connect = Duration::ZERO;
        let response = timeout.until(begun + shared.plan.timeout, user.request(request)).await;
        let result = response.unwrap_or_else(|| Err(user.timed_out()));
        let (since, connect) = (turn.due.unwrap_or(begun), user.connect);
        user.note(turn, TimedRequest { result, since, begun, connect, at: Instant::now(), sent: request.size() });
    }
}

struct User<'s> {
    shared: &'s SharedRun,
    /// HTTP/2: the shared connection.
    line: Rc<http2::SharedConnection>,
    /// HTTP/1: the user's own connection.
    connection: Option<http1::Http1Connection>,
    /// Time until the current request's connection was open.
    connect: Duration,
    finder: Option<Rc<Finder<'static>>>,
}

impl User<'_> {
    /// Waits until the turn is due; returns the current time.
    async fn wait_for(&self, turn: ScheduledRequest, free: Instant) -> Instant {
        let Some(due) = turn.due else { return free };
        if due > free {
            self.shared.alarm.wait_until(due).await;
        }
        let now = Instant::now();
        if turn.counts {
            let mut tally = self.shared.tally.borrow_mut();
            // A delay before `free` is the server's fault: no connection was free.
            tally.lateness.saturating_record(nanoseconds(now.saturating_duration_since(due.max(free))));
            tally.waited += u64::from(due < free);
        }
        now
    }

    async fn request(&mut self, request: &EncodedRequest) -> Result<CompleteResponse, FailedRequest> {
        let finder = self.finder.clone();
        let mut body = BodySearch::with(finder.as_deref());
        let response = match self.shared.plan.transport.http2 {
            true => self.ask_in_http2(request, &mut body).await,
            false => self.ask_in_http1(request, &mut body).await,
        };
        self.judge(response?, body.was_found())
    }

    async fn ask_in_http1(
        &mut self,
        request: &EncodedRequest,
        body: &mut BodySearch<'_>,
    ) -> Result<CompleteResponse, FailedRequest> {
        let transport = &self.shared.plan.transport;
        let mut connection = match self.connection.take_if(http1::Http1Connection::is_usable) {
            Some(kept) => kept,
            None => http1::Http1Connection::new(self.shared.connect(&mut self.connect).await?, transport.throttle),
        };
        let response = connection.exchange(request, body).await?;
        if !transport.close {
            self.connection = Some(connection);
        }
        Ok(response)
    }

    async fn ask_in_http2(
        &mut self,
        request: &EncodedRequest,
        body: &mut BodySearch<'_>,
    ) -> Result<CompleteResponse, FailedRequest> {
        let connect = &mut self.connect;
        let open = async { http2::Http2Connection::open(self.shared.connect(connect).await?).await };
        let connection = self.line.connection(open).await?;
        let response = connection.exchange(request, body).await?;
        if self.shared.plan.transport.close {
            self.line.forget().await;
        }
        Ok(response)
    }

    fn judge(&self, response: CompleteResponse, has_text: bool) -> Result<CompleteResponse, FailedRequest> {
        match response.status {
            status if !self.shared.plan.expected.allows(status) => {
                Err(FailedRequest::wrong(FailureCause::Status, format!("status {status}"), response))
            }
            _ if !has_text => {
                Err(FailedRequest::wrong(FailureCause::Body, "the expected text is not in the body", response))
            }
            _ => Ok(response),
        }
    }

    fn timed_out(&self) -> FailedRequest {
        FailedRequest::new(
            FailureCause::Timeout,
            format!("no complete response within {} s", self.shared.plan.timeout.as_secs_f64()),
        )
    }

    fn note(&self, turn: ScheduledRequest, done: TimedRequest) {
        let mut tally = self.shared.tally.borrow_mut();
        tally.note(&done);
        match turn.counts {
            true => tally.record(done),
            false => tally.warm_up += 1,
        }
        if tally.is_unreachable(self.shared.plan.connections as u64) {
            self.shared.schedule.borrow_mut().stop();
        }
    }
}

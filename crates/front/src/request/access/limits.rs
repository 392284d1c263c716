//! Limits of clients and places: `MaxConcurrentReqs`, `SpeedLimit`, on this server or on several (`LimitStore`).

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use wire::control::PoolNumber;

use crate::base::refusal::Refusal;
use crate::base::shared::count;
use crate::limits::pace::SharedPace;
use crate::request::context::RequestContext;
use crate::routing::Route;
use crate::workers::{ClientId, ConcurrencyTurn, PaceInquiry, SharedPool, TooFast};
use config::access::{Methods, RequestThrottle};
use config::pools;
use config::scheduling::SpeedLimit;

/// Counts the request for each matching `MaxConcurrentReqs`, or refuses it.
pub async fn take_turn(context: &RequestContext, head: &Parts, route: &Route) -> Result<(), Refusal> {
    if route.settings.access.throttles.is_empty() {
        return Ok(());
    }
    let method = Methods::of(head.method.as_str());
    for throttle in route.settings.access.throttles.iter().filter(|throttle| throttle.methods.has(method)) {
        // The request may have been counted before a script redirected it internally within the section.
        if context.visitor().has_turn(throttle.id) || context.has_turn(throttle.id) {
            continue;
        }
        let mut turn = context.generation.workers.of(pools::DEFAULT).pool.take_turn(throttle);
        if let (Some(own), Some(store)) = (&mut turn, &context.generation.pace)
            && !Box::pin(take_shared_turn(context, store, throttle, own)).await
        {
            turn = None;
        }
        let Some(turn) = turn else {
            context.log_error(route, &format_args!("MaxConcurrentReqs {} reached", throttle.most));
            count(&context.services.shared.counters.shed.max_concurrent);
            return Err(Refusal::busy());
        };
        context.visitor_mut().hold(turn);
    }
    Ok(())
}

/// Whether the request may run beside those of all servers. Its end is reported in any case.
async fn take_shared_turn(
    context: &RequestContext,
    store: &SharedPace,
    throttle: &RequestThrottle,
    turn: &mut ConcurrencyTurn,
) -> bool {
    let Some(turns) = &context.generation.turns else { return true };
    let place = context.generation.config.limit_name(&throttle.place, pools::DEFAULT);
    let line: Arc<str> = format!("{place}:{}:{:?}", throttle.most, throttle.methods).into();
    turn.share(turns, &line);
    turns.take(&store.client, &line, turn.count, throttle.most).await
}

/// Counts a request that needs a worker for `SpeedLimit`, or refuses it.
/// Internal redirects and error documents do not count again within a pool; a request that moves to another pool
/// counts there, too.
pub async fn keep_pace(context: &RequestContext, route: &Route) -> Result<(), Refusal> {
    let rules = &route.settings.scheduling;
    let (Some(limit), Some(socket)) = (&rules.speed, context.remote().socket) else { return Ok(()) };
    if rules.exempt.iter().any(|network| network.contains(socket.ip())) {
        return Ok(());
    }
    let number = context.generation.config.pool_for(&route.settings);
    let known = context.visitor().pace(number);
    let decision = match known {
        Some(decision) => decision,
        None => {
            let pool = &context.generation.workers.of(number).pool;
            let kept = match &context.generation.pace {
                None => pool.keep_pace(limit, socket.ip()),
                Some(store) => Box::pin(keep_shared_pace(context, store, limit, number)).await,
            };
            let kept = kept.map_err(|fast| {
                count(&context.services.shared.counters.shed.speed_limit);
                fast.line.inspect(|line| context.log_error(route, line));
                fast.retry_after
            });
            context.visitor_mut().set_pace(number, kept);
            kept.map(drop)
        }
    };
    decision.map_err(|seconds| Refusal::later(StatusCode::TOO_MANY_REQUESTS, seconds))
}

/// Counts a request for `SpeedLimit` over all servers, or refuses it.
async fn keep_shared_pace(
    context: &RequestContext,
    store: &SharedPace,
    limit: &SpeedLimit,
    number: PoolNumber,
) -> Result<ClientId, TooFast> {
    let (config, pool) = (&context.generation.config, &context.generation.workers.of(number).pool);
    let inquiry = pool.inquire_pace(limit, context.remote().ip_addr())?;
    let mut question = UnsettledPace { pool, limit, inquiry: Some(inquiry) };
    let place = config.limit_name(&limit.place, number);
    let verdict = store.ask(limit, &place, inquiry.network(), inquiry.usage).await;
    question.inquiry = None;
    pool.settle_pace(limit, inquiry, verdict)
}

/// A question to the store. If its client leaves meanwhile, the usage that it reports stays unreported.
struct UnsettledPace<'a> {
    pool: &'a SharedPool,
    limit: &'a SpeedLimit,
    inquiry: Option<PaceInquiry>,
}

impl Drop for UnsettledPace<'_> {
    fn drop(&mut self) {
        self.inquiry.take().into_iter().for_each(|inquiry| self.pool.withdraw_pace(self.limit, inquiry));
    }
}

//! Asks a FastCGI program that decides about access, through a process of the pool of programs.

use http::StatusCode;
use http::request::Parts;
use wire::reply::Head;

use crate::base::refusal::Refusal;
use crate::request::context::RequestContext;
use crate::request::frame;
use crate::routing::Route;
use crate::workers::Ticket;

/// Maximum number of bytes of a body. A program that sends more admits nobody, and is ended.
const MAX_BYTES: usize = 256 << 10;

/// The head of the program's response; the body is forgotten. `task`: the program's role, then user and password of
/// the client with zero bytes between them.
pub async fn ask(context: &RequestContext, head: &Parts, route: &Route, task: &[u8]) -> Result<Head, Refusal> {
    let Some(pool) = context.generation.config.program_pool_number() else {
        return Err(failed(context, route, &"this server has no processes for programs"));
    };
    let ticket = context.generation.workers.of(pool).submit(frame::job_of_guard(context, head, route, task))?;
    std::future::poll_fn(|cx| ticket.exchange().borrow_mut().poll_head(cx)).await?;
    let refused = ticket.exchange().borrow_mut().refused.take();
    if let Some((status, _)) = refused {
        return Ok(Head { status, ..Head::default() });
    }
    let answered = ticket.exchange().borrow_mut().head.take();
    // Without a head, the program redirects to another path of this server.
    let Some(answered) = answered else { return Ok(Head { status: StatusCode::FOUND.as_u16(), ..Head::default() }) };
    match drained(&ticket).await? {
        None => Ok(answered),
        Some(why) => Err(failed(context, route, &why)),
    }
}

/// Reads the body to its end, so that the program can serve others. `Some`: why its response is none.
async fn drained(ticket: &Ticket) -> Result<Option<&'static str>, Refusal> {
    let (mut left, mut length) = (MAX_BYTES, None);
    while let Some(Ok(piece)) = std::future::poll_fn(|cx| ticket.poll(&mut length, cx)).await {
        let Some(rest) = left.checked_sub(piece.len()) else {
            return Ok(Some("the program has sent more than 256 KiB"));
        };
        left = rest;
    }
    let is_whole = std::future::poll_fn(|cx| ticket.exchange().borrow_mut().poll_end(cx)).await?;
    Ok((!is_whole).then_some("the program has not ended its response"))
}

fn failed(context: &RequestContext, route: &Route, why: &dyn std::fmt::Display) -> Refusal {
    context.log_error(route, &format_args!("no FastCGI program has decided about access: {why}"));
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
}

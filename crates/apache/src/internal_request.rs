//! Subrequests, internal redirects and error pages. Each has its own record and frame, so that every method of `$r`
//! works as on the client's request.

use std::io;

use wire::frame::Field;
use wire::reply::Outgoing;
use wire::transport::Presence;

use crate::ResponseReceiver;
use crate::output::{Filtering, Output};
use crate::request_rec::environment::{self, Api, api};
use crate::request_rec::field::Text;
use crate::request_rec::redirected;
use crate::request_rec::tables::{Id, Tables};
use crate::request_rec::target::{InternalTarget, frame};
use crate::request_rec::{Incoming, Links, RequestRec};
use crate::request_stack::{RequestStack, with_stack};
use crate::tied_env;

/// Decides how the new record is linked to that of the request it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InternalRequest {
    /// `$r->lookup_uri`, `$r->lookup_file`: the output becomes a part of the main request's response.
    Sub,
    /// `$r->internal_redirect`: its response replaces the request's.
    Redirect,
    /// An error page: a redirect whose method is always GET.
    ErrorPage,
}

/// Limit for a chain of redirects, as in httpd, and for nested subrequests.
const MAX_DEPTH: usize = 10;

/// Makes the record of an internal request of `from`. `None`: the chain exceeds `MAX_DEPTH`, or the request has
/// ended.
pub fn begin_internal(from: u64, kind: InternalRequest, to: &InternalTarget) -> Option<u64> {
    tied_env::bring(from, Id::SubprocessEnv as u32);
    let made = with_stack(|stack| {
        let at = stack.at(from)?;
        if depth(stack, at) > MAX_DEPTH {
            return Ok(None);
        }
        let record_number = stack.next_record_number();
        let mut made = follower(&mut stack.records[at], record_number, kind, to);
        let own = stack.records.len();
        match kind {
            InternalRequest::Sub => made.links.main = Some(at),
            InternalRequest::Redirect | InternalRequest::ErrorPage => {
                made.links = Links { prev: Some(at), main: stack.records[at].links.main, next: None };
                hand_over(&mut stack.records[at], &mut made);
                if !made.output.is_part {
                    made.output.moved = Some(to.path.clone());
                }
                stack.records[at].links.next = Some(own);
                if stack.answering == at {
                    stack.answering = own;
                }
            }
        }
        stack.records.push(made);
        Ok(Some(record_number))
    });
    made.ok().flatten()
}

fn depth(stack: &RequestStack, mut at: usize) -> usize {
    let mut depth = 1;
    while let Some(outer) = stack.records[at].links.prev.or(stack.records[at].links.main) {
        at = outer;
        depth += 1;
    }
    depth
}

fn follower(r: &mut RequestRec, record_number: u64, kind: InternalRequest, to: &InternalTarget) -> RequestRec {
    let env = match kind {
        InternalRequest::Sub => environment::handed_on(r),
        InternalRequest::Redirect => redirected::variables(r),
        InternalRequest::ErrorPage => redirected::variables_of_error(r),
    };
    let method: &[u8] = if kind == InternalRequest::Redirect { b"" } else { b"GET" };
    let protocol: &[u8] = if kind == InternalRequest::Sub { b"INCLUDED" } else { b"" };
    let frame = frame(r, to, &[(Field::Method, method), (Field::Protocol, protocol), (Field::Env, &env)]);
    let incoming = Incoming { frame, place: r.place.clone(), client: Box::new(Nobody) };
    let mut made = RequestRec::new(record_number, incoming, Tables::default(), Output::default());
    made.inherit(r);
    if !to.unparsed.is_empty() {
        made.set_text(Text::UnparsedUri, Some(&to.unparsed));
    }
    made.output.is_part = kind == InternalRequest::Sub;
    if kind == InternalRequest::ErrorPage {
        made.forget_method();
    }
    made
}

/// Hands the response over from one record to another.
fn hand_over(from: &mut RequestRec, to: &mut RequestRec) {
    std::mem::swap(&mut from.output, &mut to.output);
    std::mem::swap(&mut from.client, &mut to.client);
    from.output.is_handed_over = true;
    if from.filtering != Filtering::Off {
        // Buffered output was meant for the filters of another location.
        to.output.unfiltered.clear();
    }
    if from.filtering != Filtering::Off || api() == Api::Two {
        to.output.sent_header = false;
    }
    (to.first_status, to.status) = (from.status, from.status);
    to.no_cache = from.no_cache;
    *to.tables.of_mut(Id::ErrHeadersOut) = from.tables.of(Id::ErrHeadersOut).clone();
}

impl RequestRec {
    /// Copies what belongs to the client from another record.
    fn inherit(&mut self, from: &RequestRec) {
        let of_client = [Text::User, Text::AuthType, Text::RemoteHost, Text::RemoteIp, Text::TheRequest, Text::Method];
        for field in of_client.into_iter().chain([Text::DocumentRoot]) {
            self.copy_text(field, from);
        }
        self.cleanup = from.cleanup;
        self.leaving = from.leaving;
    }
}

/// The client of a subrequest; output is taken from the subrequest's record instead.
struct Nobody;

impl ResponseReceiver for Nobody {
    fn send(&mut self, _: &Outgoing<'_>) -> io::Result<()> {
        Ok(())
    }

    fn presence(&mut self) -> Presence {
        Presence::Here
    }
}

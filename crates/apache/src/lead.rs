//! One request leads to another: subrequests, internal redirects, pages for errors. Each is a record of its own with a
//! frame of its own, so that every method of `$r` works on it as on the client's request.

use std::io::{self, IoSlice};

use wire::frame::{self, Field, Flags, Frame};
use wire::transport::Presence;

use crate::Client;
use crate::current::{State, with_state};
use crate::env;
use crate::field::Text;
use crate::output::Output;
use crate::request::{Incoming, RequestRec};
use crate::tables::{Id, Tables};

/// How a request leads to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// `$r->lookup_uri`, `$r->lookup_file`: what it says becomes a part of the main request's answer.
    Sub,
    /// `$r->internal_redirect`: its answer is the request's.
    Redirect,
    /// A page for an error: the same, but always asked for with GET.
    ErrorPage,
}

/// What the other request is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// Decoded and normalised.
    pub path: Vec<u8>,
    /// Behind the `?`.
    pub query: Vec<u8>,
    /// The file; empty until somebody has translated the path.
    pub filename: Vec<u8>,
}

/// Where a record stands among the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Links {
    pub main: Option<usize>,
    pub prev: Option<usize>,
    pub next: Option<usize>,
}

/// httpd's limit for redirects, and ours for subrequests in subrequests.
const MAX_DEPTH: usize = 10;

/// Makes the record of the request that `from` leads to; `None` when the chain is longer than any sane one, or over.
pub fn lead(from: u64, how: Lead, to: &Target) -> Option<u64> {
    let made = with_state(|state| {
        let at = state.at(from)?;
        if depth(state, at) > MAX_DEPTH {
            return Ok(None);
        }
        let generation = state.next_generation();
        let mut made = follower(&mut state.records[at], generation, how, to);
        let own = state.records.len();
        match how {
            Lead::Sub => made.links.main = Some(at),
            Lead::Redirect | Lead::ErrorPage => {
                made.links = Links { prev: Some(at), main: state.records[at].links.main, next: None };
                hand_over(&mut state.records[at], &mut made);
                state.records[at].links.next = Some(own);
                if state.answering == at {
                    state.answering = own;
                }
            }
        }
        state.records.push(made);
        Ok(Some(generation))
    });
    made.ok().flatten()
}

fn depth(state: &State, mut at: usize) -> usize {
    let mut depth = 1;
    while let Some(outer) = state.records[at].links.prev.or(state.records[at].links.main) {
        at = outer;
        depth += 1;
    }
    depth
}

fn follower(r: &mut RequestRec, generation: u64, how: Lead, to: &Target) -> RequestRec {
    let env = match how {
        Lead::Sub => env::handed_on(r),
        Lead::Redirect | Lead::ErrorPage => env::renamed(r),
    };
    let method: &[u8] = if how == Lead::Redirect { b"" } else { b"GET" };
    let protocol: &[u8] = if how == Lead::Sub { b"INCLUDED" } else { b"" };
    let frame = frame(r, to, &[(Field::Method, method), (Field::Protocol, protocol), (Field::Env, &env)]);
    let incoming = Incoming { frame, place: r.place.clone(), client: Box::new(Nobody) };
    let mut made = RequestRec::new(generation, incoming, Tables::default(), Output::default());
    made.inherit(r);
    made.output.is_part = how == Lead::Sub;
    if how == Lead::ErrorPage {
        made.forget_method();
    }
    made
}

/// The answer is the other's from now on.
fn hand_over(from: &mut RequestRec, to: &mut RequestRec) {
    std::mem::swap(&mut from.output, &mut to.output);
    std::mem::swap(&mut from.client, &mut to.client);
    from.output.is_handed_over = true;
    to.status = from.status;
    to.no_cache = from.no_cache;
    *to.tables.of_mut(Id::ErrHeadersOut) = from.tables.of(Id::ErrHeadersOut).clone();
}

/// A record's frame for another path. Empty values keep what is there, but for Env, which may become empty.
pub(crate) fn frame(r: &RequestRec, to: &Target, changes: &[(Field, &[u8])]) -> Frame {
    let headers: Vec<(Vec<u8>, &[u8])> = match r.tables.is_filled(Id::HeadersIn) {
        true => r.tables.of(Id::HeadersIn).iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
        false => r.frame.headers().map(|(name, value)| (name.to_vec(), value)).collect(),
    };
    let headers: Vec<(&[u8], &[u8])> = headers.iter().map(|(name, value)| (&name[..], *value)).collect();
    // The body stands in descriptor 0 already.
    let mut flags = Flags::BODY_IN_FD;
    if r.frame.flags().has(Flags::HTTPS) {
        flags |= Flags::HTTPS;
    }
    let mut request = frame::Request {
        id: r.frame.id(),
        received: r.frame.received(),
        body_length: r.frame.body_length(),
        flags,
        remote_port: r.frame.remote_port(),
        server_port: r.frame.server_port(),
        local_port: r.frame.local_port(),
        host: r.frame.host(),
        headers: &headers,
        ..Default::default()
    };
    for field in Field::ALL {
        request.fields[field as usize] = r.frame.field(field);
    }
    for (field, value) in changes.iter().filter(|(field, value)| *field == Field::Env || !value.is_empty()) {
        request.fields[*field as usize] = value;
    }
    request.fields[Field::Overrides as usize] = b"";
    request.fields[Field::Path as usize] = &to.path;
    request.fields[Field::Query as usize] = &to.query;
    request.fields[Field::Filename as usize] = &to.filename;
    let mut bytes = Vec::new();
    request.encode(&mut bytes);
    // What was encoded here is well formed.
    Frame::parse(bytes).unwrap_or_default()
}

impl RequestRec {
    /// What belongs to the client, whichever of its requests it is.
    fn inherit(&mut self, from: &RequestRec) {
        let of_client = [Text::User, Text::AuthType, Text::RemoteHost, Text::RemoteIp, Text::TheRequest, Text::Method];
        for field in of_client.into_iter().chain([Text::DocumentRoot]) {
            self.copy_said(field, from);
        }
        self.cleanup = from.cleanup;
        self.child_terminate = from.child_terminate;
    }
}

/// The client of a subrequest: what it says is taken from its output instead.
struct Nobody;

impl Client for Nobody {
    fn send(&mut self, _: &[IoSlice<'_>]) -> io::Result<()> {
        Ok(())
    }

    fn presence(&mut self) -> Presence {
        Presence::Here
    }
}

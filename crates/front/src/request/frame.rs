//! Builds the job of a request: its frame and its limits.

use std::os::unix::ffi::OsStrExt;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, COOKIE, TRANSFER_ENCODING};
use http::request::Parts;
use smallvec::SmallVec;
use tls::clients::Verdict;
use wire::control::PoolNumber;
use wire::frame::{self, Field, Flags, SeenCertificate};

use super::body::Body;
use super::context::{RequestContext, Task, variables};
use super::repeated;
use crate::base::protocol::protocol;
use crate::base::target;
use crate::log::entry::since_1970;
use crate::routing::{Route, server_name};
use crate::workers::{Job, Label, RequestTimeouts};

const TRACEPARENT: &str = "traceparent";

/// The job of a request: the frame for the worker, the body that does not fit into it, and the request's limits.
pub fn job<'a>(context: &RequestContext, head: &Parts, route: &'a Route, body: Body) -> Job<'a> {
    job_with(context, head, route, body, flags(context, route))
}

/// The job of the phases of a request that a backend answers.
pub fn job_of_phases<'a>(context: &RequestContext, head: &Parts, route: &'a Route) -> Job<'a> {
    let mut flags = flags(context, route);
    flags |= Flags::ONWARD;
    job_with(context, head, route, Body::Memory(Bytes::new()), flags)
}

/// The job of a FastCGI program that decides about access. `task`: its role, then user and password of the client.
pub fn job_of_guard<'a>(context: &RequestContext, head: &Parts, route: &'a Route, task: &[u8]) -> Job<'a> {
    let mut flags = flags(context, route);
    flags |= Flags::GUARD;
    job_of(context, head, route, Body::Memory(Bytes::new()), JobKind { flags, task })
}

/// The kind of a job: its flags, and the task of an include or of a FastCGI program.
struct JobKind<'a> {
    flags: Flags,
    task: &'a [u8],
}

fn job_with<'a>(context: &RequestContext, head: &Parts, route: &'a Route, body: Body, flags: Flags) -> Job<'a> {
    let task = context.task().map(|(Task::Command(text) | Task::Perl(text))| text).unwrap_or_default();
    job_of(context, head, route, body, JobKind { flags, task: &task })
}

fn job_of<'a>(context: &RequestContext, head: &Parts, route: &'a Route, body: Body, mut kind: JobKind<'_>) -> Job<'a> {
    let id = context.services.shared.next_id();
    if matches!(body, Body::File(..)) {
        kind.flags |= Flags::BODY_IN_FD;
    }
    let content = Content { id, kind, body: &body };
    Job {
        id,
        frame: encode(context, head, route, content),
        body: if let Body::File(file, _) = body { Some(file) } else { None },
        label: label(context, head, route),
        timeouts: RequestTimeouts::of(&route.settings),
        share: route.settings.scheduling.share.as_ref(),
        charged_to: pool(context, route).and_then(|pool| context.visitor().charged_in(pool)),
    }
}

/// The name of a request in logs.
pub fn label(context: &RequestContext, head: &Parts, route: &Route) -> Label {
    Label {
        host: route.host,
        method: head.method.clone(),
        target: route.path.as_slice().into(),
        client: context.remote().ip_addr(),
    }
}

/// The pool that answers. `None`: no pool runs commands.
pub fn pool(context: &RequestContext, route: &Route) -> Option<PoolNumber> {
    match context.task() {
        Some(Task::Command(_)) => context.generation.config.program_pool_number(),
        Some(Task::Perl(_)) => Some(route.settings.pool),
        None => Some(context.generation.config.pool_for(&route.settings)),
    }
}

/// The parts of a frame that come from neither the request nor the route.
struct Content<'a> {
    id: u64,
    kind: JobKind<'a>,
    body: &'a Body,
}

fn encode(context: &RequestContext, head: &Parts, route: &Route, content: Content<'_>) -> Vec<u8> {
    let Content { id, kind: JobKind { flags, task }, body } = content;
    let client = &context.client;
    let mut request = frame::Request {
        id,
        logged_as: context.number_with(id),
        received: since_1970(context.received),
        body_length: body.len(),
        remote_port: context.remote().port,
        server_port: server_name::port_of(&context.generation.config, head, route, context.is_secure_by_proxy()),
        local_port: client.local.port,
        host: route.host,
        error_status: context.error_status(),
        script_length: route.script_length,
        sections: &route.sections,
        flags,
        body: match body {
            Body::Memory(bytes) => bytes,
            Body::File(..) => &[],
        },
        ..Default::default()
    };
    // The target as the client sent it, regardless of internal redirects.
    let uri = &context.head.uri;
    let absolute = uri.authority().map(|_| uri.to_string());
    let written = absolute.as_deref().or_else(|| uri.path_and_query().map(|target| target.as_str()));
    let sent = target::as_sent(&context.head).or(written.map(str::as_bytes));
    let variables = variables::encode(context);
    let forced = route.forced.as_ref().map(|by| by.encode()).unwrap_or_default();
    let certificate = certificate(context).encode();
    let mut set = |field: Field, bytes| request.fields[field as usize] = bytes;
    set(Field::Env, &variables);
    set(Field::Method, head.method.as_str().as_bytes());
    set(Field::Target, sent.unwrap_or(b"/"));
    set(Field::Protocol, protocol(head.version).as_bytes());
    set(Field::Path, &route.path);
    set(Field::Query, target::query(head).unwrap_or_default());
    set(Field::RemoteAddr, context.remote().ip.as_bytes());
    set(Field::LocalAddr, client.local.ip.as_bytes());
    set(Field::ServerName, route.server_name.as_bytes());
    set(Field::Filename, route.filename.as_os_str().as_bytes());
    set(Field::Overrides, &route.overrides);
    set(Field::Forced, &forced);
    set(Field::Task, task);
    set(Field::Certificate, certificate.as_bytes());
    let visitor = context.visitor();
    if let Some(name) = visitor.name() {
        set(Field::RemoteHost, name.as_bytes());
    }
    if let Some(user) = visitor.user() {
        set(Field::User, user.name.as_bytes());
        set(Field::AuthType, visitor.auth_type().as_bytes());
    }
    let is_received = !flags.has(Flags::ONWARD) && head.headers.contains_key(TRANSFER_ENCODING);
    let length = is_received.then(|| body.len().to_string());
    let traceparent = context.trace.map(|trace| trace.header());
    let headers = headers(head, length.as_deref(), traceparent.as_deref());
    request.headers = &headers;
    let mut frame = context.services.shared.take_frame();
    request.encode(&mut frame);
    frame
}

/// The client's certificate, for places that the worker judges.
fn certificate(context: &RequestContext) -> SeenCertificate {
    let Some(session) = context.client.session() else { return SeenCertificate::WithoutTls };
    match session.client.as_ref().map(|client| &client.verdict) {
        None => SeenCertificate::Missing,
        Some(Verdict::Valid { depth }) => SeenCertificate::Valid(*depth),
        Some(Verdict::Untrusted(_)) => SeenCertificate::Untrusted,
        Some(Verdict::Invalid(_)) => SeenCertificate::Invalid,
    }
}

fn flags(context: &RequestContext, route: &Route) -> Flags {
    let is_traced = context.trace.is_some_and(|trace| trace.is_sampled) && context.generation.exporter.is_some();
    let all = [
        (Flags::HTTPS, context.is_secure()),
        (Flags::RESOLVED, route.resolved),
        (Flags::PHASES, route.settings.has_perl_phases()),
        (Flags::SCRIPT, route.script_alias),
        (Flags::TRACED, is_traced),
    ];
    let mut flags = Flags::default();
    for (flag, _) in all.into_iter().filter(|(_, is_set)| *is_set) {
        flags |= flag;
    }
    flags
}

/// Headers of a frame. Those of most requests need no allocation.
type Headers<'a> = SmallVec<[(&'a [u8], &'a [u8]); 24]>;

/// The headers for the worker. `length` is that of a chunked body that was received; in a trace, the front's own span
/// replaces traceparent.
fn headers<'a>(head: &'a Parts, length: Option<&'a str>, traceparent: Option<&'a str>) -> Headers<'a> {
    let chunked = length.is_some();
    let cookies = repeated::cookies(head);
    let mut headers = Headers::new();
    for (name, value) in &head.headers {
        let is_replaced = chunked && (name == TRANSFER_ENCODING || name == CONTENT_LENGTH)
            || traceparent.is_some() && name == TRACEPARENT
            || cookies.is_some() && name == COOKIE;
        if !is_replaced {
            headers.push((name.as_str().as_bytes(), value.as_bytes()));
        }
    }
    headers.extend(length.map(|length| (CONTENT_LENGTH.as_str().as_bytes(), length.as_bytes())));
    headers.extend(cookies.into_iter().flatten().map(|cookie| (COOKIE.as_str().as_bytes(), cookie.as_bytes())));
    headers.extend(traceparent.map(|ours| (TRACEPARENT.as_bytes(), ours.as_bytes())));
    headers
}

//! The pages of the monitor, all of them read-only.

use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Method, Request, Response, StatusCode};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use tokio::sync::mpsc::Receiver;
use tokio::task::spawn_blocking;

use super::access::{Access, Denied};
use super::hub::{Hub, StatusView};
use super::{dashboard, now};
use status::auto::StatusFacts;
use status::health;
use status::history::points;
use status::metrics::{MetricsFormat, write};

/// Maximum number of points in a response.
const MAX_POINTS: u32 = 20_000;
/// Default length of a history.
const HOUR: u32 = 3600;
const DAY: u32 = 24 * HOUR;

/// Content-Security-Policy: only this server's own resources.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Whether the server lives, and whether it can answer requests.
const HEALTHZ: &str = "/healthz";
const READYZ: &str = "/readyz";

type MonitorResponse = Response<MonitorPage>;

/// The body of a response.
pub enum MonitorPage {
    /// A whole body.
    Whole(Option<Bytes>),
    /// A stream of events.
    Events(Receiver<Bytes>),
}

impl Body for MonitorPage {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut *self {
            MonitorPage::Whole(bytes) => Poll::Ready(bytes.take()),
            MonitorPage::Events(events) => events.poll_recv(cx),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match self {
            MonitorPage::Whole(bytes) => {
                http_body::SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            MonitorPage::Events(_) => http_body::SizeHint::default(),
        }
    }
}

pub async fn answer(access: &Access, hub: &Rc<Hub>, request: Request<Incoming>) -> MonitorResponse {
    let mut answer = match access.check(request.headers()) {
        // Probes of container engines know no secret, and the answers tell nothing else.
        _ if is_probe(&request) => probe(hub, request.uri().path()),
        Err(denied) => refuse(denied),
        Ok(()) if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            let refused = text_response(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
            with(refused, ALLOW, HeaderValue::from_static("GET, HEAD"))
        }
        Ok(()) => page(hub, &request).await,
    };
    // The content changes each second, and the pages need no browser features.
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
        (HeaderName::from_static("referrer-policy"), "no-referrer"),
        (HeaderName::from_static("content-security-policy"), POLICY),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

fn is_probe(request: &Request<Incoming>) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD) && matches!(request.uri().path(), HEALTHZ | READYZ)
}

fn probe(hub: &Hub, path: &str) -> MonitorResponse {
    match hub.check(if path == READYZ { health::is_ready } else { health::is_alive }) {
        Ok(()) => text_response(StatusCode::OK, "ok\n"),
        Err(why) => {
            let mut failed = whole("text/plain; charset=utf-8", format!("{why}\n"));
            *failed.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            failed
        }
    }
}

async fn page(hub: &Rc<Hub>, request: &Request<Incoming>) -> MonitorResponse {
    let query = request.uri().query().unwrap_or_default();
    let path = request.uri().path();
    if let Some((media_type, text)) = dashboard::file(path) {
        return whole(media_type, text);
    }
    match path {
        "/status.json" => of(hub, |view| whole("application/json", view.json())),
        "/metrics" => {
            let accepted = request.headers().get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
            let format = MetricsFormat::accepted(accepted);
            of(hub, |view| metrics(format, view))
        }
        "/server-status" if query.split('&').any(|option| option == "auto") => of(hub, auto),
        "/server-status" => {
            text_response(StatusCode::NOT_FOUND, "only server-status?auto is available; the page for people is /\n")
        }
        "/events" => with(Response::new(MonitorPage::Events(hub.listen())), CONTENT_TYPE, plain("text/event-stream")),
        "/history.json" => history(hub, query).await,
        "/slow.json" => match hub.slow() {
            Ok(text) => whole("application/json", text),
            Err(_) => text_response(StatusCode::SERVICE_UNAVAILABLE, "the profiler is writing; retry in a second\n"),
        },
        _ => text_response(
            StatusCode::NOT_FOUND,
            "not found; available: /, /status.json, /events, /metrics, /history.json, /slow.json, /server-status?auto, /healthz, /readyz\n",
        ),
    }
}

fn of(hub: &Hub, make: impl FnOnce(&StatusView) -> MonitorResponse) -> MonitorResponse {
    match hub.latest() {
        Some(view) => make(&view),
        None => text_response(StatusCode::SERVICE_UNAVAILABLE, "the monitor has just started; retry in a second\n"),
    }
}

fn metrics(format: MetricsFormat, view: &StatusView) -> MonitorResponse {
    match &view.status.front {
        Some(front) => whole(format.media_type(), write(format, front, &view.status.counts, Some(&view.status))),
        None => text_response(StatusCode::SERVICE_UNAVAILABLE, "the front does not answer\n"),
    }
}

fn auto(view: &StatusView) -> MonitorResponse {
    match StatusFacts::of(&view.status) {
        Some(facts) => whole("text/plain; charset=utf-8", facts.auto()),
        None => text_response(StatusCode::SERVICE_UNAVAILABLE, "the front does not answer\n"),
    }
}

/// Reads the history on another thread, because a week takes a while.
async fn history(hub: &Rc<Hub>, query: &str) -> MonitorResponse {
    let wanted = match HistoryQuery::of(query, now()) {
        Ok(query) => query,
        Err(wrong) => return text_response(StatusCode::BAD_REQUEST, wrong),
    };
    let ring = hub.ring();
    match spawn_blocking(move || points(&ring, wanted.from..=wanted.to, wanted.step)).await {
        Ok(Ok(points)) => whole("application/json", serde_json::to_string(&points).unwrap_or_default()),
        _ => text_response(StatusCode::INTERNAL_SERVER_ERROR, "the history cannot be read\n"),
    }
}

/// Range of a history request, in seconds since 1970, and its step in seconds: `from=1790000000&to=1790003600&step=60`,
/// all optional. `from=-3600` is an hour ago.
#[derive(Debug, PartialEq, Eq)]
struct HistoryQuery {
    from: u32,
    to: u32,
    step: u32,
}

impl HistoryQuery {
    fn of(query: &str, now: u32) -> Result<HistoryQuery, &'static str> {
        let (mut from, mut to, mut step) = (now.saturating_sub(HOUR), now, None);
        for (name, value) in query.split('&').filter_map(|part| part.split_once('=')) {
            match name {
                "from" => from = moment(value, now)?,
                "to" => to = moment(value, now)?,
                "step" => step = Some(value.parse().ok().filter(|step| (1..=DAY).contains(step)).ok_or(WRONG_STEP)?),
                _ => {}
            }
        }
        if from > to {
            return Err("from comes after to\n");
        }
        let least = (to - from) / MAX_POINTS + 1;
        Ok(HistoryQuery { from, to, step: step.unwrap_or(1).max(least) })
    }
}

const WRONG_STEP: &str = "step: expected seconds, from 1 to 86400\n";

fn moment(text: &str, now: u32) -> Result<u32, &'static str> {
    let moment = match text.strip_prefix('-') {
        Some(ago) => ago.parse().ok().map(|ago| now.saturating_sub(ago)),
        None => text.parse().ok(),
    };
    moment.ok_or("from, to: expected seconds since 1970, or -3600 for an hour ago\n")
}

fn refuse(denied: Denied) -> MonitorResponse {
    match denied {
        Denied::Token => {
            let refused = text_response(
                StatusCode::UNAUTHORIZED,
                "AdminToken: send it as Authorization: Bearer, or as a password\n",
            );
            with(refused, WWW_AUTHENTICATE, plain("Basic realm=\"cameleer\", charset=\"UTF-8\""))
        }
        Denied::Host => {
            text_response(StatusCode::MISDIRECTED_REQUEST, "this address accepts only the host localhost\n")
        }
        Denied::Origin => text_response(StatusCode::FORBIDDEN, "requests from pages of other sites are refused\n"),
    }
}

fn text_response(status: StatusCode, text: &'static str) -> MonitorResponse {
    let mut answer = whole("text/plain; charset=utf-8", text);
    *answer.status_mut() = status;
    answer
}

fn whole(media_type: &'static str, text: impl Into<Bytes>) -> MonitorResponse {
    with(Response::new(MonitorPage::Whole(Some(text.into()))), CONTENT_TYPE, plain(media_type))
}

fn plain(value: &'static str) -> HeaderValue {
    HeaderValue::from_static(value)
}

fn with(mut answer: MonitorResponse, name: HeaderName, value: HeaderValue) -> MonitorResponse {
    answer.headers_mut().insert(name, value);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_given_in_unix_seconds_or_relative_to_now() {
        let ask = |query| HistoryQuery::of(query, 1_000_000);
        assert_eq!(ask(""), Ok(HistoryQuery { from: 996_400, to: 1_000_000, step: 1 }));
        assert_eq!(ask("from=5&to=10&step=60&x"), Ok(HistoryQuery { from: 5, to: 10, step: 60 }));
        assert_eq!(ask("from=-100"), Ok(HistoryQuery { from: 999_900, to: 1_000_000, step: 1 }));
        // A long history is returned in fewer points.
        assert_eq!(ask("from=0").expect("asked").step, 51);
        for wrong in ["from=x", "to=-", "step=0", "step=99999999", "from=7&to=6", "from=4294967296"] {
            assert!(ask(wrong).is_err(), "{wrong}");
        }
    }
}

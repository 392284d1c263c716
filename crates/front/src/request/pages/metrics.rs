//! `SetHandler server-metrics`: the counters of front and master, for Prometheus and OpenMetrics collectors.

use http::Response;
use http::header::{ACCEPT, HeaderValue};

use super::response;
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;
use crate::routing::Route;
use status::metrics::{MetricsFormat, write};

pub fn page(context: &RequestContext, _: &Route, _: &str) -> Response<BodySource> {
    let accepted = context.head.headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let format = MetricsFormat::accepted(accepted);
    let text = write(format, &context.services.status(), &context.services.shared.counts(), None);
    response(text, HeaderValue::from_static(format.media_type()))
}

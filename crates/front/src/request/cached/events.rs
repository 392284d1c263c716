//! Reports the cache's result for a request: in mod_cache's variables, for logs and conditions, and in response
//! headers.

use http::{HeaderName, HeaderValue, Response};

use super::Visit;
use crate::request::context::RequestContext;
use crate::request::respond::body::BodySource;

/// The cache's result for a request, with the reason.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// A stored response was sent.
    Hit(&'static str),
    /// No stored response could be sent.
    Miss(&'static str),
    /// The program confirmed a stored response.
    Revalidated(&'static str),
    /// Responses were removed because the request may have changed them.
    Invalidated(&'static str),
}

impl Event {
    /// mod_cache's variable, the word in `X-Cache`, and the reason.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Event::Hit(why) => ("cache-hit", "HIT", why),
            Event::Miss(why) => ("cache-miss", "MISS", why),
            Event::Revalidated(why) => ("cache-revalidate", "REVALIDATE", why),
            Event::Invalidated(why) => ("cache-invalidate", "INVALIDATE", why),
        }
    }
}

/// Sets the variables of the event and `cache-status`.
pub fn note(context: &RequestContext, event: Event) {
    let (variable, _, why) = event.words();
    context.set_variable(variable, why);
    context.set_variable("cache-status", why);
}

impl Visit<'_> {
    /// Sets the variables, and the headers that the location enables.
    pub fn report(&self, mut response: Response<BodySource>, event: Event) -> Response<BodySource> {
        note(self.context, event);
        let ((_, word, why), host) = (event.words(), &self.route.server_name);
        let headers = [(self.rules().header, "x-cache", word), (self.rules().detail_header, "x-cache-detail", why)];
        for (_, name, text) in headers.into_iter().filter(|(is_wanted, ..)| *is_wanted) {
            if let Ok(value) = HeaderValue::from_str(&format!("{text} from {host}")) {
                response.headers_mut().insert(HeaderName::from_static(name), value);
            }
        }
        response
    }
}

//! Requests after which the connection, or the stream of HTTP/2, has another protocol.

use http::header::{HeaderValue, UPGRADE};
use http::request::Parts;
use http::{Method, Version};

use super::RequestContext;
use crate::base::protocol::StreamProtocol;
use crate::client::tunnel::Tunnel;
use proxy::fields;

impl RequestContext {
    /// The protocol to which the client asks to switch, where it may. The body of such a request is empty.
    pub fn upgrade(&self, head: &Parts, has_body: bool) -> Option<&HeaderValue> {
        let may_switch = match self.stream {
            Some(_) => self.is_websocket_stream(),
            None => head.version == Version::HTTP_11,
        };
        // The connection belongs to the page, and not to the response that the page includes.
        if !may_switch || has_body || head.method == Method::HEAD || self.is_part() {
            return None;
        }
        // The fields of the connection are those that the client sent.
        let sent = &self.head.headers;
        sent.get(UPGRADE).filter(|_| fields::lists_upgrade(sent))
    }

    /// Whether the request is the extended CONNECT for a WebSocket (RFC 8441). Any 2xx would open it.
    pub fn is_websocket_stream(&self) -> bool {
        self.head.extensions.get() == Some(&StreamProtocol::WebSocket)
    }

    /// Notes that the connection or the stream switches protocols after the response.
    pub fn will_tunnel(&self, tunnel: Tunnel) {
        match &self.stream {
            Some(stream) => stream.will_tunnel(tunnel),
            None => self.client.will_tunnel(tunnel),
        }
    }
}

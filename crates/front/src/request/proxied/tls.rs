//! TLS of connections to backends: `SSLProxy…`.

use http::StatusCode;
use http::header::HOST;
use rustls::pki_types::ServerName;

use super::Sending;
use crate::base::refusal::Refusal;
use ::tls::Alpn;
use config::proxy::{BackendUrl, Passed};
use config::without_port;
use proxy::BackendHandshake;

/// The protocol that the backend has to select in the handshake.
pub fn alpn(url: &BackendUrl) -> Alpn {
    if url.scheme.is_http2() { Alpn::Http2 } else { Alpn::Http1 }
}

/// The handshake with a backend; `None` without TLS.
pub fn handshake(sending: &Sending<'_>, to: &Passed) -> Result<Option<BackendHandshake>, Refusal> {
    if !to.url.scheme.is_secure() {
        return Ok(None);
    }
    let Sending { context, head, route, .. } = sending;
    let refused = |why: String| {
        context.log_error(route, &format_args!("backend {}: {why}", to.url.origin()));
        Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
    };
    let rules = &route.settings.proxy;
    if rules.tls.engine != Some(true) {
        return Err(refused("TLS to backends is off; write SSLProxyEngine On".to_owned()));
    }
    let client = context.generation.tls().backends.of(&rules.tls, alpn(&to.url)).map_err(refused)?;
    // As in httpd, a preserved Host is also the name that the backend must have.
    let preserved = head.headers.get(HOST).filter(|_| rules.preserve_host == Some(true));
    let host = preserved.and_then(|host| host.to_str().ok()).unwrap_or(&to.url.authority);
    let is_of_client = !host.eq_ignore_ascii_case(&to.url.authority);
    let host = without_port(host).trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(host).map_err(|_| refused("the host is no valid name for TLS".to_owned()))?;
    Ok(Some(BackendHandshake { client, name, is_of_client }))
}

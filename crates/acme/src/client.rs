//! Requests to an authority: each on a connection of its own, and limited in time and size, because the answers of an
//! authority that is overloaded, or is none, are not to be trusted.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use anyhow::{Context, anyhow};
use bytes::Bytes;
use http::header::{HOST, HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::tunnel;
use config::tls::http_proxy::HttpProxy;

/// Time for one request, from the connection to the end of the answer.
const REQUEST: Duration = Duration::from_secs(30);
/// Maximum size of an answer in bytes; a chain of certificates has a few kB.
const MAX_BYTES: usize = 1 << 20;
/// The longest wait that an authority may ask for.
const MAX_WAIT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Files with the authorities that the system trusts: of Debian, of Red Hat, of Alpine.
const SYSTEM: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The wait that an authority has asked for last, in seconds; 0: none.
#[derive(Clone, Default)]
struct RetryAfter(Arc<AtomicU64>);

impl RetryAfter {
    fn note(&self, headers: &HeaderMap) {
        let Some(value) = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()) else { return };
        let until = |text: &str| httpdate::parse_http_date(text).ok()?.duration_since(SystemTime::now()).ok();
        let seconds = value.trim().parse().ok().or_else(|| Some(until(value.trim())?.as_secs() + 1));
        self.0.store(seconds.unwrap_or(0).min(MAX_WAIT.as_secs()), Relaxed);
    }
}

/// Connections to authorities.
#[derive(Clone)]
pub struct AuthorityClient {
    tls: TlsConnector,
    proxy: Option<HttpProxy>,
    retry_after: RetryAfter,
}

impl AuthorityClient {
    /// Trusts servers whose certificates are signed by those in `trust` (PEM), or by those that the system trusts.
    pub fn new(trust: Option<&str>, proxy: Option<HttpProxy>) -> anyhow::Result<AuthorityClient> {
        let mut roots = RootCertStore::empty();
        let text = match trust {
            Some(trust) => trust.to_owned(),
            None => system()?,
        };
        for root in CertificateDer::pem_slice_iter(text.as_bytes()) {
            // The system's file may have certificates that rustls does not understand.
            let _ = roots.add(root.context("MDCACertificateFile: a certificate cannot be read: expected PEM")?);
        }
        anyhow::ensure!(!roots.is_empty(), "MDCACertificateFile: no certificate can be used: expected PEM");
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions()?.with_root_certificates(roots);
        let tls = TlsConnector::from(Arc::new(builder.with_no_client_auth()));
        Ok(AuthorityClient { tls, proxy, retry_after: RetryAfter::default() })
    }

    /// Forgets the wait that an authority has asked for, and returns it in seconds.
    pub fn take_wait(&self) -> Option<u64> {
        Some(self.retry_after.0.swap(0, Relaxed)).filter(|seconds| *seconds > 0)
    }

    async fn send(self, request: Request<BodyWrapper<Bytes>>) -> anyhow::Result<BytesResponse> {
        let (mut parts, body) = request.into_parts();
        let uri = std::mem::take(&mut parts.uri);
        anyhow::ensure!(uri.scheme_str() == Some("https"), "{uri} is no https URL");
        let host = uri.host().with_context(|| format!("{uri} has no host"))?.to_owned();
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = uri.port_u16().unwrap_or(443);
        let socket = match &self.proxy {
            Some(proxy) => tunnel::connect(proxy, &format!("{host}:{port}")).await?,
            None => {
                let socket = TcpStream::connect((bare.as_str(), port)).await;
                socket.with_context(|| format!("cannot connect to {host}:{port}"))?
            }
        };
        let name = ServerName::try_from(bare).with_context(|| format!("{host} is no valid name of a host"))?;
        let stream = self.tls.connect(name, socket).await;
        let stream = stream.with_context(|| format!("the TLS handshake with {host}:{port} failed"))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        let authority = uri.authority().with_context(|| format!("{uri} has no host"))?;
        parts.headers.insert(HOST, HeaderValue::from_str(authority.as_str())?);
        parts.uri = uri.path_and_query().map_or_else(|| Uri::from_static("/"), |path| Uri::from(path.clone()));
        let (parts, body) = sender.send_request(Request::from_parts(parts, body)).await?.into_parts();
        if matches!(parts.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            self.retry_after.note(&parts.headers);
        }
        let body = Limited::new(body, MAX_BYTES)
            .collect()
            .await
            .map_err(|error| anyhow!("the response of {host} is incomplete or too long: {error}"))?;
        Ok(BytesResponse { parts, body: Box::new(body.to_bytes()) })
    }
}

impl HttpClient for AuthorityClient {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let authorities = self.clone();
        Box::pin(async move {
            let sent = tokio::time::timeout(REQUEST, authorities.send(request)).await;
            let sent = sent.unwrap_or_else(|_| Err(anyhow!("no answer in {REQUEST:?}")));
            sent.map_err(|error| Error::Other(format!("{error:#}").into()))
        })
    }
}

fn system() -> anyhow::Result<String> {
    let found = SYSTEM.iter().find_map(|path| std::fs::read_to_string(path).ok());
    found.with_context(|| {
        format!("{} is missing; install the package ca-certificates, or set MDCACertificateFile", SYSTEM[0])
    })
}

/// An authority that cannot be reached, or does not answer as a server does.
#[derive(Debug)]
pub struct Unreachable(String);

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreachable {}

/// An error of the protocol, with what to do where the cause is not the authority's own words.
pub fn explained(error: Error, authority: &str) -> anyhow::Error {
    match error {
        Error::Json(error) => {
            anyhow!("{authority} answered something that is not ACME ({error}): is it the URL of an ACME directory?")
        }
        Error::Timeout(_) => anyhow!("{authority} has not finished the order in time"),
        Error::Other(error) => anyhow::Error::new(Unreachable(format!("{authority}: {error}"))),
        Error::Api(problem) => anyhow::Error::new(problem).context(format!("{authority} refused")),
        error => anyhow!("{authority}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_number_of_seconds_or_a_date() {
        let after = |value: &str| {
            let (waits, mut headers) = (RetryAfter::default(), HeaderMap::new());
            headers.insert(RETRY_AFTER, HeaderValue::from_str(value).expect("a value"));
            waits.note(&headers);
            Some(waits.0.load(Relaxed)).filter(|seconds| *seconds > 0)
        };
        assert_eq!(after("120"), Some(120));
        assert_eq!(after("0"), None);
        assert_eq!(after("soon"), None);
        assert_eq!(after("99999999999"), Some(MAX_WAIT.as_secs()));
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3600));
        assert!(after(&date).is_some_and(|seconds| (3590..=3601).contains(&seconds)));
        assert_eq!(after("Thu, 01 Jan 1970 00:00:00 GMT"), None);
    }
}

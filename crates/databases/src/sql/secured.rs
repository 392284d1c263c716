//! TLS towards PostgreSQL, with the words of libpq: `sslmode` and `sslrootcert` in DBDParams.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use tls::{BackendVerifier, trusted};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::{TlsConnector, client};

/// What `sslmode` demands of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PgSecurity {
    /// Whether there is TLS.
    pub mode: SslMode,
    /// Whether an authority must have signed the certificate.
    pub is_signed: bool,
    /// Whether the certificate must be valid for the host of the parameters.
    pub is_named: bool,
    /// `sslrootcert`: the authorities. Empty: those of the system.
    pub authorities: Vec<PathBuf>,
}

impl PgSecurity {
    /// The words of libpq. As there, a file of authorities makes `require` check the signature, and those of the
    /// system need `verify-full`: anybody can have a certificate of theirs.
    pub fn of(sslmode: Option<&str>, sslrootcert: Option<&str>) -> Result<PgSecurity, String> {
        let is_system = sslrootcert == Some("system");
        let authorities: Vec<PathBuf> = sslrootcert.filter(|_| !is_system).map(PathBuf::from).into_iter().collect();
        let (mode, is_signed, is_named) = match sslmode.unwrap_or(if is_system { "verify-full" } else { "prefer" }) {
            "disable" => (SslMode::Disable, false, false),
            "allow" | "prefer" => (SslMode::Prefer, false, false),
            "require" => (SslMode::Require, !authorities.is_empty(), false),
            "verify-ca" if authorities.is_empty() && !is_system => {
                return Err("sslmode=verify-ca: expected sslrootcert=FILE; or write verify-full".to_owned());
            }
            "verify-ca" => (SslMode::Require, true, false),
            "verify-full" => (SslMode::Require, true, true),
            other => {
                return Err(format!(
                    "sslmode={other}: expected disable, allow, prefer, require, verify-ca or verify-full"
                ));
            }
        };
        match is_system && !is_named {
            true => Err("sslrootcert=system: expected no sslmode or sslmode=verify-full".to_owned()),
            false => Ok(PgSecurity { mode, is_signed, is_named, authorities }),
        }
    }

    /// Settings of a connection. Read for each new connection, because the file may have changed.
    fn client(&self) -> Result<ClientConfig, String> {
        let roots = self.is_signed.then(|| trusted(&self.authorities, "sslrootcert")).transpose()?;
        let verifier = BackendVerifier { roots, name: self.is_named, expire: self.is_signed };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .dangerous();
        Ok(builder.with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
    }
}

/// Makes connections secure.
#[derive(Clone)]
pub struct Securer(TlsConnector);

impl Securer {
    pub fn new(security: &PgSecurity) -> Result<Securer, String> {
        Ok(Securer(TlsConnector::from(Arc::new(security.client()?))))
    }
}

/// As [`Securer`], for the host with this name.
pub struct HostSecurer {
    connector: TlsConnector,
    name: ServerName<'static>,
}

/// A connection over TLS, as `tokio_postgres` takes it.
pub struct PgTlsStream<S>(pub client::TlsStream<S>);

type Failure = Box<dyn Error + Sync + Send>;

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for Securer {
    type Stream = PgTlsStream<S>;
    type TlsConnect = HostSecurer;
    type Error = Failure;

    fn make_tls_connect(&mut self, domain: &str) -> Result<HostSecurer, Failure> {
        // A connection without a name of its own has no TLS.
        let name = ServerName::try_from(if domain.is_empty() { "localhost" } else { domain }.to_owned())?;
        Ok(HostSecurer { connector: self.0.clone(), name })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for HostSecurer {
    type Stream = PgTlsStream<S>;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<PgTlsStream<S>, Failure>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(PgTlsStream(self.connector.connect(self.name, stream).await?)) })
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for PgTlsStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for PgTlsStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for PgTlsStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authorities_of_the_system_need_the_servers_name() {
        for (sslmode, is_named) in [(None, Some(true)), (Some("verify-full"), Some(true)), (Some("verify-ca"), None)] {
            let security = PgSecurity::of(sslmode, Some("system"));
            assert_eq!(security.as_ref().ok().map(|security| security.is_named), is_named, "{sslmode:?}: {security:?}");
            assert!(security.is_err() || security.is_ok_and(|security| security.authorities.is_empty()));
        }
        for sslmode in ["disable", "allow", "prefer", "require"] {
            assert!(PgSecurity::of(Some(sslmode), Some("system")).is_err(), "{sslmode}");
        }
        assert!(PgSecurity::of(Some("verify-ca"), None).is_err() && PgSecurity::of(Some("verify-full"), None).is_ok());
        let signed = PgSecurity::of(Some("require"), Some("a.pem")).expect("known words");
        assert!(signed.is_signed && !signed.is_named);
    }
}

//! `MDHttpProxy`: connections to authorities through an HTTP proxy, which only sees their names (RFC 9110, 9.3.6).

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use config::tls::http_proxy::HttpProxy;

/// Maximum size of the proxy's answer in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// Asks the proxy for a connection to `host:port`.
pub async fn connect(proxy: &HttpProxy, to: &str) -> anyhow::Result<TcpStream> {
    let name = || format!("MDHttpProxy {}", proxy.address);
    let mut stream = TcpStream::connect(&proxy.address).await.with_context(name)?;
    stream.write_all(request(proxy, to).as_bytes()).await.with_context(name)?;
    let head = head(&mut stream).await.with_context(name)?;
    match status(&head) {
        Some(200..=299) => Ok(stream),
        Some(407) => bail!("{} wants a user and a password: http://user:password@host:port", name()),
        Some(status) => bail!("{} refuses the connection to {to} with {status}", name()),
        None => bail!("{} does not answer as an HTTP proxy", name()),
    }
}

fn request(proxy: &HttpProxy, to: &str) -> String {
    let user = proxy.credentials.as_ref();
    let user = user.map(|text| format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(text)));
    format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{}\r\n", user.unwrap_or_default())
}

/// Reads up to the empty line. No byte of the authority comes before the client's first.
async fn head(stream: &mut TcpStream) -> anyhow::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let count = stream.read_buf(&mut head).await?;
        ensure!(count > 0, "it has closed the connection");
        ensure!(head.len() <= MAX_HEAD, "its answer has more than {MAX_HEAD} bytes");
    }
    Ok(head)
}

/// The status of `HTTP/1.1 200 Connection established`.
fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_gets_the_name_and_the_credentials() {
        let mut proxy = HttpProxy { address: "proxy:3128".to_owned(), credentials: None };
        assert_eq!(request(&proxy, "ca.test:443"), "CONNECT ca.test:443 HTTP/1.1\r\nHost: ca.test:443\r\n\r\n");
        proxy.credentials = Some("ana:secret".to_owned());
        assert!(request(&proxy, "ca.test:443").contains("\r\nProxy-Authorization: Basic YW5hOnNlY3JldA==\r\n"));
        assert_eq!(status(b"HTTP/1.0 200 ok\r\n\r\n"), Some(200));
        assert_eq!(status(b"SSH-2.0 200\r\n\r\n"), None);
    }
}

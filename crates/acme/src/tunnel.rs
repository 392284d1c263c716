//! `MDHttpProxy`: connections to authorities through an HTTP proxy, which only sees their names (RFC 9110, 9.3.6).

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use config::tls::http_proxy::HttpProxy;

/// Maximum size of the proxy's answer in bytes.
const MAX_HEAD: usize = 16 * 1024;
/// End of the head of a response.
const END: &[u8] = b"\r\n\r\n";

/// Asks the proxy for a connection to `host:port`.
pub async fn connect(proxy: &HttpProxy, to: &str) -> anyhow::Result<TcpStream> {
    let name = || format!("MDHttpProxy {}", proxy.address);
    let mut stream = TcpStream::connect(&proxy.address).await.with_context(name)?;
    stream.write_all(request(proxy, to).as_bytes()).await.with_context(name)?;
    let answer = answer(&mut stream).await.with_context(name)?;
    match status(&answer.head) {
        Some(200..=299) if answer.has_more => bail!(
            "{} sends data before the TLS handshake: it does not act as a proxy for CONNECT; name another one",
            name()
        ),
        Some(200..=299) => Ok(stream),
        Some(407) if proxy.credentials.is_some() => {
            bail!("{} refuses the user and the password with 407; correct them in MDHttpProxy", name())
        }
        Some(407) => bail!("{} wants a user and a password (407); write http://user:password@host:port", name()),
        Some(status) => bail!("{} refuses the connection to {to} with {status}", name()),
        None => bail!("{} does not answer as an HTTP proxy", name()),
    }
}

fn request(proxy: &HttpProxy, to: &str) -> String {
    let user = proxy.credentials.as_ref();
    let user = user.map(|text| format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(text)));
    format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{}\r\n", user.unwrap_or_default())
}

/// The start of the proxy's response.
struct Answer {
    /// The status line and the header fields, with the empty line.
    head: Vec<u8>,
    /// Whether bytes of a body came with the head. After 2xx they would be the authority's, and TLS begins with the
    /// client.
    has_more: bool,
}

/// Reads up to the empty line.
async fn answer(stream: &mut TcpStream) -> anyhow::Result<Answer> {
    let mut head = Vec::new();
    loop {
        let count = stream.read_buf(&mut head).await?;
        ensure!(count > 0, "it has closed the connection");
        if let Some(end) = head.windows(END.len()).position(|bytes| bytes == END) {
            let has_more = head.len() > end + END.len();
            head.truncate(end + END.len());
            return Ok(Answer { head, has_more });
        }
        ensure!(head.len() <= MAX_HEAD, "its answer has more than {MAX_HEAD} bytes");
    }
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
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::spawn;

    use tokio::runtime::Builder;

    use super::*;

    /// The error of a connection through a proxy that answers with these bytes, and then waits for the client's end.
    fn refused(answer: impl Into<Vec<u8>>, credentials: Option<&str>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let answer = answer.into();
        let proxy = spawn(move || {
            let (mut client, _) = listener.accept().expect("a client");
            // A client that has read enough may close before the last byte.
            let _ = client.write_all(&answer);
            let _ = client.read_to_end(&mut Vec::new());
        });
        let at = HttpProxy { address: address.clone(), credentials: credentials.map(str::to_owned) };
        let runtime = Builder::new_current_thread().enable_io().build().expect("a runtime");
        let error = runtime.block_on(connect(&at, "ca.test:443")).expect_err("no connection");
        proxy.join().expect("no panic");
        format!("{error:#}").replace(&address, "ADDRESS")
    }

    #[test]
    fn a_refusal_with_a_body_is_reported_with_its_status_and_a_way_out() {
        let page = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 12\r\n\r\nunauthorized";
        assert_eq!(
            refused(page, None),
            "MDHttpProxy ADDRESS wants a user and a password (407); write http://user:password@host:port"
        );
        let error = refused(page, Some("ana:secret"));
        let expected = "MDHttpProxy ADDRESS refuses the user and the password with 407; correct them in MDHttpProxy";
        assert_eq!(error, expected);
        let page = "HTTP/1.1 403 Forbidden\r\n\r\n".to_owned() + &"x".repeat(100_000);
        assert_eq!(refused(page, None), "MDHttpProxy ADDRESS refuses the connection to ca.test:443 with 403");
    }

    #[test]
    fn bytes_behind_the_head_of_a_success_are_an_error() {
        let error = refused("HTTP/1.1 200 Connection established\r\n\r\nx", None);
        assert!(error.starts_with("MDHttpProxy ADDRESS sends data before the TLS handshake"), "{error}");
    }

    #[test]
    fn a_head_without_an_end_is_an_error() {
        let error = refused("HTTP/1.1 200 OK\r\n".to_owned() + &"X: y\r\n".repeat(10_000), None);
        assert_eq!(error, "MDHttpProxy ADDRESS: its answer has more than 16384 bytes");
        let error = refused("x".repeat(1_000_000), None);
        assert_eq!(error, "MDHttpProxy ADDRESS: its answer has more than 16384 bytes");
    }

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

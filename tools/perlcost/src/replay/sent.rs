//! Sends a request, and prints its response.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use base::printable;
use toolkit::{Misuse, print_error};

/// Longest response, in bytes.
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Time for the next bytes of the response.
const PATIENCE: Duration = Duration::from_secs(600);

/// A response without its framing.
pub struct Response {
    /// The status code.
    pub status: u16,
    head: String,
    body: Vec<u8>,
}

/// Sends `request` to a URL `http://host:port`.
pub fn send(url: &str, request: &[u8]) -> anyhow::Result<Response> {
    let address = address(url)?;
    let stream = TcpStream::connect(&address).with_context(|| format!("cannot connect to {address}"))?;
    exchange(stream, request).with_context(|| format!("no response of {address}"))
}

fn address(url: &str) -> anyhow::Result<String> {
    let Some(rest) = url.strip_prefix("http://") else {
        return Err(Misuse(format!(
            "{url}: expected http://host:port; TLS is not supported; name an address without it by --to"
        ))
        .into());
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(if has_port { authority.to_owned() } else { format!("{authority}:80") })
}

/// Sends a request on this connection, which the server closes after its response.
pub fn exchange(mut stream: TcpStream, request: &[u8]) -> anyhow::Result<Response> {
    stream.set_read_timeout(Some(PATIENCE))?;
    // A server may answer before it has read the whole request.
    let sent = stream.write_all(request);
    let mut bytes = Vec::new();
    let received = (&mut stream).take(MAX_BYTES).read_to_end(&mut bytes);
    if bytes.is_empty() {
        sent?;
        received?;
        bail!("the server closed the connection");
    }
    Response::parse(&bytes)
}

impl Response {
    fn parse(bytes: &[u8]) -> anyhow::Result<Response> {
        let end =
            bytes.windows(4).position(|end| end == b"\r\n\r\n").context("the head does not end with an empty line")?;
        let (head, body) = bytes.split_at(end);
        let head = String::from_utf8_lossy(head).into_owned();
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .context("the first line has no status code")?;
        let body = body.get(4..).unwrap_or_default();
        // An interim response such as 103 comes before the final one.
        if (100..200).contains(&status) && !body.is_empty() {
            return Response::parse(body);
        }
        let is_chunked = head.to_ascii_lowercase().contains("\r\ntransfer-encoding: chunked");
        let body = if is_chunked { unchunked(body)? } else { body.to_vec() };
        Ok(Response { status, head, body })
    }

    /// Prints the head to standard error, and the body to standard output.
    pub fn print(&self) -> anyhow::Result<()> {
        print_error(&printable::lines(&self.head.replace("\r\n", "\n")));
        // The bytes as they are, for a file or another program. A closed pipe is no error of the command.
        let _ = std::io::stdout().write_all(&self.body);
        Ok(())
    }
}

fn unchunked(mut rest: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|end| end == b"\r\n").context("the body ends before its last chunk")?;
        let (line, after) = rest.split_at(end);
        let size = String::from_utf8_lossy(line);
        let size = usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16)?;
        let after = after.get(2..).unwrap_or_default();
        if size == 0 {
            return Ok(body);
        }
        ensure!(after.len() >= size, "the body ends within a chunk");
        let (chunk, after) = after.split_at(size);
        body.extend_from_slice(chunk);
        rest = after.strip_prefix(b"\r\n").context("a chunk does not end with CR LF")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_with_its_status_and_body() {
        let response = Response::parse(
            b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
        )
        .expect("a response");
        assert_eq!((response.status, &response.body[..]), (500, &b"abc"[..]));
        assert!(Response::parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n").is_err());
        assert!(Response::parse(b"nonsense").is_err());
    }

    #[test]
    fn the_address_comes_from_the_url() {
        assert_eq!(address("http://localhost:81/a").expect("valid"), "localhost:81");
        assert_eq!(address("http://[::1]").expect("valid"), "[::1]:80");
        assert!(address("https://localhost/").is_err());
    }
}

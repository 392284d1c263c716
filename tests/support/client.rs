//! A test client that exposes the exact bytes of a response: HTTP/1.1 over TCP or a unix socket.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, socket};

use super::wait::{let_pass, patience};

/// The address of a server under test.
#[derive(Debug, Clone)]
pub enum Address {
    /// A port of 127.0.0.1.
    Tcp(u16),
    /// The path of a unix socket.
    Unix(PathBuf),
}

/// A request to send. `Host: localhost` is added unless a `Host` is set.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

/// A response with its whole body.
#[derive(Clone)]
pub struct Response {
    /// The status code, such as `200`.
    pub status: u16,
    /// Header names and values in the order received.
    pub headers: Vec<(String, String)>,
    /// The body after removal of chunked framing.
    pub body: Vec<u8>,
}

/// A persistent connection to the server.
pub struct Connection {
    stream: BufReader<Stream>,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Request {
    pub fn new(method: &str, target: &str) -> Request {
        Request { method: method.into(), target: target.into(), headers: Vec::new(), body: None }
    }

    pub fn get(target: &str) -> Request {
        Request::new("GET", target)
    }

    /// A POST request with a form as its body.
    pub fn post(target: &str, form: &str) -> Request {
        Request::new("POST", target).header("Content-Type", "application/x-www-form-urlencoded").body(form)
    }

    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body, with its `Content-Length`.
    pub fn body(mut self, body: impl AsRef<[u8]>) -> Request {
        self.body = Some(body.as_ref().to_vec());
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text += "Host: localhost\r\n";
        }
        for (name, value) in &self.headers {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(body) = &self.body {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut bytes = (text + "\r\n").into_bytes();
        bytes.extend_from_slice(self.body.as_deref().unwrap_or_default());
        bytes
    }
}

impl std::fmt::Debug for Response {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.status)?;
        self.headers.iter().try_for_each(|(name, value)| writeln!(f, "{name}: {value}"))?;
        write!(f, "\n{}", self.text().chars().take(400).collect::<String>())
    }
}

impl Response {
    /// The header's value. Repeated headers are joined by `, `.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> =
            self.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str()).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Fails the test unless the response has `status`. Returns the response for further checks.
    #[track_caller]
    pub fn is(self, status: u16) -> Response {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

/// Time that a stop waits for the request of an accepted connection (crates/front/src/client/last_call.rs).
pub const LAST_CALL: Duration = Duration::from_secs(1);

impl Connection {
    /// Connects to `address`.
    pub fn open(address: &Address) -> io::Result<Connection> {
        Connection::over(match address {
            Address::Tcp(port) => Stream::Tcp(TcpStream::connect(("127.0.0.1", *port))?),
            Address::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
        })
    }

    /// Connects over TCP from the address `client`. Linux lets a process bind any address of 127.0.0.0/8.
    pub fn open_as(client: Ipv4Addr, port: u16) -> io::Result<Connection> {
        let tcp = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
        bind(tcp.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(client, 0)))?;
        connect(tcp.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)))?;
        Connection::over(Stream::Tcp(TcpStream::from(tcp)))
    }

    fn over(stream: Stream) -> io::Result<Connection> {
        match &stream {
            Stream::Tcp(tcp) => {
                tcp.set_read_timeout(Some(patience()))?;
                tcp.set_nodelay(true)?;
            }
            Stream::Unix(unix) => unix.set_read_timeout(Some(patience()))?,
        }
        Ok(Connection { stream: BufReader::new(stream) })
    }

    /// Sends a request and reads the response.
    #[track_caller]
    pub fn ask(&mut self, request: Request) -> Response {
        self.try_ask(&request).unwrap_or_else(|error| panic!("{} {}: {error}", request.method, request.target))
    }

    /// Sends a request and reads the response, for tests in which the connection may fail.
    pub fn try_ask(&mut self, request: &Request) -> io::Result<Response> {
        self.try_send(request)?;
        self.try_response(request.method == "HEAD")
    }

    /// Sends a request. A server that rejects a body early may close before the whole body is sent, which is no error:
    /// the response is still readable.
    pub fn try_send(&mut self, request: &Request) -> io::Result<()> {
        match self.stream.get_mut().write_all(&request.bytes()) {
            Err(error) if !is_hang_up(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends bytes unchanged.
    #[track_caller]
    pub fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.get_mut().write_all(bytes.as_ref()).expect("the server reads");
    }

    /// Sends bytes. A connection that the server has already closed is no failure.
    pub fn send_if_heard(&mut self, bytes: &[u8]) {
        match self.stream.get_mut().write_all(bytes) {
            Err(error) if !is_hang_up(&error) => panic!("the server does not read: {error}"),
            _ => {}
        }
    }

    /// Sends bytes unchanged, for tests in which the server may have closed the connection.
    pub fn try_raw(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes.as_ref())
    }

    /// Reads a response with its body.
    #[track_caller]
    pub fn response(&mut self) -> Response {
        self.try_response(false).expect("the server answers")
    }

    /// Reads status line and headers only.
    #[track_caller]
    pub fn head(&mut self) -> Response {
        self.try_head().expect("the server answers")
    }

    /// Fails the test unless the next bytes received equal `bytes`.
    #[track_caller]
    pub fn expect(&mut self, bytes: &str) {
        let mut came = vec![0; bytes.len()];
        self.stream.read_exact(&mut came).expect("the server goes on");
        assert_eq!(String::from_utf8_lossy(&came), bytes);
    }

    /// Reads exactly `count` bytes.
    #[track_caller]
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut came = vec![0; count];
        self.stream.read_exact(&mut came).expect("the server goes on");
        came
    }

    /// Reads one chunk of a chunked body. The last chunk is empty.
    #[track_caller]
    pub fn chunk(&mut self) -> Vec<u8> {
        self.try_chunk().expect("the server goes on")
    }

    /// Reads the rest of the connection with a `pause` before each of the first `pieces` reads. Returns the number of
    /// bytes.
    #[track_caller]
    pub fn slowly(&mut self, pieces: u32, pause: Duration) -> usize {
        let begun = Instant::now();
        let mut piece = 0;
        self.slowly_watching(pieces, || {
            piece += 1;
            let_pass((pause * piece).saturating_sub(begun.elapsed()));
        })
    }

    /// Reads the rest of the connection and calls `meanwhile` before each of the first `pieces` reads. Returns the
    /// number of bytes.
    #[track_caller]
    pub fn slowly_watching(&mut self, pieces: u32, mut meanwhile: impl FnMut()) -> usize {
        let mut whole = 0;
        let mut piece = vec![0; 1 << 22];
        for n in 0.. {
            if n < pieces {
                meanwhile();
            }
            match self.stream.read(&mut piece).expect("the server goes on") {
                0 => break,
                read => whole += read,
            }
        }
        whole
    }

    /// All bytes up to the end of the connection. `None` when the read timeout expires first.
    pub fn try_rest(&mut self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Err(error) if !is_hang_up(&error) => None,
            _ => Some(bytes),
        }
    }

    /// All bytes up to the end of the connection. Fails the test when the read timeout expires first.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Err(error) if !is_hang_up(&error) => panic!("the server neither answers nor closes: {error}"),
            _ => bytes,
        }
    }

    /// All bytes up to the end of the connection, and whether the connection ended with an error such as a reset.
    pub fn ending(&mut self) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        match self.stream.read_to_end(&mut bytes) {
            Err(error) if !is_hang_up(&error) => panic!("the server neither answers nor closes: {error}"),
            end => (bytes, end.is_err()),
        }
    }

    /// Fails the test unless the server closes the connection without sending another byte.
    #[track_caller]
    pub fn is_closed(&mut self) {
        let rest = self.rest();
        assert!(rest.is_empty(), "instead of a close came {:?}", String::from_utf8_lossy(&rest));
    }

    /// Shuts down the sending side of the connection.
    pub fn finish_sending(&mut self) {
        let shut = match self.stream.get_ref() {
            Stream::Tcp(tcp) => tcp.shutdown(std::net::Shutdown::Write),
            Stream::Unix(unix) => unix.shutdown(std::net::Shutdown::Write),
        };
        shut.expect("the connection is open");
    }

    /// Sets the read timeout of the connection.
    pub fn patience(&mut self, limit: Duration) {
        let set = match self.stream.get_ref() {
            Stream::Tcp(tcp) => tcp.set_read_timeout(Some(limit)),
            Stream::Unix(unix) => unix.set_read_timeout(Some(limit)),
        };
        set.expect("a time limit can be set");
    }

    pub fn try_response(&mut self, to_head: bool) -> io::Result<Response> {
        let mut response = self.try_head()?;
        while response.status < 200 {
            response = self.try_head()?;
        }
        let bodiless = to_head || matches!(response.status, 204 | 304);
        response.body = if bodiless { Vec::new() } else { self.body(&response)? };
        Ok(response)
    }

    fn try_head(&mut self) -> io::Result<Response> {
        let line = self.line()?;
        let mut words = line.splitn(3, ' ');
        let (version, status) = (words.next(), words.next());
        let status = status.and_then(|status| status.parse().ok());
        let (Some("HTTP/1.1" | "HTTP/1.0"), Some(status)) = (version, status) else {
            return Err(invalid(format!("not a status line: {line:?}")));
        };
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| invalid(format!("not a header: {line:?}")))?;
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
        Ok(Response { status, headers, body: Vec::new() })
    }

    fn body(&mut self, head: &Response) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if head.header("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            loop {
                let chunk = self.try_chunk()?;
                if chunk.is_empty() {
                    return Ok(body);
                }
                body.extend(chunk);
            }
        }
        let Some(length) = head.header("content-length") else {
            self.stream.read_to_end(&mut body)?;
            return Ok(body);
        };
        let length = length.parse().map_err(|_| invalid(format!("Content-Length: {length}")))?;
        body.resize(length, 0);
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    fn try_chunk(&mut self) -> io::Result<Vec<u8>> {
        let size = self.line()?;
        let length = usize::from_str_radix(&size, 16).map_err(|_| invalid(format!("not a chunk's size: {size:?}")))?;
        let mut chunk = vec![0; length];
        self.stream.read_exact(&mut chunk)?;
        let end = self.line()?;
        if end.is_empty() { Ok(chunk) } else { Err(invalid(format!("after a chunk came {end:?}"))) }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        self.stream.read_until(b'\n', &mut line)?;
        match line.strip_suffix(b"\r\n") {
            Some(line) => Ok(String::from_utf8_lossy(line).into_owned()),
            None if line.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            None => Err(invalid(format!("a line without its end: {:?}", String::from_utf8_lossy(&line)))),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (read, limit) = match self {
            Stream::Tcp(tcp) => (tcp.read(buffer), tcp.read_timeout()),
            Stream::Unix(unix) => (unix.read(buffer), unix.read_timeout()),
        };
        match read {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let limit = limit?.unwrap_or_default();
                let what = format!("waited {limit:?} in vain until the server sends something or closes");
                Err(io::Error::new(ErrorKind::TimedOut, what))
            }
            read => read,
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(tcp) => tcp.write(bytes),
            Stream::Unix(unix) => unix.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn invalid(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

fn is_hang_up(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

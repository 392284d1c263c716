//! Generated requests with ambiguous framing, through the proxy to nginx and to Cameleer: both servers must see the
//! same requests. `CAMELEER_SMUGGLING=100000 cargo test --locked --test cameleer -- proxy::smuggling` sends more of
//! them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Server, Site, free_port, until};

/// Threads that send requests.
const CLIENTS: u64 = 4;
/// Requests of an ordinary run, for each backend.
const USUAL: u64 = 400;

/// A generator of numbers (xorshift), the same at each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most as u64) as usize
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// A request whose end two servers may see in different places, perhaps one in its body, and one after it.
fn stream(number: u64) -> Vec<u8> {
    let mut numbers = Numbers(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    (0..8).for_each(|_| {
        numbers.below(2);
    });
    let smuggled = format!("GET /{number}/smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    let chunked = format!("{}\r\n{smuggled}\r\n0\r\n\r\n", format_args!("{:x}", smuggled.len()));
    let odd_chunks = [
        "0\r\n\r\n",
        "0;a=b\r\n\r\n",
        "00\r\n\r\n",
        "0\n\n",
        "+0\r\n\r\n",
        "0x0\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n",
        "5\nhello\n0\n\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "ffffffffffffffff1\r\nhello",
        "3\r\nhello\r\n0\r\n\r\n",
        "0\r\nContent-Length: 5\r\n\r\n",
        "0\r\nX: y\r\n\r\n",
    ];
    let body = match numbers.below(4) {
        0 => smuggled,
        1 => chunked,
        2 => format!("{}{smuggled}", numbers.one_of(&odd_chunks)),
        _ => String::new(),
    };
    let length = match numbers.below(6) {
        0 => "0".to_owned(),
        1 => format!("+{}", body.len()),
        2 => format!("{}, {0}", body.len()),
        3 => format!("0x{:x}", body.len()),
        4 => (body.len() / 2).to_string(),
        _ => body.len().to_string(),
    };
    let encoding = numbers.one_of(&[
        "chunked",
        " chunked",
        "Chunked",
        "chunked, chunked",
        "gzip, chunked",
        "chunked, identity",
        "identity",
        "xchunked",
        "\"chunked\"",
        "chunked;a",
        ",chunked",
        "chunked\t",
        "\x0bchunked",
        "",
    ]);
    let (colon, end) =
        (numbers.one_of(&[":", ": ", " : ", ":\t", ":\r\n "]), numbers.one_of(&["\r\n", "\r\n", "\r\n", "\n"]));
    let fields = [
        format!("Content-Length{colon}{length}"),
        format!("Transfer-Encoding{colon}{encoding}"),
        "Transfer_Encoding: chunked".to_owned(),
        format!(
            "Connection{colon}{}",
            numbers.one_of(&["Content-Length", "Transfer-Encoding", "Host", "keep-alive", "close"])
        ),
        format!("X{colon}a{}Transfer-Encoding: chunked", numbers.one_of(&["\r", "\n", "\0", " "])),
        " folded: Content-Length: 1".to_owned(),
        format!("Expect: {}", numbers.one_of(&["100-continue", "x"])),
        format!("Upgrade: {}", numbers.one_of(&["websocket", "h2c"])),
    ];
    let method = numbers.one_of(&["GET", "POST", "PUT", "HEAD", "DELETE", "OPTIONS"]);
    let version = numbers.one_of(&["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "http/1.1"]);
    let mut text = format!("{method} /{number}/first {version}{end}Host: x{end}");
    for _ in 0..numbers.below(4) {
        let _ = write!(text, "{}{end}", fields[numbers.below(fields.len())]);
    }
    let _ = write!(text, "{end}{body}GET /{number}/after HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    text.into_bytes()
}

/// Sends all streams, each on a connection of its own.
fn send_all(server: &Server, count: u64) {
    let port = server.site.port;
    std::thread::scope(|scope| {
        for first in 0..CLIENTS {
            scope.spawn(move || {
                for number in (first..count).step_by(CLIENTS as usize) {
                    let mut client = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
                    // A server that refuses the beginning may close before the end was sent.
                    let _ = client.write_all(&stream(number));
                    let _ = client.shutdown(Shutdown::Write);
                    let _ = client.read_to_end(&mut Vec::new());
                }
            });
        }
    });
}

/// How often each target is in a log of request lines; the rest of a line follows a blank.
fn targets(log: &str) -> BTreeMap<&str, usize> {
    let mut all = BTreeMap::new();
    for target in log.lines().filter_map(|line| line.split(' ').nth(1)) {
        *all.entry(target).or_default() += 1;
    }
    all
}

/// Sends the streams through a proxy to `backend`, whose log of requests `log` reads.
fn compare(backend: &str, log: impl Fn() -> String) {
    let count = std::env::var("CAMELEER_SMUGGLING").ok().and_then(|count| count.parse().ok()).unwrap_or(USUAL);
    let server = Site::new()
        .serve(&format!("CustomLog access.log \"%r %{{X-Backend}}o\"\nProxyPass / {backend} upgrade=websocket\n"));
    send_all(&server, count);
    let last = server.get("/last");
    assert_eq!(last.header("X-Backend").as_deref(), Some("1"));
    until("both have logged the last request", || {
        server.site.read("access.log").contains("/last") && log().contains("/last")
    });
    let (here, there) = (server.site.read("access.log"), log());
    let known = targets(&here);
    for (target, times) in targets(&there) {
        assert!(known.contains_key(target), "only the backend knows {target}");
        // A request without body may be sent again over a new connection.
        assert!(times <= 2, "{target}: {times}");
    }
    let (passed, seen) = (here.lines().filter(|line| line.ends_with(" 1")), targets(&there));
    let mut answered = 0;
    for target in passed.filter_map(|line| line.split(' ').nth(1)) {
        assert!(seen.contains_key(target), "the backend does not know {target}");
        answered += 1;
    }
    assert!(answered > count / 20, "only {answered} of {count} streams had an answer of the backend");
}

#[test]
fn cameleer_behind_the_proxy_sees_the_same_requests() {
    let backend = Site::new().serve("CustomLog requests.log \"%r\"\nHeader always set X-Backend 1\n");
    compare(&format!("http://127.0.0.1:{}/", backend.site.port), || backend.site.read("requests.log"));
}

/// An nginx that ends with this value.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nginx_behind_the_proxy_sees_the_same_requests() {
    if !std::path::Path::new("/usr/sbin/nginx").exists() {
        return eprintln!("no nginx is installed: nothing is compared");
    }
    let site = Site::new();
    let port = free_port();
    let conf = format!(
        "daemon off; master_process off; pid nginx.pid; error_log nginx.log; events {{}}\nhttp {{ log_format line '$request'; \
         access_log requests.log line; client_body_temp_path body; client_max_body_size 0; server {{ listen 127.0.0.1:{}; \
         location / {{ add_header X-Backend 1 always; return 200 ok; }} }} }}\n",
        port
    );
    site.write("nginx.conf", &conf);
    let folder = site.folder().display().to_string();
    let command = Command::new("/usr/sbin/nginx")
        .args(["-p", &folder, "-c", "nginx.conf", "-e", "nginx.log"])
        .stderr(Stdio::null())
        .spawn();
    let _nginx = Nginx(command.expect("it is installed"));
    until("nginx listens", || {
        TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), Duration::from_secs(1)).is_ok()
    });
    compare(&format!("http://127.0.0.1:{}/", port), || site.read("requests.log"));
}

//! A backend whose responses the test writes byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

/// An HTTP/1 server on 127.0.0.1. It ends with the test's process; its threads wait for requests meanwhile.
pub struct Backend {
    /// The port on which it listens.
    pub port: u16,
    received: Arc<Mutex<Vec<Received>>>,
    connections: Arc<AtomicUsize>,
}

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// The number of the connection, counted from 0.
    pub connection: usize,
    /// The request line and the header fields, a line each.
    pub head: Vec<String>,
    /// The body without its framing.
    pub body: Vec<u8>,
}

impl Received {
    /// The request line.
    pub fn line(&self) -> &str {
        &self.head[0]
    }

    /// The values of a header field, in any case.
    pub fn all(&self, name: &str) -> Vec<&str> {
        let fields = self.head[1..].iter().filter_map(|line| line.split_once(':'));
        fields.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).collect()
    }

    /// The only value of a header field; empty without the field.
    #[track_caller]
    pub fn field(&self, name: &str) -> &str {
        let all = self.all(name);
        assert!(all.len() < 2, "{name}: {all:?}");
        all.first().copied().unwrap_or_default()
    }
}

impl Backend {
    /// Answers each request with the bytes that `answer` returns; an empty answer closes the connection.
    pub fn new(answer: impl Fn(&Received) -> Vec<u8> + Send + Sync + 'static) -> Backend {
        Backend::with(move |stream, request| {
            let bytes = answer(request);
            !bytes.is_empty() && stream.write_all(&bytes).is_ok()
        })
    }

    /// Passes each request and its connection to `serve`, which returns whether the connection continues.
    pub fn with(serve: impl Fn(&mut TcpStream, &Received) -> bool + Send + Sync + 'static) -> Backend {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("our own socket").port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let (log, serve, accepted) = (received.clone(), Arc::new(serve), connections.clone());
        spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = accepted.fetch_add(1, Ordering::Relaxed);
                let (log, serve) = (log.clone(), serve.clone());
                spawn(move || talk(stream, connection, &log, &*serve));
            }
        });
        Backend { port, received, connections }
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// The requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().expect("no thread panics with the lock").clone()
    }

    /// The only request so far.
    #[track_caller]
    pub fn only(&self) -> Received {
        let all = self.received();
        assert_eq!(all.len(), 1, "{all:?}");
        all[0].clone()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn talk(
    stream: TcpStream,
    connection: usize,
    log: &Mutex<Vec<Received>>,
    serve: &dyn Fn(&mut TcpStream, &Received) -> bool,
) {
    let mut reader = BufReader::new(stream.try_clone().expect("a descriptor"));
    let mut stream = stream;
    while let Some(request) = read(&mut reader, connection) {
        log.lock().expect("no thread panics with the lock").push(request.clone());
        if !serve(&mut stream, &request) {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>, connection: usize) -> Option<Received> {
    let mut request = Received { connection, ..Received::default() };
    loop {
        let line = line(reader)?;
        if line.is_empty() {
            break;
        }
        request.head.push(line);
    }
    let length = request.field("Content-Length").parse::<u64>().ok();
    if request.field("Transfer-Encoding") == "chunked" {
        loop {
            let length = u64::from_str_radix(&line(reader)?, 16).ok()?;
            reader.take(length).read_to_end(&mut request.body).ok()?;
            line(reader)?;
            if length == 0 {
                break;
            }
        }
    } else if let Some(length) = length {
        reader.take(length).read_to_end(&mut request.body).ok()?;
    }
    Some(request)
}

fn line(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let read = reader.read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}

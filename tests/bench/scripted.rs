//! A server that runs a test's function for each request, and counts.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A scripted server. Its threads end with the test process.
pub struct Scripted {
    /// URL of the server.
    pub url: String,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    connections: AtomicU64,
    requests: AtomicU64,
    texts: Mutex<Vec<String>>,
}

/// A function that responds to a request, whose number counts from 1. Returns whether the connection stays open.
type Script = dyn Fn(&mut TcpStream, u64) -> bool + Send + Sync;

impl Scripted {
    /// Starts a server that calls `script` for each request.
    pub fn start(script: impl Fn(&mut TcpStream, u64) -> bool + Send + Sync + 'static) -> Scripted {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let url = format!("http://{}/", listener.local_addr().expect("bound"));
        let (counts, script): (Arc<Counts>, Arc<Script>) = (Arc::default(), Arc::new(script));
        let server = Scripted { url, counts: counts.clone() };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counts.connections.fetch_add(1, Ordering::Relaxed);
                let (counts, script) = (counts.clone(), script.clone());
                thread::spawn(move || serve(stream, &counts, &*script));
            }
        });
        server
    }

    /// Starts a server that sends `answer` to each request and keeps the connection open.
    pub fn saying(answer: &'static str) -> Scripted {
        Scripted::start(move |stream, _| stream.write_all(answer.as_bytes()).is_ok())
    }

    /// Number of accepted connections.
    pub fn connections(&self) -> u64 {
        self.counts.connections.load(Ordering::Relaxed)
    }

    /// Number of received requests.
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::Relaxed)
    }

    /// The requests as received, without carriage returns.
    pub fn texts(&self) -> Vec<String> {
        self.counts.texts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: TcpStream, counts: &Counts, script: &Script) {
    let mut out = stream.try_clone().expect("a descriptor");
    let mut reader = BufReader::new(stream);
    while let Some(text) = request(&mut reader) {
        let number = counts.requests.fetch_add(1, Ordering::Relaxed) + 1;
        counts.texts.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        if !script(&mut out, number) {
            return;
        }
    }
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let (mut text, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        text += &format!("{line}\n");
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().ok()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(text + &String::from_utf8_lossy(&body))
}

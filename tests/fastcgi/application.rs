//! A FastCGI application whose every byte the test decides.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::spawn;

/// The application, on 127.0.0.1. It ends with the test's process.
pub struct Application {
    /// The port on which it listens.
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Application {
    /// Answers each request with the bytes that `answer` makes of its records, and leaves the connection open if the
    /// request wants that. `answer` gets all bytes of the request.
    pub fn new(answer: impl Fn(&[u8]) -> Vec<u8> + Send + Sync + 'static) -> Application {
        Application::with(move |stream| {
            while let Some((request, keep)) = read(stream) {
                if stream.write_all(&answer(&request)).is_err() || !keep {
                    return;
                }
            }
        })
    }

    /// Gives each connection to `serve`.
    pub fn with(serve: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Application {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("our own socket").port();
        let (serve, connections) = (Arc::new(serve), Arc::new(AtomicUsize::new(0)));
        let count = connections.clone();
        spawn(move || {
            for mut stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::Relaxed);
                let serve = serve.clone();
                spawn(move || serve(&mut stream));
            }
        });
        Application { port, connections }
    }

    pub fn url(&self, path: &str) -> String {
        format!("fcgi://127.0.0.1:{}{path}", self.port)
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

/// Reads the records of a request up to the end of its body; whether the connection stays open.
pub fn read(stream: &mut TcpStream) -> Option<(Vec<u8>, bool)> {
    let (mut all, mut keep) = (Vec::new(), false);
    loop {
        let mut header = [0; 8];
        stream.read_exact(&mut header).ok()?;
        let length = usize::from(u16::from_be_bytes([header[4], header[5]])) + usize::from(header[6]);
        let mut content = vec![0; length];
        stream.read_exact(&mut content).ok()?;
        keep |= header[1] == 1 && content[2] == 1;
        all.extend_from_slice(&header);
        all.extend_from_slice(&content);
        if header[1] == 5 && length == 0 {
            return Some((all, keep));
        }
    }
}

/// A record of request 1.
pub fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    record_of(kind, 1, content, 0)
}

pub fn record_of(kind: u8, id: u16, content: &[u8], padding: u8) -> Vec<u8> {
    let mut record = vec![1, kind];
    record.extend(id.to_be_bytes());
    record.extend((content.len() as u16).to_be_bytes());
    record.extend([padding, 0]);
    record.extend(content);
    record.extend(vec![b'P'; usize::from(padding)]);
    record
}

/// A complete response with this output.
pub fn output(text: &[u8]) -> Vec<u8> {
    let pieces = text.chunks(60000).flat_map(|piece| record(6, piece));
    pieces.chain(record(6, b"")).chain(end()).collect()
}

/// The record that ends a request.
pub fn end() -> Vec<u8> {
    record(3, &[0; 8])
}

//! Several servers with a store that they share: a real Redis, slow and broken ones.

/// `CacheStore`.
mod cache;
/// The cost of a limit that servers share.
mod cost;
/// `LimitStore` and `SpeedLimit`.
mod limits;
/// A store that is away, slow or wrong.
mod troubles;
/// `LimitStore` and `MaxConcurrentReqs`.
mod turns;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::thread::spawn;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Server, let_pass, until};

/// A part of the status of the store of `directive`.
fn state(server: &Server, directive: &str, name: &str) -> Value {
    let status = server.status();
    let stores = status["front"]["stores"].as_array().cloned().unwrap_or_default();
    stores.iter().find(|store| store["directive"] == directive).map(|store| store[name].clone()).unwrap_or_default()
}

/// Waits until the servers use the store of `directive`.
#[track_caller]
fn until_connected(servers: &[&Server], directive: &str) {
    for server in servers {
        until("the server uses the store", || state(server, directive, "connected") == true);
    }
}

/// A way to a store that can be made slow, and that can replace its answers.
struct Toxic {
    port: u16,
    /// Delay of each answer in milliseconds.
    delay: Arc<AtomicU64>,
    /// Whether answers are replaced by nonsense.
    garbles: Arc<AtomicBool>,
}

impl Toxic {
    #[track_caller]
    fn before(store: u16) -> Toxic {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let toxic = Toxic { port, delay: Arc::default(), garbles: Arc::default() };
        let (delay, garbles) = (toxic.delay.clone(), toxic.garbles.clone());
        spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", store)) else { continue };
                let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { continue };
                spawn(move || copy(from, to, |_| {}));
                let (delay, garbles) = (delay.clone(), garbles.clone());
                spawn(move || {
                    copy(server, client, |bytes| {
                        let time = delay.load(SeqCst);
                        if time > 0 {
                            let_pass(Duration::from_millis(time));
                        }
                        if garbles.load(SeqCst) {
                            *bytes = b"!what?\r\n".to_vec();
                        }
                    });
                });
            }
        });
        toxic
    }
}

/// Copies bytes until one end closes.
fn copy(mut from: TcpStream, mut to: TcpStream, change: impl Fn(&mut Vec<u8>)) {
    let mut buffer = [0; 65_536];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let mut bytes = buffer[..length].to_vec();
        change(&mut bytes);
        if to.write_all(&bytes).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

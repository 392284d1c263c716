//! A worker without Perl: a thread whose action depends on the request's path.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use nix::sys::socket::{Shutdown, shutdown};
use wire::channel::send_packet;
use wire::frame::{Field, Frame};
use wire::memory::blocks;
use wire::reply::{Head, LeaveReason, Outgoing, Reply, RequestEnd};
use wire::transport::{Inbound, WorkerPort, packet_buffer};

/// Shared state of all workers of a test.
#[derive(Clone, Default)]
pub struct Script {
    /// Requests for `/wait` are answered when the test opens this gate.
    gate: Arc<Mutex<Option<Receiver<()>>>>,
    /// Number of requests that any worker has begun.
    pub begun: Arc<AtomicUsize>,
    /// The response to `/who`.
    pub name: &'static str,
}

impl Script {
    /// A script whose workers answer `/who` with `name`.
    pub fn named(name: &'static str) -> Script {
        Script { name, ..Script::default() }
    }

    fn wait(&self) {
        let gate = self.gate.lock().expect("the gate");
        let _ = gate.as_ref().expect("a gate").recv();
    }

    /// A script with a gate, and the sender that opens the gate once per message.
    pub fn gated() -> (Script, Sender<()>) {
        let (open, gate) = channel();
        (Script { gate: Arc::new(Mutex::new(Some(gate))), ..Script::default() }, open)
    }
}

/// Default of `WireMemory`.
pub const BLOCKS: usize = blocks::MAX_BLOCKS;

/// Pieces of `/large`, of 32 KiB each.
pub const LARGE: usize = 64;

/// Answers requests until it is asked to leave, or misbehaves as the path demands.
pub fn run(mut port: WorkerPort, script: &Script) {
    port.send_reply(&Reply::Ready { fork_us: 7 }).expect("said");
    while let Ok(Some(inbound)) = port.next(Vec::new()) {
        match inbound {
            Inbound::Request(frame, _) => {
                script.begun.fetch_add(1, Ordering::SeqCst);
                if !answer(&mut port, &frame, script) {
                    return;
                }
            }
            Inbound::Logs { .. } | Inbound::Abandoned(_) | Inbound::HungUp(_) | Inbound::Bell => {}
            Inbound::Greet => port.send_reply(&Reply::Greeted { fork_us: 7 }).expect("said"),
            Inbound::Bells(bells) => port.take_bells(bells).expect("bells"),
            Inbound::Inspect { .. } | Inbound::Stream(_) | Inbound::Broadcast(_) | Inbound::CloseWebSockets => {}
            Inbound::Leave | Inbound::Promote(_) => return,
        }
    }
}

/// The port through which a worker of these tests talks to the front.
pub fn port(socket: OwnedFd, memory: &OwnedFd) -> WorkerPort {
    WorkerPort::new(socket, packet_buffer(), sys::map_memory(memory).expect("mapped"), BLOCKS)
}

/// Sends these messages immediately.
pub fn say(port: &mut WorkerPort, id: u64, replies: &[Reply<'_>]) {
    let mut packet = Vec::new();
    replies.iter().for_each(|reply| reply.put(id, &mut packet));
    say_raw(port, &packet);
}

fn say_raw(port: &mut WorkerPort, packet: &[u8]) {
    // The front may have given up on this worker.
    let _ = port.send(&Outgoing { before: packet, ..Outgoing::default() });
}

/// A response head.
pub fn head(status: u16, headers: &[(&str, &str)]) -> Reply<'static> {
    let headers =
        headers.iter().map(|(name, value)| (name.as_bytes().to_vec().into(), value.as_bytes().to_vec().into()));
    Reply::Head(Head { status, headers: headers.collect(), ..Head::default() })
}

fn end() -> Reply<'static> {
    Reply::End(RequestEnd { cpu_us: 42, ..RequestEnd::default() })
}

fn whole(port: &mut WorkerPort, id: u64, body: &[u8]) -> bool {
    say(port, id, &[head(200, &[("Content-Type", "text/plain")]), Reply::Body(body), end()]);
    true
}

/// Returns whether the worker continues.
fn answer(port: &mut WorkerPort, frame: &Frame, script: &Script) -> bool {
    let id = frame.id();
    let path = String::from_utf8_lossy(frame.field(Field::Path)).into_owned();
    match path.trim_start_matches("/app") {
        "/who" => whole(port, id, script.name.as_bytes()),
        "/wait" => {
            script.wait();
            whole(port, id, b"waited")
        }
        "/late" => {
            say(port, id, &[head(200, &[]), Reply::Body(b"first,")]);
            script.wait();
            say(port, id, &[Reply::Body(b"second"), end()]);
            true
        }
        "/cleans-up" => {
            say(port, id, &[head(200, &[]), Reply::Body(b"done"), Reply::Complete]);
            script.wait();
            say(port, id, &[end()]);
            true
        }
        "/dies-cleaning" => {
            say(port, id, &[head(200, &[]), Reply::Body(b"done"), Reply::Complete]);
            false
        }
        "/large" => {
            say(port, id, &[head(200, &[])]);
            for _ in 0..LARGE {
                say(port, id, &[Reply::Body(&[b'x'; 32 * 1024])]);
            }
            say(port, id, &[end()]);
            true
        }
        "/long" => {
            say(port, id, &[head(200, &[("Content-Length", "10")]), Reply::Body(b"short"), end()]);
            true
        }
        "/leave" => {
            let end = RequestEnd { leaving: Some(LeaveReason::Program), ..RequestEnd::default() };
            say(port, id, &[head(200, &[]), Reply::Body(b"bye"), Reply::End(end)]);
            false
        }
        "/truncated" => {
            let end = RequestEnd { truncated: true, ..RequestEnd::default() };
            say(port, id, &[head(200, &[]), Reply::Body(b"half"), Reply::End(end)]);
            true
        }
        "/die" => false,
        "/die-late" => {
            say(port, id, &[head(200, &[]), Reply::Body(b"half")]);
            script.wait();
            false
        }
        "/bad-header" => {
            say(port, id, &[head(200, &[("X", "a\r\nSet-Cookie: stolen")]), end()]);
            true
        }
        "/two-heads" => lie(port, id, &[head(200, &[]), head(200, &[])]),
        "/body-first" => lie(port, id, &[Reply::Body(b"x"), end()]),
        "/wrong-id" => lie(port, id + 1, &[head(200, &[]), end()]),
        "/ready-again" => lie(port, 0, &[Reply::Ready { fork_us: 1 }]),
        "/after-end" => lie(port, id, &[head(200, &[]), end(), Reply::Body(b"more")]),
        "/endless-hints" => {
            let hint = || Reply::Info(Head { status: 103, ..Head::default() });
            (0..100).for_each(|_| say(port, id, &[hint()]));
            whole(port, id, b"page")
        }
        "/endless-extends" => {
            let extend: Vec<_> = (0..3000).map(|_| Reply::Extend(0)).collect();
            (0..400).for_each(|_| say(port, id, &extend));
            false
        }
        "/falls-silent" => {
            shutdown(port.as_fd().as_raw_fd(), Shutdown::Write).expect("shut");
            script.wait();
            false
        }
        "/descriptors" => {
            let mine = std::fs::File::open("/dev/null").expect("opened");
            let packet = [IoSlice::new(b"here you are")];
            send_packet(port.as_fd(), &packet, &[mine.as_raw_fd()]).expect("sent");
            true
        }
        "/our-descriptors" => {
            let path = format!("/proc/self/fd/{}", String::from_utf8_lossy(frame.field(Field::Query)));
            say(port, id, &[Reply::File(path.as_bytes()), end()]);
            true
        }
        "/garbage" => {
            say_raw(port, b"\xff\xff\xff garbage");
            true
        }
        _ => whole(port, id, b"hello"),
    }
}

fn lie(port: &mut WorkerPort, id: u64, replies: &[Reply<'_>]) -> bool {
    say(port, id, replies);
    true
}

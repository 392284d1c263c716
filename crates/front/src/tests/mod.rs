//! The front as its neighbours see it: these tests are the master and the workers, and clients on real sockets. What a
//! client can see of a well-behaved server is in the tests of the program.

mod adopted;
mod client;
mod dispatch;
mod faults;
mod reload;
mod worker;

use std::fs::File;
use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use nix::sys::socket::{setsockopt, sockopt::ReceiveTimeout};
use nix::sys::time::TimeVal;
use wire::channel::{Channel, pair};
use wire::control::{FromFront, FrontStatus, GenerationNumber, Listener, PoolId, Slot, ToFront, WorkerId};
use wire::transport::in_memory;

use config::{Bundle, Facts, parse};

use client::Client;
use worker::Script;

/// Timeout of all waits in tests; a correct front answers immediately.
const PATIENCE: TimeVal = TimeVal::new(10, 0);

/// A front in a thread, and the test in the master's place.
struct Server {
    control: Channel<ToFront, FromFront>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
    listener: TcpListener,
    unix: Option<UnixListener>,
    folder: tempfile::TempDir,
    logs: Vec<File>,
    workers: Vec<JoinHandle<()>>,
}

impl Server {
    /// Serves `text`, in which `ROOT` is a folder of the test's own.
    fn start(text: &str) -> Server {
        let (master, front) = pair().expect("a pair");
        setsockopt(&master, ReceiveTimeout, &PATIENCE).expect("a timeout");
        let mut server = Server {
            control: Channel::new(master),
            thread: Some(std::thread::spawn(|| super::run(front, std::process::id()))),
            listener: TcpListener::bind("127.0.0.1:0").expect("a port"),
            unix: None,
            folder: tempfile::tempdir().expect("a folder"),
            logs: Vec::new(),
            workers: Vec::new(),
        };
        server.configure(1, text);
        server.activate(1);
        server
    }

    /// Starts a server with `count` workers that follow `script`.
    fn with_workers(text: &str, count: u32, script: Script) -> Server {
        let mut server = Server::start(text);
        (0..count).for_each(|slot| server.worker(1, slot, script.clone()));
        server
    }

    fn configure(&mut self, generation: GenerationNumber, text: &str) {
        let root = self.root().display().to_string();
        let source = parse::ParserSource::disk("/", &|_| None);
        let tree = parse::text(&format!("Listen 1\n{}", text.replace("ROOT", &root)), "test", &source).expect("parsed");
        let bundle = Bundle { tree, facts: Facts { server_root: "/".into(), ..facts() } };
        let config = bundle.build().expect("a configuration");
        let memory = in_memory("configuration", &serde_json::to_vec(&bundle).expect("json")).expect("a memfd");
        let files = serde_json::to_vec(&tls::TlsFiles::default()).expect("JSON");
        let certificates = in_memory("certificates", &files).expect("a memfd");
        self.logs = config.logs.iter().map(|_| tempfile::tempfile().expect("a log")).collect();
        let mut listeners = vec![(self.address().to_string(), self.listener.as_raw_fd())];
        listeners.extend(self.unix.iter().map(|unix| ("unix".to_owned(), unix.as_raw_fd())));
        let names = listeners.iter().map(|(name, _)| Listener { address: name.clone() });
        let message = ToFront::Configure {
            generation,
            logs: self.logs.len(),
            listeners: names.collect(),
            software: "Cameleer".to_owned(),
        };
        let logs = self.logs.iter().map(AsRawFd::as_raw_fd);
        let listeners = listeners.iter().map(|(_, socket)| *socket);
        let fds: Vec<_> =
            [memory.as_raw_fd(), certificates.as_raw_fd()].into_iter().chain(logs).chain(listeners).collect();
        self.control.send(&message, &fds).expect("configured");
        self.wait_for_message(|message| matches!(message, FromFront::Configured { generation: g } if *g == generation));
    }

    fn activate(&self, generation: GenerationNumber) {
        self.send(ToFront::Activate { generation });
    }

    fn send(&self, message: ToFront) {
        self.control.send(&message, &[]).expect("said");
    }

    /// Waits for a message of the front that matches.
    fn wait_for_message(&self, fits: impl Fn(&FromFront) -> bool) -> FromFront {
        loop {
            let (message, _) = self.control.receive().expect("in time").expect("the front lives");
            if fits(&message) {
                return message;
            }
        }
    }

    /// Starts a worker and waits until it is ready.
    fn worker(&mut self, generation: GenerationNumber, slot: Slot, script: Script) {
        let (socket, memory) = self.socket(generation, slot);
        let control = self.control.as_fd().try_clone_to_owned().expect("a copy");
        self.workers.push(std::thread::spawn(move || {
            worker::run(worker::port(socket, &memory), &script);
            // Fails if the front has ended, which needs no message.
            let _ = Channel::<ToFront, FromFront>::new(control).send(&ToFront::Gone { slot }, &[]);
        }));
        self.wait_for_message(|message| matches!(message, FromFront::Ready { worker, .. } if worker.slot == slot));
    }

    /// The worker's end of a socket that the front takes for a worker's, and their shared memory.
    fn socket(&self, generation: GenerationNumber, slot: Slot) -> (OwnedFd, OwnedFd) {
        let (front, worker) = pair().expect("a pair");
        let memory = wire::memory::create().expect("a memfd");
        self.hand_over(generation, slot, [&front, &worker, &memory], false);
        (worker, memory)
    }

    fn hand_over(&self, generation: GenerationNumber, slot: Slot, ends: [&OwnedFd; 3], adopted: bool) {
        let fds = ends.map(AsRawFd::as_raw_fd);
        self.control
            .send(
                &ToFront::Worker {
                    worker: WorkerId { slot, serial: 1 },
                    pool: PoolId { generation, pool: 0 },
                    adopted,
                },
                &fds,
            )
            .expect("sent");
        self.send(ToFront::Forked { slot, pid: 1000 + slot as i32 });
    }

    fn status(&self) -> FrontStatus {
        self.send(ToFront::Status);
        loop {
            let FromFront::Status(status) = self.wait_for_message(|message| matches!(message, FromFront::Status(_)))
            else {
                continue;
            };
            return *status;
        }
    }

    /// Requests the status until it matches.
    fn wait_for(&self, fits: impl Fn(&FrontStatus) -> bool) -> FrontStatus {
        let start = std::time::Instant::now();
        loop {
            let status = self.status();
            if fits(&status) {
                return status;
            }
            assert!(start.elapsed().as_secs() < 10, "{status:?}");
        }
    }

    fn address(&self) -> SocketAddr {
        self.listener.local_addr().expect("an address")
    }

    fn client(&self) -> Client {
        Client::connect(self.address())
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a folder")
    }

    /// Stops the front and waits until it has answered everything.
    fn stop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        // A front that has received `Stop` before may already have ended.
        let _ = self.control.send(&ToFront::Stop, &[]);
        self.wait_for_message(|message| matches!(message, FromFront::Drained));
        thread.join().expect("no panic").expect("no error");
    }

    /// Content of the first access log after the front has stopped.
    fn log(&mut self) -> String {
        self.stop();
        let mut text = String::new();
        std::io::Seek::rewind(&mut self.logs[0]).expect("rewound");
        self.logs[0].read_to_string(&mut text).expect("read");
        text
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.stop();
        for worker in self.workers.drain(..) {
            worker.join().expect("the worker did not panic");
        }
    }
}

/// All workers of these tests are of one pool, as those of `serve -X`.
fn facts() -> Facts {
    Facts { server_root: Path::new("/").into(), single: true, ..Facts::default() }
}

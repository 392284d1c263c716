//! Redis for tests: Debian's redis-server, in the site's folder, stopped on drop.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use crate::support::{Site, free_port, signal, until};

/// A running Redis.
pub struct Redis {
    /// The port without TLS.
    pub port: u16,
    /// The port with TLS, where the site has the certificate `redis`.
    pub secure_port: u16,
    arguments: Vec<String>,
    process: Child,
}

impl Redis {
    /// Starts a store with these further arguments.
    #[track_caller]
    pub fn start(site: &Site, arguments: &[&str]) -> Redis {
        let folder = site.path("redis");
        fs::create_dir_all(&folder).expect("a folder in TMPDIR");
        let (port, secure_port, folder) = (free_port(), free_port(), folder.to_string_lossy());
        let mut all =
            format!("--bind 127.0.0.1 --port {port} --dir {folder} --unixsocket {folder}/socket --unixsocketperm 777");
        if site.has("redis.crt") {
            let tls =
                "--tls-cert-file @DIR@/redis.crt --tls-key-file @DIR@/redis.key --tls-ca-cert-file @DIR@/redis.crt";
            all += &format!(" --tls-port {secure_port} --tls-auth-clients no {}", site.filled(tls));
        }
        let mut all: Vec<String> = all.split(' ').map(str::to_owned).collect();
        all.extend(["--save", ""].map(str::to_owned));
        all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        let process = Redis::serve(&all, port);
        Redis { port, secure_port, arguments: all, process }
    }

    #[track_caller]
    fn serve(arguments: &[String], port: u16) -> Child {
        let mut command = Command::new("/usr/bin/redis-server");
        let process = command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.expect("pkg/debian-packages/test.txt");
        until("the store answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        process
    }

    /// Sends a signal to the store.
    pub fn signal(&self, which: Signal) {
        signal(self.process.id() as i32, which);
    }

    /// Ends the store at once.
    #[track_caller]
    pub fn stop(&mut self) {
        self.signal(Signal::SIGKILL);
        self.process.wait().expect("our own child");
    }

    /// Starts the store again on the same ports.
    #[track_caller]
    pub fn restart(&mut self) {
        self.process = Redis::serve(&self.arguments, self.port);
    }

    /// Publishes, and returns the number of receivers.
    #[track_caller]
    pub fn publish(&self, channel: &str, message: &[u8]) -> String {
        self.command(&[b"PUBLISH", channel.as_bytes(), message]).lines().next().unwrap_or_default().to_owned()
    }

    /// Sends a command, and returns its answer as the store writes it.
    #[track_caller]
    pub fn command(&self, words: &[&[u8]]) -> String {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).expect("the store listens");
        let mut command = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            command.extend_from_slice(&[format!("${}\r\n", word.len()).as_bytes(), word, b"\r\n"].concat());
        }
        command.extend_from_slice(b"*1\r\n$4\r\nQUIT\r\n");
        socket.write_all(&command).expect("the store reads");
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).expect("the store answers");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        answer.strip_suffix("+OK\r\n").unwrap_or(&answer).to_owned()
    }

    /// Sends a command of words without blanks.
    #[track_caller]
    pub fn ask(&self, command: &str) -> String {
        self.command(&command.split(' ').map(str::as_bytes).collect::<Vec<_>>())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.stop();
        }
    }
}

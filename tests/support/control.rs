//! The status of a running server, read from its control socket as `cameleer status --json` does. Tests poll the status
//! often. Starting the program for each poll would use more CPU time than the server.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::Value;

use super::wait::patience;
use super::{Server, until};

impl Server {
    /// The server's status; fails the test when the master does not answer.
    #[track_caller]
    pub fn status(&self) -> Value {
        let reply = self.ask_control(r#"{"command":"status"}"#).expect("the master answers on its control socket");
        reply["status"].clone()
    }

    /// The status from `cameleer status --json`, which adds the program's measurements of each worker.
    #[track_caller]
    pub fn measured_status(&self) -> Value {
        let output = self.control(["status", "--json"]).succeeded();
        serde_json::from_str(&output.out).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// The reply to one line of the control protocol, crates/master/src/sockets/control_socket.rs.
    pub fn ask_control(&self, command: &str) -> io::Result<Value> {
        let mut stream = UnixStream::connect(self.socket())?;
        stream.set_read_timeout(Some(patience()))?;
        stream.write_all(format!("{command}\n").as_bytes())?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    /// The pid of the front.
    #[track_caller]
    pub fn front(&self) -> i32 {
        let pid = self.status()["front_pid"].as_i64();
        pid.and_then(|pid| pid.try_into().ok()).expect("the front has a number")
    }

    /// The workers in the status, as pairs of pid and state.
    #[track_caller]
    pub fn workers(&self) -> Vec<(i32, String)> {
        let status = self.status();
        let workers = status["front"]["workers"].as_array().cloned().unwrap_or_default();
        let one = |w: &Value| (w["pid"].as_i64().unwrap_or(0) as i32, w["state"].as_str().unwrap_or("").to_owned());
        workers.iter().map(one).collect()
    }

    /// Waits until exactly this many workers exist and all are `Idle`.
    #[track_caller]
    pub fn until_idle(&self, count: usize) {
        until(&format!("{count} workers are idle"), || {
            let workers = self.workers();
            workers.len() == count && workers.iter().all(|(_, state)| state == "Idle")
        });
    }
}

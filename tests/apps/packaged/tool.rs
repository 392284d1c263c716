//! Standard programs of Debian, for checksums and archives.

use std::io::Write;
use std::process::{Command, Stdio};

/// The output of `program` for `input`.
#[track_caller]
pub fn output(program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut tool = Command::new(program);
    tool.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut tool = tool.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut stdin = tool.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = tool.wait_with_output().expect("it ends");
    let _ = writer.join();
    output.stdout
}

/// The SHA-256 of `bytes` in hexadecimal.
#[track_caller]
pub fn sha256(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&output("sha256sum", &[], bytes)).split(' ').next().unwrap_or_default().to_owned()
}

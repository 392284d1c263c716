//! Scripts that the store runs, each as a whole: no other command comes between their steps.

use std::fmt::Write;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value, cmd};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest as ring_digest};
use ring::rand::{SecureRandom, SystemRandom};

/// A script in Lua. The store runs it by the digest of its text, and gets the text only when it does not know it.
#[derive(Debug)]
pub struct StoreScript {
    text: &'static str,
    digest: String,
}

/// A script with its keys and arguments.
#[derive(Debug, Clone)]
pub struct StoreCall<'a> {
    /// What the store runs.
    pub script: &'a StoreScript,
    /// `KEYS` of the script.
    pub keys: Vec<Vec<u8>>,
    /// `ARGV` of the script.
    pub arguments: Vec<Vec<u8>>,
}

/// The answer of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreReply {
    /// A number of Lua, without its fraction.
    Number(i64),
    /// A string or a status.
    Bytes(Vec<u8>),
    /// A table.
    List(Vec<StoreReply>),
    /// Nil, and types that no script of ours returns.
    Nothing,
}

impl StoreScript {
    /// `text` is the program in Lua.
    pub fn new(text: &'static str) -> StoreScript {
        StoreScript { text, digest: hex(ring_digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()).as_ref()) }
    }
}

impl StoreCall<'_> {
    /// Runs the script.
    pub(crate) async fn run(&self, connection: &mut MultiplexedConnection) -> Result<StoreReply, RedisError> {
        let known = self.command("EVALSHA", self.script.digest.as_bytes());
        let answer = match known.query_async::<Value>(connection).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.command("EVAL", self.script.text.as_bytes()).query_async::<Value>(connection).await
            }
            answer => answer,
        };
        answer.map(StoreReply::of)
    }

    fn command(&self, name: &str, script: &[u8]) -> Cmd {
        let mut command = cmd(name);
        command.arg(script).arg(self.keys.len());
        for part in self.keys.iter().chain(&self.arguments) {
            command.arg(part.as_slice());
        }
        command
    }
}

impl StoreReply {
    fn of(value: Value) -> StoreReply {
        match value {
            Value::Int(number) => StoreReply::Number(number),
            Value::BulkString(bytes) => StoreReply::Bytes(bytes),
            Value::SimpleString(text) => StoreReply::Bytes(text.into_bytes()),
            Value::Okay => StoreReply::Bytes(b"OK".to_vec()),
            Value::Array(values) => StoreReply::List(values.into_iter().map(StoreReply::of).collect()),
            _ => StoreReply::Nothing,
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<i64> {
        match self {
            StoreReply::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The bytes, if they are some.
    pub fn bytes(self) -> Option<Vec<u8>> {
        match self {
            StoreReply::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

/// SHA-256 of parts, each with its length, in hex.
pub fn digest(parts: &[&[u8]]) -> String {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    hex(context.finish().as_ref())
}

/// 64 random bits in hex. Fails if the system has no random numbers.
pub fn token() -> Result<String, String> {
    let mut number = [0; 8];
    SystemRandom::new().fill(&mut number).map_err(|_| "the system has no random numbers")?;
    Ok(hex(&number))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_digest_do_not_run_into_each_other() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_eq!(digest(&[b"a"]).len(), 64);
    }

    #[test]
    fn a_script_is_known_by_the_digest_of_its_text() {
        assert_eq!(StoreScript::new("return 1").digest, "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
    }
}

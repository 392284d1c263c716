//! Redis and Valkey: one connection of RESP3 publishes and subscribes. A channel of programs is a channel of the store;
//! only those with subscribers on this server are subscribed to.

use std::sync::Arc;

use config::StoreUrl;
use redis::{PushInfo, PushKind, Value, pipe};
use stores::{MAX_UNREAD, RedisConnection, StoreLogin, UnreadBytes, reason};

use crate::received::Received;
use crate::relay::Sending;

/// Maximum number of channels in a command.
const AT_ONCE: usize = 1000;

/// A connection.
pub struct RedisSession {
    connection: RedisConnection,
    prefix: String,
    unread: UnreadBytes,
}

/// Connects, logs in, and subscribes to reports of other servers. Errors quote no password.
pub async fn connect(store: &StoreUrl, login: &StoreLogin, received: Arc<Received>) -> Result<RedisSession, String> {
    let (unread, prefix) = (UnreadBytes::new(MAX_UNREAD), store.prefix.clone());
    let begin = prefix.clone();
    let push = move |push: &PushInfo| receive(&received, &begin, push);
    let connection = RedisConnection::open(store, login, &unread, push).await?;
    let mut session = RedisSession { connection, prefix, unread };
    let counts = session.counts();
    session.connection.commands.subscribe(counts).await.map_err(|error| reason(&error))?;
    Ok(session)
}

/// Handles what the store sends without a question.
fn receive(received: &Received, prefix: &str, push: &PushInfo) {
    if push.kind != PushKind::Message {
        return;
    }
    let [Value::BulkString(channel), Value::BulkString(envelope)] = push.data.as_slice() else { return };
    match channel.strip_prefix(prefix.as_bytes()) {
        Some(b"counts") => received.receive(envelope, None),
        Some([b'm', b':', name @ ..]) => received.receive(envelope, Some(name)),
        _ => {}
    }
}

impl RedisSession {
    /// The channel of reports.
    fn counts(&self) -> Vec<u8> {
        format!("{}counts", self.prefix).into_bytes()
    }

    fn channel(&self, name: &[u8]) -> Vec<u8> {
        [self.prefix.as_bytes(), b"m:", name].concat()
    }

    /// Publishes, and waits until the store has accepted all.
    pub async fn publish(&mut self, sendings: &[Sending]) -> Result<(), String> {
        let mut commands = pipe();
        for sending in sendings {
            let channel = match &sending.channel {
                Some(name) => self.channel(name),
                None => self.counts(),
            };
            commands.cmd("PUBLISH").arg(channel).arg(sending.envelope.as_slice()).ignore();
        }
        let published = commands.exec_async(&mut self.connection.commands).await.map_err(|error| reason(&error));
        self.unread.reset();
        published
    }

    /// Subscribes to channels, and ends subscriptions to others.
    pub async fn follow(&mut self, begin: &[Box<[u8]>], end: &[Box<[u8]>]) -> Result<(), String> {
        for names in begin.chunks(AT_ONCE) {
            let names: Vec<Vec<u8>> = names.iter().map(|name| self.channel(name)).collect();
            self.connection.commands.subscribe(names).await.map_err(|error| reason(&error))?;
            self.unread.reset();
        }
        for names in end.chunks(AT_ONCE) {
            let names: Vec<Vec<u8>> = names.iter().map(|name| self.channel(name)).collect();
            self.connection.commands.unsubscribe(names).await.map_err(|error| reason(&error))?;
            self.unread.reset();
        }
        Ok(())
    }

    /// Waits for the end of the connection.
    pub async fn ended(&mut self) -> String {
        self.connection.ended().await
    }
}

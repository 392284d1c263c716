//! Redis and Valkey: one connection of RESP3 publishes and subscribes. A channel of programs is a channel of the store;
//! only those with subscribers on this server are subscribed to.

use std::sync::Arc;

use config::BroadcastStore;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, ErrorKind, ProtocolVersion, PushInfo, PushKind, RedisConnectionInfo, RedisError,
    ServerErrorKind, Value, pipe,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{JoinHandle, spawn_local};

use crate::connect::{self, UnreadBytes};
use crate::received::Received;
use crate::relay::Sending;

/// Maximum number of channels in a command.
const AT_ONCE: usize = 1000;

/// A connection.
pub struct RedisSession {
    connection: MultiplexedConnection,
    driver: JoinHandle<()>,
    prefix: String,
    unread: UnreadBytes,
}

/// Connects, logs in, and subscribes to reports of other servers.
pub async fn connect(store: &BroadcastStore, received: Arc<Received>) -> Result<RedisSession, String> {
    let mut login = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
    let password = connect::password(store)?;
    if !password.is_empty() {
        login = login.set_password(password);
    }
    if !store.user.is_empty() {
        login = login.set_username(&store.user);
    }
    let (unread, prefix) = (UnreadBytes::default(), store.prefix.clone());
    let (read, begin) = (unread.clone(), prefix.clone());
    let config = AsyncConnectionConfig::new().set_response_timeout(None).set_push_sender(move |push: PushInfo| {
        read.reset();
        receive(&received, &begin, &push);
        Ok::<(), ()>(())
    });
    let socket = connect::plain(store, &unread).await?;
    let (connection, driver) = match store.tls {
        true => opened(&login, connect::secured(store, socket).await?, config).await?,
        false => opened(&login, socket, config).await?,
    };
    let mut session = RedisSession { connection, driver, prefix, unread };
    let counts = session.counts();
    session.connection.subscribe(counts).await.map_err(|error| reason(&error))?;
    Ok(session)
}

async fn opened(
    login: &RedisConnectionInfo,
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    config: AsyncConnectionConfig,
) -> Result<(MultiplexedConnection, JoinHandle<()>), String> {
    let opened = MultiplexedConnection::new_with_config(login, socket, config).await;
    opened.map(|(connection, driver)| (connection, spawn_local(driver))).map_err(|error| reason(&error))
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
        let published = commands.exec_async(&mut self.connection).await.map_err(|error| reason(&error));
        self.unread.reset();
        published
    }

    /// Subscribes to channels, and ends subscriptions to others.
    pub async fn follow(&mut self, begin: &[Box<[u8]>], end: &[Box<[u8]>]) -> Result<(), String> {
        for names in begin.chunks(AT_ONCE) {
            let names: Vec<Vec<u8>> = names.iter().map(|name| self.channel(name)).collect();
            self.connection.subscribe(names).await.map_err(|error| reason(&error))?;
            self.unread.reset();
        }
        for names in end.chunks(AT_ONCE) {
            let names: Vec<Vec<u8>> = names.iter().map(|name| self.channel(name)).collect();
            self.connection.unsubscribe(names).await.map_err(|error| reason(&error))?;
            self.unread.reset();
        }
        Ok(())
    }

    /// Waits for the end of the connection.
    pub async fn ended(&mut self) -> String {
        let _ = (&mut self.driver).await;
        "the store has closed the connection".to_owned()
    }
}

impl Drop for RedisSession {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn reason(error: &RedisError) -> String {
    match error.kind() {
        ErrorKind::AuthenticationFailed => format!("authentication failed: {}", detail(error)),
        ErrorKind::Server(ServerErrorKind::NoPerm) => format!("no permission: {}", detail(error)),
        _ => match error.code() {
            Some("NOAUTH" | "WRONGPASS") => format!("authentication failed: {}", detail(error)),
            _ => error.to_string(),
        },
    }
}

fn detail(error: &RedisError) -> String {
    error.detail().map_or_else(|| error.to_string(), str::to_owned)
}

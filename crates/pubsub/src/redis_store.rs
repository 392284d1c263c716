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
use crate::login::StoreLogin;
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

/// Connects, logs in, and subscribes to reports of other servers. Errors quote no password.
pub async fn connect(
    store: &BroadcastStore,
    login: &StoreLogin,
    received: Arc<Received>,
) -> Result<RedisSession, String> {
    begin(store, login, received).await.map_err(|why| without_password(&why, &login.password))
}

/// The begin of a store's error about an unknown command, before the command's arguments.
const ARGUMENTS: &str = ", with args beginning with:";

/// An error of the login. A store that does not know the command quotes its arguments, also parts of them.
fn without_password(why: &str, password: &str) -> String {
    if password.is_empty() {
        return why.to_owned();
    }
    let why = why.split_once(ARGUMENTS).map_or(why, |(begin, _)| begin);
    why.replace(password, "(hidden)")
}

async fn begin(store: &BroadcastStore, login: &StoreLogin, received: Arc<Received>) -> Result<RedisSession, String> {
    let mut account = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
    if !login.password.is_empty() {
        account = account.set_password(&login.password);
    }
    if !store.user.is_empty() {
        account = account.set_username(&store.user);
    }
    let (unread, prefix) = (UnreadBytes::default(), store.prefix.clone());
    let (read, begin) = (unread.clone(), prefix.clone());
    let config = AsyncConnectionConfig::new().set_response_timeout(None).set_push_sender(move |push: PushInfo| {
        read.reset();
        receive(&received, &begin, &push);
        Ok::<(), ()>(())
    });
    let socket = connect::plain(store, &unread).await?;
    let (connection, driver) = match &login.connector {
        Some(connector) => opened(&account, connect::secured(store, connector, socket).await?, config).await?,
        None => opened(&account, socket, config).await?,
    };
    let mut session = RedisSession { connection, driver, prefix, unread };
    let counts = session.counts();
    session.connection.subscribe(counts).await.map_err(|error| reason(&error))?;
    Ok(session)
}

async fn opened(
    account: &RedisConnectionInfo,
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    config: AsyncConnectionConfig,
) -> Result<(MultiplexedConnection, JoinHandle<()>), String> {
    let opened = MultiplexedConnection::new_with_config(account, socket, config).await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_quote_no_password() {
        let why = "An error was signalled by the server - \"unknown command 'HELLO', with args beginning with: '3' 'AUTH' 'default' 'sec";
        assert_eq!(without_password(why, "secret"), "An error was signalled by the server - \"unknown command 'HELLO'");
        assert_eq!(without_password("wrong: secret", "secret"), "wrong: (hidden)");
        assert_eq!(without_password("refused", ""), "refused");
    }
}

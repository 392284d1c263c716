//! A connection to Redis or Valkey with RESP3, logged in.

use config::StoreUrl;
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, ErrorKind, ProtocolVersion, PushInfo, RedisConnectionInfo, RedisError, ServerErrorKind,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{JoinHandle, spawn_local};

use crate::connect::{self, UnreadBytes};
use crate::login::StoreLogin;

/// A connection, and the task that reads and writes its socket.
pub struct RedisConnection {
    /// Sends commands. Copies share the socket.
    pub commands: MultiplexedConnection,
    driver: JoinHandle<()>,
}

impl RedisConnection {
    /// Connects and logs in. `push` gets what the store sends without a question. Errors quote no password. Must be
    /// called on a local task set.
    pub async fn open(
        store: &StoreUrl,
        login: &StoreLogin,
        unread: &UnreadBytes,
        push: impl Fn(&PushInfo) + Send + Sync + 'static,
    ) -> Result<RedisConnection, String> {
        begin(store, login, unread, push).await.map_err(|why| without_password(&why, &login.password))
    }

    /// Waits for the end of the connection.
    pub async fn ended(&mut self) -> String {
        let _ = (&mut self.driver).await;
        "the store has closed the connection".to_owned()
    }
}

impl Drop for RedisConnection {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

async fn begin(
    store: &StoreUrl,
    login: &StoreLogin,
    unread: &UnreadBytes,
    push: impl Fn(&PushInfo) + Send + Sync + 'static,
) -> Result<RedisConnection, String> {
    let mut account = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
    if !login.password.is_empty() {
        account = account.set_password(&login.password);
    }
    if !store.user.is_empty() {
        account = account.set_username(&store.user);
    }
    let read = unread.clone();
    let config = AsyncConnectionConfig::new().set_response_timeout(None).set_push_sender(move |info: PushInfo| {
        read.reset();
        push(&info);
        Ok::<(), ()>(())
    });
    let socket = connect::plain(store, unread).await?;
    match &login.connector {
        Some(connector) => opened(&account, connect::secured(store, connector, socket).await?, config).await,
        None => opened(&account, socket, config).await,
    }
}

async fn opened(
    account: &RedisConnectionInfo,
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    config: AsyncConnectionConfig,
) -> Result<RedisConnection, String> {
    let opened = MultiplexedConnection::new_with_config(account, socket, config).await;
    let (commands, driver) = opened.map_err(|error| reason(&error))?;
    Ok(RedisConnection { commands, driver: spawn_local(driver) })
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

/// An error of the store, for the log.
pub fn reason(error: &RedisError) -> String {
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

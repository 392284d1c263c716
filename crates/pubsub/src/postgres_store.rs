//! PostgreSQL: one connection listens and notifies. All channels of programs share one channel of the store, whose
//! messages are text of less than 8000 bytes: an envelope is coded in base64, in parts.
//!
//! ```text
//!   version · node in hex · number in hex · part, from 0 · number of parts · base64
//! ```
//!
//! All parts of an envelope are notified by one transaction, so the store delivers them one after the other.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use config::StoreUrl;
use databases::PgTlsStream;
use stores::{LimitedSocket, MAX_UNREAD, StoreLogin, UnreadBytes};
use tokio::task::{JoinHandle, spawn_local};
use tokio_postgres::config::{ChannelBinding, SslMode};
use tokio_postgres::tls::{NoTls, TlsConnect, TlsStream};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, Statement};
use tokio_rustls::TlsConnector;

use crate::envelope::VERSION;
use crate::received::Received;
use crate::relay::Sending;

/// Maximum size of the coded part of an envelope in bytes.
const PART: usize = 7800;
/// Maximum number of parts: the largest message has 12.
const MAX_PARTS: usize = 16;

/// A connection.
pub struct PostgresSession {
    client: Client,
    notify: Statement,
    driver: Driver,
    unread: UnreadBytes,
}

/// The task that drives a connection. Its result is why the connection has ended.
struct Driver(JoinHandle<String>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Connects, logs in, and listens.
pub async fn connect(store: &StoreUrl, login: StoreLogin, received: Arc<Received>) -> Result<PostgresSession, String> {
    let mut config = Config::new();
    config.user(&store.user).dbname(&store.database).application_name("cameleer");
    config.channel_binding(ChannelBinding::Disable).ssl_mode(if store.tls {
        SslMode::Require
    } else {
        SslMode::Disable
    });
    if !login.password.is_empty() {
        config.password(login.password);
    }
    let unread = UnreadBytes::new(MAX_UNREAD);
    let socket = stores::plain(store, &unread).await?;
    let (client, driver) = match login.connector {
        Some(connector) => opened(&config, socket, Secured(store.clone(), connector), received, unread.clone()).await?,
        None => opened(&config, socket, NoTls, received, unread.clone()).await?,
    };
    let failed = |error| reason(&error);
    // The prefix has no quotation marks.
    client.batch_execute(&format!("LISTEN \"{}\"", store.prefix)).await.map_err(failed)?;
    let text = format!("SELECT pg_notify('{}', part) FROM unnest($1::text[]) AS part", store.prefix);
    let notify = client.prepare(&text).await.map_err(failed)?;
    unread.reset();
    Ok(PostgresSession { client, notify, driver, unread })
}

async fn opened<T>(
    config: &Config,
    socket: LimitedSocket,
    tls: T,
    received: Arc<Received>,
    unread: UnreadBytes,
) -> Result<(Client, Driver), String>
where
    T: TlsConnect<LimitedSocket, Stream: 'static>,
{
    let (client, connection) = config.connect_raw(socket, tls).await.map_err(|error| reason(&error))?;
    Ok((client, Driver(spawn_local(drive(connection, received, unread)))))
}

/// Drives a connection until it ends. Returns the reason.
async fn drive<T: TlsStream + Unpin>(
    mut connection: Connection<LimitedSocket, T>,
    received: Arc<Received>,
    unread: UnreadBytes,
) -> String {
    let mut parts = Parts::default();
    loop {
        let message = poll_fn(|cx| connection.poll_message(cx)).await;
        unread.reset();
        match message {
            Some(Ok(AsyncMessage::Notification(notification))) => parts.receive(notification.payload(), &received),
            Some(Ok(_)) => {}
            Some(Err(error)) => return reason(&error),
            None => return "the store has closed the connection".to_owned(),
        }
    }
}

impl PostgresSession {
    /// Notifies, and waits until the store has accepted all.
    pub async fn publish(&mut self, sendings: &[Sending]) -> Result<(), String> {
        let parts: Vec<String> = sendings.iter().flat_map(parts).collect();
        let published = self.client.execute(&self.notify, &[&parts]).await;
        self.unread.reset();
        published.map(drop).map_err(|error| reason(&error))
    }

    /// Waits for the end of the connection.
    pub async fn ended(&mut self) -> String {
        (&mut self.driver.0).await.unwrap_or_default()
    }
}

/// The payloads of an envelope.
fn parts(sending: &Sending) -> Vec<String> {
    let text = STANDARD.encode(&sending.envelope);
    let count = text.len().div_ceil(PART);
    let part = |index: usize| {
        let part = text.get(index * PART..text.len().min((index + 1) * PART)).unwrap_or_default();
        format!("{VERSION} {:x} {:x} {index} {count} {part}", sending.node, sending.number)
    };
    (0..count).map(part).collect()
}

/// An envelope of which not all parts have arrived.
#[derive(Debug, Default)]
struct Parts {
    node: u64,
    number: u64,
    /// Index of the next part.
    next: usize,
    text: String,
}

impl Parts {
    /// Handles a payload.
    fn receive(&mut self, payload: &str, received: &Received) {
        let version = payload.split(' ').next().unwrap_or_default();
        if version != VERSION.to_string() {
            return received.unusable_version(version);
        }
        match self.add(payload, received.node()) {
            Some(Some(envelope)) => received.receive(&envelope, None),
            Some(None) => {}
            None => {
                *self = Parts::default();
                received.malformed();
            }
        }
    }

    /// Adds a part. Returns the envelope if it is whole; `None` for a payload that is malformed or out of order.
    fn add(&mut self, payload: &str, own: u64) -> Option<Option<Vec<u8>>> {
        let mut fields = payload.splitn(6, ' ').skip(1);
        let node = u64::from_str_radix(fields.next()?, 16).ok()?;
        let number = u64::from_str_radix(fields.next()?, 16).ok()?;
        let index: usize = fields.next()?.parse().ok()?;
        let count: usize = fields.next()?.parse().ok()?;
        let part = fields.next()?;
        if node == own {
            return Some(None);
        }
        if index == 0 {
            *self = Parts { node, number, ..Parts::default() };
        }
        let is_next = (self.node, self.number, self.next) == (node, number, index);
        if !is_next || !(1..=MAX_PARTS).contains(&count) || index >= count {
            return None;
        }
        self.text.push_str(part);
        self.next += 1;
        if self.next < count {
            return Some(None);
        }
        let text = std::mem::take(self).text;
        STANDARD.decode(text).ok().map(Some)
    }
}

/// TLS towards the store.
struct Secured(StoreUrl, TlsConnector);

impl TlsConnect<LimitedSocket> for Secured {
    type Stream = PgTlsStream<LimitedSocket>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Stream>>>>;

    fn connect(self, socket: LimitedSocket) -> Self::Future {
        Box::pin(async move {
            let secured = stores::secured(&self.0, &self.1, socket).await;
            secured.map(PgTlsStream).map_err(io::Error::other)
        })
    }
}

fn reason(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) if error.code().code().starts_with("28") => {
            format!("authentication failed: {}", error.message())
        }
        (Some(error), _) => error.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sending(node: u64, number: u64, size: usize) -> Sending {
        Sending { node, number, channel: None, envelope: (0..size).map(|byte| byte as u8).collect() }
    }

    #[test]
    fn the_largest_message_is_split_into_parts_that_the_store_accepts_and_joined_again() {
        for (size, count) in [(1, 1), (5850, 1), (5851, 2), (66_000, 12)] {
            let sending = sending(u64::MAX, u64::MAX, size);
            let payloads = parts(&sending);
            assert_eq!(payloads.len(), count, "{size}");
            assert!(payloads.iter().all(|payload| payload.len() < 8000));
            let mut joined = Parts::default();
            let results: Vec<_> = payloads.iter().map(|payload| joined.add(payload, 1).expect("well-formed")).collect();
            let (whole, before) = results.split_last().expect("a part");
            assert_eq!(whole.as_deref(), Some(sending.envelope.as_slice()));
            assert!(before.iter().all(Option::is_none));
        }
    }

    #[test]
    fn missing_parts_and_malformed_payloads_are_refused_and_the_next_envelope_arrives() {
        let (long, short) = (parts(&sending(2, 1, 20_000)), parts(&sending(2, 2, 10)));
        let mut joined = Parts::default();
        assert_eq!(joined.add(&long[0], 1), Some(None));
        assert_eq!(joined.add(&long[2], 1), None);
        assert_eq!(joined.add(&long[1], 3), Some(None));
        assert_eq!(joined.add(&short[0], 2), Some(None), "the own one");
        assert!(matches!(joined.add(&short[0], 1), Some(Some(_))));
        for wrong in
            ["1", "1 2 3", "1 2 3 0 1 !", "1 z 3 0 1 AA==", "1 2 3 0 99 AA==", "1 2 3 1 1 AA==", "1 2 3 0 0 AA=="]
        {
            assert_eq!(Parts::default().add(wrong, 1), None, "{wrong}");
        }
    }
}

//! The task that writes to the store of `CacheStore`, and applies purges of other servers.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::outbox::{StorePut, StoreWrite};
use super::{FETCH, LAST_PURGE, MAX_VARIANTS, PURGE, PUT, RELEASE, SharedCache, arguments};
use crate::base::lock::lock;
use crate::cache::Cache;
use base::log;
use stores::{StoreAway, StoreCall, StoreLogin};

/// Maximum number of messages that wait to be applied; more become a purge of all.
const MAX_ARRIVED: usize = 10_000;
/// Maximum size of those messages in bytes.
const MAX_ARRIVED_BYTES: usize = 8 << 20;
/// Time for which the store knows that a resource was purged: responses that were begun before are not stored after it.
const PURGE_TTL: Duration = Duration::from_secs(3600);
/// Time after which a purge that the store has refused is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// Time without a write after which the store is asked whether it is still there.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Messages of servers that wait to be applied.
#[derive(Debug, Default)]
pub struct Arrived {
    messages: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Messages were dropped.
    is_full: bool,
}

impl Arrived {
    pub fn push(&mut self, message: &[u8]) {
        self.is_full |= self.messages.len() >= MAX_ARRIVED || self.bytes + message.len() > MAX_ARRIVED_BYTES;
        if !self.is_full {
            self.bytes += message.len();
            self.messages.push_back(message.to_vec());
        }
    }

    /// The next message, or whether messages after those were dropped.
    fn take(&mut self) -> Result<Vec<u8>, bool> {
        let message = self.messages.pop_front().ok_or_else(|| std::mem::take(&mut self.is_full))?;
        self.bytes = self.bytes.saturating_sub(message.len());
        Ok(message)
    }
}

/// What a message of a server purges.
#[derive(Debug, PartialEq, Eq)]
enum PurgeContent<'a> {
    /// Name of the host, and rest of a resource.
    Resource(&'a str, &'a [u8]),
    /// The URL of `cameleer purge`.
    Url(&'a str),
}

/// A purge of a server: `1 NUMBER NODE VERSION R|U CONTENT`.
#[derive(Debug, PartialEq, Eq)]
struct PurgeMessage<'a> {
    number: &'a str,
    node: &'a str,
    version: &'a str,
    content: PurgeContent<'a>,
}

impl PurgeMessage<'_> {
    fn read(message: &[u8]) -> Option<PurgeMessage<'_>> {
        let mut words = message.splitn(6, |byte| *byte == b' ');
        let mut word = || words.next().and_then(|word| str::from_utf8(word).ok());
        let (format, number, node, version, kind) = (word()?, word()?, word()?, word()?, word()?);
        let content = words.next()?;
        let content = match kind {
            "R" => {
                let end = content.iter().position(|byte| *byte == 0)?;
                let (host, rest) = content.split_at_checked(end)?;
                PurgeContent::Resource(str::from_utf8(host).ok()?, rest.get(1..)?)
            }
            "U" => PurgeContent::Url(str::from_utf8(content).ok()?),
            _ => return None,
        };
        (format == "1").then_some(PurgeMessage { number, node, version, content })
    }
}

/// Connects to the store and serves it, until the task is dropped. `purge` drops the responses of a URL on this server.
pub async fn run(
    cache: &Cache,
    shared: &SharedCache,
    read: impl AsyncFn() -> Result<StoreLogin, String>,
    purge: impl AsyncFn(&str),
) {
    let probe = StoreCall {
        script: &FETCH,
        keys: ["probe", "probe:lock", "epoch", "probe:purged"]
            .map(|name| format!("{}{name}", shared.prefix).into_bytes())
            .into(),
        arguments: arguments(["", "", &shared.token(), "1", "0", ""]),
    };
    let work = async {
        let mut writer = Writer { cache, shared, last: None };
        let mut session = 0;
        loop {
            session = shared.client.until_used_after(session).await;
            while writer.catch_up().await.is_err() {
                sleep(RETRY).await;
            }
            tokio::select! {
                () = writer.work(&purge) => {}
                _ = shared.client.until_used_after(session) => {}
            }
        }
    };
    tokio::join!(shared.client.run(&probe, read), work);
}

struct Writer<'a> {
    cache: &'a Cache,
    shared: &'a SharedCache,
    /// Number of the last purge that was applied.
    last: Option<String>,
}

impl Writer<'_> {
    /// Drops all responses of this server if a purge was missed while there was no connection.
    async fn catch_up(&mut self) -> Result<(), StoreAway> {
        let reply = self.shared.client.ask_patiently(&self.shared.last_purge()).await?;
        let last = reply.bytes().and_then(|bytes| String::from_utf8(bytes).ok());
        if last != self.last {
            let gone = self.cache.forget_all(|_| true).await;
            if gone > 0 {
                log::notice(
                    "front",
                    format_args!("CacheStore: a purge may have been missed; {gone} responses dropped"),
                );
            }
            self.last = last;
        }
        Ok(())
    }

    async fn work(&mut self, purge: &impl AsyncFn(&str)) {
        loop {
            self.apply(purge).await;
            let next = lock(&self.shared.outbox).purge();
            if let Some(write) = next {
                match self.shared.send(&write).await {
                    Ok(()) => lock(&self.shared.outbox).purged(&write),
                    Err(StoreAway) => sleep(RETRY).await,
                }
                continue;
            }
            let next = lock(&self.shared.outbox).take();
            match next {
                // A response that cannot be stored is lost to the other servers only.
                Some(write) => drop(self.shared.send(&write).await),
                None => self.rest().await,
            }
        }
    }

    /// Waits for a write or a message. The store is asked now and then whether it is still there: a connection that was
    /// lost without notice brings no purge.
    async fn rest(&self) {
        if timeout(HEARTBEAT, self.shared.wanted.notified()).await.is_err() {
            let _ = self.shared.client.ask_patiently(&self.shared.last_purge()).await;
        }
    }

    /// Applies the purges of servers that have arrived.
    async fn apply(&mut self, purge: &impl AsyncFn(&str)) {
        loop {
            let next = lock(&self.shared.arrived).take();
            let message = match next {
                Ok(message) => message,
                Err(is_full) => {
                    if is_full {
                        self.cache.forget_all(|_| true).await;
                    }
                    return;
                }
            };
            match PurgeMessage::read(&message) {
                Some(message) => self.apply_one(&message, purge).await,
                // The content of another version is unknown, and too little is better than too old.
                None => drop(self.cache.forget_all(|_| true).await),
            }
        }
    }

    async fn apply_one(&mut self, message: &PurgeMessage<'_>, purge: &impl AsyncFn(&str)) {
        if message.node != self.shared.node {
            self.apply_of_another(message, purge).await;
        }
        // Only now: an interrupted purge counts as missed.
        self.last = Some(message.number.to_owned());
    }

    async fn apply_of_another(&self, message: &PurgeMessage<'_>, purge: &impl AsyncFn(&str)) {
        let is_other_version = message.version.strip_prefix('v') != Some(&self.shared.version);
        match message.content {
            PurgeContent::Resource(host, rest) => {
                let hosts = (0_u16..).zip(&self.shared.hosts).filter(|(_, name)| *name == host);
                for (number, _) in hosts {
                    let resource = [&number.to_le_bytes(), rest].concat();
                    let digest = self.shared.resource(&resource);
                    lock(&self.shared.outbox).drop_responses(|of| of == digest);
                    self.cache.forget(&resource);
                    if is_other_version {
                        let _ = self.shared.drop_responses(Some(&resource)).await;
                    }
                }
            }
            PurgeContent::Url(url) => {
                lock(&self.shared.outbox).drop_responses(|_| true);
                purge(url).await;
                if is_other_version {
                    let _ = self.shared.drop_responses(None).await;
                }
            }
        }
    }
}

impl SharedCache {
    fn last_purge_key(&self) -> String {
        format!("{}purged", self.base)
    }

    /// Asks for the number of the last purge.
    fn last_purge(&self) -> StoreCall<'static> {
        let keys = vec![self.last_purge_key().into_bytes()];
        StoreCall { script: &LAST_PURGE, keys, arguments: Vec::new() }
    }

    async fn send(&self, write: &StoreWrite) -> Result<(), StoreAway> {
        match write {
            StoreWrite::Put(put) => {
                let StorePut { resource, lock, field, vary, token, seen, entry, fresh, ttl } = &**put;
                let (fresh, ttl) = (fresh.as_millis().to_string(), ttl.as_millis().to_string());
                let mut arguments = arguments([field, vary, token, "", &fresh, &ttl, &MAX_VARIANTS.to_string()]);
                if let Some(place) = arguments.get_mut(3) {
                    place.clone_from(entry);
                }
                arguments.extend([seen.epoch.clone(), seen.purge.clone()]);
                let keys = [self.resource_key(resource), lock.clone(), self.epoch(), self.purge_key(resource)];
                let call = StoreCall { script: &PUT, keys: keys.map(String::into_bytes).into(), arguments };
                self.client.ask_patiently(&call).await.map(drop)
            }
            StoreWrite::Release { lock, token } => {
                let keys = vec![lock.clone().into_bytes()];
                let call = StoreCall { script: &RELEASE, keys, arguments: arguments([token]) };
                self.client.ask_patiently(&call).await.map(drop)
            }
            StoreWrite::Purge(resource) => {
                let (host, rest) = self.named(resource);
                let content = [host.as_bytes(), &[0], rest].concat();
                self.purge_now(Some(resource), Some((b"R", &content))).await
            }
            StoreWrite::PurgeAll(url) => self.purge_now(None, Some((b"U", url.as_bytes()))).await,
        }
    }

    /// Drops responses in the store, of this version, without a message.
    async fn drop_responses(&self, resource: Option<&[u8]>) -> Result<(), StoreAway> {
        self.purge_now(resource, None).await
    }

    async fn purge_now(&self, resource: Option<&[u8]>, message: Option<(&[u8], &[u8])>) -> Result<(), StoreAway> {
        let mut keys = vec![self.last_purge_key(), self.epoch()];
        let resource = resource.map(|resource| self.resource(resource));
        keys.extend(resource.iter().flat_map(|it| [self.resource_key(it), self.purge_key(it)]));
        let (number, epoch) = (self.token(), self.token());
        let mut arguments = arguments([&number, &epoch]);
        match message {
            Some((kind, content)) => {
                let head = format!("1 {number} {} v{} ", self.node, self.version);
                arguments.push(format!("{}purge", self.base).into_bytes());
                arguments.push([head.as_bytes(), kind, b" ", content].concat());
            }
            None => arguments.extend([Vec::new(), Vec::new()]),
        }
        arguments.push(PURGE_TTL.as_millis().to_string().into_bytes());
        let keys = keys.into_iter().map(String::into_bytes).collect();
        self.client.ask_patiently(&StoreCall { script: &PURGE, keys, arguments }).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purges_of_servers_are_read_and_others_refused() {
        let read = |text: &'static str| PurgeMessage::read(text.as_bytes());
        let message = |content| Some(PurgeMessage { number: "n", node: "me", version: "v2", content });
        assert_eq!(read("1 n me v2 R a#0\0/b c\0d"), message(PurgeContent::Resource("a#0", b"/b c\0d")));
        assert_eq!(read("1 n me v2 U /a*"), message(PurgeContent::Url("/a*")));
        for text in ["", "2 n me v2 U /a*", "1 n me v2 X /a*", "1 n me v2 R a", "1 n me v2"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn messages_that_wait_are_bounded() {
        let mut arrived = Arrived::default();
        (0..20).for_each(|_| arrived.push(&[0; 1_000_000]));
        assert_eq!(arrived.messages.len(), 8);
        while arrived.messages.len() > 1 {
            assert!(arrived.take().is_ok());
        }
        arrived.push(b"later");
        assert_eq!((arrived.take().is_ok(), arrived.take(), arrived.take()), (true, Err(true), Err(false)));
        arrived.push(b"later");
        assert_eq!((arrived.take(), arrived.bytes), (Ok(b"later".to_vec()), 0));
    }
}

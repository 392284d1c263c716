//! Session resumption: tickets, and a session cache for clients without. Both survive reloads, so that no client needs
//! a new handshake. The current configuration limits their life, whenever they were made.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::crypto::ring;
use rustls::server::{ProducesTickets, ServerSessionMemoryCache, StoresServerSessions};

/// Maximum life of a session: that of a ticket key.
pub const MAX_SESSION: Duration = Duration::from_secs(12 * 60 * 60);
/// Maximum number of sessions in the cache.
const MAX_SESSIONS: usize = 4096;
/// Maximum length of a session in bytes. Longer ones have a long chain of a client's certificates, and are not resumed.
const MAX_BYTES: usize = 16 << 10;
/// Length in bytes of the time before each value. A byte follows: whether the handshake asked for a certificate.
const STAMP: usize = 8;

/// Ticket keys and session cache.
pub struct Sessions {
    tickets: Arc<dyn ProducesTickets>,
    cache: Arc<dyn StoresServerSessions>,
}

impl Sessions {
    /// Creates new keys and an empty cache.
    pub fn new() -> Result<Sessions, rustls::Error> {
        Ok(Sessions { tickets: ring::Ticketer::new()?, cache: ServerSessionMemoryCache::new(MAX_SESSIONS) })
    }

    /// Tickets with this maximum life, for hosts that ask for certificates of clients or do not. The others' sessions
    /// are not resumed: they have no certificate.
    pub fn tickets(&self, life: Duration, asks: bool) -> Arc<dyn ProducesTickets> {
        limited(self.tickets.clone(), life, asks)
    }

    /// Session cache with this maximum life, for the same hosts.
    pub fn cache(&self, life: Duration, asks: bool) -> Arc<dyn StoresServerSessions> {
        Arc::new(Cache { inner: self.cache.clone(), life, asks })
    }
}

/// Tickets of this kind with a maximum life, for the same hosts.
pub fn limited(inner: Arc<dyn ProducesTickets>, life: Duration, asks: bool) -> Arc<dyn ProducesTickets> {
    Arc::new(Tickets { inner, life, asks })
}

#[derive(Debug)]
struct Tickets {
    inner: Arc<dyn ProducesTickets>,
    life: Duration,
    asks: bool,
}

#[derive(Debug)]
struct Cache {
    inner: Arc<dyn StoresServerSessions>,
    life: Duration,
    asks: bool,
}

impl ProducesTickets for Tickets {
    fn enabled(&self) -> bool {
        self.inner.enabled()
    }

    /// Life in seconds, limited by the life of the ticket key.
    fn lifetime(&self) -> u32 {
        self.inner.lifetime().min(u32::try_from(self.life.as_secs()).unwrap_or(u32::MAX))
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        if plain.len() > MAX_BYTES { None } else { self.inner.encrypt(&stamped(plain, self.asks)) }
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        unless_expired(self.inner.decrypt(cipher)?, self.life, self.asks)
    }
}

impl StoresServerSessions for Cache {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        value.len() <= MAX_BYTES && self.inner.put(key, stamped(&value, self.asks))
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        unless_expired(self.inner.get(key)?, self.life, self.asks)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        unless_expired(self.inner.take(key)?, self.life, self.asks)
    }

    fn can_cache(&self) -> bool {
        self.inner.can_cache()
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn stamped(value: &[u8], asks: bool) -> Vec<u8> {
    [&(now().as_millis() as u64).to_be_bytes()[..], &[u8::from(asks)], value].concat()
}

/// The value without its stamp, unless it is too old, or its handshake asked otherwise.
fn unless_expired(mut value: Vec<u8>, life: Duration, asks: bool) -> Option<Vec<u8>> {
    let made = Duration::from_millis(u64::from_be_bytes(*value.first_chunk::<STAMP>()?));
    let age = now().saturating_sub(made);
    let has_asked = *value.get(STAMP)? != 0;
    value.drain(..=STAMP);
    (age <= life && has_asked == asks).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_too_old_is_not_resumed() {
        let sessions = Sessions::new().expect("randomness");
        let long = Duration::from_secs(100);
        let ticket = sessions.tickets(long, false).encrypt(b"secret").expect("a ticket");
        assert_eq!(sessions.tickets(long, false).decrypt(&ticket).as_deref(), Some(&b"secret"[..]));
        assert_eq!(sessions.tickets(long, false).lifetime(), 100);
        let made = (now() - Duration::from_secs(50)).as_millis() as u64;
        let old = [&made.to_be_bytes(), &b"\0x"[..]].concat();
        assert_eq!(unless_expired(old.clone(), long, false), Some(b"x".to_vec()));
        assert_eq!(unless_expired(old.clone(), long, true), None);
        assert_eq!(unless_expired(old, Duration::from_secs(49), false), None);
        assert_eq!(unless_expired(vec![1, 2], long, false), None);
    }

    #[test]
    fn a_session_with_a_long_chain_of_certificates_is_not_stored() {
        let sessions = Sessions::new().expect("randomness");
        let (life, long) = (Duration::from_secs(100), vec![0; MAX_BYTES + 1]);
        assert_eq!(sessions.tickets(life, false).encrypt(&long), None);
        assert!(!sessions.cache(life, false).put(vec![1], long));
        assert!(sessions.cache(life, false).put(vec![1], vec![0; MAX_BYTES]));
    }
}

//! Session resumption: tickets, and a session cache for clients without. Both survive reloads, so that no client needs
//! a new handshake. The current configuration limits their life, whenever they were made.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::crypto::ring;
use rustls::server::{ProducesTickets, ServerSessionMemoryCache, StoresServerSessions};

/// Maximum number of sessions in the cache.
const MAX_SESSIONS: usize = 4096;
/// Maximum length of a session in bytes. Longer ones have a long chain of a client's certificates, and are not resumed.
const LONGEST: usize = 16 << 10;
/// Length in bytes of the time stamp before each value.
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

    /// Tickets with this maximum life.
    pub fn tickets(&self, life: Duration) -> Arc<dyn ProducesTickets> {
        Arc::new(Tickets { inner: self.tickets.clone(), life })
    }

    /// Session cache with this maximum life.
    pub fn cache(&self, life: Duration) -> Arc<dyn StoresServerSessions> {
        Arc::new(Cache { inner: self.cache.clone(), life })
    }
}

#[derive(Debug)]
struct Tickets {
    inner: Arc<dyn ProducesTickets>,
    life: Duration,
}

#[derive(Debug)]
struct Cache {
    inner: Arc<dyn StoresServerSessions>,
    life: Duration,
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
        if plain.len() > LONGEST { None } else { self.inner.encrypt(&stamped(plain)) }
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        unless_expired(self.inner.decrypt(cipher)?, self.life)
    }
}

impl StoresServerSessions for Cache {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        value.len() <= LONGEST && self.inner.put(key, stamped(&value))
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        unless_expired(self.inner.get(key)?, self.life)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        unless_expired(self.inner.take(key)?, self.life)
    }

    fn can_cache(&self) -> bool {
        self.inner.can_cache()
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn stamped(value: &[u8]) -> Vec<u8> {
    [&(now().as_millis() as u64).to_be_bytes(), value].concat()
}

/// The value without its time stamp, unless it is too old.
fn unless_expired(mut value: Vec<u8>, life: Duration) -> Option<Vec<u8>> {
    let made = Duration::from_millis(u64::from_be_bytes(*value.first_chunk::<STAMP>()?));
    let age = now().saturating_sub(made);
    value.drain(..STAMP);
    (age <= life).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_too_old_is_not_resumed() {
        let sessions = Sessions::new().expect("randomness");
        let long = Duration::from_secs(100);
        let ticket = sessions.tickets(long).encrypt(b"secret").expect("a ticket");
        assert_eq!(sessions.tickets(long).decrypt(&ticket).as_deref(), Some(&b"secret"[..]));
        assert_eq!(sessions.tickets(long).lifetime(), 100);
        let made = (now() - Duration::from_secs(50)).as_millis() as u64;
        let old = [&made.to_be_bytes(), &b"x"[..]].concat();
        assert_eq!(unless_expired(old.clone(), long), Some(b"x".to_vec()));
        assert_eq!(unless_expired(old, Duration::from_secs(49)), None);
        assert_eq!(unless_expired(vec![1, 2], long), None);
    }

    #[test]
    fn a_session_with_a_long_chain_of_certificates_is_not_stored() {
        let sessions = Sessions::new().expect("randomness");
        let (life, long) = (Duration::from_secs(100), vec![0; LONGEST + 1]);
        assert_eq!(sessions.tickets(life).encrypt(&long), None);
        assert!(!sessions.cache(life).put(vec![1], long));
        assert!(sessions.cache(life).put(vec![1], vec![0; LONGEST]));
    }
}

//! Keys of session tickets from files (`SSLSessionTicketKeyFile`): servers with the same file resume each other's
//! sessions, and their own after a restart.
//!
//! ```text
//!   file:    name (16) · secret (32 or 64)
//!   ticket:  name (16) · seed (32) · AES-256-GCM of the session, by the key that HKDF-SHA256 makes of secret and seed
//! ```
//!
//! Each ticket has a key of its own, so that a file may be used for any number of tickets (RFC 5869, RFC 5288).

use std::fmt;
use std::sync::Arc;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::server::ProducesTickets;
use serde::{Deserialize, Serialize};

use super::pem_files::complaint;
use super::sessions::MAX_SESSION;
use config::tls::NamedFile;
use config::{ConfigError, Host, regular};

/// Lengths of a file in bytes: httpd's, and that of nginx with a longer secret.
const LENGTHS: [usize; 2] = [48, 80];
/// Maximum size of a file that is read at all, in bytes.
const MAX_BYTES: u64 = 4096;
const NAME: usize = 16;
const SEED: usize = 32;

/// The keys of a host: the first one is used for new tickets, all for those of clients.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketKeys {
    /// Index of the host.
    pub host: u16,
    files: Vec<Vec<u8>>,
}

/// Omits the keys, which must not appear in a log.
impl fmt::Debug for TicketKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TicketKeys").field("host", &self.host).finish_non_exhaustive()
    }
}

impl TicketKeys {
    /// Reads the files of a host. `None`: the host has none.
    pub fn read(index: u16, host: &Host) -> Result<Option<TicketKeys>, ConfigError> {
        let Some(named) = &host.tls.ticket_keys else { return Ok(None) };
        let files = named.iter().map(read_one).collect::<Result<_, _>>()?;
        Ok(Some(TicketKeys { host: index, files }))
    }

    /// Makes and reads tickets by these keys.
    pub fn ticketer(&self) -> Arc<dyn ProducesTickets> {
        Arc::new(Ticketer { keys: self.files.iter().filter_map(|file| Key::of(file)).collect() })
    }
}

fn read_one(file: &NamedFile) -> Result<Vec<u8>, ConfigError> {
    let how = "create it with openssl rand -out FILE 48";
    let (_, bytes) = regular::read(&file.path, MAX_BYTES)
        .map_err(|error| complaint(file, &format!("cannot be read: {error}; {how}")))?;
    match LENGTHS.contains(&bytes.len()) {
        true => Ok(bytes),
        false => Err(complaint(file, &format!("expected 48 or 80 random bytes, got {}; {how}", bytes.len()))),
    }
}

#[derive(Debug)]
struct Ticketer {
    keys: Vec<Key>,
}

#[derive(Debug)]
struct Key {
    name: [u8; NAME],
    secret: Prk,
}

impl Key {
    fn of(file: &[u8]) -> Option<Key> {
        let (name, secret) = file.split_first_chunk::<NAME>()?;
        Some(Key { name: *name, secret: Salt::new(HKDF_SHA256, name).extract(secret) })
    }

    /// HKDF-Expand with the seed as its information.
    fn of_ticket(&self, seed: &[u8]) -> Option<LessSafeKey> {
        let info = [&b"session ticket"[..], seed];
        let key = self.secret.expand(&info, &AES_256_GCM).ok()?;
        Some(LessSafeKey::new(UnboundKey::from(key)))
    }

    fn seal(&self, plain: &[u8]) -> Option<Vec<u8>> {
        let mut seed = [0; SEED];
        SystemRandom::new().fill(&mut seed).ok()?;
        let mut sealed = plain.to_vec();
        self.of_ticket(&seed)?.seal_in_place_append_tag(nonce(), Aad::from(self.name), &mut sealed).ok()?;
        Some([&self.name[..], &seed, &sealed].concat())
    }

    fn open(&self, seed: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let mut sealed = sealed.to_vec();
        Some(self.of_ticket(seed)?.open_in_place(nonce(), Aad::from(self.name), &mut sealed).ok()?.to_vec())
    }
}

/// A key is used once.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

impl ProducesTickets for Ticketer {
    fn enabled(&self) -> bool {
        true
    }

    fn lifetime(&self) -> u32 {
        u32::try_from(MAX_SESSION.as_secs()).unwrap_or(u32::MAX)
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.keys.first()?.seal(plain)
    }

    fn decrypt(&self, ticket: &[u8]) -> Option<Vec<u8>> {
        let (name, rest) = ticket.split_first_chunk::<NAME>()?;
        let (seed, sealed) = rest.split_at_checked(SEED)?;
        self.keys.iter().filter(|key| key.name == *name).find_map(|key| key.open(seed, sealed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(files: &[&[u8]]) -> Arc<dyn ProducesTickets> {
        TicketKeys { host: 0, files: files.iter().map(|file| file.to_vec()).collect() }.ticketer()
    }

    #[test]
    fn a_ticket_is_read_by_every_server_that_has_its_key() {
        let (old, new) = ([1; 48], [2; 80]);
        let ticket = keys(&[&old]).encrypt(b"session").expect("a ticket");
        assert_eq!(keys(&[&new, &old]).decrypt(&ticket).as_deref(), Some(&b"session"[..]));
        assert_eq!(keys(&[&new]).decrypt(&ticket), None);
        assert_ne!(keys(&[&old]).encrypt(b"session"), Some(ticket), "no two tickets have the same key");
    }

    #[test]
    fn a_changed_or_cut_ticket_is_not_read() {
        let keys = keys(&[&[7; 48]]);
        let ticket = keys.encrypt(b"session").expect("a ticket");
        for at in 0..ticket.len() {
            let mut changed = ticket.clone();
            changed[at] ^= 1;
            assert_eq!(keys.decrypt(&changed), None, "byte {at}");
            assert_eq!(keys.decrypt(&ticket[..at]), None, "{at} bytes");
        }
    }
}

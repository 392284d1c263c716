//! Recently verified passwords, so that a slow hash is not computed for every image of a page. Entries are
//! digests with a random key of this process, never passwords.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use super::password::PasswordCheck;
use base::cache::BoundedCache;

const VALIDITY: Duration = Duration::from_secs(60);
const MAX_ENTRIES: usize = 4096;

#[derive(Default)]
pub struct Verified {
    /// Two keys, because one digest has only 64 bits.
    keys: [RandomState; 2],
    since: RefCell<BoundedCache<[u64; 2], Instant, MAX_ENTRIES>>,
}

impl Verified {
    /// Whether the password was verified recently, with the same hash.
    pub fn knows(&self, check: &PasswordCheck) -> bool {
        self.since.borrow_mut().get(&self.digest(check)).is_some_and(|since| since.elapsed() < VALIDITY)
    }

    pub fn remember(&self, check: &PasswordCheck) {
        self.since.borrow_mut().put(self.digest(check), Instant::now());
    }

    fn digest(&self, PasswordCheck { user, password, hash, realm, .. }: &PasswordCheck) -> [u64; 2] {
        self.keys.each_ref().map(|key| key.hash_one((user, password, hash, realm)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_password_or_a_changed_hash_is_not_verified() {
        let check = |password: &[u8], hash: &str| PasswordCheck {
            user: "ana".to_owned(),
            password: password.to_owned(),
            hash: hash.to_owned(),
            realm: None,
            memory: 0,
            columns: Vec::new(),
        };
        let verified = Verified::default();
        verified.remember(&check(b"secret", "h"));
        assert!(verified.knows(&check(b"secret", "h")));
        assert!(!verified.knows(&check(b"secre", "th")) && !verified.knows(&check(b"secret", "i")));
    }
}

//! Who somebody is, by password files and hashes; what takes long is done on other threads, a few at once.

use std::time::Instant;

use tokio::sync::Semaphore;

use crate::access::{Asked, Attempt, Check, Proof, Users};
use crate::config::access::AccessRules;
use crate::front::base::blocking::{self, NoThread};

/// Slow hashes that are computed at once: whoever guesses passwords must not get all processors.
const HASHES_AT_ONCE: usize = 2;
/// Password files that are read at once: many requests may wait for the same.
const FILES_AT_ONCE: usize = 2;

pub struct Passwords {
    users: Users,
    hashing: Semaphore,
    reading: Semaphore,
}

impl Default for Passwords {
    fn default() -> Passwords {
        Passwords {
            users: Users::default(),
            hashing: Semaphore::new(HASHES_AT_ONCE),
            reading: Semaphore::new(FILES_AT_ONCE),
        }
    }
}

impl Passwords {
    /// Who somebody is; what takes long is done on another thread.
    pub async fn find_out(&self, rules: &AccessRules, asked: Asked<'_>) -> Result<Proof, NoThread> {
        let (mut asked, since) = (asked, Instant::now());
        loop {
            match self.users.attempt(rules, &asked, since) {
                Attempt::Settled(proof) => return Ok(proof),
                Attempt::Unread(_) => self.read(rules, &asked, since).await?,
                Attempt::Slow(check) => {
                    let is_right = self.compare(check.clone()).await?;
                    match self.users.settle(check, is_right) {
                        Ok(proven) => asked = proven,
                        Err(proof) => return Ok(proof),
                    }
                }
            }
        }
    }

    /// Reads the file that is needed, unless another request has read it while this one waited for its turn.
    async fn read(&self, rules: &AccessRules, asked: &Asked<'_>, since: Instant) -> Result<(), NoThread> {
        let _permit = self.reading.acquire().await;
        if let Attempt::Unread(reading) = self.users.attempt(rules, asked, since) {
            self.users.learn(blocking::run("read a password file", move || reading.take()).await?);
        }
        Ok(())
    }

    async fn compare(&self, check: Check) -> Result<bool, NoThread> {
        let _permit = self.hashing.acquire().await;
        blocking::run("compute a password's hash", move || check.is_right()).await
    }
}

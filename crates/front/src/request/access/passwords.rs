//! Authentication by password files, databases and hashes. Slow steps run on other threads, a few at once.

use std::time::Instant;

use crate::base::blocking::{self, NoThread};
use crate::base::databases;
use crate::base::fair::{Claimant, FairQueue};
use access::{AuthAttempt, AuthSubject, PasswordCheck, Proof, SqlAnswers, UserFileLook, UserFileReading, Users};
use config::access::AccessRules;
use config::access::hash_limits::DEFAULT;

/// Limits concurrent hash computations of all threads, so that password guessing cannot take all processors or memory.
/// A hash that needs more memory by LimitPasswordHash is computed alone.
static HASHING: FairQueue = FairQueue::new(2, DEFAULT.memory as usize);
/// Lets one password file be read at a time: many requests may wait for the same file.
static READING: FairQueue = FairQueue::new(1, 0);

#[derive(Default)]
pub struct Passwords {
    users: Users,
}

impl Passwords {
    /// Authenticates a user. Slow steps run on another thread, when it is the turn of `claimant`.
    pub async fn find_out(
        &self,
        rules: &AccessRules,
        asked: AuthSubject<'_>,
        claimant: &Claimant,
    ) -> Result<Proof, NoThread> {
        let (mut asked, since, mut answers) = (asked, Instant::now(), SqlAnswers::default());
        loop {
            match self.users.attempt(rules, &asked, since, &answers) {
                AuthAttempt::Settled(proof) => return Ok(proof),
                AuthAttempt::Unread(reading) => match glance(reading).await? {
                    Ok(look) => self.users.learn(look),
                    Err(_) => self.read(rules, &asked, (since, &answers), claimant).await?,
                },
                AuthAttempt::Unasked(question) => {
                    let answer = databases::ask(question.clone(), claimant).await?;
                    answers.add(question, answer);
                }
                AuthAttempt::Slow(check) => {
                    let is_right = compare(check.clone(), claimant).await?;
                    match self.users.settle(check, is_right) {
                        Ok(proven) => asked = proven,
                        Err(proof) => return Ok(proof),
                    }
                }
            }
        }
    }

    /// Reads the password file, unless another request has read it while this one waited for its turn.
    async fn read(
        &self,
        rules: &AccessRules,
        asked: &AuthSubject<'_>,
        (since, answers): (Instant, &SqlAnswers),
        claimant: &Claimant,
    ) -> Result<(), NoThread> {
        let turn = READING.turn(claimant.clone(), 0).await;
        if let AuthAttempt::Unread(reading) = self.users.attempt(rules, asked, since, answers) {
            let read = move || (reading.take(), turn);
            let (look, _turn) = blocking::run("read a password file", read).await?;
            self.users.learn(look);
        }
        Ok(())
    }
}

/// Checks whether the file has changed since it was read. This check needs no turn.
async fn glance(reading: UserFileReading) -> Result<Result<UserFileLook, UserFileReading>, NoThread> {
    blocking::run("look at a password file", move || reading.glance()).await
}

/// Compares the password's hash. The turn lasts until the computation ends, even if the client leaves earlier.
async fn compare(check: PasswordCheck, claimant: &Claimant) -> Result<bool, NoThread> {
    let turn = HASHING.turn(claimant.clone(), check.memory()).await;
    let computed = blocking::run("compute a password's hash", move || (check.is_right(), turn)).await?;
    Ok(computed.0)
}

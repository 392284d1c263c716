//! Authentication by password files, databases, hashes and directories. Slow steps run on other threads, a few at once.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::Semaphore;

use crate::base::blocking::{self, NoThread};
use crate::base::databases;
use crate::base::fair::{Claimant, FairQueue};
use access::{
    AuthAttempt, AuthSubject, DirectoryAnswer, DirectoryQuestion, DirectoryRequirement, PasswordCheck, Proof,
    RequirementQuery, SqlAnswers, User, UserFileLook, UserFileReading, Users,
};
use base::cache::BoundedCache;
use config::access::AccessRules;
use config::access::hash_limits::DEFAULT;

/// Limits concurrent hash computations of all threads, so that password guessing cannot take all processors or memory.
/// A hash that needs more memory by LimitPasswordHash is computed alone.
static HASHING: FairQueue = FairQueue::new(2, DEFAULT.memory as usize);
/// Lets one password file be read at a time: many requests may wait for the same file.
static READING: FairQueue = FairQueue::new(1, 0);

/// Limits the threads that wait for directories, so that hanging ones leave threads for files. A folder whose
/// directories hang gets the next turn after the other folders.
static ASKING: FairQueue = FairQueue::new(32, 0);
/// Maximum number of questions of a thread of the front to one directory at once.
const MAX_QUESTIONS: usize = 4;
/// Maximum number of directories whose questions are counted.
const MAX_DIRECTORIES: usize = 512;

#[derive(Default)]
pub struct Passwords {
    users: Users,
    turns: RefCell<BoundedCache<usize, Arc<Semaphore>, MAX_DIRECTORIES>>,
}

impl Passwords {
    /// Authenticates a user. Slow steps run on another thread, when it is the turn of `claimant`.
    pub async fn find_out(
        &self,
        rules: &AccessRules,
        subject: AuthSubject<'_>,
        claimant: &Claimant,
    ) -> Result<Proof, NoThread> {
        let (mut subject, since, mut answers) = (subject, Instant::now(), SqlAnswers::default());
        loop {
            let attempt = || self.users.attempt(rules, &subject, since, &answers);
            match attempt() {
                AuthAttempt::Settled(proof) => return Ok(proof),
                AuthAttempt::Unread(reading) => match glance(reading).await? {
                    Ok(look) => self.users.learn(look),
                    Err(_) => self.read(attempt, claimant).await?,
                },
                AuthAttempt::Unasked(question) => {
                    let answer = databases::ask(question.clone(), claimant).await?;
                    answers.add(question, answer);
                }
                AuthAttempt::Directory(question) => {
                    let answer = self.ask(&question, claimant).await?;
                    match self.users.conclude(rules, subject, &question, answer) {
                        Ok(next) => subject = next,
                        Err(proof) => return Ok(proof),
                    }
                }
                AuthAttempt::Slow(check) => {
                    let is_right = compare(check.clone(), claimant).await?;
                    match self.users.settle(check, is_right) {
                        Ok(proven) => subject = proven,
                        Err(proof) => return Ok(proof),
                    }
                }
            }
        }
    }

    /// Whether the user meets a requirement of the place's directory. The error is for the log.
    pub async fn meets(
        &self,
        rules: &AccessRules,
        user: Option<&User>,
        requirement: &RequirementQuery<'_>,
        claimant: &Claimant,
    ) -> Result<Result<bool, String>, NoThread> {
        match self.users.meets(rules, user, requirement) {
            DirectoryRequirement::Known(met) => Ok(Ok(met)),
            DirectoryRequirement::Misconfigured(why) => Ok(Err(why)),
            DirectoryRequirement::Open(question) => {
                let answer = self.ask(&question, claimant).await?;
                Ok(self.users.remember(&question, answer))
            }
        }
    }

    /// Asks a directory on another thread. The turn lasts until the directory has answered, even if the client leaves.
    async fn ask(
        &self,
        question: &DirectoryQuestion,
        claimant: &Claimant,
    ) -> Result<Result<DirectoryAnswer, String>, NoThread> {
        let make = || Arc::new(Semaphore::new(MAX_QUESTIONS));
        let turns = self.turns.borrow_mut().get_or_put(question.directory(), make);
        let own = turns.acquire_owned().await.map_err(|_| NoThread)?;
        let all = ASKING.turn(claimant.clone(), 0).await;
        let question = question.clone();
        let ask = move || (question.ask(), own, all);
        let (answer, ..) = blocking::run("ask a directory", ask).await?;
        Ok(answer)
    }

    /// Reads the password file, unless another request has read it while this one waited for its turn.
    async fn read(&self, attempt: impl Fn() -> AuthAttempt, claimant: &Claimant) -> Result<(), NoThread> {
        let turn = READING.turn(claimant.clone(), 0).await;
        if let AuthAttempt::Unread(reading) = attempt() {
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

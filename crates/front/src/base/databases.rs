//! Questions to databases, on other threads, a few at once: a database that hangs must not take all of them.

use super::blocking::{self, NoThread};
use super::fair::{Claimant, FairQueue};
use databases::{SqlQuestion, SqlRows};

/// Limits concurrent questions, and so the number of connections to a database.
static ASKING: FairQueue = FairQueue::new(8, 0);

/// Asks when it is the turn of `claimant`. The error of a database is for the log.
pub async fn ask(question: SqlQuestion, claimant: &Claimant) -> Result<Result<SqlRows, String>, NoThread> {
    let turn = ASKING.turn(claimant.clone(), 0).await;
    let ask = move || (databases::ask(&question), turn);
    let (answer, _turn) = blocking::run("ask a database", ask).await?;
    Ok(answer)
}

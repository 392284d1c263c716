//! Waits until the `.htaccess` files that a route needs are read.

use super::Routes;
use super::htaccess::Unread;
use crate::base::refusal::Refusal;
use base::path::BadPath;
use config::meter;

/// Why a route is not available.
#[derive(derive_more::From)]
pub enum NotYet {
    /// The route depends on `.htaccess` files that are not read yet.
    Unread(Unread),
    /// The path is malformed.
    Bad(BadPath),
    Refused(Refusal),
}

/// Maximum number of reads for one route, because files may change while they are read.
const MAX_TRIES: usize = 20;

/// Calls `ask` until it needs no unread `.htaccess` file. Other threads read the files.
pub async fn once_read<T>(routes: &Routes, ask: impl Fn() -> Result<T, NotYet>) -> Result<T, Refusal> {
    let Some(store) = &routes.overrides else { return refused(ask()) };
    let ask = || meter::stretch(&ask);
    for _ in 0..MAX_TRIES {
        match ask() {
            Err(NotYet::Unread(unread)) => {
                let turn = Box::pin(store.turn(&unread)).await;
                match ask() {
                    Err(NotYet::Unread(unread)) => Box::pin(store.read(unread, turn)).await?,
                    answer => return refused(answer),
                }
            }
            answer => return refused(answer),
        }
    }
    Err(Refusal::busy())
}

fn refused<T>(answer: Result<T, NotYet>) -> Result<T, Refusal> {
    answer.map_err(|not_yet| match not_yet {
        NotYet::Refused(refusal) => refusal,
        NotYet::Bad(bad) => bad.into(),
        NotYet::Unread(_) => Refusal::busy(),
    })
}

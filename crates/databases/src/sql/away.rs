//! Databases that could not be reached lately.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use config::access::Database;

/// Time for which a database is not tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// Maximum number of databases; a configuration has few.
const MAX_DATABASES: usize = 256;

type Failures = HashMap<Database, (Instant, String)>;

static AWAY: LazyLock<Mutex<Failures>> = LazyLock::new(Mutex::default);

/// Why a database is not tried now.
pub fn reason(database: &Database) -> Option<String> {
    let failures = lock();
    let (since, why) = failures.get(database)?;
    (since.elapsed() < PAUSE).then(|| format!("{why}; the next attempt is within {} s", PAUSE.as_secs()))
}

/// Records a failure.
pub fn remember(database: &Database, why: &str) {
    let mut failures = lock();
    failures.retain(|_, (since, _)| since.elapsed() < PAUSE);
    if failures.len() < MAX_DATABASES {
        failures.insert(database.clone(), (Instant::now(), why.to_owned()));
    }
}

fn lock() -> MutexGuard<'static, Failures> {
    AWAY.lock().unwrap_or_else(PoisonError::into_inner)
}

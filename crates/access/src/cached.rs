//! Hashes that providers have found, as httpd's mod_authn_socache stores them: a hash, never a password. All threads of
//! the process share them.

use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::user_files::HashQuery;
use base::cache::BoundedCache;
use config::access::{AccessRules, CacheContext};

/// Maximum number of hashes.
const MAX_HASHES: usize = 4096;
/// Maximum length of name, realm, path and hash together, in bytes.
const MAX_BYTES: usize = 2048;

/// The user of a hash, and the places for which it was found.
#[derive(PartialEq, Eq, Hash)]
struct CacheKey {
    context: CacheContext,
    /// Host for which the cached result is valid; `None`: any host.
    host: Option<u16>,
    path: Vec<u8>,
    folder: Option<PathBuf>,
    user: String,
    realm: Option<String>,
}

type Hashes = BoundedCache<CacheKey, (Instant, String), MAX_HASHES>;

static HASHES: LazyLock<Mutex<Hashes>> = LazyLock::new(Mutex::default);

/// The cached hash of a user.
pub fn hash_of(rules: &AccessRules, query: HashQuery<'_>) -> Option<String> {
    let key = CacheKey::of(rules, query)?;
    let mut hashes = lock();
    let (since, text) = hashes.get(&key)?;
    (since.elapsed() < rules.cache_timeout.0).then(|| text.clone())
}

/// Stores the hash of a user, which a provider has found.
pub fn remember(rules: &AccessRules, query: HashQuery<'_>, text: &str) {
    if let Some(key) = CacheKey::of(rules, query).filter(|key| key.size() + text.len() <= MAX_BYTES) {
        lock().put(key, (Instant::now(), text.to_owned()));
    }
}

/// When the configuration was read last: answers of directories before that count no more.
static READ: Mutex<Option<Instant>> = Mutex::new(None);

/// Removes all hashes and answers of directories, because the configuration was read again.
pub fn forget() {
    lock().clear();
    *READ.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

/// Whether an answer is of the current configuration.
pub fn is_current(since: Instant) -> bool {
    READ.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|read| since >= read)
}

impl CacheKey {
    fn of(rules: &AccessRules, query: HashQuery<'_>) -> Option<CacheKey> {
        let scope = query.scope?;
        let folder_of_path = || scope.path.iter().rposition(|byte| *byte == b'/').and_then(|end| scope.path.get(..end));
        let (host, path) = match &rules.cache_context {
            CacheContext::Directory => (Some(scope.host), folder_of_path().unwrap_or_default()),
            CacheContext::Server => (Some(scope.host), &b""[..]),
            CacheContext::Named(_) => (None, &b""[..]),
        };
        Some(CacheKey {
            context: rules.cache_context.clone(),
            host,
            path: path.to_vec(),
            folder: scope.folder.map(Into::into),
            user: query.user.to_owned(),
            realm: query.realm.map(str::to_owned),
        })
    }

    fn size(&self) -> usize {
        let folder = self.folder.as_ref().map_or(0, |folder| folder.as_os_str().len());
        self.user.len() + self.realm.as_ref().map_or(0, String::len) + self.path.len() + folder
    }
}

fn lock() -> MutexGuard<'static, Hashes> {
    HASHES.lock().unwrap_or_else(PoisonError::into_inner)
}

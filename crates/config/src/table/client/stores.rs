//! Stores that several servers share: limits of clients, cached responses.

use std::time::Duration;

use crate::draft::Draft;
use crate::model::store::{StoreKind, StoreUrl};
use crate::syntax::value;
use crate::table::row::{Row, SERVER, rows, word};

/// Longest `StoreTimeout`: what waits longer is better off without the store.
const MAX_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum length of `CacheKeyVersion`.
const MAX_VERSION: usize = 63;

pub static ROWS: &[Row] = rows![
    "cameleer.c",
    word("LimitStore", SERVER, "url|off", limit_store)
        .secret()
        .default("off", "one server needs no store, and only the site knows its own"),
    "SpeedLimit and MaxConcurrentReqs count the requests of all servers with the same store and prefix: \
     `redis://[user:password@]host[:port]`, `rediss://…` with TLS, `unix:/path`, with the parameters of \
     BroadcastTransport. While the store is away each server counts alone. No log and no status shows the password.",
    word("CacheStore", SERVER, "url|off", cache_store)
        .secret()
        .default("off", "the memory of one server is faster, and suffices for it"),
    "Servers with the same store, prefix and CacheKeyVersion share the responses that CacheEnable stores, and a purge \
     reaches all of them. The URL is that of LimitStore. While the store is away each server has its own responses.",
    word("StoreTimeout", SERVER, "duration", store_timeout)
        .default("5ms", "ten times what a store in the same data centre needs, and a tenth of what a visitor notices"),
    "Maximum time that a request waits for the store of LimitStore or CacheStore, 1ms to 10s. After it the request \
     goes on without the store, and so do all others until the store answers in time again.",
    word("CacheKeyVersion", SERVER, "word", cache_key_version)
        .because("a site that deploys new code while servers share responses must give it a new version"),
    "Servers use only those responses of CacheStore that a server with the same version has stored. Change it with each \
     release of the site whose pages differ: then old and new code do not exchange pages during a rolling deploy.",
];

/// A URL of Redis; `None` for `off`.
fn redis(url: &str) -> Result<Option<StoreUrl>, String> {
    if url.eq_ignore_ascii_case("off") {
        return Ok(None);
    }
    match StoreUrl::parse(url)? {
        store if store.kind == StoreKind::Redis => Ok(Some(store)),
        _ => Err("only Redis counts and caches for several servers; write redis://host".to_owned()),
    }
}

fn limit_store(draft: &mut Draft, url: &str) -> Result<(), String> {
    draft.config.stores.limits = redis(url)?;
    Ok(())
}

fn cache_store(draft: &mut Draft, url: &str) -> Result<(), String> {
    draft.config.stores.cache = redis(url)?;
    Ok(())
}

fn store_timeout(draft: &mut Draft, text: &str) -> Result<(), String> {
    let timeout = value::duration(text)?;
    if timeout.is_zero() || timeout > MAX_TIMEOUT {
        return Err(format!("expected 1ms to {}s, got \"{text}\"", MAX_TIMEOUT.as_secs()));
    }
    draft.config.stores.timeout = timeout;
    Ok(())
}

fn cache_key_version(draft: &mut Draft, word: &str) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if !(1..=MAX_VERSION).contains(&word.len()) || !word.bytes().all(is_plain) {
        return Err(format!("expected 1 to {MAX_VERSION} letters, digits and _-., got \"{word}\""));
    }
    word.clone_into(&mut draft.config.stores.cache_version);
    Ok(())
}

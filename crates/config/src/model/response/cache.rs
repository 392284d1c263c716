//! `CacheEnable` and the other directives of mod_cache: which responses of workers are cached.

use std::time::Duration;

use crate::model::merge::{append, keep, replace, settings};
use crate::syntax::value::network::Network;

settings! {
    /// Settings of one section. `None` and empty: not set, the outer value applies.
    #[derive(Clone, Default, PartialEq)]
    section struct PartialCaching {}

    /// Merged settings of a request.
    #[derive(Clone, Default, PartialEq)]
    merged struct Caching {}

    /// `CacheEnable` and `CacheDisable on` without a path: applies to the section that contains the directive.
    here: Option<bool> => Option<bool>, keep;
    /// `CacheEnable /path`, without a trailing slash.
    enabled: Vec<String> => Vec<String>, append;
    /// `CacheDisable /path`
    disabled: Vec<String> => Vec<String>, append;
    /// `CacheDefaultExpire`
    default_expire: Option<Duration> => Duration, replace;
    /// `CacheMinExpire`
    min_expire: Option<Duration> => Duration, replace;
    /// `CacheMaxExpire`
    max_expire: Option<Duration> => Duration, replace;
    /// `CacheLastModifiedFactor`
    last_modified_factor: Option<f64> => f64, replace;
    /// `CacheIgnoreNoLastMod`
    ignores_no_last_modified: Option<bool> => bool, replace;
    /// `CacheIgnoreCacheControl`
    ignores_cache_control: Option<bool> => bool, replace;
    /// `CacheIgnoreHeaders`, in lower case.
    ignored_headers: Option<Vec<String>> => Vec<String>, replace;
    /// `CacheIgnoreQueryString`
    ignores_query: Option<bool> => bool, replace;
    /// `CacheIgnoreURLSessionIdentifiers`
    ignored_identifiers: Option<Vec<String>> => Vec<String>, replace;
    /// `CacheStoreExpired`
    stores_expired: Option<bool> => bool, replace;
    /// `CacheStaleOnError`
    stale_on_error: Option<bool> => bool, replace;
    /// `CacheLock`
    lock: Option<bool> => bool, replace;
    /// `CacheLockMaxAge`
    lock_max_age: Option<Duration> => Duration, replace;
    /// `CacheSocacheMaxSize`: maximum size of one response in bytes.
    largest: Option<u64> => u64, replace;
    /// `CachePurgeFrom`; `None`: a PURGE request is handled as any other.
    purge_from: Option<Option<Vec<Network>>> => Option<Vec<Network>>, replace;
    /// `CacheHeader`
    header: Option<bool> => bool, replace;
    /// `CacheDetailHeader`
    detail_header: Option<bool> => bool, replace;
}

impl PartialCaching {
    /// Whether the section enables the cache somewhere.
    pub fn enables(&self) -> bool {
        self.here == Some(true) || !self.enabled.is_empty()
    }
}

impl Caching {
    /// Whether responses for `path` may be cached. As in httpd, `CacheDisable /path` takes precedence. In doubt nothing
    /// is cached: `CacheDisable` matches any prefix, `CacheEnable` only whole segments.
    pub fn is_on(&self, path: &[u8]) -> bool {
        let is_disabled = || self.disabled.iter().any(|prefix| path.starts_with(prefix.as_bytes()));
        let is_enabled = || self.enabled.iter().any(|prefix| is_below(path, prefix.as_bytes()));
        self.here.unwrap_or_else(is_enabled) && !is_disabled()
    }
}

fn is_below(path: &[u8], prefix: &[u8]) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_doubt_nothing_is_cached() {
        let paths = |enabled: &[&str], disabled: &[&str], here| Caching {
            enabled: enabled.iter().map(|path| (*path).to_owned()).collect(),
            disabled: disabled.iter().map(|path| (*path).to_owned()).collect(),
            here,
            ..Caching::default()
        };
        for (caching, path, on) in [
            (paths(&[], &[], None), "/a", false),
            (paths(&[""], &[], None), "/a", true),
            (paths(&["/a"], &[], None), "/a/b", true),
            (paths(&["/a"], &[], None), "/ab", false),
            (paths(&[""], &["/a"], None), "/ab", false),
            (paths(&[""], &[], Some(false)), "/a", false),
            (paths(&[], &[], Some(true)), "/a", true),
            (paths(&[], &["/a"], Some(true)), "/a", false),
        ] {
            assert_eq!(caching.is_on(path.as_bytes()), on, "{caching:?} {path}");
        }
    }
}

//! Directives of mod_cache: responses of workers that are stored in memory for later requests.

use crate::draft::Draft;
use crate::syntax::value;
use crate::syntax::value::network::Network;
use crate::table::row::{ANYWHERE, MANY, Row, SERVER, duration, flag, rows, size, word, words};

/// Minimum CacheSize in bytes; a smaller cache would store a page or two.
const MIN_CACHE_BYTES: u64 = 64 << 10;

pub static ROWS: &[Row] = rows![
    "mod_cache.c",
    words("CacheEnable", ANYWHERE, "[memory] [path]", 0..=2, cache_enable)
        .because("only the site knows which of its pages are public"),
    "Stores responses of programs to GET requests below this path, or of the enclosing section, in memory for as long \
     as their headers allow (RFC 9111). Access rules are checked first. Where Perl handlers of earlier phases run \
     (PerlAccessHandler and others) nothing is stored. httpd's other cache types mean memory, too.",
    word("CacheDisable", ANYWHERE, "path|On", cache_disable).because("see CacheEnable"),
    "Never stores responses for paths with this prefix, regardless of CacheEnable; On: of the enclosing section.",
    word("CacheSize", SERVER, "size", cache_size)
        .of("cameleer.c")
        .default("64M", "memory of the front, shared by all its threads: a thousand pages of 64K"),
    "Maximum memory of all stored responses, including their headers and index entries. The least recently used are \
     removed first.",
    size("CacheSocacheMaxSize", ANYWHERE, |d, size| d.settings().caching.largest = Some(size))
        .of("mod_cache_socache.c")
        .default("1M", "larger responses are downloads, which would displace all pages"),
    "Maximum size of a stored response, including its headers.",
    duration("CacheDefaultExpire", ANYWHERE, |d, time| d.settings().caching.default_expire = Some(time))
        .default("1h", "httpd's default"),
    "Freshness lifetime of a response with an ETag and without an explicit lifetime. A response with neither \
     Last-Modified nor ETag nor lifetime is not stored (CacheIgnoreNoLastMod), nor is the response to a request with a \
     query or a cookie.",
    duration("CacheMinExpire", ANYWHERE, |d, time| d.settings().caching.min_expire = Some(time))
        .default("0s", "httpd's default"),
    "Minimum freshness lifetime of a response without an explicit lifetime.",
    duration("CacheMaxExpire", ANYWHERE, |d, time| d.settings().caching.max_expire = Some(time))
        .default("24h", "httpd's default"),
    "Maximum freshness lifetime, regardless of the headers of the response.",
    word("CacheLastModifiedFactor", ANYWHERE, "factor (0 to 1)", last_modified_factor)
        .default("0.1", "httpd's default, and the suggestion of RFC 9111"),
    "Freshness lifetime of a response with Last-Modified and without an explicit lifetime, as a fraction of its age.",
    flag("CacheIgnoreNoLastMod", ANYWHERE, |d, on| d.settings().caching.ignores_no_last_modified = Some(on))
        .default("Off", "a response without any such header was most likely made for one request"),
    "Also stores responses with neither Last-Modified nor ETag nor lifetime, for CacheDefaultExpire.",
    flag("CacheIgnoreCacheControl", ANYWHERE, |d, on| d.settings().caching.ignores_cache_control = Some(on))
        .default("Off", "httpd's default: a reload in the browser reaches the program"),
    "Serves stored responses even to clients that ask for a newer one (Cache-Control, Pragma).",
    words("CacheIgnoreHeaders", ANYWHERE, "name…|None", 1..=MANY, cache_ignore_headers)
        .default("None", "a response is stored as a whole, or not at all"),
    "Headers that are not stored with a response. With Set-Cookie among them, responses that set cookies are stored \
     without those headers; otherwise they are not stored.",
    flag("CacheIgnoreQueryString", ANYWHERE, |d, on| d.settings().caching.ignores_query = Some(on))
        .default("Off", "programs usually answer each query differently"),
    "Serves the same response to requests that differ only in their query.",
    words("CacheIgnoreURLSessionIdentifiers", ANYWHERE, "name…|None", 1..=MANY, cache_ignore_identifiers)
        .default("None", "see CacheIgnoreQueryString"),
    "Parameters of the query, and of the path after a semicolon, that are ignored when a stored response is looked up.",
    flag("CacheStoreExpired", ANYWHERE, |d, on| d.settings().caching.stores_expired = Some(on))
        .default("Off", "httpd's default: a response that must be revalidated each time is not worth its memory"),
    "Also stores responses that are stale at once, if they have an ETag or Last-Modified. Each request revalidates \
     them with the program.",
    flag("CacheStaleOnError", ANYWHERE, |d, on| d.settings().caching.stale_on_error = Some(on))
        .default("On", "an old page is better than an error"),
    "When the program fails (500, 502, 503, 504), clients get the stale response, unless its headers forbid it \
     (must-revalidate, …) or limit the time (stale-if-error).",
    flag("CacheLock", ANYWHERE, |d, on| d.settings().caching.lock = Some(on))
        .default("On", "one worker makes a page as well as ten; httpd's default is Off because its locks are files"),
    "Of several requests for the same missing response, one goes to a worker; the others wait for its response.",
    duration("CacheLockMaxAge", ANYWHERE, |d, time| d.settings().caching.lock_max_age = Some(time))
        .default("5s", "httpd's default"),
    "Maximum wait because of CacheLock; after it the request goes to a worker.",
    words("CachePurgeFrom", ANYWHERE, "network…|None", 1..=MANY, cache_purge_from)
        .of("cameleer.c")
        .because("a purge makes the programs work again: the site must name its clients"),
    "A PURGE request from one of these addresses or networks removes all stored responses for its URL. From others, or \
     through a proxy that RemoteIP… does not list, it is answered 403. Without this directive, PURGE is passed to the \
     program.",
    flag("CacheHeader", ANYWHERE, |d, on| d.settings().caching.header = Some(on))
        .default("Off", "only the administrator needs it, and the log has it"),
    "Adds the header X-Cache to responses: HIT, MISS, REVALIDATE or INVALIDATE.",
    flag("CacheDetailHeader", ANYWHERE, |d, on| d.settings().caching.detail_header = Some(on))
        .default("Off", "see CacheHeader"),
    "Adds the header X-Cache-Detail with the reason for the cache's decision, as %{cache-status}e in the log.",
];

/// `CacheEnable [memory] [path]`
fn cache_enable(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    const TYPES: [&str; 5] = ["memory", "mem", "socache", "disk", "fd"];
    let (kind, path) = match args {
        [path] if path.starts_with('/') => (None, Some(path)),
        [kind] => (Some(kind), None),
        [kind, path, ..] => (Some(kind), Some(path)),
        [] => (None, None),
    };
    if let Some(kind) = kind.filter(|kind| !TYPES.iter().any(|known| kind.eq_ignore_ascii_case(known))) {
        return Err(format!("expected memory, or a path that begins with a slash, got \"{kind}\""));
    }
    if kind.is_some_and(|kind| ["disk", "fd"].iter().any(|other| kind.eq_ignore_ascii_case(other))) {
        draft.warn("type is ignored: responses are stored in memory, up to CacheSize");
    }
    match path {
        None if !draft.is_in_container() => Err("expected a path, for instance `CacheEnable memory /`".to_owned()),
        None => {
            draft.settings().caching.here = Some(true);
            Ok(())
        }
        Some(path) => {
            let path = cache_path(path)?.trim_end_matches('/').to_owned();
            draft.settings().caching.enabled.push(path);
            Ok(())
        }
    }
}

/// `CacheDisable path|On`
fn cache_disable(draft: &mut Draft, word: &str) -> Result<(), String> {
    if !word.eq_ignore_ascii_case("on") {
        let path = cache_path(word)?.to_owned();
        draft.settings().caching.disabled.push(path);
    } else if !draft.is_in_container() {
        return Err("expected a path, for instance `CacheDisable /private`: On is allowed only in a section".to_owned());
    } else {
        draft.settings().caching.here = Some(false);
    }
    Ok(())
}

fn cache_path(text: &str) -> Result<&str, String> {
    match text.starts_with('/') {
        true => Ok(text),
        false => Err(format!("expected a path that begins with a slash, got \"{text}\": other servers are not cached")),
    }
}

/// `CacheSize 64M`
fn cache_size(draft: &mut Draft, text: &str) -> Result<(), String> {
    let size = value::size(text)?;
    if size < MIN_CACHE_BYTES {
        return Err(format!("expected at least 64K, got \"{text}\": a bare number is bytes"));
    }
    draft.config.cache_size = size;
    Ok(())
}

/// `CacheLastModifiedFactor 0.1`
fn last_modified_factor(draft: &mut Draft, text: &str) -> Result<(), String> {
    let factor = text.parse().ok().filter(|factor| (0.0..=1.0).contains(factor));
    let factor: f64 = factor.ok_or_else(|| format!("expected a number from 0 to 1, got \"{text}\""))?;
    draft.settings().caching.last_modified_factor = Some(factor);
    Ok(())
}

/// `CacheIgnoreHeaders name…|None`
fn cache_ignore_headers(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    draft.settings().caching.ignored_headers = Some(unless_none(names).map(|name| name.to_ascii_lowercase()).collect());
    Ok(())
}

/// `CacheIgnoreURLSessionIdentifiers name…|None`
fn cache_ignore_identifiers(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    draft.settings().caching.ignored_identifiers = Some(unless_none(names).cloned().collect());
    Ok(())
}

/// `CachePurgeFrom 127.0.0.1 10.0.0.0/8`, `CachePurgeFrom None`
fn cache_purge_from(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let network = |word: &String| {
        let wrong = || Err(format!("expected addresses or networks like 10.0.0.0/8, or None, got \"{word}\""));
        Network::parse(word).unwrap_or_else(wrong)
    };
    let networks: Vec<Network> = unless_none(words).map(network).collect::<Result<_, _>>()?;
    draft.settings().caching.purge_from = Some((!networks.is_empty()).then_some(networks));
    Ok(())
}

fn unless_none(names: &[String]) -> impl Iterator<Item = &String> {
    names.iter().filter(|name| !name.eq_ignore_ascii_case("none"))
}

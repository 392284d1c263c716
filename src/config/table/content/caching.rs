//! Which answers of workers are kept in memory for later requests: mod_cache's directives.

use crate::config::draft::Draft;
use crate::config::model::access::Network;
use crate::config::syntax::value;
use crate::config::table::row::{ANYWHERE, MANY, ROW, Row, SERVER, Takes};

/// A smaller cache would hold a page or two.
const LEAST: u64 = 64 << 10;

pub static ROWS: &[Row] = &[
    Row {
        name: "CacheEnable",
        contexts: ANYWHERE,
        takes: Takes::Words("[memory] [path]", 0..=2, cache_enable),
        because: "only the site knows which of its pages are for everybody",
        about: "Answers of programs to GET requests below this path, or of the section where it stands, are kept in memory as long as their \
            headers allow (RFC 9111). The access rules of the place are checked first. Where Perl handlers of phases before the answer \
            run (PerlAccessHandler and others) nothing is kept. httpd's other types of caches mean memory, too.",
        ..ROW
    },
    Row {
        name: "CacheDisable",
        contexts: ANYWHERE,
        takes: Takes::Word("path|On", cache_disable),
        because: "see CacheEnable",
        about: "Nothing is kept of answers for paths that begin so, whatever CacheEnable says; On: of the section where it stands.",
        ..ROW
    },
    Row {
        name: "CacheSize",
        contexts: SERVER,
        takes: Takes::Word("size", cache_size),
        default: Some("64M"),
        because: "it is memory of the front, which all its threads share; a thousand pages of 64K",
        about: "How much memory all answers that are kept may take, with their headers and what it takes to find them. Those that were asked \
            for least recently give way.",
        ..ROW
    },
    Row {
        name: "CacheSocacheMaxSize",
        contexts: ANYWHERE,
        takes: Takes::Size(|d, size| d.said().caching.largest = Some(size)),
        default: Some("1M"),
        because: "larger answers are downloads, which would drive all pages out",
        about: "A larger answer, headers included, is not kept.",
        ..ROW
    },
    Row {
        name: "CacheDefaultExpire",
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().caching.default_expire = Some(time)),
        default: Some("1h"),
        because: "httpd's",
        about: "How long an answer stays fresh that has an ETag and says nothing of that itself. One with neither Last-Modified nor ETag nor \
            a time is not kept (CacheIgnoreNoLastMod), nor one to a request with a query or a cookie.",
        ..ROW
    },
    Row {
        name: "CacheMinExpire",
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().caching.min_expire = Some(time)),
        default: Some("0s"),
        because: "httpd's",
        about: "The least that an answer stays fresh that says nothing of that itself.",
        ..ROW
    },
    Row {
        name: "CacheMaxExpire",
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().caching.max_expire = Some(time)),
        default: Some("24h"),
        because: "httpd's",
        about: "After this time the program is asked again, whatever its answer has said.",
        ..ROW
    },
    Row {
        name: "CacheLastModifiedFactor",
        contexts: ANYWHERE,
        takes: Takes::Word("factor (0 to 1)", last_modified_factor),
        default: Some("0.1"),
        because: "httpd's, and what RFC 9111 suggests",
        about: "An answer with a Last-Modified that says nothing of its freshness stays fresh for this part of its age.",
        ..ROW
    },
    Row {
        name: "CacheIgnoreNoLastMod",
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().caching.ignores_no_last_modified = Some(on)),
        default: Some("Off"),
        because: "what says nothing at all was most likely made for one request",
        about: "Answers with neither Last-Modified nor ETag nor a time are kept as well, for CacheDefaultExpire.",
        ..ROW
    },
    Row {
        name: "CacheIgnoreCacheControl",
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().caching.ignores_cache_control = Some(on)),
        default: Some("Off"),
        because: "httpd's: a reload in the browser asks the program",
        about: "Clients get what is kept though they ask for a newer answer (Cache-Control, Pragma).",
        ..ROW
    },
    Row {
        name: "CacheIgnoreHeaders",
        contexts: ANYWHERE,
        takes: Takes::Words("name…|None", 1..=MANY, cache_ignore_headers),
        default: Some("None"),
        because: "an answer is kept whole, or not at all",
        about: "Headers that are not kept with an answer. With Set-Cookie among them, answers that set cookies are kept without them; \
            otherwise they are not kept.",
        ..ROW
    },
    Row {
        name: "CacheIgnoreQueryString",
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().caching.ignores_query = Some(on)),
        default: Some("Off"),
        because: "programs answer other queries otherwise",
        about: "Requests that differ in their query only get the same answer.",
        ..ROW
    },
    Row {
        name: "CacheIgnoreURLSessionIdentifiers",
        contexts: ANYWHERE,
        takes: Takes::Words("name…|None", 1..=MANY, cache_ignore_identifiers),
        default: Some("None"),
        because: "see CacheIgnoreQueryString",
        about: "Parameters of the query, and of the path behind a semicolon, in which requests may differ and get the same answer.",
        ..ROW
    },
    Row {
        name: "CacheStoreExpired",
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().caching.stores_expired = Some(on)),
        default: Some("Off"),
        because: "httpd's: memory for what must be asked for each time",
        about: "Answers that are stale at once are kept as well when they have an ETag or a Last-Modified; the program is asked each time \
            whether they are still right.",
        ..ROW
    },
    Row {
        name: "CacheStaleOnError",
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().caching.stale_on_error = Some(on)),
        default: Some("On"),
        because: "an old page is better than none",
        about: "When the program fails (500, 502, 503, 504), clients get the stale answer, unless that forbids it (must-revalidate, …) or \
            says for how long it may (stale-if-error).",
        ..ROW
    },
    Row {
        name: "CacheLock",
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().caching.lock = Some(on)),
        default: Some("On"),
        because: "one worker makes a page as well as ten; in httpd it is Off because its locks are files",
        about: "Of several requests for an answer that is not there, one goes to a worker; the others wait for its answer.",
        ..ROW
    },
    Row {
        name: "CacheLockMaxAge",
        contexts: ANYWHERE,
        takes: Takes::Duration(|d, time| d.said().caching.lock_max_age = Some(time)),
        default: Some("5s"),
        because: "httpd's",
        about: "Who has waited so long by CacheLock goes to a worker himself.",
        ..ROW
    },
    Row {
        name: "CachePurgeFrom",
        contexts: ANYWHERE,
        takes: Takes::Words("network…|None", 1..=MANY, cache_purge_from),
        because: "who may make the cache forget makes the programs work",
        about: "A request PURGE from one of these addresses or networks makes the cache forget all answers of the address that it is sent to; from \
            others, or through a proxy that RemoteIP… does not name, it is answered 403. Without this, PURGE is for the program.",
        ..ROW
    },
    Row {
        name: "CacheHeader",
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().caching.header = Some(on)),
        default: Some("Off"),
        because: "it is nobody's business but the administrator's, who has the log",
        about: "Answers say in X-Cache what the cache did: HIT, MISS, REVALIDATE or INVALIDATE.",
        ..ROW
    },
    Row {
        name: "CacheDetailHeader",
        contexts: ANYWHERE,
        takes: Takes::Flag(|d, on| d.said().caching.detail_header = Some(on)),
        default: Some("Off"),
        because: "see CacheHeader",
        about: "Answers say in X-Cache-Detail why the cache did what it did, as the log does by %{cache-status}e.",
        ..ROW
    },
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
        draft.warn("answers are kept in memory here, as much as CacheSize allows");
    }
    match path {
        None if draft.is_outside_containers() => Err("expected a path, for instance `CacheEnable memory /`".to_owned()),
        None => {
            draft.said().caching.here = Some(true);
            Ok(())
        }
        Some(path) => {
            let path = cache_path(path)?.trim_end_matches('/').to_owned();
            draft.said().caching.enabled.push(path);
            Ok(())
        }
    }
}

/// `CacheDisable path|On`
fn cache_disable(draft: &mut Draft, word: &str) -> Result<(), String> {
    if !word.eq_ignore_ascii_case("on") {
        let path = cache_path(word)?.to_owned();
        draft.said().caching.disabled.push(path);
    } else if draft.is_outside_containers() {
        return Err("expected a path, for instance `CacheDisable /private`; On stands in a section".to_owned());
    } else {
        draft.said().caching.here = Some(false);
    }
    Ok(())
}

fn cache_path(text: &str) -> Result<&str, String> {
    match text.starts_with('/') {
        true => Ok(text),
        false => Err(format!("expected a path that begins with a slash, got \"{text}\": other servers are not asked")),
    }
}

/// `CacheSize 64M`
fn cache_size(draft: &mut Draft, text: &str) -> Result<(), String> {
    let size = value::size(text)?;
    if size < LEAST {
        return Err(format!("expected at least 64K, got \"{text}\": a bare number is bytes"));
    }
    draft.config.cache_size = size;
    Ok(())
}

/// `CacheLastModifiedFactor 0.1`
fn last_modified_factor(draft: &mut Draft, text: &str) -> Result<(), String> {
    let factor = text.parse().ok().filter(|factor| (0.0..=1.0).contains(factor));
    let factor: f64 = factor.ok_or_else(|| format!("expected a number from 0 to 1, got \"{text}\""))?;
    draft.said().caching.last_modified_factor = Some(factor);
    Ok(())
}

/// `CacheIgnoreHeaders name…|None`
fn cache_ignore_headers(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    draft.said().caching.ignored_headers = Some(unless_none(names).map(|name| name.to_ascii_lowercase()).collect());
    Ok(())
}

/// `CacheIgnoreURLSessionIdentifiers name…|None`
fn cache_ignore_identifiers(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    draft.said().caching.ignored_identifiers = Some(unless_none(names).cloned().collect());
    Ok(())
}

/// `CachePurgeFrom 127.0.0.1 10.0.0.0/8`, `CachePurgeFrom None`
fn cache_purge_from(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let network = |word: &String| {
        let wrong = || Err(format!("expected addresses or networks like 10.0.0.0/8, or None, got \"{word}\""));
        Network::parse(word).unwrap_or_else(wrong)
    };
    let networks: Vec<Network> = unless_none(words).map(network).collect::<Result<_, _>>()?;
    draft.said().caching.purge_from = Some((!networks.is_empty()).then_some(networks));
    Ok(())
}

fn unless_none(names: &[String]) -> impl Iterator<Item = &String> {
    names.iter().filter(|name| !name.eq_ignore_ascii_case("none"))
}

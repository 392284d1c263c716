//! The forward proxy (mod_proxy).

use std::ops::RangeInclusive;

use super::section_url;
use crate::draft::Draft;
use crate::model::proxy::forward::{DirectHost, ProxyRemote, RemoteFrom};
use crate::model::proxy::{BackendAddress, BackendScheme, BackendUrl};
use crate::table::row::{HOSTS, MANY, Row, flag, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_proxy.c",
    flag("ProxyRequests", HOSTS, |d, on| {
        let at = d.at.clone();
        let forward = &mut d.settings().proxy.forward;
        (forward.on, forward.at) = (Some(on), Some(at));
    })
    .default("off", "strangers abuse an open proxy"),
    "Forwards requests whose target is a URL of another server, `GET http://example.org/ HTTP/1.1` \
     (docs/operating/forward-proxy.md). `<Proxy>` restricts who may do that. Only http:// is forwarded, and CONNECT to the ports of AllowCONNECT.",
    words("ProxyBlock", HOSTS, "*|word…", 1..=MANY, block).because("`<Proxy>` decides which URLs are allowed"),
    "Answers 403 instead of passing a request to a host whose name contains the word, also to members of balancers; `*` \
     blocks all. A word that is an IP address blocks also names that lead to it, unless another proxy looks them up.",
    words("ProxyRemote", HOSTS, "*|URL proxy", 2..=2, remote).because("the server connects to other servers itself"),
    "Sends forwarded requests for URLs that begin with URL to another proxy, http://host:port. Requests of ProxyPass are not \
     sent there.",
    words("ProxyRemoteMatch", HOSTS, "regex proxy", 2..=2, remote_match).because("see ProxyRemote"),
    "As ProxyRemote, for URLs that match the regular expression.",
    words("NoProxy", HOSTS, "domain|network|address|host…", 1..=MANY, |d, words| {
        let hosts: Result<Vec<DirectHost>, String> = words.iter().map(|word| DirectHost::parse(word)).collect();
        d.settings().proxy.forward.direct.extend(hosts?);
        Ok(())
    })
    .because("see ProxyRemote"),
    "Servers that this server asks itself and not through ProxyRemote: `.example.com` with all its hosts, networks such as \
     `192.168` and `10.0.0.0/8`, addresses, names. For a network the names of other servers are looked up.",
    word("ProxyDomain", HOSTS, ".domain", domain).because("names without a domain are looked up as they are"),
    "Redirects GET and HEAD of a host without a domain, `http://www/`, to the same host in this domain, \
     `http://www.example.com/`. The domain begins with a dot.",
    words("AllowCONNECT", HOSTS, "port|first-last…", 1..=MANY, connect)
        .of("mod_proxy_connect.c")
        .because("without a line 443 and 563, the ports of https and of news over TLS, as in httpd"),
    "Ports of other servers to which clients of the forward proxy may connect: `CONNECT example.org:443`. Without \
     ProxyRequests On CONNECT is refused.",
];

/// `AllowCONNECT port|first-last…`
fn connect(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let ports: Result<Vec<RangeInclusive<u16>>, String> = words.iter().map(|word| ports(word)).collect();
    draft.settings().proxy.forward.connect.extend(ports?);
    Ok(())
}

/// `443`, `8000-8443`
fn ports(word: &str) -> Result<RangeInclusive<u16>, String> {
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0 && !text.starts_with('+'));
    let (first, last) = word.split_once('-').unwrap_or((word, word));
    match (port(first), port(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(format!("expected a port from 1 to 65535 or two with a hyphen between them, got \"{word}\"")),
    }
}

/// `ProxyBlock *|word…`
fn block(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let words = words.iter().map(|word| word.to_ascii_lowercase());
    draft.settings().proxy.forward.blocked.extend(words);
    Ok(())
}

/// `ProxyRemote *|URL proxy`
fn remote(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [from, to] = args else { return Ok(()) };
    let from = match section_url::canonical(from) {
        all if all == "*" => RemoteFrom::All,
        begin => RemoteFrom::Begin(begin),
    };
    add_remote(draft, from, to)
}

/// `ProxyRemoteMatch regex proxy`
fn remote_match(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [regex, to] = args else { return Ok(()) };
    let from = RemoteFrom::Match(draft.pattern(regex)?);
    add_remote(draft, from, to)
}

/// `ProxyDomain .domain`
fn domain(draft: &mut Draft, word: &str) -> Result<(), String> {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !word.starts_with('.') || word.len() < 2 || !word.bytes().all(is_usual) {
        return Err(format!("expected a domain that begins with a dot, got \"{word}\""));
    }
    draft.settings().proxy.forward.domain = Some(word.to_ascii_lowercase());
    Ok(())
}

fn add_remote(draft: &mut Draft, from: RemoteFrom, to: &str) -> Result<(), String> {
    let to = BackendUrl::parse(to)?;
    if to.scheme != BackendScheme::Http || !matches!(to.address, BackendAddress::Tcp(..)) {
        return Err(format!("expected a proxy of the form http://host:port, got {to}"));
    }
    let at = draft.at.clone();
    draft.settings().proxy.forward.remotes.push(ProxyRemote { from, to, at });
    Ok(())
}

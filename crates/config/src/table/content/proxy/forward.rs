//! The forward proxy (mod_proxy).

use std::ops::RangeInclusive;

use super::section_url;
use crate::draft::Draft;
use crate::model::proxy::forward::ProxyRemote;
use crate::model::proxy::{BackendAddress, BackendScheme, BackendUrl};
use crate::table::row::{HOSTS, MANY, Row, flag, rows, words};

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
    let to = BackendUrl::parse(to)?;
    if to.scheme != BackendScheme::Http || !matches!(to.address, BackendAddress::Tcp(..)) {
        return Err(format!("expected a proxy of the form http://host:port, got {to}"));
    }
    let (from, at) = (section_url::canonical(from), draft.at.clone());
    draft.settings().proxy.forward.remotes.push(ProxyRemote { from, to, at });
    Ok(())
}

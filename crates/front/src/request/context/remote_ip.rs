//! The client's address behind proxies. The list of addresses is read from its end, as long as trusted proxies added
//! the entries.
//! Only bytes behind an entry decide where it begins, so a client's text cannot hide a proxy's entry.

use std::cell::OnceCell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;

use super::RequestContext;
use super::forwarded::{self, Entries};
use super::unique_id;
use crate::base::address::Address;
use crate::base::changed_headers::ChangedHeaders;
use crate::routing::Route;
use config::remote_ip::RemoteIp;

/// The client according to trusted proxies.
#[derive(Debug, PartialEq, Eq)]
struct ForwardedClient {
    address: Address,
    /// The changed headers: the list without the entries read, and the header that names trusted proxies.
    headers: ChangedHeaders,
    /// Number of entries taken off the list.
    believed: usize,
}

/// The id of a request in the header that `RequestIDHeader` names.
#[derive(Debug)]
struct RequestIdentity {
    id: String,
    /// The changed headers, also those of [`ForwardedClient`]; `None`: a proxy's id is retained, and no other changes.
    headers: Option<ChangedHeaders>,
}

/// Facts that trusted proxies report about a request's client.
#[derive(Default, Clone)]
pub struct ProxyReport {
    /// The client that a trusted proxy names.
    client: OnceCell<Rc<ForwardedClient>>,
    /// Whether the client uses TLS, if a proxy reports it.
    is_secure: OnceCell<bool>,
    /// With `RequestIDHeader`: the id of the request, and the headers with it.
    identity: OnceCell<Rc<RequestIdentity>>,
}

/// Determines address and protocol once per request, by the rules of the host that `route` leads to.
pub fn settle(context: &RequestContext, head: &Parts, route: &Route) {
    let rules = &context.generation.config.hosts[usize::from(route.host)].remote_ip;
    if rules.header.is_some()
        && context.proxies.client.get().is_none()
        && let Some(forwarded) = find(rules, &context.client.remote, &head.headers)
    {
        // Cannot fail: the cell was empty in the condition above.
        let _ = context.proxies.client.set(Rc::new(forwarded));
    }
    if rules.proto_header.is_some()
        && context.proxies.is_secure.get().is_none()
        && let Some(secure) = is_secure(rules, context, &head.headers)
    {
        // Cannot fail: the cell was empty in the condition above.
        let _ = context.proxies.is_secure.set(secure);
    }
    if let Some(name) = rules.request_id_header.as_deref().and_then(|name| HeaderName::from_bytes(name.as_bytes()).ok())
        && context.proxies.identity.get().is_none()
    {
        // Cannot fail: the cell was empty in the condition above.
        let _ = context.proxies.identity.set(Rc::new(identify(rules, context, &head.headers, name)));
    }
}

/// The id that a listed proxy has sent, or the server's own. A PROXY header names the client, which sets no id: the
/// address that has connected must be listed.
fn identify(rules: &RemoteIp, context: &RequestContext, headers: &HeaderMap, name: HeaderName) -> RequestIdentity {
    let forwarded = context.proxies.client.get().map(|client| &client.headers);
    let is_listed = rules.lists(context.client.peer());
    let sent = is_listed.then(|| unique_id::sent_by_proxy(headers, &name)).flatten();
    match sent {
        Some(id) => RequestIdentity { id: id.to_owned(), headers: forwarded.cloned() },
        None => {
            let id = context.unique_id();
            let own = (name, HeaderValue::from_str(&id).ok());
            let headers = forwarded.cloned().unwrap_or_default().and(own);
            RequestIdentity { id, headers: Some(headers) }
        }
    }
}

/// Whether the client uses TLS, according to the trusted proxy nearest to the client. Each proxy appends a word to the
/// header, or leaves it unchanged.
fn is_secure(rules: &RemoteIp, context: &RequestContext, headers: &HeaderMap) -> Option<bool> {
    let name = HeaderName::from_bytes(rules.proto_header.as_deref()?.as_bytes()).ok()?;
    if !rules.lists(context.client.remote.ip_addr()) {
        return None;
    }
    let list = joined(headers, &name);
    let believed = context.proxies.client.get().map_or(1, |forwarded| forwarded.believed);
    // There may be fewer words than proxies, if one left the header unchanged.
    // Empty list elements are skipped (RFC 9110, section 5.6.1.2). An element of `Forwarded` may be unreadable and
    // still counts.
    let entries = Entries::of(&name, &list).filter(|(_, entry)| entry.is_some() || name == FORWARDED);
    let (_, entry) = entries.take(believed).last()?;
    let proto = if name == FORWARDED { forwarded::parameter(entry?, b"proto")? } else { entry?.into() };
    match &*proto.to_ascii_lowercase() {
        b"https" | b"wss" | b"on" => Some(true),
        b"http" | b"ws" | b"off" => Some(false),
        _ => None,
    }
}

/// The header's fields, joined by commas.
fn joined(headers: &HeaderMap, name: &HeaderName) -> Vec<u8> {
    let values: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    values.join(&b", "[..])
}

impl RequestContext {
    /// The client's address, as corrected by trusted proxies.
    pub fn remote(&self) -> &Address {
        self.proxies.client.get().map_or(&self.client.remote, |client| &client.address)
    }

    /// Whether the client uses TLS, with this server or with a trusted proxy.
    pub fn is_secure(&self) -> bool {
        self.is_secure_by_proxy().unwrap_or_else(|| self.client.session().is_some())
    }

    /// Whether the client uses TLS according to a trusted proxy, if one reports it.
    pub fn is_secure_by_proxy(&self) -> Option<bool> {
        self.proxies.is_secure.get().copied()
    }

    /// The headers that are changed for everything behind the front: by early rules, or because a trusted proxy names
    /// the client.
    pub fn changed_headers(&self) -> Option<&ChangedHeaders> {
        let forwarded = || self.proxies.client.get().map(|client| &client.headers);
        let identified = || self.proxies.identity.get().and_then(|identity| identity.headers.as_ref());
        self.early_headers.get().or_else(identified).or_else(forwarded)
    }

    /// The request's id in the header that `RequestIDHeader` names.
    pub fn request_id(&self) -> Option<&str> {
        self.proxies.identity.get().map(|identity| &*identity.id)
    }

    /// Whether the early rules have been applied.
    pub fn has_early_headers(&self) -> bool {
        self.early_headers.get().is_some()
    }

    /// Stores the changes by early rules, which contain those by proxies.
    pub fn set_early_headers(&self, changed: ChangedHeaders) {
        // Cannot fail: the rules are applied once.
        let _ = self.early_headers.set(changed);
    }

    /// A header of `head` as rules see it, without the addresses that trusted proxies added.
    pub fn header_of<'a>(&'a self, head: &'a Parts, name: &str) -> Option<&'a HeaderValue> {
        match self.changed_headers() {
            Some(changed) => changed.values(&head.headers, name).next(),
            None => head.headers.get(name),
        }
    }

    /// All headers of `head` as rules see them; see [`RequestContext::header_of`].
    pub fn headers_of<'a>(&'a self, head: &'a Parts) -> impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)> {
        let changed = self.changed_headers().map(|changed| changed.all(&head.headers));
        let as_sent = changed.is_none().then(|| head.headers.iter());
        changed.into_iter().flatten().chain(as_sent.into_iter().flatten())
    }
}

fn find(rules: &RemoteIp, client: &Address, headers: &HeaderMap) -> Option<ForwardedClient> {
    let name = HeaderName::from_bytes(rules.header.as_deref()?.as_bytes()).ok()?;
    let list = joined(headers, &name);
    let mut at = client.ip_addr();
    let (mut proxies, mut believed, mut rest) = (Vec::new(), 0, list.as_slice());
    let mut found = None;
    for (before, entry) in Entries::of(&name, &list) {
        let Some(internal) = rules.trusts(at) else { break };
        let address = entry.and_then(|entry| if name == FORWARDED { forwarded_for(entry) } else { address(entry) });
        let Some(address) = address.filter(|address| internal || !is_private(*address)) else { break };
        if !internal {
            proxies.push(at.to_string());
        }
        at = address;
        found = Some(address);
        (believed, rest) = (believed + 1, before);
    }
    let socket = SocketAddr::new(found?, client.port);
    let rest = HeaderValue::from_bytes(rest).ok().filter(|rest| !rest.is_empty());
    let proxies = HeaderValue::from_str(&proxies.join(", ")).ok().filter(|proxies| !proxies.is_empty());
    let proxies_name = rules.proxies_header.as_ref().and_then(|name| HeaderName::from_bytes(name.as_bytes()).ok());
    Some(ForwardedClient {
        address: Address::tcp(socket),
        headers: ChangedHeaders::new(std::iter::once((name, rest)).chain(proxies_name.zip(proxies.map(Some)))),
        believed,
    })
}

/// The address in an entry of `Forwarded`: `for=192.0.2.1;proto=https`, `for="[2001:db8::1]:5000"` (RFC 7239).
fn forwarded_for(entry: &[u8]) -> Option<IpAddr> {
    address(&forwarded::parameter(entry, b"for")?)
}

/// Parses an address with optional port: `192.0.2.1`, `192.0.2.1:5000`, `2001:db8::1`, `[2001:db8::1]`,
/// `[2001:db8::1]:5000`.
fn address(text: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let bracketed = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let socket = || text.parse().ok().map(|socket: SocketAddr| socket.ip());
    bracketed.unwrap_or(text).parse().ok().or_else(socket)
}

/// Addresses that an external proxy cannot have as a client, by mod_remoteip's list.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_private() || v4.is_loopback() || v4.is_link_local(),
        // Public IPv6 addresses are in 2000::/3.
        IpAddr::V6(v6) => v6.segments()[0] & 0xe000 != 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use config::network::Network;
    use config::remote_ip::Proxy;

    const INTERNAL: bool = true;
    const TRUSTED: bool = false;

    /// The client, the rest of the header, and the proxies, for a request from 10.0.0.1 with these header fields.
    fn find_in(header: &str, proxies: &[(&str, bool)], values: &[&str]) -> Option<(String, String, String)> {
        let network = |text| Network::parse(text).expect("an address").expect("a network");
        let rules = RemoteIp {
            header: Some(header.to_owned()),
            proxies: proxies
                .iter()
                .map(|(text, internal)| Proxy { network: network(text), internal: *internal })
                .collect(),
            proxies_header: Some("x-by".to_owned()),
            ..RemoteIp::default()
        };
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("a value");
            headers.append(HeaderName::from_bytes(header.as_bytes()).expect("a name"), value);
        }
        let forwarded = find(&rules, &Address::tcp(([10, 0, 0, 1], 4000).into()), &headers)?;
        forwarded.headers.apply(&mut headers);
        let text =
            |name: &str| headers.get(name).map_or(String::new(), |it| String::from_utf8_lossy(it.as_bytes()).into());
        Some((forwarded.address.ip.clone(), text(header), text("x-by")))
    }

    fn check(proxies: &[(&str, bool)], values: &[&str], expected: Option<(&str, &str, &str)>) {
        let owned = |(a, b, c): (&str, &str, &str)| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(find_in("x-forwarded-for", proxies, values), expected.map(owned), "{proxies:?} {values:?}");
    }

    #[test]
    fn the_last_that_a_trusted_proxy_names_is_the_client() {
        check(&[], &["192.0.2.7"], Some(("192.0.2.7", "", "10.0.0.1")));
        check(&[("10.0.0.1", TRUSTED)], &["192.0.2.8, 192.0.2.7"], Some(("192.0.2.7", "192.0.2.8", "10.0.0.1")));
        let both = [("10.0.0.1", TRUSTED), ("192.0.2.0/24", TRUSTED)];
        check(
            &both,
            &["198.51.100.1 ,192.0.2.8", "192.0.2.7"],
            Some(("198.51.100.1", "", "10.0.0.1, 192.0.2.7, 192.0.2.8")),
        );
        check(&[("10.0.0.0/8", INTERNAL)], &["192.0.2.7, 10.0.0.2"], Some(("192.0.2.7", "", "")));
        check(&[("10.0.0.1", INTERNAL)], &["[2001:db8::1]:80"], Some(("2001:db8::1", "", "")));
    }

    #[test]
    fn an_address_of_an_untrusted_proxy_is_ignored() {
        check(&[("10.0.0.2", TRUSTED)], &["192.0.2.7"], None);
        check(&[("10.0.0.1", TRUSTED)], &["192.168.0.1"], None);
        check(&[("10.0.0.1", TRUSTED)], &["fd00::1"], None);
        check(&[("10.0.0.1", TRUSTED)], &["unknown"], None);
        check(&[("10.0.0.1", TRUSTED)], &[], None);
        check(&[], &["x, 192.0.2.7"], Some(("192.0.2.7", "x", "10.0.0.1")));
    }

    #[test]
    fn client_text_in_the_header_hides_no_entry_of_a_proxy() {
        for junk in ["\"", "é", "\"a", "a\\", "x=\"y", "\t\"\\\""] {
            let expected = Some(("192.0.2.7", junk.trim(), "10.0.0.1"));
            check(&[("10.0.0.1", TRUSTED)], &[&format!("{junk}, 192.0.2.7")], expected);
            check(&[("10.0.0.1", TRUSTED)], &[junk, "192.0.2.7"], expected);
        }
        check(&[], &["192.0.2.1,, 192.0.2.7"], Some(("192.0.2.7", "192.0.2.1,", "10.0.0.1")));
        for stranger in ["for=\"", "é", "\"", "for=\"a\\", "x\\\"y\"z\""] {
            for added in ["for=192.0.2.43", "for=\"192.0.2.43\"", "by=\"\\\"\";for=\"192.0.2.43:\\8\\0\""] {
                let found = find_in("forwarded", &[("10.0.0.1", INTERNAL)], &[stranger, added]);
                assert_eq!(found.map(|(address, ..)| address).as_deref(), Some("192.0.2.43"), "{stranger} {added}");
            }
        }
    }

    #[test]
    fn forwarded_names_the_client_by_for() {
        let check = |value: &str, expected: Option<&str>| {
            let found = find_in("forwarded", &[("10.0.0.1", INTERNAL)], &[value]);
            assert_eq!(found.map(|(address, ..)| address).as_deref(), expected, "{value}");
        };
        check("for=192.0.2.43;proto=https;by=203.0.113.43", Some("192.0.2.43"));
        check("for=192.0.2.1, proto=http;For=\"[2001:db8::17]:4711\"", Some("2001:db8::17"));
        check("for=\"a,b\", host=\"x,y\";for=192.0.2.2", Some("192.0.2.2"));
        check("for=_hidden", None);
        check("proto=https", None);
        check("for=192.0.2.1;for=192.0.2.2", None);
        check("for=\"192.0.2.1", None);
        check("for=192.0.2.1\"", None);
        check("for=\"192.0.2.1\"x", None);
    }
}

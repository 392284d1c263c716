//! Removes header fields that apply to one connection only (hop-by-hop fields).

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, MAX_FORWARDS, PROXY_AUTHENTICATE, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};

/// Fields of one connection (RFC 9110, section 7.6.1), besides those that `Connection` lists. As in httpd's reverse
/// proxy, Proxy-Authorization is for the backend.
const OF_A_CONNECTION: [HeaderName; 6] = [CONNECTION, PROXY_AUTHENTICATE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// Removes the fields of one connection.
pub fn end_to_end(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
        .collect();
    // A request without Host would be for no server.
    for name in listed.iter().chain(&OF_A_CONNECTION).filter(|name| **name != HOST) {
        headers.remove(name);
    }
    headers.remove("keep-alive");
    headers.remove("proxy-connection");
}

/// Removes the fields of a request that belong to its client's connection. Its length is that of the body which is
/// sent, and `Expect` is for a body that this server has yet to ask the client for.
pub fn of_request(headers: &mut HeaderMap) {
    end_to_end(headers);
    headers.remove(CONTENT_LENGTH);
    headers.remove(EXPECT);
}

/// Whether `Connection` lists `Upgrade`.
pub fn lists_upgrade(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|word| word.trim().eq_ignore_ascii_case("upgrade"))
}

/// Counts Max-Forwards down (RFC 9110, section 7.6.2). Zero and values that are no number stay as they are.
pub fn count_down(headers: &mut HeaderMap) {
    let left = headers.get(MAX_FORWARDS).and_then(|value| value.to_str().ok()?.trim().parse::<u32>().ok());
    if let Some(left) = left.and_then(|left| left.checked_sub(1)) {
        headers.insert(MAX_FORWARDS, left.into());
    }
}

/// Appends `value` to the list of a field; repeated fields become one.
pub fn append(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    let mut list = headers.get_all(&name).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
    list.push(value.as_bytes());
    if let Ok(joined) = HeaderValue::from_bytes(&list.join(&b", "[..])) {
        headers.insert(name, joined);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_connection_and_those_it_lists_are_removed() {
        let mut headers = HeaderMap::new();
        let fields = [
            ("connection", "close, x-hop"),
            ("connection", "Keep-Alive"),
            ("keep-alive", "timeout=5"),
            ("x-hop", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("content-length", "5"),
            ("x-end", "2"),
        ];
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        of_request(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-end"]);
    }

    #[test]
    fn a_list_gets_one_more_value() {
        let mut headers = HeaderMap::new();
        let name = HeaderName::from_static("x-forwarded-for");
        append(&mut headers, name.clone(), "10.0.0.1");
        append(&mut headers, name.clone(), "10.0.0.2");
        assert_eq!(headers.get(name).map(HeaderValue::as_bytes), Some(&b"10.0.0.1, 10.0.0.2"[..]));
    }
}

//! The collector of spans.

/// A collector that receives spans by OTLP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceCollector {
    /// Whether gRPC is used; otherwise HTTP/1.1. Both carry protobuf.
    pub grpc: bool,
    /// Host and port: `collector.example:4318`.
    pub authority: String,
    /// Path of the URL: `/v1/traces`.
    pub path: String,
}

impl TraceCollector {
    /// Parses `http://host[:4318][/v1/traces]` or `grpc://host[:4317]`.
    pub fn parse(url: &str) -> Option<TraceCollector> {
        let (scheme, rest) = url.split_once("://")?;
        let grpc = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "grpc" => true,
            _ => return None,
        };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let authority = if has_port { host.to_owned() } else { format!("{host}:{}", if grpc { 4317 } else { 4318 }) };
        let path = if path.trim_matches('/').is_empty() { "/v1/traces" } else { path };
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let named = !host.is_empty() && !host.starts_with(':') && is_plain(host) && is_plain(path);
        named.then(|| TraceCollector { grpc, authority, path: path.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_has_a_default_port_and_path() {
        let parsed = |url: &str| TraceCollector::parse(url).map(|c| (c.grpc, c.authority, c.path));
        let known = |grpc, authority: &str, path: &str| Some((grpc, authority.to_owned(), path.to_owned()));
        assert_eq!(parsed("http://127.0.0.1"), known(false, "127.0.0.1:4318", "/v1/traces"));
        assert_eq!(parsed("http://c.example:99/x/y"), known(false, "c.example:99", "/x/y"));
        assert_eq!(parsed("GRPC://[::1]/"), known(true, "[::1]:4317", "/v1/traces"));
        for wrong in
            ["", "c.example:4318", "https://c.example", "http://", "http://:4318", "http://a b/", "http://a/\r\nx"]
        {
            assert_eq!(parsed(wrong), None, "{wrong:?}");
        }
    }
}

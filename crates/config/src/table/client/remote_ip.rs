//! Addresses of clients behind proxies.

use crate::draft::Draft;
use crate::model::remote_ip::Proxy;
use crate::syntax::source::ValueFile;
use crate::syntax::value::network::Network;
use crate::table::row::{HOSTS, MANY, Row, flag, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_remoteip.c",
    word("RemoteIPHeader", HOSTS, "header", |d, name| {
        d.host().remote_ip.header = header(name)?;
        Ok(())
    })
    .because("any client can send such a header; list the trusted proxies too"),
    "The header in which proxies name the client: X-Forwarded-For, X-Real-IP, or Forwarded (its `for=`). It is read \
     from its end as long as a trusted proxy added the address. The address found becomes the client's for access \
     rules, logs and programs; the addresses read are removed from the header.",
    words("RemoteIPInternalProxy", HOSTS, "address|network…", 1..=MANY, |d, names| proxies(d, names, true))
        .because("see RemoteIPTrustedProxy"),
    "Proxies that are trusted even when they name an address of a private network.",
    words("RemoteIPTrustedProxy", HOSTS, "address|network…", 1..=MANY, |d, names| proxies(d, names, false))
        .because("httpd's default: without a list every proxy is trusted, unless it names a private address"),
    "Proxies whose RemoteIPHeader is trusted, unless it names an address of a private network.",
    words("RemoteIPInternalProxyList", HOSTS, "file", 1..=MANY, |d, names| proxies(d, names, true))
        .file_of_values(ValueFile::Proxies)
        .because("a line is enough for few proxies"),
    "As RemoteIPInternalProxy, with addresses and networks from a file: any number per line, `#` begins a comment. An \
     empty list is an error.",
    words("RemoteIPTrustedProxyList", HOSTS, "file", 1..=MANY, |d, names| proxies(d, names, false))
        .file_of_values(ValueFile::Proxies)
        .because("see RemoteIPInternalProxyList"),
    "As RemoteIPTrustedProxy, with addresses and networks from a file, such as the published list of a CDN. A reload \
     reads the file again.",
    word("RemoteIPProxiesHeader", HOSTS, "header", |d, name| {
        d.host().remote_ip.proxies_header = header(name)?;
        Ok(())
    })
    .because("few programs use it"),
    "The header in which programs find the trusted proxies that a request passed; internal proxies are omitted.",
    word("RemoteIPProtoHeader", HOSTS, "header", |d, name| {
        d.host().remote_ip.proto_header = header(name)?;
        Ok(())
    })
    .of("cameleer.c")
    .because("any client can send such a header: it needs a list of trusted proxies"),
    "The header in which a TLS-terminating proxy reports the client's protocol: X-Forwarded-Proto (`https` or `http`), \
     X-Forwarded-Ssl (`on` or `off`), or Forwarded (its `proto=`). Only a RemoteIPInternalProxy or \
     RemoteIPTrustedProxy is trusted. It decides HTTPS, psgi.url_scheme, SSLRequireSSL, and the port if the Host \
     header has none. httpd has no such directive.",
    word("RequestIDHeader", HOSTS, "header", |d, name| {
        d.host().remote_ip.request_id_header = header(name)?;
        Ok(())
    })
    .of("cameleer.c")
    .because("any client can send such a header: it needs a list of trusted proxies"),
    "The header with a request's id, such as X-Request-Id. That of a RemoteIPInternalProxy or RemoteIPTrustedProxy is \
     retained, if it has at most 128 letters, digits and characters of `-_.:+/=@~`; otherwise the server sets it to its own \
     UNIQUE_ID. Programs, rules, backends and logs get it, programs also as REQUEST_ID.",
    flag("RemoteIPProxyProtocol", HOSTS, |d, on| d.host().remote_ip.proxy_protocol = Some(on))
        .because("a client without such a header is not served at all"),
    "Whether connections to the host's address begin with a PROXY header, version 1 or 2, that names the client. The \
     first host of an address decides for all of them, and its RequestReadTimeout header= limits the wait. Only \
     proxies should be able to connect: the header is trusted from any of them.",
    words("RemoteIPProxyProtocolExceptions", HOSTS, "address|network…", 1..=MANY, exceptions)
        .because("usually all connections come through the proxy"),
    "Clients that send no PROXY header, such as a monitor in the same network.",
];

/// `RemoteIPInternalProxy network…`, `RemoteIPTrustedProxy network…`
fn proxies(draft: &mut Draft, names: &[String], internal: bool) -> Result<(), String> {
    for name in names {
        let network = network(name)?;
        draft.host().remote_ip.proxies.push(Proxy { network, internal });
    }
    Ok(())
}

/// `RemoteIPProxyProtocolExceptions network…`
fn exceptions(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    for name in names {
        let network = network(name)?;
        draft.host().remote_ip.exceptions.push(network);
    }
    Ok(())
}

/// Checks a header name, and converts it to lower case.
fn header(name: &str) -> Result<Option<String>, String> {
    match name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        true => Ok(Some(name.to_ascii_lowercase())),
        false => Err(format!("expected the name of a header, for instance X-Forwarded-For, got \"{name}\"")),
    }
}

fn network(name: &str) -> Result<Network, String> {
    let advice =
        || format!("expected an address or a network like 10.1.0.0/16, got \"{name}\": host names are not looked up");
    Network::parse(name).unwrap_or_else(|| Err(advice()))
}

//! Clients behind proxies.

use crate::config::draft::Draft;
use crate::config::model::access::Network;
use crate::config::model::remote_ip::Proxy;
use crate::config::table::row::{HOSTS, MANY, ROW, Row, Takes};

pub static ROWS: &[Row] = &[
    Row {
        name: "RemoteIPHeader",
        contexts: HOSTS,
        takes: Takes::Word("header", |d, name| {
            d.host().remote_ip.header = header(name)?;
            Ok(())
        }),
        because: "anybody can send such a header: name the proxies that may with it",
        about: "The header by which proxies say for whom they ask: X-Forwarded-For, X-Real-IP, or Forwarded (its `for=`). It is read \
            from its end, as long as a trusted proxy has said it; the address that is found is the client's for access rules, \
            logs and programs, and what was read is taken out of the header.",
        ..ROW
    },
    Row {
        name: "RemoteIPInternalProxy",
        contexts: HOSTS,
        takes: Takes::Words("address|network…", 1..=MANY, |d, names| proxies(d, names, true)),
        because: "see RemoteIPTrustedProxy",
        about: "Proxies that are believed even when they name an address of a private network.",
        ..ROW
    },
    Row {
        name: "RemoteIPTrustedProxy",
        contexts: HOSTS,
        takes: Takes::Words("address|network…", 1..=MANY, |d, names| proxies(d, names, false)),
        because: "httpd's: without a list every proxy is believed, as long as the address that it names is no private one",
        about: "Proxies whose RemoteIPHeader is believed, unless it names an address of a private network.",
        ..ROW
    },
    Row {
        name: "RemoteIPInternalProxyList",
        contexts: HOSTS,
        takes: Takes::Words("file", 1..=MANY, |d, names| proxies(d, names, true)),
        because: "few proxies are named in a line",
        about: "As RemoteIPInternalProxy, with the addresses and networks in a file: any number a line, comments from `#` on. A file \
            without any is an error.",
        ..ROW
    },
    Row {
        name: "RemoteIPTrustedProxyList",
        contexts: HOSTS,
        takes: Takes::Words("file", 1..=MANY, |d, names| proxies(d, names, false)),
        because: "see RemoteIPInternalProxyList",
        about: "As RemoteIPTrustedProxy, with the addresses and networks in a file. Networks that publish their list, CDNs for instance, \
            publish it like that; a reload reads it again.",
        ..ROW
    },
    Row {
        name: "RemoteIPProxiesHeader",
        contexts: HOSTS,
        takes: Takes::Word("header", |d, name| {
            d.host().remote_ip.proxies_header = header(name)?;
            Ok(())
        }),
        because: "few programs want to know",
        about: "The header in which programs find the trusted proxies that a request came through; internal ones are left out.",
        ..ROW
    },
    Row {
        name: "RemoteIPProtoHeader",
        contexts: HOSTS,
        takes: Takes::Word("header", |d, name| {
            d.host().remote_ip.proto_header = header(name)?;
            Ok(())
        }),
        because: "anybody can send such a header; what listed proxies say counts, and there must be one",
        about: "The header in which a proxy that speaks TLS for us says how the client speaks: X-Forwarded-Proto (`https` or `http`), \
            X-Forwarded-Ssl (`on` or `off`), or Forwarded (its `proto=`). Of a RemoteIPInternalProxy or RemoteIPTrustedProxy it is \
            believed: then HTTPS, psgi.url_scheme, SSLRequireSSL, and the port where the Host names none, are the client's. httpd has \
            no such directive.",
        ..ROW
    },
    Row {
        name: "RemoteIPProxyProtocol",
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().remote_ip.proxy_protocol = Some(on)),
        because: "a client that sends no such header is not served at all",
        about: "Whether connections to the host's address begin with a PROXY header, version 1 or 2, that says who the client is. The \
            first host of an address decides for all of them, and its RequestReadTimeout header= is the time for it. Let only the proxies connect there: whoever can, may say anything.",
        ..ROW
    },
    Row {
        name: "RemoteIPProxyProtocolExceptions",
        contexts: HOSTS,
        takes: Takes::Words("address|network…", 1..=MANY, exceptions),
        because: "usually all connections come through the proxy",
        about: "Clients that send no PROXY header where the others do: a monitor in the same network, for instance.",
        ..ROW
    },
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

/// The name of a header.
fn header(name: &str) -> Result<Option<String>, String> {
    match name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        true => Ok(Some(name.to_ascii_lowercase())),
        false => Err(format!("expected the name of a header, for instance X-Forwarded-For, got \"{name}\"")),
    }
}

fn network(name: &str) -> Result<Network, String> {
    let advice = || {
        format!("expected an address or a network like 10.1.0.0/16, got \"{name}\": names of hosts are not looked up")
    };
    Network::parse(name).unwrap_or_else(|| Err(advice()))
}

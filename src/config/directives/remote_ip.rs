//! Clients behind proxies.

use super::super::remote_ip;
use super::{Effect, HOSTS, MANY, Row, Takes};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "RemoteIPHeader",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("header", |d, name| {
            d.host().remote_ip.header = remote_ip::header(name)?;
            Ok(())
        }),
        default: None,
        because: "anybody can send such a header: name the proxies that may with it",
        effect: Effect::Reload,
        about: "The header by which proxies say for whom they ask: X-Forwarded-For, X-Real-IP, or Forwarded (its `for=`). It is read \
            from its end, as long as a trusted proxy has said it; the address that is found is the client's for access rules, \
            logs and programs, and what was read is taken out of the header.",
    },
    Row {
        name: "RemoteIPInternalProxy",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("address|network…", 1..=MANY, |d, names| remote_ip::proxies(d, names, true)),
        default: None,
        because: "see RemoteIPTrustedProxy",
        effect: Effect::Reload,
        about: "Proxies that are believed even when they name an address of a private network.",
    },
    Row {
        name: "RemoteIPTrustedProxy",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("address|network…", 1..=MANY, |d, names| remote_ip::proxies(d, names, false)),
        default: None,
        because: "httpd's: without a list every proxy is believed, as long as the address that it names is no private one",
        effect: Effect::Reload,
        about: "Proxies whose RemoteIPHeader is believed, unless it names an address of a private network.",
    },
    Row {
        name: "RemoteIPInternalProxyList",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("file", 1..=MANY, |d, names| remote_ip::proxies(d, names, true)),
        default: None,
        because: "few proxies are named in a line",
        effect: Effect::Reload,
        about: "As RemoteIPInternalProxy, with the addresses and networks in a file: any number a line, comments from `#` on. A file \
            without any is an error.",
    },
    Row {
        name: "RemoteIPTrustedProxyList",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("file", 1..=MANY, |d, names| remote_ip::proxies(d, names, false)),
        default: None,
        because: "see RemoteIPInternalProxyList",
        effect: Effect::Reload,
        about: "As RemoteIPTrustedProxy, with the addresses and networks in a file. Networks that publish their list, CDNs for instance, \
            publish it like that; a reload reads it again.",
    },
    Row {
        name: "RemoteIPProxiesHeader",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("header", |d, name| {
            d.host().remote_ip.proxies_header = remote_ip::header(name)?;
            Ok(())
        }),
        default: None,
        because: "few programs want to know",
        effect: Effect::Reload,
        about: "The header in which programs find the trusted proxies that a request came through; internal ones are left out.",
    },
    Row {
        name: "RemoteIPProtoHeader",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Word("header", |d, name| {
            d.host().remote_ip.proto_header = remote_ip::header(name)?;
            Ok(())
        }),
        default: None,
        because: "anybody can send such a header; what listed proxies say counts, and there must be one",
        effect: Effect::Reload,
        about: "The header in which a proxy that speaks TLS for us says how the client speaks: X-Forwarded-Proto (`https` or `http`), \
            X-Forwarded-Ssl (`on` or `off`), or Forwarded (its `proto=`). Of a RemoteIPInternalProxy or RemoteIPTrustedProxy it is \
            believed: then HTTPS, psgi.url_scheme, SSLRequireSSL, and the port where the Host names none, are the client's. httpd has \
            no such directive.",
    },
    Row {
        name: "RemoteIPProxyProtocol",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Flag(|d, on| d.host().remote_ip.proxy_protocol = Some(on)),
        default: None,
        because: "a client that sends no such header is not served at all",
        effect: Effect::Reload,
        about: "Whether connections to the host's address begin with a PROXY header, version 1 or 2, that says who the client is. The \
            first host of an address decides for all of them, and its RequestReadTimeout header= is the time for it. Let only the proxies connect there: whoever can, may say anything.",
    },
    Row {
        name: "RemoteIPProxyProtocolExceptions",
        aliases: &[],
        contexts: HOSTS,
        takes: Takes::Words("address|network…", 1..=MANY, remote_ip::exceptions),
        default: None,
        because: "usually all connections come through the proxy",
        effect: Effect::Reload,
        about: "Clients that send no PROXY header where the others do: a monitor in the same network, for instance.",
    },
];

//! The message on the terminal when the first worker is ready.

use std::io::Write;
use std::net::SocketAddr;

use base::printable;
use config::{AddressProtocol, Listen};
use master::OnReady;

/// Further action when the server is ready.
pub type AfterReady = Box<dyn FnOnce()>;

/// Prints the name and addresses when the server is ready, then runs `more`.
pub fn announce(name: String, more: AfterReady) -> OnReady {
    Box::new(move |addresses| {
        print_ready(&mut std::io::stdout(), &name, addresses);
        more();
    })
}

/// Writes the message that the server is ready.
pub fn print_ready(terminal: &mut dyn Write, name: &str, addresses: &[(Listen, AddressProtocol)]) {
    let urls: Vec<String> = addresses.iter().map(|(address, protocol)| url(address, *protocol)).collect();
    // Ignore errors: the terminal may be closed.
    let line = printable::line(&format!("Cameleer serves {name} at {}", urls.join(" and ")));
    let _ = writeln!(terminal, "{line}");
}

/// The URL for a browser, or the address for another protocol.
fn url(address: &Listen, protocol: AddressProtocol) -> String {
    let (scheme, usual) = match protocol {
        AddressProtocol::Http => ("http", Some(80)),
        AddressProtocol::Https => ("https", Some(443)),
        AddressProtocol::Connections => ("tcp", None),
    };
    match address {
        Listen::Unix(path) => format!("unix:{}", path.display()),
        Listen::Tcp(tcp) => {
            let host = host(tcp);
            if Some(tcp.port()) == usual {
                format!("{scheme}://{host}/")
            } else {
                format!("{scheme}://{host}:{}/", tcp.port())
            }
        }
    }
}

fn host(address: &SocketAddr) -> String {
    match address {
        any if any.ip().is_unspecified() => "localhost".to_string(),
        SocketAddr::V4(v4) => v4.ip().to_string(),
        SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, protocol: AddressProtocol, expected: &str) {
        assert_eq!(url(&Listen::Tcp(address.parse().expect("address")), protocol), expected);
    }

    #[test]
    fn urls_can_be_clicked() {
        check("0.0.0.0:5000", AddressProtocol::Http, "http://localhost:5000/");
        check("127.0.0.1:80", AddressProtocol::Http, "http://127.0.0.1/");
        check("[::1]:81", AddressProtocol::Http, "http://[::1]:81/");
        check("0.0.0.0:443", AddressProtocol::Https, "https://localhost/");
        check("0.0.0.0:80", AddressProtocol::Https, "https://localhost:80/");
        check("0.0.0.0:80", AddressProtocol::Connections, "tcp://localhost:80/");
    }
}

//! What happens when the first worker answers: one line for who waits at the terminal.

use std::io::Write;
use std::net::SocketAddr;

use crate::config::Listen;
use crate::master::OnReady;
use crate::printable;

/// What else is done then.
pub type Then = Box<dyn FnOnce()>;

/// Prints that `name` is served, and where; then does `more`.
pub fn announce(name: String, more: Then) -> OnReady {
    Box::new(move |addresses| {
        say(&mut std::io::stdout(), &name, addresses);
        more();
    })
}

/// Writes the line.
pub fn say(terminal: &mut dyn Write, name: &str, addresses: &[(Listen, bool)]) {
    let urls: Vec<String> = addresses.iter().map(url).collect();
    // Whoever started us may have closed its end.
    let line = printable::line(&format!("Cameleer serves {name} at {}", urls.join(" and ")));
    let _ = writeln!(terminal, "{line}");
}

/// What to type into a browser.
fn url((address, tls): &(Listen, bool)) -> String {
    let (scheme, usual) = if *tls { ("https", 443) } else { ("http", 80) };
    match address {
        Listen::Unix(path) => format!("unix:{}", path.display()),
        Listen::Tcp(tcp) => {
            let host = host(tcp);
            if tcp.port() == usual {
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

    fn check(address: &str, tls: bool, expected: &str) {
        assert_eq!(url(&(Listen::Tcp(address.parse().expect("address")), tls)), expected);
    }

    #[test]
    fn urls_can_be_clicked() {
        check("0.0.0.0:5000", false, "http://localhost:5000/");
        check("127.0.0.1:80", false, "http://127.0.0.1/");
        check("[::1]:81", false, "http://[::1]:81/");
        check("0.0.0.0:443", true, "https://localhost/");
        check("0.0.0.0:80", true, "https://localhost:80/");
    }
}

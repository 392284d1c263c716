//! `ReadinessCheck`: a service that the server needs, and how it is checked.

use std::time::Duration;

use crate::syntax::value;

/// Maximum length of the name of a check. It is part of a line of the agent check.
const MAX_NAME: usize = 64;
/// Shortest interval of a check. Each check is a process.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// A service that the server needs to be ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadinessCheck {
    /// Name in logs, in `/readyz` and in the status.
    pub name: String,
    /// What is checked.
    pub target: CheckTarget,
    /// Time between the begins of two checks.
    pub interval: Duration,
    /// Time after which a check has failed.
    pub timeout: Duration,
    /// Number of failures in a row after which the server is not ready.
    pub fail: u32,
}

/// What a check does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckTarget {
    /// Connects to `host:port`.
    Tcp(String),
    /// Connects to `host:port` and expects a status from 200 to 399 for `GET path`.
    Http(String, String),
    /// Calls this sub of Perl, which returns a true value.
    Perl(String),
}

impl ReadinessCheck {
    /// Parses `NAME TARGET [interval=5s] [timeout=1s] [fail=3]`.
    pub fn parse(args: &[String]) -> Result<ReadinessCheck, String> {
        let [name, target, options @ ..] = args else { return Err("expected a name and a target".to_owned()) };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_plain) {
            return Err(format!("expected a name of letters, digits, -, _ and ., at most {MAX_NAME}, got \"{name}\""));
        }
        let mut check = ReadinessCheck {
            name: name.clone(),
            target: CheckTarget::parse(target)?,
            interval: Duration::from_secs(5),
            timeout: Duration::from_secs(1),
            fail: 3,
        };
        options.iter().try_for_each(|option| check.set(option))?;
        Ok(check)
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let time = |least: Duration| match value::duration(value) {
            Ok(time) if time >= least => Ok(time),
            Ok(_) => Err(format!("{name}: expected at least {} ms, got \"{value}\"", least.as_millis())),
            Err(error) => Err(format!("{name}: {error}")),
        };
        match name {
            "interval" => self.interval = time(MIN_INTERVAL)?,
            "timeout" => self.timeout = time(Duration::from_millis(1))?,
            "fail" => {
                let number = value::number(value, &(1..=100)).map_err(|error| format!("fail: {error}"))?;
                self.fail = u32::try_from(number).unwrap_or(1);
            }
            _ => return Err(format!("expected interval=, timeout= or fail=, got \"{option}\"")),
        }
        Ok(())
    }
}

impl CheckTarget {
    fn parse(text: &str) -> Result<CheckTarget, String> {
        let wrong = || {
            format!(
                "expected tcp://host:port, http://host:port/path or perl:Package::sub, got \"{text}\"; a check of TLS \
                 needs a sub of Perl"
            )
        };
        let (scheme, rest) = text.split_once(':').ok_or_else(wrong)?;
        match (scheme, rest.strip_prefix("//")) {
            ("perl", None) if is_sub(rest) => Ok(CheckTarget::Perl(rest.to_owned())),
            ("tcp", Some(host)) => with_port(host, None).map(CheckTarget::Tcp).ok_or_else(wrong),
            ("http", Some(rest)) => {
                let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                let path = if path.is_empty() { "/" } else { path };
                let is_path = path.bytes().all(|byte| byte.is_ascii_graphic());
                let host = with_port(host, Some(80)).filter(|_| is_path).ok_or_else(wrong)?;
                Ok(CheckTarget::Http(host, path.to_owned()))
            }
            _ => Err(wrong()),
        }
    }
}

/// Whether `name` is a fully qualified sub: `My::Health::check`.
fn is_sub(name: &str) -> bool {
    let is_word = |word: &str| {
        let is_begin = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        is_begin && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    name.contains("::") && name.split("::").all(is_word)
}

/// `host:port`, where `port` is added if there is none. `None`: no host, or no port.
fn with_port(host: &str, port: Option<u16>) -> Option<String> {
    let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte));
    let named = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
    match named {
        _ if !is_plain => None,
        Some((name, port)) => (!name.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)).then(|| host.into()),
        None => port.filter(|_| !host.is_empty()).map(|port| format!("{host}:{port}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Option<CheckTarget> {
        CheckTarget::parse(text).ok()
    }

    #[test]
    fn a_target_is_an_address_a_page_or_a_sub() {
        let http = |host: &str, path: &str| Some(CheckTarget::Http(host.to_owned(), path.to_owned()));
        assert_eq!(target("tcp://db:5432"), Some(CheckTarget::Tcp("db:5432".to_owned())));
        assert_eq!(target("tcp://[::1]:5432"), Some(CheckTarget::Tcp("[::1]:5432".to_owned())));
        assert_eq!(target("http://search:9200/_ping?a=b"), http("search:9200", "/_ping?a=b"));
        assert_eq!((target("http://a"), target("http://[::1]/x")), (http("a:80", "/"), http("[::1]:80", "/x")));
        assert_eq!(target("perl:My::Health::db"), Some(CheckTarget::Perl("My::Health::db".to_owned())));
        for wrong in [
            "",
            "tcp://db",
            "tcp://:1",
            "tcp://db:0",
            "tcp://db:99999",
            "tcp:db:1",
            "https://a/",
            "http:///x",
            "perl:check",
            "perl:My::",
            "perl:My::x;y",
            "perl://My::x",
            "http://a/ b",
            "http://a\r\n/",
            "db:5432",
        ] {
            assert_eq!(target(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_check_has_a_plain_name_and_known_options() {
        let parse =
            |words: &[&str]| ReadinessCheck::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let check = parse(&["db", "tcp://db:1", "interval=200ms", "timeout=50ms", "fail=1"]).expect("a check");
        assert_eq!((check.interval.as_millis(), check.timeout.as_millis(), check.fail), (200, 50, 1));
        let long = "x".repeat(65);
        for wrong in [
            &["", "tcp://db:1"][..],
            &[&long, "tcp://db:1"],
            &["a b", "tcp://db:1"],
            &["db", "tcp://db:1", "interval=1ms"],
            &["db", "tcp://db:1", "timeout=0"],
            &["db", "tcp://db:1", "fail=0"],
            &["db", "tcp://db:1", "rise=2"],
            &["db"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}

//! Stores that several servers share: `BroadcastTransport`, `LimitStore`, `CacheStore`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use super::access::ldap::Secret;

/// Maximum length of [`StoreUrl::prefix`]: a name of PostgreSQL has at most 63 bytes.
const MAX_PREFIX: usize = 63;
/// Port of Redis.
const REDIS: u16 = 6379;
/// Port of PostgreSQL.
const POSTGRES: u16 = 5432;
/// Folder of PostgreSQL's socket in Debian.
const POSTGRES_SOCKETS: &str = "/var/run/postgresql";
const NO_PORT: &str = "expected a port number; / and @ of a password are written %2F and %40";
/// Syntax of the URLs. Messages do not quote parts of a URL that may belong to a password.
const EXPECTED: &str = "expected redis://host, rediss://host, unix:/path of Redis, or postgresql://user@host/database";

/// `LimitStore`, `CacheStore`, `StoreTimeout`, `CacheKeyVersion`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SharedStores {
    /// `LimitStore`; `None`: each server counts for itself.
    pub limits: Option<StoreUrl>,
    /// `CacheStore`; `None`: each server has its own responses.
    pub cache: Option<StoreUrl>,
    /// `StoreTimeout`: maximum time that a request waits for a store.
    pub timeout: Duration,
    /// `CacheKeyVersion`; may be empty.
    pub cache_version: String,
}

/// A store, and how to log in to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUrl {
    /// The protocol.
    pub kind: StoreKind,
    /// Where the store listens.
    pub address: StoreAddress,
    /// Whether the connection uses TLS, and the store needs a valid certificate.
    pub tls: bool,
    /// The account; empty for Redis's default one.
    pub user: String,
    /// From the URL; empty without one.
    pub password: Secret,
    /// `password_file`: file of the password, read for each connection.
    pub password_file: Option<PathBuf>,
    /// `ca_file`: authorities in PEM, of which one must have signed the certificate; `None`: those of the system.
    pub ca_file: Option<PathBuf>,
    /// Name of PostgreSQL's database.
    pub database: String,
    /// Begin of the names of Redis's channels and keys, or name of PostgreSQL's channel. Servers with the same prefix
    /// work together.
    pub prefix: String,
}

/// The protocol of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreKind {
    /// Redis, Valkey.
    Redis,
    /// PostgreSQL: `LISTEN` and `NOTIFY`.
    Postgres,
}

/// Where a store listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreAddress {
    /// A host and its port.
    Host(String, u16),
    /// A Unix socket.
    Socket(PathBuf),
}

impl StoreUrl {
    /// Parses a URL. Errors quote no part of it that may belong to a password.
    pub fn parse(url: &str) -> Result<StoreUrl, String> {
        let (scheme, rest) = url.split_once(':').ok_or(EXPECTED)?;
        let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let mut store = match scheme.to_ascii_lowercase().as_str() {
            "unix" | "redis+unix" => StoreUrl::at_socket(place)?,
            "redis" => StoreUrl::at_host(StoreKind::Redis, place)?,
            "rediss" => StoreUrl { tls: true, ..StoreUrl::at_host(StoreKind::Redis, place)? },
            "postgresql" | "postgres" => StoreUrl::at_host(StoreKind::Postgres, place)?,
            _ => return Err(EXPECTED.to_owned()),
        };
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').ok_or("expected name=value behind the ? of the URL")?;
            store.set(name, decoded(value)?)?;
        }
        store.checked()
    }

    fn new(kind: StoreKind, address: StoreAddress) -> StoreUrl {
        StoreUrl {
            kind,
            address,
            tls: false,
            user: String::new(),
            password: Secret::default(),
            password_file: None,
            ca_file: None,
            database: String::new(),
            prefix: match kind {
                StoreKind::Redis => "cameleer:",
                StoreKind::Postgres => "cameleer",
            }
            .to_owned(),
        }
    }

    /// `unix:/path`
    fn at_socket(place: &str) -> Result<StoreUrl, String> {
        let path = decoded(place.strip_prefix("//").unwrap_or(place))?;
        match path.starts_with('/') {
            true => Ok(StoreUrl::new(StoreKind::Redis, StoreAddress::Socket(path.into()))),
            false => Err("expected an absolute path behind unix:".to_owned()),
        }
    }

    /// `//[user[:password]@]host[:port][/database]`
    fn at_host(kind: StoreKind, place: &str) -> Result<StoreUrl, String> {
        let place = place.strip_prefix("//").ok_or(EXPECTED)?;
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let (login, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let address = match (kind, host) {
            (StoreKind::Postgres, "") => postgres_socket(POSTGRES_SOCKETS),
            (_, "") => return Err("the URL has no host".to_owned()),
            (StoreKind::Redis, host) => host_and_port(host, REDIS)?,
            (StoreKind::Postgres, host) => host_and_port(host, POSTGRES)?,
        };
        Ok(StoreUrl {
            user: decoded(user)?,
            password: Secret(decoded(password)?),
            database: decoded(database)?,
            ..StoreUrl::new(kind, address)
        })
    }

    /// Sets a parameter.
    fn set(&mut self, name: &str, value: String) -> Result<(), String> {
        let absolute = |value: String| match value.starts_with('/') {
            true => Ok(PathBuf::from(value)),
            false => Err(format!("expected an absolute path as {name}, got \"{value}\"")),
        };
        match (name, self.kind) {
            ("prefix", _) => self.prefix = value,
            ("user", _) => self.user = value,
            ("password_file", _) => self.password_file = Some(absolute(value)?),
            ("ca_file", _) => self.ca_file = Some(absolute(value)?),
            ("host", StoreKind::Postgres) => self.address = postgres_socket(&absolute(value)?.to_string_lossy()),
            ("sslmode", StoreKind::Postgres) => {
                self.tls = match value.as_str() {
                    "disable" => false,
                    "verify-full" => true,
                    _ => return Err(format!("expected disable or verify-full as sslmode, got \"{value}\"")),
                }
            }
            (_, StoreKind::Redis) => {
                return Err("unknown parameter; expected prefix, user, password_file or ca_file".to_owned());
            }
            (_, StoreKind::Postgres) => {
                return Err(
                    "unknown parameter; expected prefix, user, password_file, ca_file, host or sslmode".to_owned()
                );
            }
        }
        Ok(())
    }

    fn checked(self) -> Result<StoreUrl, String> {
        let prefix = &self.prefix;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
        if !(1..=MAX_PREFIX).contains(&prefix.len()) || !prefix.bytes().all(is_plain) {
            return Err(format!("expected 1 to {MAX_PREFIX} letters, digits and _-.: as prefix, got \"{prefix}\""));
        }
        if !self.password.0.is_empty() && self.password_file.is_some() {
            return Err("the URL has a password and a password_file; remove one".to_owned());
        }
        if self.ca_file.is_some() && !self.tls {
            return Err("ca_file needs TLS; write rediss:// or sslmode=verify-full".to_owned());
        }
        match self.kind {
            StoreKind::Redis if !self.database.is_empty() => {
                Err("databases of Redis are not used; remove it, and write ?prefix=NAME: to separate sites".to_owned())
            }
            StoreKind::Postgres if self.user.is_empty() || self.database.is_empty() => {
                Err("the URL needs a user and a database; write postgresql://user@host/database".to_owned())
            }
            StoreKind::Postgres if self.tls && matches!(self.address, StoreAddress::Socket(_)) => {
                Err("a Unix socket has no TLS; remove sslmode".to_owned())
            }
            _ => Ok(self),
        }
    }
}

/// The URL without account and password.
impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match (self.kind, self.tls) {
            (StoreKind::Redis, false) => "redis",
            (StoreKind::Redis, true) => "rediss",
            (StoreKind::Postgres, _) => "postgresql",
        };
        match (&self.address, self.kind) {
            (StoreAddress::Socket(path), _) => write!(f, "{scheme}:{}", path.display()),
            (StoreAddress::Host(host, port), _) if host.contains(':') => write!(f, "{scheme}://[{host}]:{port}"),
            (StoreAddress::Host(host, port), _) => write!(f, "{scheme}://{host}:{port}"),
        }
    }
}

/// PostgreSQL's socket in a folder.
fn postgres_socket(folder: &str) -> StoreAddress {
    StoreAddress::Socket(PathBuf::from(folder).join(format!(".s.PGSQL.{POSTGRES}")))
}

/// `host[:port]`; an IPv6 address in brackets.
fn host_and_port(text: &str, port: u16) -> Result<StoreAddress, String> {
    let (host, after) = match text.strip_prefix('[') {
        Some(text) => text.split_once(']').ok_or("the URL has no ] behind its address")?,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = match after.strip_prefix(':') {
        Some(number) => number.parse().map_err(|_| NO_PORT)?,
        None if after.is_empty() => port,
        None => return Err(NO_PORT.to_owned()),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:%".contains(&byte);
    match !host.is_empty() && host.bytes().all(is_name) {
        true => Ok(StoreAddress::Host(host.to_owned(), port)),
        false => Err("expected the name or the address of a host".to_owned()),
    }
}

/// Decodes `%hh`.
fn decoded(text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| "a part of the URL is no UTF-8")?;
    match decoded.contains(char::is_control) {
        true => Err("a part of the URL has control characters".to_owned()),
        false => Ok(decoded.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> StoreUrl {
        StoreUrl::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    #[test]
    fn the_parts_of_a_url_have_their_defaults() {
        let plain = parsed("redis://db.example");
        assert_eq!(plain.address, StoreAddress::Host("db.example".to_owned(), 6379));
        assert_eq!((plain.prefix.as_str(), plain.tls, plain.user.as_str()), ("cameleer:", false, ""));
        let full = parsed("rediss://app:p%40ss@[::1]:7000?prefix=shop.&ca_file=/etc/ca.pem");
        assert_eq!(full.address, StoreAddress::Host("::1".to_owned(), 7000));
        assert_eq!((full.user.as_str(), full.password.0.as_str()), ("app", "p@ss"));
        assert_eq!((full.prefix.as_str(), full.tls), ("shop.", true));
        let socket = parsed("unix:/run/redis/redis.sock?user=app&password_file=/etc/redis.password");
        assert_eq!(socket.address, StoreAddress::Socket("/run/redis/redis.sock".into()));
        assert_eq!(socket.password_file, Some("/etc/redis.password".into()));
        let postgres = parsed("postgresql://app@/shop");
        assert_eq!(postgres.address, StoreAddress::Socket("/var/run/postgresql/.s.PGSQL.5432".into()));
        let elsewhere = parsed("postgres://app@/shop?host=/tmp/a");
        assert_eq!(elsewhere.address, StoreAddress::Socket("/tmp/a/.s.PGSQL.5432".into()));
        let tls = parsed("postgresql://app@db.example/shop?sslmode=verify-full");
        assert_eq!((tls.address, tls.tls), (StoreAddress::Host("db.example".to_owned(), 5432), true));
    }

    #[test]
    fn neither_debug_output_nor_the_name_has_the_password() {
        let store = parsed("rediss://app:secret@db.example");
        assert_eq!(store.to_string(), "rediss://db.example:6379");
        assert!(!format!("{store:?}").contains("secret"));
    }

    #[test]
    fn a_wrong_url_is_refused_without_its_password() {
        for url in [
            "",
            "redis",
            "http://app:secret@host",
            "redis:/secret",
            "redis://app:secret@",
            "redis://app:secret@host:port",
            "redis://app:secret@ho st",
            "redis://app:secret@[::1",
            "redis://app:secret@host/shop",
            "redis://app:secret@host/1",
            "redis://app:secret@host?prefix=",
            "redis://app:secret@host?prefix=a%20b",
            "redis://app:secret@host?other=1",
            "redis://app:secret@host?ca_file=/a",
            "redis://app:secret@host?password_file=/a",
            "redis://app:secret@host?password_file=a",
            "redis://app:a/secret@host",
            "redis://app:a?secret@host",
            "redis://app:secret%0a@host",
            "unix:relative",
            "postgresql://app:secret@host",
            "postgresql://:secret@host/shop",
            "postgresql://app:secret@host/shop?sslmode=prefer",
            "postgresql://app@/shop?sslmode=verify-full",
        ] {
            let error = StoreUrl::parse(url).expect_err(url);
            assert!(!error.contains("secret"), "{url}: {error}");
        }
    }
}

//! Users and requirements that a directory (LDAP) decides. A [`DirectoryQuestion`] blocks: the front asks it on another
//! thread, a worker directly.

mod connection;
mod search;
mod trust;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use config::access::ldap::{LdapSecurity, Secret};
use config::access::{AccessRules, LdapPlace, LdapRequirement, LdapServer};
use connection::{DirectoryConnection, DirectoryFailure};
pub use search::DirectoryAnswer;

/// Time for which a directory that failed is not asked again.
const REST: Duration = Duration::from_secs(1);
/// Maximum number of idle connections.
const MAX_IDLE: usize = 8;

/// The entry of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Distinguished name of the entry.
    pub name: String,
    /// The name with which the user was found.
    pub login: String,
    /// The attributes of `AuthLDAPURL` with their values, joined by `; `.
    pub attributes: Vec<(String, String)>,
}

impl DirectoryEntry {
    /// Variables for programs: the attributes behind AUTHENTICATE_, and behind a second prefix where a requirement asks
    /// the directory.
    pub fn variables<'a>(&'a self, rules: &AccessRules) -> impl Iterator<Item = (String, &'a str)> + use<'a> {
        let prefixes = [Some("AUTHENTICATE_".to_owned()), rules.authorize_prefix().map(str::to_ascii_uppercase)];
        prefixes.into_iter().flatten().flat_map(|prefix| {
            let named = move |name: &str| format!("{prefix}{}", name.to_ascii_uppercase());
            self.attributes.iter().map(move |(name, value)| (named(name), value.as_str()))
        })
    }
}

/// A user's password, which no debug output shows.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct DirectoryPassword(pub(crate) Vec<u8>);

impl fmt::Debug for DirectoryPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hidden")
    }
}

/// Key of a connection: connections with equal keys may be shared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct DirectoryKey {
    hosts: Vec<(String, u16)>,
    security: LdapSecurity,
    bind_dn: Option<String>,
    bind_password: Secret,
    server: LdapServer,
}

/// A directory: its connections, and whether it answers.
pub(crate) struct Directory {
    key: DirectoryKey,
    state: Mutex<DirectoryState>,
}

#[derive(Default)]
struct DirectoryState {
    /// Connections without use, and since when.
    idle: Vec<(DirectoryConnection, Instant)>,
    /// When the directory failed last, and why; `None`: it answers.
    away: Option<(Instant, String)>,
    /// Whether a request currently tests if the directory answers again.
    is_tried: bool,
}

/// A question to the directory of a place.
#[derive(Clone)]
pub struct DirectoryQuestion {
    directory: Arc<Directory>,
    place: Arc<LdapPlace>,
    pub(crate) about: QuestionSubject,
    /// Index of the directory among the providers of passwords.
    source: usize,
}

/// The claim that the directory must check.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum QuestionSubject {
    /// Whether user and password belong together. Neither is empty.
    Password(String, Vec<u8>),
    /// Whether a user meets a requirement.
    Requirement(AboutRequirement),
}

/// A requirement, and the user who must meet it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct AboutRequirement {
    /// Name of the user's entry, if it is known.
    pub entry: Option<String>,
    /// The name with which the user is found.
    pub login: String,
    /// The user's password, if the directory is asked as the user.
    pub password: Option<Arc<DirectoryPassword>>,
    pub kind: LdapRequirement,
    pub words: Vec<String>,
}

impl DirectoryKey {
    /// The key of a place's directory, or why there is none.
    pub fn of(place: Option<&LdapPlace>, server: &LdapServer) -> Result<DirectoryKey, String> {
        let url = place.and_then(|place| place.url.as_ref());
        let (Some(place), Some(url)) = (place, url) else {
            return Err("a directory needs AuthLDAPURL here".to_owned());
        };
        if place.bind_dn.is_some() && place.bind_password.0.is_empty() {
            return Err("AuthLDAPBindDN needs AuthLDAPBindPassword: a bind without a password is anonymous".to_owned());
        }
        let by_scheme = if url.is_secure { LdapSecurity::Tls } else { LdapSecurity::None };
        // The scheme ldaps cannot be weakened.
        let security = match place.security.or(server.mode) {
            Some(security) if !url.is_secure => security,
            _ => by_scheme,
        };
        Ok(DirectoryKey {
            hosts: url.hosts.clone(),
            security,
            bind_dn: place.bind_dn.clone(),
            bind_password: place.bind_password.clone(),
            server: server.clone(),
        })
    }
}

impl Directory {
    pub fn new(key: DirectoryKey) -> Directory {
        Directory { key, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, DirectoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the directory may be asked. One that failed is asked by one request at a time, which its timeout delays;
    /// all others fail at once.
    fn enter(&self) -> Result<(), String> {
        let mut state = self.state();
        let Some((since, why)) = &state.away else { return Ok(()) };
        if state.is_tried || since.elapsed() < REST {
            return Err(why.clone());
        }
        state.is_tried = true;
        Ok(())
    }

    /// Records whether the directory answers.
    fn leave(&self, failed: Option<&str>) {
        let mut state = self.state();
        state.is_tried = false;
        state.away = failed.map(|why| (Instant::now(), why.to_owned()));
        if state.away.is_some() {
            state.idle.clear();
        }
    }

    fn idle(&self) -> Option<DirectoryConnection> {
        let life = self.key.server.idle;
        let mut state = self.state();
        state.idle.retain(|(_, since)| life.is_none_or(|life| since.elapsed() < life));
        state.idle.pop().map(|(connection, _)| connection)
    }

    fn put_back(&self, connection: DirectoryConnection) {
        let mut state = self.state();
        if state.idle.len() < MAX_IDLE && self.key.server.idle != Some(Duration::ZERO) {
            state.idle.push((connection, Instant::now()));
        }
    }

    fn connected(&self, deadline: Instant) -> Result<DirectoryConnection, String> {
        DirectoryConnection::open(&self.key.hosts, self.key.security, &self.key.server, deadline)
    }

    /// The hosts, for messages.
    fn name(&self) -> String {
        self.key.hosts.iter().map(|(host, port)| format!("{host}:{port}")).collect::<Vec<_>>().join(" ")
    }
}

impl DirectoryQuestion {
    pub(crate) fn new(directory: Arc<Directory>, place: Arc<LdapPlace>, about: QuestionSubject) -> DirectoryQuestion {
        DirectoryQuestion { directory, place, about, source: 0 }
    }

    /// A number that questions to the same directory share.
    pub fn directory(&self) -> usize {
        Arc::as_ptr(&self.directory).addr()
    }

    pub(crate) fn key(&self) -> &DirectoryKey {
        &self.directory.key
    }

    /// The same question of the provider with this index.
    pub(crate) fn at(self, source: usize) -> DirectoryQuestion {
        DirectoryQuestion { source, ..self }
    }

    pub(crate) fn source(&self) -> usize {
        self.source
    }

    pub(crate) fn place(&self) -> &Arc<LdapPlace> {
        &self.place
    }

    /// Asks the directory, until its timeout. The error is for the error log: the place is answered 500.
    pub fn ask(&self) -> Result<DirectoryAnswer, String> {
        self.directory.enter()?;
        let answer = self.with_connection();
        match &answer {
            Err(DirectoryFailure::Broken(why)) => self.directory.leave(Some(why)),
            Ok(_) | Err(DirectoryFailure::Refused(_)) => self.directory.leave(None),
        }
        answer.map_err(|(DirectoryFailure::Broken(why) | DirectoryFailure::Refused(why))| why)
    }

    fn with_connection(&self) -> Result<DirectoryAnswer, DirectoryFailure> {
        let directory = &*self.directory;
        let named = |why: String| format!("directory {}: {why}", directory.name());
        let deadline = Instant::now() + directory.key.server.timeout;
        let mut used = directory.idle();
        loop {
            let is_used = used.is_some();
            let mut connection = match used.take() {
                Some(connection) => connection,
                None => directory.connected(deadline).map_err(DirectoryFailure::Broken)?,
            };
            connection.until(deadline);
            match self.ask_on(&mut connection, &directory.key) {
                Ok(answer) => {
                    directory.put_back(connection);
                    return Ok(answer);
                }
                Err(DirectoryFailure::Refused(why)) => return Err(DirectoryFailure::Refused(named(why))),
                // The directory may have closed the idle connection: a new one is tried until the deadline.
                Err(DirectoryFailure::Broken(_)) if is_used && Instant::now() < deadline => {}
                Err(DirectoryFailure::Broken(why)) => return Err(DirectoryFailure::Broken(named(why))),
            }
        }
    }
}

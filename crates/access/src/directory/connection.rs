//! A connection to a directory. All calls block, until a deadline.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::access::LdapServer;
use config::access::ldap::LdapSecurity;
use ldap::{LdapEntry, LdapOperation, LdapOutcome, LdapResponse, LdapSearch, code, length, request};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use super::trust;

/// Maximum number of messages in the answer to a search that are not entries.
const MAX_OTHERS: usize = 64;

/// Why a question has no answer.
#[derive(Debug)]
pub enum DirectoryFailure {
    /// The connection cannot be used any more.
    Broken(String),
    /// The directory refused the operation.
    Refused(String),
}

/// A connection, and the entry as which it is bound.
pub struct DirectoryConnection {
    stream: Stream,
    received: Vec<u8>,
    /// Number of the last request.
    id: u32,
    /// Whether the connection is bound as the server, and not as a user.
    pub is_servers: bool,
}

enum Stream {
    Plain(Timed),
    Tls(Box<StreamOwned<ClientConnection, Timed>>),
}

/// A socket whose calls together end at the deadline.
struct Timed {
    socket: TcpStream,
    deadline: Instant,
}

impl DirectoryConnection {
    /// Connects to the first host that answers within [`LdapServer::connection_timeout`], before the deadline.
    pub fn open(
        hosts: &[(String, u16)],
        security: LdapSecurity,
        server: &LdapServer,
        deadline: Instant,
    ) -> Result<DirectoryConnection, String> {
        let mut why = String::new();
        for host in hosts {
            let own = deadline.min(Instant::now() + server.connection_timeout);
            let named = || format!("directory {}:{}", host.0, host.1);
            match DirectoryConnection::to(host, security, server, own) {
                Ok(connection) => return Ok(connection),
                Err(error) if why.is_empty() => why = format!("{}: {error}", named()),
                Err(error) => why = format!("{why}; {}: {error}", named()),
            }
        }
        Err(why)
    }

    fn to(
        host: &(String, u16),
        security: LdapSecurity,
        server: &LdapServer,
        deadline: Instant,
    ) -> Result<DirectoryConnection, String> {
        let addresses = (host.0.as_str(), host.1).to_socket_addrs().map_err(|error| error.to_string())?;
        let (mut socket, mut why) = (None, "the name has no address".to_owned());
        for address in addresses {
            match TcpStream::connect_timeout(&address, left(deadline).map_err(|error| error.to_string())?) {
                Ok(connected) => {
                    socket = Some(connected);
                    break;
                }
                Err(error) => why = error.to_string(),
            }
        }
        let socket = socket.ok_or(why)?;
        socket.set_nodelay(true).map_err(|error| error.to_string())?;
        let stream = Stream::Plain(Timed { socket, deadline });
        let mut connection = DirectoryConnection { stream, received: Vec::new(), id: 0, is_servers: false };
        if security == LdapSecurity::StartTls {
            match connection.call(request::start_tls) {
                Ok(outcome) if outcome.code == code::SUCCESS => {}
                Ok(outcome) => return Err(format!("STARTTLS is refused: {}", shown(&outcome))),
                Err(DirectoryFailure::Broken(why) | DirectoryFailure::Refused(why)) => return Err(why),
            }
            // Bytes before the handshake could come from anyone.
            if !connection.received.is_empty() {
                return Err("bytes before TLS".to_owned());
            }
        }
        match security {
            LdapSecurity::None => Ok(connection),
            LdapSecurity::Tls | LdapSecurity::StartTls => connection.secured(&host.0, server),
        }
    }

    /// Begins TLS.
    fn secured(self, host: &str, server: &LdapServer) -> Result<DirectoryConnection, String> {
        let Stream::Plain(mut socket) = self.stream else { return Err("TLS has begun".to_owned()) };
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let mut tls =
            ClientConnection::new(Arc::new(trust::client(server)?), name).map_err(|error| format!("TLS: {error}"))?;
        while tls.is_handshaking() {
            tls.complete_io(&mut socket).map_err(|error| format!("TLS: {error}"))?;
        }
        Ok(DirectoryConnection { stream: Stream::Tls(Box::new(StreamOwned::new(tls, socket))), ..self })
    }

    /// Sets the end of the next calls.
    pub fn until(&mut self, deadline: Instant) {
        match &mut self.stream {
            Stream::Plain(socket) => socket.deadline = deadline,
            Stream::Tls(tls) => tls.sock.deadline = deadline,
        }
    }

    /// Binds as an entry.
    pub fn bind(&mut self, name: &str, password: &[u8]) -> Result<LdapOutcome, DirectoryFailure> {
        self.call(|id| request::bind(id, name, password))
    }

    /// Whether an entry's attribute has a value. An entry or attribute that is not there has none.
    pub fn compare(&mut self, entry: &str, attribute: &str, value: &[u8]) -> Result<bool, DirectoryFailure> {
        let outcome = self.call(|id| request::compare(id, entry, attribute, value))?;
        match outcome.code {
            code::COMPARE_TRUE => Ok(true),
            code::COMPARE_FALSE
            | code::NO_SUCH_ATTRIBUTE
            | code::UNDEFINED_ATTRIBUTE_TYPE
            | code::INVALID_ATTRIBUTE_SYNTAX
            | code::NO_SUCH_OBJECT
            | code::INVALID_DN_SYNTAX => Ok(false),
            _ => Err(DirectoryFailure::Refused(format!("the comparison is refused: {}", shown(&outcome)))),
        }
    }

    /// The entries that a search finds: none if its base is not there, and at most the limit of the search.
    pub fn search(&mut self, search: &LdapSearch<'_>) -> Result<Vec<LdapEntry>, DirectoryFailure> {
        self.send(|id| request::search(id, search))?;
        let (mut entries, mut others) = (Vec::new(), 0);
        loop {
            match self.receive()? {
                LdapOperation::Entry(entry) => entries.push(entry),
                LdapOperation::Reference | LdapOperation::Other => others += 1,
                LdapOperation::Done(outcome) => {
                    return match outcome.code {
                        code::SUCCESS => Ok(entries),
                        // With fewer entries the limit is the directory's, and what it left out is unknown.
                        code::SIZE_LIMIT_EXCEEDED if entries.len() >= search.most as usize => Ok(entries),
                        code::NO_SUCH_OBJECT | code::INVALID_DN_SYNTAX => Ok(Vec::new()),
                        _ => Err(DirectoryFailure::Refused(format!("the search is refused: {}", shown(&outcome)))),
                    };
                }
            }
            if entries.len() > search.most as usize || others > MAX_OTHERS {
                return Err(DirectoryFailure::Broken("the directory sent more answers than were asked for".to_owned()));
            }
        }
    }

    /// A request with one response.
    fn call(&mut self, request: impl FnOnce(u32) -> Vec<u8>) -> Result<LdapOutcome, DirectoryFailure> {
        self.send(request)?;
        for _ in 0..MAX_OTHERS {
            if let LdapOperation::Done(outcome) = self.receive()? {
                return Ok(outcome);
            }
        }
        Err(DirectoryFailure::Broken("the directory sent more answers than were asked for".to_owned()))
    }

    fn send(&mut self, request: impl FnOnce(u32) -> Vec<u8>) -> Result<(), DirectoryFailure> {
        self.id += 1;
        let bytes = request(self.id);
        let sent = match &mut self.stream {
            Stream::Plain(socket) => socket.write_all(&bytes),
            Stream::Tls(tls) => tls.write_all(&bytes).and_then(|()| tls.flush()),
        };
        sent.map_err(|error| DirectoryFailure::Broken(shown_error(&error)))
    }

    /// The next response to the last request.
    fn receive(&mut self) -> Result<LdapOperation, DirectoryFailure> {
        loop {
            let whole = length(&self.received).map_err(|error| DirectoryFailure::Broken(error.to_string()))?;
            if let Some(whole) = whole.filter(|whole| *whole <= self.received.len()) {
                let message: Vec<u8> = self.received.drain(..whole).collect();
                let response =
                    LdapResponse::parse(&message).map_err(|error| DirectoryFailure::Broken(error.to_string()))?;
                return match response.id {
                    id if id == self.id => Ok(response.operation),
                    // A notice of disconnection (RFC 4511, section 4.4.1).
                    0 => Err(DirectoryFailure::Broken("the directory ends the connection".to_owned())),
                    _ => Err(DirectoryFailure::Broken("an answer to another request".to_owned())),
                };
            }
            let mut piece = [0; 8192];
            let read = match &mut self.stream {
                Stream::Plain(socket) => socket.read(&mut piece),
                Stream::Tls(tls) => tls.read(&mut piece),
            };
            match read {
                Ok(0) => return Err(DirectoryFailure::Broken("the directory closed the connection".to_owned())),
                Ok(count) => self.received.extend_from_slice(piece.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(DirectoryFailure::Broken(shown_error(&error))),
            }
        }
    }
}

impl Read for Timed {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(Some(left(self.deadline)?))?;
        self.socket.read(bytes)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(Some(left(self.deadline)?))?;
        self.socket.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// The time until a deadline; an error once there is none.
fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

fn shown_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "no answer in time".to_owned(),
        _ => error.to_string(),
    }
}

/// A result for the log.
pub fn shown(outcome: &LdapOutcome) -> String {
    let message: String = outcome.message.chars().take(200).collect();
    format!("code {} {}", outcome.code, message.escape_debug()).trim_end().to_owned()
}

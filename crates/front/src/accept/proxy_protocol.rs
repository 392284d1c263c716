//! Connections of a balancer with `RemoteIPProxyProtocol`: the PROXY header names the client.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use tokio::io::{AsyncRead, ReadBuf};

use super::proxy_header::{ParseStatus, SourceAddress, parse};
use super::proxy_tlv::{self, ProxyVariables};
use crate::base::address::Address;
use crate::client::socket::Socket;
use crate::client::timeouts::patiently;
use crate::limits::connections::{ConnectionLimit, Permit};
use crate::request::services::Connection;
use config::Config;

/// Whether a connection from `remote` to `local` begins with a PROXY header.
pub fn is_expected(config: &Config, remote: &Address, local: &Address) -> bool {
    let host = config.hosts.get(usize::from(config.host(local.socket, "")));
    host.is_some_and(|host| host.remote_ip.expects_proxy_header(remote.socket.map(|remote| remote.ip())))
}

/// Serves a connection. Its permit is charged to the client only after the PROXY header has named it.
pub async fn serve(limit: Arc<ConnectionLimit>, connection: Connection, mut socket: Socket, mut permit: Permit) {
    let Some((connection, is_named)) = meet(connection, &mut socket).await else { return };
    let (limits, remote) = (&connection.generation.config.clients, &connection.client.remote);
    if is_named && !limit.settle(limits, remote, &mut permit) {
        drop(permit);
        return limit.turn_away(socket);
    }
    super::serve(connection, socket, permit).await;
}

/// Reads the header, within the timeout of a request head. Returns the connection, with the named client, and whether
/// one was named.
async fn meet(mut connection: Connection, socket: &mut Socket) -> Option<(Connection, bool)> {
    let client = &connection.client;
    let registration = connection.services.connections.enter(client.entry());
    let mut has_begun = false;
    let wrong = match patiently(client, read(socket, &mut has_begun)).await {
        Some(Ok((sender, variables))) => {
            drop(registration);
            let client = Rc::get_mut(&mut connection.client)?;
            sender.inspect(|named| client.set_remote(Address::tcp(*named)));
            client.proxy_variables = variables;
            return Some((connection, sender.is_some()));
        }
        // A balancer's health check connects and closes without a header.
        Some(Err(_)) if !has_begun => return None,
        Some(Err(error)) => error.to_string(),
        None if client.shared.is_stopping() => return None,
        None => "the header took too long".to_owned(),
    };
    client.log_error(&format!(
        "the connection does not begin with a valid PROXY header (RemoteIPProxyProtocol): {wrong}"
    ));
    None
}

async fn read(socket: &mut Socket, has_begun: &mut bool) -> io::Result<(SourceAddress, ProxyVariables)> {
    let mut header = Vec::new();
    loop {
        match parse(&header) {
            ParseStatus::Read(more) => fill(socket, &mut header, more, has_begun).await?,
            ParseStatus::Done(sender) => {
                let variables = proxy_tlv::read(&header);
                return Ok((sender, variables.map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad))?));
            }
            ParseStatus::Wrong => return Err(io::Error::new(io::ErrorKind::InvalidData, "no PROXY header")),
        }
    }
}

/// Reads exactly `more` bytes, so that the client's own bytes stay in the socket.
async fn fill(socket: &mut Socket, header: &mut Vec<u8>, more: usize, has_begun: &mut bool) -> io::Result<()> {
    let from = header.len();
    header.resize(from + more, 0);
    let mut into = ReadBuf::new(header);
    into.set_filled(from);
    while into.remaining() > 0 {
        let before = into.remaining();
        poll_fn(|cx| Pin::new(&mut *socket).poll_read(cx, &mut into)).await?;
        if into.remaining() == before {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *has_begun = true;
    }
    Ok(())
}

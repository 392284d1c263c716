//! Connections of a balancer that begins them with a PROXY header: whoever that names is the client, from then on.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;

use tokio::io::ReadBuf;

use super::proxy_header::{Said, Step, step};
use crate::config::Config;
use crate::front::base::address::Address;
use crate::front::client::Client;
use crate::front::client::transport::Socket;
use crate::front::http1::{self, patiently};
use crate::front::limits::connections::Place;

/// Whether a connection from `remote` to `local` begins with such a header.
pub fn is_expected(config: &Config, remote: &Address, local: &Address) -> bool {
    let host = config.hosts.get(usize::from(config.host(local.socket, "")));
    host.is_some_and(|host| host.remote_ip.expects_proxy_header(remote.socket.map(|remote| remote.ip())))
}

/// Serves a connection whose place is nobody's until it has said whose it is.
pub async fn serve(client: Client, mut socket: Socket, mut place: Place) {
    let Some((client, is_named)) = meet(client, &mut socket).await else { return };
    if is_named && !client.front.settle(&client.site, &client.remote, &mut place) {
        drop(place);
        return client.front.crowd.turn_away(socket);
    }
    http1::serve(client, socket, place).await;
}

/// Waits for the header like for the head of a request. The client as it names it, and whether it does.
async fn meet(client: Client, socket: &mut Socket) -> Option<(Client, bool)> {
    let front = client.front.clone();
    let client = Rc::new(client);
    let guest = front.connections.enter(&client);
    let mut has_begun = false;
    let wrong = match patiently(&client, &guest, read(socket, &mut has_begun)).await {
        Some(Ok(said)) => {
            drop(guest);
            let mut client = Rc::into_inner(client)?;
            said.inspect(|named| client.remote = Address::tcp(*named));
            return Some((client, said.is_some()));
        }
        // How balancers look whether we are there.
        Some(Err(_)) if !has_begun => return None,
        Some(Err(error)) => error.to_string(),
        None if front.is_stopping() => return None,
        None => "it took too long".to_owned(),
    };
    client.complain(&format!("the connection does not begin as RemoteIPProxyProtocol wants it: {wrong}"));
    None
}

async fn read(socket: &mut Socket, has_begun: &mut bool) -> io::Result<Said> {
    let mut header = Vec::new();
    loop {
        match step(&header) {
            Step::Read(more) => fill(socket, &mut header, more, has_begun).await?,
            Step::Done(said) => return Ok(said),
            Step::Wrong => return Err(io::Error::new(io::ErrorKind::InvalidData, "no PROXY header")),
        }
    }
}

/// Reads exactly `more` bytes.
async fn fill(socket: &mut Socket, header: &mut Vec<u8>, more: usize, has_begun: &mut bool) -> io::Result<()> {
    let from = header.len();
    header.resize(from + more, 0);
    let mut into = ReadBuf::new(header);
    into.set_filled(from);
    while into.remaining() > 0 {
        let before = into.remaining();
        poll_fn(|cx| socket.poll_read(cx, &mut into)).await?;
        if into.remaining() == before {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *has_begun = true;
    }
    Ok(())
}

//! The worker's part of `Cameleer::Broadcast`: it publishes, and reports its subscriptions to the front.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::rc::Rc;
use std::time::Duration;

use apache::BroadcastPort;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;
use nix::unistd::geteuid;
use wire::broadcast::{BroadcastMessage, MAX_CHANNEL, MAX_CHANNELS, MAX_SUBSCRIPTIONS};
use wire::reply::Reply;

use crate::Port;
use config::Config;

/// Time in which the front answers a question.
const PATIENCE: Duration = Duration::from_secs(5);

/// The messages and subscriptions of a worker.
pub struct Broadcast {
    port: Port,
    is_event: bool,
    /// `BroadcastMaxMessage`
    max_message: u64,
    /// Pid of the master, a part of the front's address.
    master: u32,
    /// Number of subscriptions to each channel, at least 1.
    subscriptions: RefCell<BTreeMap<Vec<u8>, u32>>,
}

impl Broadcast {
    /// Serves the program of this worker from now on.
    pub fn begin(config: &Config, port: &Port, master: u32) -> Rc<Broadcast> {
        let broadcast = Rc::new(Broadcast {
            port: port.clone(),
            is_event: config.pool.is_event(),
            max_message: config.broadcast_max_message,
            master,
            subscriptions: RefCell::default(),
        });
        apache::broadcast_port_is(&broadcast);
        broadcast
    }

    /// Confirms the receipt of messages with this cost; further ones may follow.
    pub fn taken(&self, cost: usize) {
        if cost > 0 {
            // A front that has ended needs no confirmation.
            let _ = self.port.borrow_mut().send_reply(&Reply::Taken(u32::try_from(cost).unwrap_or(u32::MAX)));
        }
    }

    /// Reports all subscriptions, to a front that does not know them.
    pub fn repeat(&self) -> io::Result<()> {
        let mut port = self.port.borrow_mut();
        let subscriptions = self.subscriptions.borrow();
        subscriptions
            .iter()
            .try_for_each(|(channel, count)| port.send_reply(&Reply::Subscribed { channel, count: *count }))
    }

    fn send(&self, reply: &Reply<'_>) -> Result<(), String> {
        let mut port = self.port.try_borrow_mut().map_err(|_| "the worker's socket is in use".to_owned())?;
        port.send_reply(reply).map_err(|error| format!("cannot send to the front: {error}"))
    }

    fn ask(&self, channel: &[u8]) -> io::Result<u64> {
        let pids = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let name = format!("cameleer/{}/{}/presence", pids.display(), self.master);
        let mut front = UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?;
        let peer = getsockopt(&front, PeerCredentials)?.uid();
        if peer != 0 && peer != geteuid().as_raw() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        front.set_read_timeout(Some(PATIENCE))?;
        front.set_write_timeout(Some(PATIENCE))?;
        front.write_all(channel)?;
        front.shutdown(Shutdown::Write)?;
        let mut count = String::new();
        front.take(20).read_to_string(&mut count)?;
        count.parse().map_err(io::Error::other)
    }
}

/// Fails for the name of a channel that is too short or too long.
fn check(channel: &[u8]) -> Result<(), String> {
    match channel.len() {
        1..=MAX_CHANNEL => Ok(()),
        length => Err(format!("the name of a channel has 1 to {MAX_CHANNEL} bytes, not {length}")),
    }
}

impl BroadcastPort for Broadcast {
    fn publish(&self, channel: &[u8], message: &[u8]) -> Result<(), String> {
        check(channel)?;
        let length = message.len();
        if length as u64 > self.max_message {
            let most = self.max_message;
            return Err(format!("a message of {length} bytes is longer than BroadcastMaxMessage, {most}"));
        }
        if libperl::is_forked_child() {
            return Err("a child process of a worker cannot publish; let the worker do it".to_owned());
        }
        let encoded = BroadcastMessage { channel, message }.encode().map_err(|malformed| malformed.to_string())?;
        self.send(&Reply::Publish(&encoded))
    }

    fn subscribed(&self, channel: &[u8], count: u32) -> Result<(), String> {
        if libperl::is_forked_child() {
            return if count == 0 { Ok(()) } else { Err("a child process of a worker cannot subscribe".to_owned()) };
        }
        if !self.is_event {
            let why =
                "this worker has one request at a time and no event loop; subscribe in a pool with PsgiMode event";
            return Err(why.to_owned());
        }
        check(channel)?;
        if count > MAX_SUBSCRIPTIONS {
            return Err(format!("a worker has at most {MAX_SUBSCRIPTIONS} subscriptions to a channel"));
        }
        let mut subscriptions = self.subscriptions.borrow_mut();
        if count > 0 && subscriptions.len() >= MAX_CHANNELS && !subscriptions.contains_key(channel) {
            return Err(format!("a worker has subscriptions to at most {MAX_CHANNELS} channels"));
        }
        self.send(&Reply::Subscribed { channel, count })?;
        match count {
            0 => drop(subscriptions.remove(channel)),
            _ => drop(subscriptions.insert(channel.to_vec(), count)),
        }
        Ok(())
    }

    fn presence(&self, channel: &[u8]) -> Option<u64> {
        self.ask(channel).ok()
    }
}

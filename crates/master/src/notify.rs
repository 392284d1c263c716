//! Messages to systemd (`Type=notify`): ready, reloading, stopping, and a line of status. See sd_notify(3).

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// The socket of systemd, if the service manager gave one.
#[derive(Debug, Default)]
pub struct Notify {
    to: Option<(UnixDatagram, SocketAddr)>,
    keepalive: Option<Keepalive>,
}

#[derive(Debug)]
struct Keepalive {
    every: Duration,
    next: Instant,
}

impl Notify {
    /// Reads `NOTIFY_SOCKET` and `WATCHDOG_USEC`.
    pub fn from_env() -> Notify {
        let Some(to) = std::env::var("NOTIFY_SOCKET").ok().and_then(|name| open(&name)) else {
            return Notify::default();
        };
        let micros = std::env::var("WATCHDOG_USEC").ok().and_then(|n| n.parse().ok());
        // Twice in each period, as sd_watchdog_enabled(3) asks.
        let keepalive = micros.map(|n: u64| Keepalive { every: Duration::from_micros(n / 2), next: Instant::now() });
        Notify { to: Some(to), keepalive }
    }

    /// The server is ready, or a reload has ended.
    pub fn ready(&self, status: &str) {
        self.send(&format!("READY=1\nMAINPID={}\nSTATUS={status}", std::process::id()));
    }

    /// A reload has begun, until [`Self::ready`].
    pub fn reloading(&self) {
        let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={}\nSTATUS=reloading", now.as_micros()));
    }

    /// The server drains, and needs this long until its end.
    pub fn draining(&self, until_end: Duration) {
        self.send(&format!("EXTEND_TIMEOUT_USEC={}\nSTATUS=draining", until_end.as_micros()));
    }

    /// Reports that the stop has begun.
    pub fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=stopping");
    }

    /// The site's code may take this long to load.
    pub fn extend(&self, by: Duration) {
        self.send(&format!("EXTEND_TIMEOUT_USEC={}\nSTATUS=loading", by.as_micros()));
    }

    /// Reports that the loop turns, when that is due.
    pub fn beat(&mut self, now: Instant) {
        let Some(keepalive) = self.keepalive.as_mut().filter(|keepalive| keepalive.next <= now) else { return };
        keepalive.next = now + keepalive.every;
        self.send("WATCHDOG=1");
    }

    /// When the next keep-alive must be sent.
    pub fn wakes(&self) -> Option<Instant> {
        self.keepalive.as_ref().map(|keepalive| keepalive.next)
    }

    fn send(&self, text: &str) {
        if let Some((socket, to)) = &self.to {
            // The server continues if systemd does not read.
            let _ = socket.send_to_addr(text.as_bytes(), to);
        }
    }
}

/// `/run/systemd/notify`, or `@name` for an abstract one.
fn open(name: &str) -> Option<(UnixDatagram, SocketAddr)> {
    let to = match name.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(name),
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.set_nonblocking(true).ok()?;
    Some((socket, to.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_names_the_main_process() {
        let name = format!("cameleer-notify-{}", std::process::id());
        let systemd = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("name")).expect("bound");
        let notify = Notify { to: open(&format!("@{name}")), keepalive: None };
        notify.ready("4 workers");
        let mut text = [0; 200];
        let n = systemd.recv(&mut text).expect("received");
        let expected = format!("READY=1\nMAINPID={}\nSTATUS=4 workers", std::process::id());
        assert_eq!(String::from_utf8_lossy(&text[..n]), expected);
    }
}

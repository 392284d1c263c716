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
    /// When systemd must get more time for a stop without a limit.
    extends: Option<Instant>,
}

/// Time that each message adds to a stop without a limit.
const EXTENSION: Duration = Duration::from_secs(60);
/// Time between these messages.
const EXTENDS_EVERY: Duration = Duration::from_secs(20);

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
        Notify { to: Some(to), keepalive, extends: None }
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

    /// The server drains, and needs this long until its end; `None`: as long as its requests run.
    pub fn draining(&mut self, until_end: Option<Duration>, now: Instant) {
        self.extends = until_end.is_none().then(|| now + EXTENDS_EVERY).filter(|_| self.to.is_some());
        let by = until_end.unwrap_or(EXTENSION);
        self.send(&format!("EXTEND_TIMEOUT_USEC={}\nSTATUS=draining", by.as_micros()));
    }

    /// The server serves on, and no stop needs more time.
    pub fn drain_cancelled(&mut self, status: &str) {
        self.extends = None;
        self.ready(status);
    }

    /// Reports that the stop has begun.
    pub fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=stopping");
    }

    /// The site's code may take this long to load.
    pub fn extend(&self, by: Duration) {
        self.send(&format!("EXTEND_TIMEOUT_USEC={}\nSTATUS=loading", by.as_micros()));
    }

    /// Reports that the loop turns, and extends a stop without a limit, when that is due.
    pub fn beat(&mut self, now: Instant) {
        if self.extends.is_some_and(|at| at <= now) {
            self.extends = Some(now + EXTENDS_EVERY);
            self.send(&format!("EXTEND_TIMEOUT_USEC={}", EXTENSION.as_micros()));
        }
        let Some(keepalive) = self.keepalive.as_mut().filter(|keepalive| keepalive.next <= now) else { return };
        keepalive.next = now + keepalive.every;
        self.send("WATCHDOG=1");
    }

    /// When [`Self::beat`] must be called next.
    pub fn wakes(&self) -> Option<Instant> {
        self.keepalive.iter().map(|keepalive| keepalive.next).chain(self.extends).min()
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

    /// A socket of systemd, and the messages to it.
    fn systemd(test: &str) -> (UnixDatagram, Notify) {
        let name = format!("cameleer-notify-{test}-{}", std::process::id());
        let systemd = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("name")).expect("bound");
        (systemd, Notify { to: open(&format!("@{name}")), ..Notify::default() })
    }

    fn next(systemd: &UnixDatagram) -> String {
        let mut text = [0; 200];
        let n = systemd.recv(&mut text).expect("received");
        String::from_utf8_lossy(&text[..n]).into_owned()
    }

    #[test]
    fn ready_names_the_main_process() {
        let (systemd, notify) = systemd("ready");
        notify.ready("4 workers");
        assert_eq!(next(&systemd), format!("READY=1\nMAINPID={}\nSTATUS=4 workers", std::process::id()));
    }

    #[test]
    fn a_drain_without_an_end_is_extended_again_and_again() {
        let (systemd, mut notify) = systemd("drain");
        let now = Instant::now();
        notify.draining(Some(Duration::from_secs(7)), now);
        assert_eq!((next(&systemd), notify.wakes()), ("EXTEND_TIMEOUT_USEC=7000000\nSTATUS=draining".to_owned(), None));
        notify.draining(None, now);
        assert_eq!(next(&systemd), "EXTEND_TIMEOUT_USEC=60000000\nSTATUS=draining");
        let due = notify.wakes().expect("another message");
        notify.beat(due);
        assert_eq!(next(&systemd), "EXTEND_TIMEOUT_USEC=60000000");
        assert!(notify.wakes().is_some_and(|again| again > due));
        notify.drain_cancelled("4 workers");
        assert_eq!(notify.wakes(), None);
    }
}

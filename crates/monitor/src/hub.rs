//! The last status with the events of its second, and the clients that wait for the next one.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use wire::board;
use wire::control::FrontStatus;

use super::warn;
use status::agent::{self, ReadyWord};
use status::health::{self, Checked};
use status::history::{HistoryRing, Recorder, Second};
use status::{ServerStatus, Usages};

/// The contents of `status.json`, and of each event.
#[derive(Debug, Serialize)]
pub struct StatusView {
    /// Record and status of the last second.
    pub second: Second,
    /// As the master sent it; its fields are on the top level of the JSON object.
    #[serde(flatten)]
    pub status: ServerStatus,
    /// Weight of the server for load balancers, in percent.
    #[serde(skip)]
    weight: u32,
    /// Whether the line for HAProxy has the word `ready`.
    #[serde(skip)]
    ready_word: ReadyWord,
    /// The kernel's counters of the workers.
    #[serde(skip)]
    usages: Usages,
}

/// Time without a status, which comes each second, after which the master counts as hung.
const SILENCE: Duration = Duration::from_secs(15);

/// The status and its listeners.
pub struct Hub {
    ring: Arc<HistoryRing>,
    /// The board that the profiler writes.
    slow: File,
    recorder: RefCell<Recorder>,
    latest: RefCell<Option<Rc<StatusView>>>,
    /// When the last status arrived.
    received: Cell<Option<Instant>>,
    /// Each channel holds one event: a client that has not read the last one misses the next.
    listeners: RefCell<Vec<Sender<Bytes>>>,
    /// Whether a failure to write the history was logged.
    reported_full: Cell<bool>,
}

impl Hub {
    /// A hub without a status.
    pub fn new(ring: HistoryRing, slow: File) -> Hub {
        Hub {
            ring: Arc::new(ring),
            slow,
            recorder: RefCell::default(),
            latest: RefCell::default(),
            received: Cell::default(),
            listeners: RefCell::default(),
            reported_full: Cell::new(false),
        }
    }

    /// Checks the last status. An error if the master has sent none for a while.
    pub fn check(&self, check: fn(&ServerStatus) -> Checked) -> Checked {
        let (Some(view), Some(received)) = (self.latest(), self.received.get()) else {
            return Err("the monitor has just started".to_owned());
        };
        let age = received.elapsed();
        if age > SILENCE {
            return Err(format!("the master has sent no status for {} s", age.as_secs()));
        }
        check(&view.status)
    }

    /// The line for HAProxy's agent check. `None` before the first status, when nothing is known.
    pub fn agent_line(&self) -> Option<String> {
        let view = self.latest()?;
        Some(agent::line(&view.status.node, &self.check(health::is_ready), view.weight, view.ready_word))
    }

    /// Stores a status from the master, and sends it to the listeners.
    pub fn take(&self, time: u32, status: ServerStatus) {
        self.received.set(Some(Instant::now()));
        let second = self.recorder.borrow_mut().second(time, &status);
        self.keep(&second);
        let usages = Usages::of(status.workers(), |pid| Some(status.memory.processes.get(&pid)?.private));
        let before = self.latest();
        let weight = agent::weight(before.as_ref().map(|view| &view.status), &status);
        let word_before = before.as_ref().map(|view| view.ready_word);
        let ready_word = ReadyWord::next(word_before, &status, health::is_ready(&status).is_ok());
        let view = Rc::new(StatusView { second, status, weight, ready_word, usages });
        *self.latest.borrow_mut() = Some(view.clone());
        self.publish(&view);
    }

    /// The newest status that the master has sent; `None` before the first.
    pub fn latest(&self) -> Option<Rc<StatusView>> {
        self.latest.borrow().clone()
    }

    /// The last slow requests, as JSON.
    pub fn slow(&self) -> io::Result<String> {
        let text = board::read(&self.slow)?;
        // SlowLog is off, and no profiler has run.
        Ok(if text.is_empty() { r#"{"after_ms":null,"requests":[]}"#.to_owned() } else { text })
    }

    pub fn ring(&self) -> Arc<HistoryRing> {
        self.ring.clone()
    }

    /// Events from now on, beginning with the present one.
    pub fn listen(&self) -> Receiver<Bytes> {
        let (sender, receiver) = channel(1);
        if let Some(view) = self.latest() {
            // The channel is empty, so the send succeeds.
            let _ = sender.try_send(view.event());
        }
        self.listeners.borrow_mut().push(sender);
        receiver
    }

    fn publish(&self, view: &StatusView) {
        let mut listeners = self.listeners.borrow_mut();
        listeners.retain(|listener| !listener.is_closed());
        if listeners.is_empty() {
            return;
        }
        let event = view.event();
        listeners.iter().for_each(|listener| drop(listener.try_send(event.clone())));
    }

    /// Writes a second to the history. While the disk is full, seconds are lost; the failure is logged once.
    fn keep(&self, second: &Second) {
        match self.ring.write(second) {
            Ok(()) if self.reported_full.replace(false) => warn(format_args!("the history can be written again")),
            Err(error) if !self.reported_full.replace(true) => {
                warn(format_args!("the history cannot be written: {error}"))
            }
            _ => {}
        }
    }
}

impl StatusView {
    /// The view as one line of JSON, without the counted times.
    pub fn json(&self) -> String {
        let front = self.status.front.as_ref().map(|front| FrontStatus { spreads: None, ..front.clone() });
        let status = ServerStatus { front, ..self.status.clone() };
        let shown = StatusView { second: self.second, status, usages: Usages::default(), ..*self };
        let mut json = serde_json::to_value(&shown).unwrap_or_default();
        self.usages.add_to(&mut json);
        json.to_string()
    }

    fn event(&self) -> Bytes {
        format!("id: {}\ndata: {}\n\n", self.second.time, self.json()).into()
    }
}

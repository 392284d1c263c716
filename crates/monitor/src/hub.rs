//! What is known now: the last status with what happened in its second, and who wants to hear of the next one.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use wire::board;
use wire::control::FrontStatus;

use super::warn;
use status::Status;
use status::history::{Recorder, Ring, Second};

/// As `status.json` has it, and each event.
#[derive(Debug, Serialize)]
pub struct View {
    /// What happened in the last second.
    pub second: Second,
    /// How things stand.
    #[serde(flatten)]
    pub status: Status,
}

/// See the module.
pub struct Hub {
    ring: Arc<Ring>,
    /// The profiler writes there.
    slow: File,
    recorder: RefCell<Recorder>,
    latest: RefCell<Option<Rc<View>>>,
    /// Each has place for one event: who has not read the last one misses the next.
    listeners: RefCell<Vec<Sender<Bytes>>>,
    /// The history could not be written, and that was said.
    said_full: Cell<bool>,
}

impl Hub {
    /// Nothing is known yet.
    pub fn new(ring: Ring, slow: File) -> Hub {
        Hub {
            ring: Arc::new(ring),
            slow,
            recorder: RefCell::default(),
            latest: RefCell::default(),
            listeners: RefCell::default(),
            said_full: Cell::new(false),
        }
    }

    /// The master has told how things stand.
    pub fn take(&self, time: u32, mut status: Status) {
        let second = self.recorder.borrow_mut().second(time, &status);
        self.keep(&second);
        let processes = std::mem::take(&mut status.memory.processes);
        status.measure(|pid| Some(processes.get(&pid)?.private));
        status.memory.processes = processes;
        let view = Rc::new(View { second, status });
        *self.latest.borrow_mut() = Some(view.clone());
        self.tell(&view);
    }

    /// What the master has told last.
    pub fn latest(&self) -> Option<Rc<View>> {
        self.latest.borrow().clone()
    }

    /// The last slow requests, as JSON.
    pub fn slow(&self) -> io::Result<String> {
        let text = board::read(&self.slow)?;
        // No profiler has run yet: SlowLog is off.
        Ok(if text.is_empty() { r#"{"after_ms":null,"requests":[]}"#.to_owned() } else { text })
    }

    /// What was kept.
    pub fn ring(&self) -> Arc<Ring> {
        self.ring.clone()
    }

    /// Events from now on, the present one first.
    pub fn listen(&self) -> Receiver<Bytes> {
        let (sender, receiver) = channel(1);
        if let Some(view) = self.latest() {
            // The channel is empty.
            let _ = sender.try_send(view.event());
        }
        self.listeners.borrow_mut().push(sender);
        receiver
    }

    fn tell(&self, view: &View) {
        let mut listeners = self.listeners.borrow_mut();
        listeners.retain(|listener| !listener.is_closed());
        if listeners.is_empty() {
            return;
        }
        let event = view.event();
        listeners.iter().for_each(|listener| drop(listener.try_send(event.clone())));
    }

    /// A full disk costs the seconds that it is full, and is said once.
    fn keep(&self, second: &Second) {
        match self.ring.write(second) {
            Ok(()) if self.said_full.replace(false) => warn(format_args!("the history is written again")),
            Err(error) if !self.said_full.replace(true) => warn(format_args!("the history is not written: {error}")),
            _ => {}
        }
    }
}

impl View {
    /// One line; what a program needs and a page does not is left out.
    pub fn json(&self) -> String {
        let front = self.status.front.as_ref().map(|front| FrontStatus { spreads: None, ..front.clone() });
        let shown = View { second: self.second, status: Status { front, ..self.status.clone() } };
        serde_json::to_string(&shown).unwrap_or_default()
    }

    fn event(&self) -> Bytes {
        format!("id: {}\ndata: {}\n\n", self.second.time, self.json()).into()
    }
}

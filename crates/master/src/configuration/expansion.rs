//! Perl code in a configuration: an expander runs the code within StartTimeout and answers with plain directives.
//!
//! At the start [`read`] waits for the answer. During a reload the old generation is served, and the master's loop
//! receives the answer of the [`Expansion`].

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use wire::control::{FromExpander, ToExpander};
use wire::transport::read_configuration;

use super::{CheckedConfig, ConfigOrigin, ConfigReading, Mistakes};
use crate::children::{Expander, start_expander};
use config::{At, Bundle, ConfigError};
use sys::privileges;

/// A running expander, and the configuration that it completes.
#[derive(Debug)]
pub struct Expansion {
    /// The expander's process.
    pub child: Expander,
    /// Deadline of the expander's answer.
    pub by: Instant,
    /// `StartTimeout`
    allowed: Duration,
    /// The line whose code the expander runs, and the directive there.
    reached: Option<(At, String)>,
}

/// Reads a configuration and waits until its Perl code has run.
pub fn read(origin: &ConfigOrigin) -> anyhow::Result<CheckedConfig> {
    let reading = ConfigReading::of(origin)?;
    if !reading.needs_perl() {
        return Ok(reading.finish()?);
    }
    let error_log = io::stderr().as_fd().try_clone_to_owned()?;
    let mut expansion = Expansion::start(reading, &error_log, origin)?;
    let checked = expansion.wait();
    expansion.child.dismiss();
    checked
}

impl Expansion {
    /// Forks the expander, which must finish within `StartTimeout`. Fails for an unknown `User`.
    pub fn start(reading: ConfigReading, error_log: &OwnedFd, origin: &ConfigOrigin) -> anyhow::Result<Expansion> {
        let known = reading.sketch();
        privileges::account(known.user.as_deref(), known.group.as_deref())?;
        let mut child = start_expander(error_log, &origin.facts.env)?;
        child.peer.send(ToExpander::Expand, vec![reading.for_expander()?]);
        let allowed = known.timeouts.start;
        Ok(Expansion { child, by: Instant::now() + allowed, allowed, reached: None })
    }

    fn wait(&mut self) -> anyhow::Result<CheckedConfig> {
        loop {
            match self.receive()? {
                Some(checked) => return Ok(checked),
                None if self.child.peer.is_gone() => return Err(self.died()),
                None => self.child.peer.wait(self.by).map_err(|_| self.is_late())?,
            }
        }
    }

    /// Returns the configuration once the expander has sent it.
    pub fn receive(&mut self) -> anyhow::Result<Option<CheckedConfig>> {
        self.child.peer.flush();
        let memory = loop {
            match self.child.peer.receive_with_fds()? {
                None => return Ok(None),
                Some((FromExpander::Reached { file, line, name }, _)) => {
                    self.reached = Some((At { file: file.into(), line }, name));
                }
                Some((FromExpander::Expanded, fds)) => break fds.into_iter().next(),
            }
        };
        let memory = memory.context("the expander answered without a configuration")?;
        let answer: Result<Bundle, Vec<ConfigError>> = serde_json::from_slice(&read_configuration(memory)?)?;
        Ok(Some(CheckedConfig::of(answer.map_err(Mistakes)?)?))
    }

    /// The error if the expander ended without an answer.
    pub fn died(&self) -> anyhow::Error {
        self.blame("ended the process that runs it; find the code that kills or crashes it")
    }

    /// The error if the expander takes too long.
    pub fn is_late(&self) -> anyhow::Error {
        let seconds = self.allowed.as_secs();
        self.blame(&format!("still runs after {seconds} s; shorten it, or raise StartTimeout"))
    }

    fn blame(&self, what: &str) -> anyhow::Error {
        match &self.reached {
            Some((at, name)) => {
                let message = format!("{name}: {what}");
                Mistakes(vec![ConfigError { at: Some(at.clone()), message }]).into()
            }
            None => anyhow!("the expander (the process that runs the configuration's Perl) {what}"),
        }
    }
}

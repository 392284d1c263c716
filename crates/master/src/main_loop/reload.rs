//! Reloads: the configuration is read anew, and its generation begun.

use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::Instant;

use wire::control::GenerationNumber;

use super::Master;
use super::next::{Attempt, NextConfig};
use crate::configuration::ConfigReading;
use crate::configuration::expansion::Expansion;
use crate::reload::{ReloadAction, ServerPhase};
use crate::sockets::control_socket::{ControlClient, ControlReply};
use base::log;
use machine::capacity::cores;

impl Master {
    /// HUP, or `cameleer reload` by `client`.
    pub(super) fn request_reload(&mut self, client: Option<ControlClient>) {
        let action = self.reloads.request(client, self.phase());
        self.do_reload(action, &ControlReply::ok());
    }

    fn do_reload(&mut self, actions: impl IntoIterator<Item = ReloadAction>, result: &ControlReply) {
        for action in actions {
            match action {
                ReloadAction::Begin => self.begin_reload(),
                ReloadAction::Refuse(client, why) => self.answer(Some(client), &ControlReply::failed(why)),
                ReloadAction::Answer(clients) => {
                    clients.into_iter().for_each(|client| self.answer(Some(client), result));
                }
            }
        }
    }

    fn begin_reload(&mut self) {
        log::notice("master", "reloading");
        self.announcer.notify().reloading();
        if !self.surveys_before_reload() {
            self.read_again();
        }
    }

    /// Reads the configuration, once the list of code for the new molds is complete.
    pub(super) fn read_again(&mut self) {
        if self.phase() == ServerPhase::Stopping {
            return self.end_reload(Err("the server is stopping".to_owned()));
        }
        if let Err(error) = self.try_reload() {
            self.end_reload(Err(format!("{error:#}")));
        }
    }

    fn try_reload(&mut self) -> anyhow::Result<()> {
        let reading = ConfigReading::again(&self.origin)?;
        if !reading.needs_perl() {
            return self.begin_generation(Rc::new(reading.finish()?));
        }
        let error_log = match self.logs.in_use() {
            Some(opened) => opened.error.clone(),
            None => Rc::new(std::io::stderr().as_fd().try_clone_to_owned()?),
        };
        let expansion = Expansion::start(reading, &error_log, &self.origin)?;
        log::info("master", format_args!("expander pid={} started", expansion.child.pid));
        self.next = NextConfig::Expanding(expansion);
        Ok(())
    }

    pub(super) fn read_expander(&mut self) {
        let Some(expansion) = self.next.expansion_mut() else { return };
        match expansion.receive() {
            Ok(None) => {}
            Ok(Some(checked)) => {
                self.next = NextConfig::Nothing;
                if let Err(error) = self.begin_generation(Rc::new(checked)) {
                    self.end_reload(Err(format!("{error:#}")));
                }
            }
            Err(error) => self.drop_expansion(error),
        }
    }

    /// The expander has ended: in order, if it had answered before.
    pub(super) fn expander_ended(&mut self) {
        self.read_expander();
        if let Some(expansion) = self.next.expansion() {
            self.drop_expansion(expansion.died());
        }
    }

    /// Ends an expander that takes too long.
    pub(super) fn enforce_expansion(&mut self, now: Instant) {
        if let Some(expansion) = self.next.expansion().filter(|expansion| expansion.by <= now) {
            self.drop_expansion(expansion.is_late());
        }
    }

    fn drop_expansion(&mut self, error: anyhow::Error) {
        if let Some(expansion) = self.next.take_expansion() {
            expansion.child.kill();
            self.end_reload(Err(format!("{error:#}")));
        }
    }

    /// Ends the reload under way. A failed reload is already reverted.
    pub(super) fn end_reload(&mut self, result: Result<GenerationNumber, String>) {
        if !self.reloads.is_running() {
            return;
        }
        self.exits.count_reload(result.is_ok());
        self.send_counts();
        match &result {
            Ok(generation) => log::notice("master", format_args!("gen={generation} reloaded")),
            Err(error) => log::error("master", format_args!("reload failed, the old code continues to serve: {error}")),
        }
        self.announcer.notify().ready(&self.summary());
        let actions = self.reloads.over(self.phase());
        let answer = result.map_or_else(ControlReply::failed, |_| ControlReply::ok());
        self.do_reload(actions, &answer);
    }

    /// Replaces the server's sockets and logs by those of the new generation.
    pub(super) fn commit(&mut self, attempt: Attempt) {
        if let Some(generation) = self.generations.get(attempt.generation) {
            self.checked = generation.config.clone();
        }
        self.listeners.keep(attempt.listeners);
        self.logs.keep(&self.checked.config);
        self.use_logs(attempt.opened);
        self.sizing.configure(&self.checked.config.pool, cores());
        self.certificates.watch(&self.checked);
        self.configure_acme();
        self.configure_budget();
        self.configure_profiler();
        self.checked.config.apply_log_levels(None);
        for warning in &self.checked.config.warnings {
            log::warn("config", warning);
        }
    }
}

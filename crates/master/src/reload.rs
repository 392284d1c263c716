//! Reload, all or nothing: the new generation answers before the old one leaves, or nothing has changed.
//!
//! ```text
//!   asked ─▶ read ─▶ bind, open ─▶ Loading ─▶ Starting ─▶ first worker ready: Serving, the old one drains
//!              │         │            │           │
//!              └─────────┴────────────┴───────────┴─▶ undone; the old one serves on
//! ```

use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::Instant;

use wire::control::{GenerationNumber, Inspection};

use super::Master;
use super::auto_size::Following;
use super::configuration::Reading;
use super::configuration::expansion::Expansion;
use super::generation::Attempt;
use super::sockets::control_socket::{Client, ControlReply};
use base::log;

/// Who asked for a reload, and what is under way. What is asked during one becomes a single one after it.
#[derive(Debug, Default)]
pub struct Reloads {
    running: bool,
    waiting: Vec<Client>,
    again: Option<Vec<Client>>,
}

impl Reloads {
    /// Somebody asks; a signal asks for nobody. True: begin now.
    pub fn ask(&mut self, client: Option<Client>) -> bool {
        if self.running {
            self.again.get_or_insert_default().extend(client);
            return false;
        }
        self.running = true;
        self.waiting.extend(client);
        true
    }

    /// It is over: who waited for it, and whether to begin anew.
    pub fn over(&mut self) -> (Vec<Client>, bool) {
        let answered = std::mem::take(&mut self.waiting);
        let again = self.again.take();
        self.running = again.is_some();
        self.waiting = again.unwrap_or_default();
        (answered, self.running)
    }

    /// Whether one is under way.
    pub fn running(&self) -> bool {
        self.running
    }
}

impl Master {
    /// HUP, or `cameleer reload` by `client`.
    pub(super) fn ask_reload(&mut self, client: Option<Client>) {
        if self.stop.is_some() {
            self.tell(client, &ControlReply::failed("the server is stopping"));
        } else if self.serving().is_none() {
            self.tell(client, &ControlReply::failed("the server is still starting"));
        } else if self.reloads.ask(client) {
            self.begin_reload();
        }
    }

    fn begin_reload(&mut self) {
        log::notice("master", "reloading");
        self.notify.reloading();
        if !self.checked.config.perl.preload {
            return self.read_again();
        }
        if let Err(error) = self.inspect(None, Inspection::Loaded) {
            log::warn("master", format_args!("PerlPreload: what workers have loaded cannot be asked: {error}"));
            self.read_again();
        }
    }

    /// What the new mold should load is known.
    pub(super) fn read_again(&mut self) {
        if self.stop.is_some() {
            return self.end_reload(Err("the server is stopping".to_owned()));
        }
        if let Err(error) = self.try_reload() {
            self.end_reload(Err(format!("{error:#}")));
        }
    }

    fn try_reload(&mut self) -> anyhow::Result<()> {
        let reading = Reading::again(&self.origin)?;
        if !reading.needs_perl() {
            return self.begin_generation(Rc::new(reading.finish()?));
        }
        let error_log = match &self.opened {
            Some(opened) => opened.error.clone(),
            None => Rc::new(std::io::stderr().as_fd().try_clone_to_owned()?),
        };
        let expansion = Expansion::start(reading, &error_log, &self.origin)?;
        log::info("master", format_args!("expander pid={} started", expansion.child.pid));
        self.expansion = Some(expansion);
        Ok(())
    }

    /// The expander may have answered.
    pub(super) fn listen_to_expander(&mut self) {
        let heard = match &mut self.expansion {
            Some(expansion) => expansion.hear(),
            None => return,
        };
        match heard {
            Ok(None) => {}
            Ok(Some(checked)) => {
                self.expansion = None;
                if let Err(error) = self.begin_generation(Rc::new(checked)) {
                    self.end_reload(Err(format!("{error:#}")));
                }
            }
            Err(error) => self.drop_expansion(error),
        }
    }

    /// The expander has ended: well, if it had answered before.
    pub(super) fn expander_ended(&mut self) {
        self.listen_to_expander();
        if let Some(expansion) = &self.expansion {
            self.drop_expansion(expansion.died());
        }
    }

    /// Ends an expander that takes too long.
    pub(super) fn enforce_expansion(&mut self, now: Instant) {
        if let Some(expansion) = self.expansion.as_ref().filter(|expansion| expansion.by <= now) {
            self.drop_expansion(expansion.is_late());
        }
    }

    fn drop_expansion(&mut self, error: anyhow::Error) {
        if let Some(expansion) = self.expansion.take() {
            expansion.child.kill();
            self.end_reload(Err(format!("{error:#}")));
        }
    }

    /// The attempt is over. On failure [`Master::give_up`] has undone it.
    pub(super) fn end_reload(&mut self, result: Result<GenerationNumber, String>) {
        if !self.reloads.running() {
            return;
        }
        self.count_reload(result.is_ok());
        match &result {
            Ok(generation) => log::notice("master", format_args!("gen={generation} reloaded")),
            Err(error) => log::error("master", format_args!("reload failed, the old code serves on: {error}")),
        }
        self.notify.ready(&self.summary());
        let (waiting, again) = self.reloads.over();
        let answer = result.map_or_else(ControlReply::failed, |_| ControlReply::ok());
        for client in waiting {
            self.tell(Some(client), &answer);
        }
        if again && self.stop.is_none() {
            self.begin_reload();
        }
    }

    /// Makes what the new generation brought the server's own.
    pub(super) fn commit(&mut self, attempt: Attempt) {
        self.listeners.keep(attempt.listeners);
        self.checked = attempt.checked;
        self.logs.keep(&self.checked.config);
        self.use_logs(attempt.opened);
        self.shift = 0;
        self.sized = None;
        self.following = Following::of(&self.checked.config.pool, self.following.take());
        self.certificates.watch(&self.checked);
        self.budget.use_config(&self.checked.config);
        self.configure_profiler();
        self.checked.config.apply_log_levels(None);
        for warning in &self.checked.config.warnings {
            log::warn("config", warning);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_during_a_reload_becomes_one_more() {
        let mut reloads = Reloads::default();
        assert!(reloads.ask(Some(1)));
        assert!(!reloads.ask(None));
        assert!(!reloads.ask(Some(2)));
        assert!(!reloads.ask(Some(3)));
        assert_eq!(reloads.over(), (vec![1], true));
        assert!(!reloads.ask(Some(4)));
        assert_eq!(reloads.over(), (vec![2, 3], true));
        assert_eq!(reloads.over(), (vec![4], false));
        assert!(!reloads.running());
    }

    #[test]
    fn a_signal_waits_for_nobody() {
        let mut reloads = Reloads::default();
        assert!(reloads.ask(None));
        assert_eq!(reloads.over(), (vec![], false));
        assert!(reloads.ask(None));
    }
}

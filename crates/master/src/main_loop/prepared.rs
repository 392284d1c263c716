//! The mold that waits for the next reload (`PerlPrepare`): Perl is booted in it before the code has changed.

use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use wire::control::{PoolId, ToMold};

use super::Master;
use crate::children::peer::Fd;
use crate::children::{self, Mold};
use crate::configuration::{CheckedConfig, in_memory_of};
use crate::logs::OpenedLogs;
use base::log;
use config::{Bundle, pools};

/// Time for which a mold stays that the configuration in force does not want.
const MAX_ASIDE: Duration = Duration::from_secs(600);

/// A mold that waits. The generation that it is for is not known yet.
pub(super) struct PreparedMold {
    mold: Mold,
    /// The configuration for which Perl is booted.
    bundle: Bundle,
    /// The standard error of the mold.
    error_log: Fd,
    aside: Aside,
}

/// Whether the mold has been set aside, because a configuration without `PerlPrepare` serves.
#[derive(Debug, Default)]
struct Aside {
    /// When the mold must end.
    until: Option<Instant>,
}

impl Aside {
    /// Sets the mold aside. Returns whether it may stay: only until the next reload.
    fn set(&mut self, now: Instant) -> bool {
        let is_first = self.until.is_none();
        self.until.get_or_insert(now + MAX_ASIDE);
        is_first
    }

    fn is_over(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl PreparedMold {
    pub fn pid(&self) -> Pid {
        self.mold.pid
    }

    fn fits(&self, id: PoolId, checked: &CheckedConfig, opened: &OpenedLogs) -> bool {
        let has_log = Rc::ptr_eq(&self.error_log, &opened.error);
        id.pool == pools::DEFAULT && checked.is(&self.bundle) && has_log
    }

    /// The mold, unless it has ended; it is reaped then.
    fn alive(self) -> Option<Mold> {
        let status = waitpid(self.mold.pid, Some(WaitPidFlag::WNOHANG));
        (status == Ok(WaitStatus::StillAlive)).then_some(self.mold)
    }
}

impl Master {
    /// Starts the mold of the next reload, if the configuration has `PerlPrepare`. Otherwise one that waits is left for
    /// one more reload, and at most ten minutes: `cameleer dev` serves the page of a mistake by another configuration
    /// until it is mended.
    pub(super) fn prepare_mold(&mut self) {
        let is_unwanted = self.checked.config.perl_prepare.is_none();
        if is_unwanted && self.prepared.as_mut().is_some_and(|prepared| prepared.aside.set(Instant::now())) {
            return;
        }
        self.drop_prepared();
        if is_unwanted || self.stop.is_under_way() {
            return;
        }
        match self.start_prepared() {
            Ok(prepared) => self.prepared = prepared,
            // The next reload starts its mold itself.
            Err(error) => log::warn("master", format_args!("PerlPrepare: no process can be started: {error:#}")),
        }
    }

    fn start_prepared(&self) -> anyhow::Result<Option<PreparedMold>> {
        let Some(error_log) = self.logs.in_use().map(|opened| opened.error.clone()) else { return Ok(None) };
        let bundle = self.checked.at_reload();
        let memory = in_memory_of(&bundle)?;
        let mut mold = children::start_mold(&error_log, &self.origin.facts.env)?;
        mold.peer.send(ToMold::Prepare { pool: pools::DEFAULT }, vec![memory]);
        Ok(Some(PreparedMold { mold, bundle, error_log, aside: Aside::default() }))
    }

    /// Takes the mold that waits, if it was prepared for this configuration and still exists.
    pub(super) fn take_prepared(&mut self, id: PoolId, checked: &CheckedConfig, opened: &OpenedLogs) -> Option<Mold> {
        self.prepared.take_if(|prepared| prepared.fits(id, checked, opened))?.alive()
    }

    /// Starts the mold that waits again after the logs were reopened, because it writes to the old error log. One that
    /// was set aside only ends.
    pub(super) fn renew_prepared(&mut self) {
        let Some(error) = self.logs.in_use().map(|opened| opened.error.clone()) else { return };
        if self.prepared.as_ref().is_some_and(|prepared| !Rc::ptr_eq(&prepared.error_log, &error)) {
            self.drop_prepared();
            self.prepare_mold();
        }
    }

    /// When the mold that was set aside must end.
    pub(super) fn prepared_wakes(&self) -> Option<Instant> {
        self.prepared.as_ref()?.aside.until
    }

    /// Ends the mold that was set aside, after ten minutes.
    pub(super) fn end_prepared(&mut self, now: Instant) {
        if self.prepared.as_ref().is_some_and(|prepared| prepared.aside.is_over(now)) {
            log::notice("master", "the mold for the next reload ends: the configuration has no PerlPrepare any more");
            self.drop_prepared();
        }
    }

    /// Ends the mold that waits. It has run none of the site's own code, so nothing in it needs an orderly end.
    pub(super) fn drop_prepared(&mut self) {
        if let Some(prepared) = self.prepared.take() {
            prepared.mold.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mold_that_is_set_aside_ends_at_the_next_reload_or_after_ten_minutes() {
        let begin = Instant::now();
        let mut aside = Aside::default();
        assert!(aside.until.is_none() && !aside.is_over(begin + 10 * MAX_ASIDE));
        assert!(aside.set(begin), "it stays");
        assert_eq!(aside.until, Some(begin + Duration::from_secs(600)));
        assert!(!aside.is_over(begin + Duration::from_secs(599)) && aside.is_over(begin + Duration::from_secs(600)));
        assert!(!aside.set(begin + Duration::from_secs(60)), "the next reload ends it");
        assert!(aside.is_over(begin + Duration::from_secs(600)), "no later than the first reload set it");
    }
}

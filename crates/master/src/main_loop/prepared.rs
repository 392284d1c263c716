//! The mold that waits for the next reload (`PerlPrepare`): Perl is booted in it before the code has changed.

use std::rc::Rc;

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

/// A mold that waits. The generation that it is for is not known yet.
pub(super) struct PreparedMold {
    mold: Mold,
    /// The configuration for which Perl is booted.
    bundle: Bundle,
    /// Its standard error.
    error_log: Fd,
    /// Whether a configuration without `PerlPrepare` serves since.
    is_set_aside: bool,
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
    /// one more reload: `cameleer dev` serves the page of a mistake by another configuration until it is mended.
    pub(super) fn prepare_mold(&mut self) {
        let is_unwanted = self.checked.config.perl_prepare.is_none();
        if is_unwanted && let Some(prepared) = self.prepared.as_mut().filter(|prepared| !prepared.is_set_aside) {
            prepared.is_set_aside = true;
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
        Ok(Some(PreparedMold { mold, bundle, error_log, is_set_aside: false }))
    }

    /// Takes the mold that waits, if it was prepared for this configuration and still exists.
    pub(super) fn take_prepared(&mut self, id: PoolId, checked: &CheckedConfig, opened: &OpenedLogs) -> Option<Mold> {
        self.prepared.take_if(|prepared| prepared.fits(id, checked, opened))?.alive()
    }

    /// Ends the mold that waits. It has run none of the site's own code, so nothing in it needs an orderly end.
    pub(super) fn drop_prepared(&mut self) {
        if let Some(prepared) = self.prepared.take() {
            prepared.mold.kill();
        }
    }
}

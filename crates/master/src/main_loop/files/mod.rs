//! Files of the running server: logs and certificates that are renewed, the list of late code.

mod acme;
mod preload;

use std::rc::Rc;
use std::time::Instant;

use wire::control::{ToFront, ToMold};

use super::Master;
use crate::children::MoldId;
use crate::logs::OpenedLogs;
use base::log;

impl Master {
    /// Reopens all logs (USR1).
    pub(in crate::main_loop) fn reopen_logs(&mut self) {
        for failure in self.logs.reopen() {
            log::error("master", format_args!("the old log is still in use: {failure:#}"));
        }
        match self.logs.open(&self.checked.config) {
            Ok(opened) => self.use_logs(opened),
            Err(error) => log::error("master", format_args!("{error:#}")),
        }
        log::notice("master", "logs reopened");
        self.renew_prepared();
    }

    /// Makes all processes write to these logs.
    pub(in crate::main_loop) fn use_logs(&mut self, opened: OpenedLogs) {
        let all = std::iter::once(&opened.error).chain(&opened.access).chain(&opened.hosts).cloned().collect();
        let (error_log, logs_of_hosts) = (opened.error.clone(), opened.hosts.clone());
        if let Err(error) = self.logs.switch_to(opened) {
            log::error("master", format_args!("ErrorLog: {error}"));
        }
        self.send_to_front(ToFront::Logs, all);
        for id in self.children.molds().map(|(id, _)| id).collect::<Vec<MoldId>>() {
            // Logs of hosts are numbered by configuration: an older generation has others under these numbers.
            let generation = self.generations.get(id.pool.generation);
            let is_current = generation.is_some_and(|it| Rc::ptr_eq(&it.config, &self.checked));
            let hosts = if is_current { &logs_of_hosts[..] } else { &[] };
            let logs = std::iter::once(&error_log).chain(hosts).cloned().collect();
            if let Some(mold) = self.children.mold(id) {
                mold.peer.send(ToMold::Logs, logs);
            }
        }
    }

    /// Reads certificates again when that is due. The front gets them when they have changed and can be used.
    pub(in crate::main_loop) fn renew_certificates(&mut self, now: Instant) {
        if !self.certificates.take_due(now) {
            return;
        }
        let Some(generation) = self.generations.serving() else { return };
        match self.checked.renew_identities() {
            Ok(false) => {}
            Ok(true) => match self.checked.identities_in_memory() {
                Ok(memory) => {
                    log::notice("master", "certificates have changed: new connections use the new ones");
                    self.send_to_front(ToFront::Certificates { generation }, vec![memory]);
                }
                Err(error) => log::error(
                    "master",
                    format_args!("cannot pass the new certificates to the front: {error}; the old ones stay in use"),
                ),
            },
            Err(mistakes) => {
                log::error(
                    "master",
                    format_args!("certificates have changed and cannot be used; the old ones stay in use: {mistakes}"),
                );
            }
        }
    }
}

//! Signals, and commands of the control socket.

use std::time::Instant;

use wire::control::{ExitReason, Slot, ToFront};

use super::Master;
use crate::front_requests::Detail;
use crate::signals::SignalRequest;
use crate::sockets::control_socket::{Command, ControlClient, ControlReply, How};
use base::log;

impl Master {
    pub(super) fn obey_signals(&mut self) {
        while let Some(request) = self.signals.next() {
            match request {
                SignalRequest::Reap => self.reap(),
                SignalRequest::StopGracefully => self.ask_stop(How::Graceful),
                SignalRequest::StopFast => self.ask_stop(How::Fast),
                SignalRequest::Reload => self.ask_reload(None),
                SignalRequest::ReopenLogs => self.reopen_logs(),
                SignalRequest::OneMore => self.shift_pool(1),
                SignalRequest::OneFewer => self.shift_pool(-1),
                SignalRequest::Refork => self.ask_refork(None),
                SignalRequest::Nothing => log::notice("master", "signal USR2 is ignored; HUP reloads"),
            }
        }
    }

    pub(super) fn serve_client(&mut self, client: ControlClient) {
        for command in self.control.serve(client) {
            self.obey(client, command);
        }
    }

    fn obey(&mut self, client: ControlClient, command: Command) {
        match command {
            Command::Status => self.ask_status(client, Detail::Quantiles),
            Command::Snapshot => self.ask_status(client, Detail::Counted),
            Command::Recycle { worker } => self.recycle(client, worker),
            Command::Reload => self.ask_reload(Some(client)),
            Command::Inspect { what } => self.ask_inspection(client, what),
            Command::Record { seconds, hertz } => self.ask_record(client, seconds, hertz),
            Command::SlowRequests => self.ask_slow_requests(client),
            Command::Look { worker } => self.ask_look(client, worker),
            Command::Weigh { code } => self.ask_weigh(client, code),
            Command::Refork => self.ask_refork(Some(client)),
            Command::Reopen => {
                self.reopen_logs();
                self.answer(Some(client), &ControlReply::ok());
            }
            Command::Size { workers, busy } => {
                self.size_pool(workers, busy);
                self.answer(Some(client), &ControlReply::ok());
            }
            Command::Purge { url } => self.ask_purge(client, url),
            Command::Stop { how } => {
                self.answer(Some(client), &ControlReply::ok());
                self.ask_stop(how);
            }
        }
    }

    fn ask_status(&mut self, client: ControlClient, detail: Detail) {
        self.front_requests.ask_status(client, detail, Instant::now());
        match self.children.front {
            Some(_) => self.send_to_front(ToFront::Status, vec![]),
            None => self.answer_status(None),
        }
    }

    /// `cameleer recycle`: answered when the worker was asked to leave; the worker leaves when it is idle.
    fn recycle(&mut self, client: ControlClient, slot: Slot) {
        let answer = self.try_recycle(slot).map_or_else(ControlReply::failed, |()| ControlReply::ok());
        self.answer(Some(client), &answer);
    }

    fn try_recycle(&mut self, slot: Slot) -> Result<(), String> {
        let serving = self.generations.serving().filter(|_| self.serves());
        let (id, worker) = self.workers.recyclable(slot, serving)?;
        let pid = worker.pid();
        log::notice("master", format_args!("worker={slot} pid={pid} is recycled: it exits after its request"));
        self.dismiss(id, ExitReason::Recycle);
        Ok(())
    }

    /// `cameleer purge`: the front drops cached answers, and reports how many.
    fn ask_purge(&mut self, client: ControlClient, url: String) {
        self.front_requests.ask_purge(client);
        match self.children.front {
            Some(_) => self.send_to_front(ToFront::Purge { client, url }, vec![]),
            None => self.end_purges(),
        }
    }

    /// Sends the result of a purge to the client.
    pub(super) fn purged(&mut self, client: ControlClient, outcome: Result<u64, String>) {
        if !self.front_requests.purged(client) {
            return;
        }
        let answer = match outcome {
            Ok(answers) => ControlReply { purged: Some(answers), ..ControlReply::ok() },
            Err(error) => ControlReply::failed(error),
        };
        self.answer(Some(client), &answer);
    }

    /// Answers waiting purges after the front has ended: the next front starts with an empty cache.
    pub(super) fn end_purges(&mut self) {
        for client in self.front_requests.take_purges() {
            self.answer(Some(client), &ControlReply { purged: Some(0), ..ControlReply::ok() });
        }
    }
}

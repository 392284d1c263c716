//! Signals, and commands of the control socket.

use std::time::{Duration, Instant};

use wire::control::{ExitReason, Slot, ToFront};

use super::Master;
use crate::front_requests::Detail;
use crate::signals::SignalRequest;
use crate::sockets::control_socket::{Command, ControlClient, ControlReply, StopMode};
use base::log;

impl Master {
    pub(super) fn handle_signals(&mut self) {
        while let Some(request) = self.signals.next() {
            match request {
                SignalRequest::Reap => self.reap(),
                SignalRequest::StopGracefully => self.request_stop(StopMode::Graceful),
                SignalRequest::StopFast => self.request_stop(StopMode::Fast),
                SignalRequest::Reload => self.request_reload(None),
                SignalRequest::ReopenLogs => self.reopen_logs(),
                SignalRequest::OneMore => self.shift_pool(1),
                SignalRequest::OneFewer => self.shift_pool(-1),
                SignalRequest::Refork => self.request_refork(None),
                SignalRequest::Nothing => log::notice("master", "signal USR2 is ignored; HUP reloads"),
            }
        }
    }

    pub(super) fn serve_client(&mut self, client: ControlClient) {
        for command in self.control.serve(client) {
            self.execute(client, command);
        }
    }

    fn execute(&mut self, client: ControlClient, command: Command) {
        match command {
            Command::Status => self.request_status(client, Detail::Quantiles),
            Command::Snapshot => self.request_status(client, Detail::Counted),
            Command::Recycle { worker } => self.recycle(client, worker),
            Command::Reload => self.request_reload(Some(client)),
            Command::Inspect { what } => self.request_inspection(client, what),
            Command::Record { seconds, hertz } => self.request_recording(client, seconds, hertz),
            Command::SlowRequests => self.request_slow_requests(client),
            Command::Look { worker } => self.request_look(client, worker),
            Command::Weigh { code } => self.request_weighing(client, code),
            Command::Refork => self.request_refork(Some(client)),
            Command::Reopen => {
                self.reopen_logs();
                self.answer(Some(client), &ControlReply::ok());
            }
            Command::Size { workers, busy } => {
                self.size_pool(workers, busy);
                self.answer(Some(client), &ControlReply::ok());
            }
            Command::Purge { url } => self.request_purge(client, url),
            Command::Drain { wait_ms } => self.request_drain(client, wait_ms.map(Duration::from_millis)),
            Command::CancelDrain => self.cancel_drain(client),
            Command::Maintain { on } => self.maintain(client, on),
            Command::Stop { how } => {
                self.answer(Some(client), &ControlReply::ok());
                self.request_stop(how);
            }
        }
    }

    fn request_status(&mut self, client: ControlClient, detail: Detail) {
        self.front_requests.request_status(client, detail, Instant::now());
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

    /// `cameleer purge`: the front drops cached responses, and reports how many.
    fn request_purge(&mut self, client: ControlClient, url: String) {
        self.front_requests.request_purge(client);
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

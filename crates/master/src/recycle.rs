//! `cameleer recycle`: a person wants another worker in the place of one.

use wire::control::{ExitReason, Slot, ToFront, WorkerId, WorkerState};

use super::Master;
use super::sockets::control_socket::{Client, ControlReply};
use base::log;

impl Master {
    /// Answered when the worker was asked; it leaves when it has no request.
    pub(super) fn recycle(&mut self, client: Client, slot: Slot) {
        let answer = self.try_recycle(slot).map_or_else(ControlReply::failed, |()| ControlReply::ok());
        self.tell(Some(client), &answer);
    }

    fn try_recycle(&mut self, slot: Slot) -> Result<(), String> {
        let serving = self.serving().filter(|_| self.stop.is_none() && self.front.is_some());
        let Some(worker) = self.workers.get_mut(slot) else { return Err(format!("there is no worker {slot}")) };
        if Some(worker.mold.pool.generation) != serving || worker.is_dismissed || worker.state == WorkerState::Retiring
        {
            return Err(format!("worker {slot} leaves already"));
        }
        if worker.state == WorkerState::Starting {
            return Err(format!("worker {slot} has just begun"));
        }
        let (id, pid) = (WorkerId { slot, serial: worker.serial() }, worker.pid());
        log::notice("master", format_args!("worker={slot} pid={pid} is recycled: it leaves after its request"));
        self.workers.dismiss(id, ExitReason::Recycle);
        self.tell_front(ToFront::Leave { worker: id }, vec![]);
        Ok(())
    }
}

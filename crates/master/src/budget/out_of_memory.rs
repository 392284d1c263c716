//! The kernel kills a worker or a mold because the machine's or a control group's memory is used up: said in the log, and the budget was too
//! large.

use nix::sys::signal::Signal;
use wire::control::Exit;

use crate::Master;
use base::log;
use machine::memory::Machine;

/// So many tenths of what there was then are the budget from then on.
const KEPT: u64 = 9;

/// How many the kernel has killed in our control group; 0 where it does not tell.
pub(super) fn killed_by_kernel() -> u64 {
    Machine::default().killed_in_groups_of(std::process::id().cast_signed()).unwrap_or(0)
}

impl Master {
    /// A process has ended, and not by us: the reason, if the kernel did it because there was no more memory. Then fewer fit.
    pub(crate) fn was_out_of_memory(&mut self, exit: Exit) -> Option<String> {
        if exit != Exit::Signal(Signal::SIGKILL as i32) {
            return None;
        }
        let killed = killed_by_kernel();
        let known = std::mem::replace(&mut self.budget.killed_by_kernel, killed);
        (known < killed).then(|| {
            self.lower_budget();
            "by the kernel: the memory of the machine or of a control group was used up".to_owned()
        })
    }

    fn lower_budget(&mut self) {
        let Some(plan) = self.plan() else { return };
        let lowered = plan.total() / 10 * KEPT;
        if self.budget.bytes.is_some_and(|bytes| lowered < bytes) {
            self.budget.set(Some(lowered), &self.checked.config);
            let mb = lowered >> 20;
            log::warn("master", format_args!("MemoryBudget is {mb} MB until the configuration is read anew"));
        }
    }
}

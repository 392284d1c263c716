//! Calculates how many workers fit into a machine's memory, by the formula of the documents.

use clap::Args;
use serde::Serialize;

use super::report::{MemorySnapshot, ProcessRole};
use machine::memory::{MemorySizes, max_clients};
use toolkit::Misuse;
use toolkit::units::size;

/// Values from the command line: memory of the machine, size of a worker.
#[derive(Debug, Args)]
pub struct PlanInput {
    /// Memory for the server [default: its memory plus free memory]
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "plan")]
    ram: Option<u64>,
    /// RSS of a grown worker [default: that of the largest worker]
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "plan")]
    process: Option<u64>,
    /// Shared part of the RSS [default: the smallest; with --process: 0]
    #[arg(long, value_name = "SIZE", value_parser = bytes, requires = "plan")]
    shared: Option<u64>,
}

fn bytes(text: &str) -> Result<u64, String> {
    config::size(text)
}

/// Input and result of the calculation.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct CapacityPlan {
    ram: u64,
    process: u64,
    shared: u64,
    /// Number of workers that fit if each shares `shared` bytes with the others.
    max_clients: u64,
    /// Number of workers that fit if none shares memory.
    without_sharing: u64,
    /// Number of workers by the running pool's measured cost per worker; `None`: no running pool. The base is `ram`
    /// without master, front, mold and shared memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<u64>,
}

impl PlanInput {
    /// The plan, if the options suffice without a running server.
    pub fn complete(&self) -> anyhow::Result<Option<CapacityPlan>> {
        let (Some(ram), Some(process)) = (self.ram, self.process) else { return Ok(None) };
        CapacityPlan::new(ram, process, self.shared.unwrap_or(0)).map(Some)
    }

    /// The plan, with missing values from a running pool.
    pub fn completed_by(&self, report: &MemorySnapshot) -> anyhow::Result<CapacityPlan> {
        let workers: Vec<MemorySizes> = report.all(ProcessRole::Worker).filter_map(|worker| worker.sizes).collect();
        let largest = workers.iter().map(|sizes| sizes.rss).max();
        let least_shared = workers.iter().map(|sizes| sizes.shared).min();
        let available = report.available.map(|available| available.bytes + report.total.pss);
        let missing = |what: &str| Misuse(format!("the running server has no value for {what}; give it as an option"));
        let ram = self.ram.or(available).ok_or_else(|| missing("--ram"))?;
        let process = self.process.or(largest).ok_or_else(|| missing("--process"))?;
        let shared = match self.process {
            Some(_) => self.shared.unwrap_or(0),
            None => self.shared.or(least_shared).unwrap_or(0),
        };
        let for_workers = ram.saturating_sub(report.without_workers());
        let measured = report.one_more_worker.and_then(|one| for_workers.checked_div(one));
        Ok(CapacityPlan { measured, ..CapacityPlan::new(ram, process, shared)? })
    }
}

impl CapacityPlan {
    fn new(ram: u64, process: u64, shared: u64) -> anyhow::Result<CapacityPlan> {
        let too_much = || Misuse("a worker shares less than its size: --shared must be less than --process".to_owned());
        let max_clients = max_clients(ram, process, shared);
        Ok(CapacityPlan {
            ram,
            process,
            shared,
            max_clients: max_clients.ok_or_else(too_much)?,
            without_sharing: ram / process,
            measured: None,
        })
    }

    pub fn table(&self) -> String {
        let [ram, process, shared] = [self.ram, self.process, self.shared].map(size);
        let mut text = format!("{:>11} {:>7}", "MaxClients", self.max_clients);
        if self.shared == 0 {
            return text + &format!("  {ram} / {process}\n");
        }
        text += &format!("  ({ram} - {shared}) / ({process} - {shared})\n");
        text += &format!("{:>19}  without sharing: {ram} / {process}\n", self.without_sharing);
        if let Some(hundredths) = (u128::from(self.max_clients) * 100).checked_div(self.without_sharing.into()) {
            let gain = format!("{:+}", hundredths.cast_signed() - 100);
            text += &format!("{gain:>19}  %\n");
        }
        if let Some(measured) = self.measured {
            text += &format!("{measured:>19}  by the private memory of workers; see `cameleer mem`\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::Simulated;
    use super::*;

    fn given(ram: Option<u64>, process: Option<u64>, shared: Option<u64>) -> PlanInput {
        let megabytes = |size: Option<u64>| size.map(|size| size << 20);
        PlanInput { ram: megabytes(ram), process: megabytes(process), shared: megabytes(shared) }
    }

    #[test]
    fn missing_values_come_from_the_running_pool() {
        let report = Simulated::new("plan").report();
        assert_eq!(given(None, None, Some(4)).complete().expect("no misuse"), None);
        let plan = given(None, None, None).completed_by(&report).expect("a plan");
        assert_eq!((plan.process, plan.shared), (99_000 << 10, 30_000 << 10));
        assert_eq!(plan.ram, (1 << 30) + report.total.pss);
        let one = report.one_more_worker.expect("workers");
        assert_eq!(plan.measured, Some((plan.ram - report.without_workers()) / one));
        let plan = given(Some(500), None, Some(8)).completed_by(&report).expect("a plan");
        assert_eq!((plan.ram, plan.shared), (500 << 20, 8 << 20));
        assert_eq!(plan.measured, Some(((500 << 20) - report.without_workers()) / one));
        assert!(given(Some(5), Some(8), Some(8)).complete().is_err());
        assert!(given(Some(5), Some(0), None).complete().is_err());
    }
}

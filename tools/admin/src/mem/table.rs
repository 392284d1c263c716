//! The memory of a server as a table.

use std::fmt::Write;

use super::report::{MemorySnapshot, Process, ProcessRole};
use base::printable;
use toolkit::units::size;

/// Formats the report in at most 80 columns.
pub fn table(report: &MemorySnapshot) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "cameleer {}  pid {}  {}\n", report.version, report.pid, printable::line(&report.origin));
    let _ = writeln!(
        text,
        "{:<9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>5} {:>7} {:>7} {:>8}",
        "process", "pid", "RSS", "PSS", "private", "shared", "mold", "swap", "served", "/1,000"
    );
    for process in &report.processes {
        let _ = writeln!(text, "{}", line(process));
    }
    let total = report.total;
    let [rss, pss, private, swap] = [total.rss, total.pss, total.private, total.swap].map(size);
    let _ = writeln!(text, "{:<17} {rss:>7} {pss:>7} {private:>7} {:>13} {swap:>7}", "in all", "");
    totals(report, &mut text);
    room(report, &mut text);
    text
}

fn line(process: &Process) -> String {
    let name = match (process.role, process.slot, process.generation) {
        (ProcessRole::Worker, Some(slot), _) => format!("worker {slot}"),
        (ProcessRole::Mold, _, Some(generation)) => format!("mold {generation}"),
        (role, ..) => format!("{role:?}").to_lowercase(),
    };
    let dash = || "-".to_owned();
    let of = |what: fn(&machine::memory::MemorySizes) -> u64| {
        process.sizes.as_ref().map_or_else(dash, |sizes| size(what(sizes)))
    };
    // Show only memory shared by fork: pages of files are shared by all processes alike.
    let shared = match process.role {
        ProcessRole::Mold | ProcessRole::Worker => of(|sizes| sizes.shared_anonymous),
        _ => String::new(),
    };
    let share = process.of_mold.map_or_else(String::new, |share| format!("{:.0} %", share * 100.0));
    let swap = process.sizes.filter(|sizes| sizes.swap > 0).map_or_else(dash, |sizes| size(sizes.swap));
    let requests = process.requests.map_or_else(String::new, |requests| requests.to_string());
    let growth = process.growth_per_1000.map_or_else(String::new, signed);
    let line = format!(
        "{name:<9} {:>7} {:>7} {:>7} {:>7} {shared:>7} {share:>5} {swap:>7} {requests:>7} {growth:>8}",
        process.pid,
        of(|sizes| sizes.rss),
        of(|sizes| sizes.pss),
        of(|sizes| sizes.private),
    );
    line.trim_end().to_owned()
}

fn signed(bytes: i64) -> String {
    let sign = if bytes < 0 { '-' } else { '+' };
    format!("{sign}{}", size(bytes.unsigned_abs()))
}

fn totals(report: &MemorySnapshot, text: &mut String) {
    let total = &report.total;
    let [files, kernel] = [total.pss_files, total.kernel()].map(size);
    let stop = format!(
        "are freed by a stop: PSS without files ({files}), with\n{:>10}  page tables and stacks in the kernel ({kernel})",
        ""
    );
    let mut lines = vec![
        (size(total.pss), "are used, by PSS: each page once"),
        (size(report.with_largest_share), "by sum(size - share) + the largest share"),
        (size(report.with_parent), "by sum(size - share) + the mold's size"),
        (size(report.given_back), &stop),
    ];
    if total.swap > 0 {
        lines.push((size(total.swap_pss), "are in swap: pages that are read back look private for a while"));
    }
    if report.unreadable > 0 {
        lines.push((report.unreadable.to_string(), "could not be read: they have ended, or only root may"));
    }
    text.push('\n');
    for (number, what) in lines {
        let _ = writeln!(text, "{number:>10}  {what}");
    }
}

fn room(report: &MemorySnapshot, text: &mut String) {
    let Some(one) = report.one_more_worker else { return };
    let _ = match report.workers_that_served {
        0 => writeln!(
            text,
            "\none more worker costs at least {}; no worker has answered a request yet, which adds memory",
            size(one)
        ),
        1 => writeln!(text, "\none more worker costs {}, like the only one that has served", size(one)),
        served => writeln!(text, "\none more worker costs {}, the median of {served} that have served", size(one)),
    };
    if let (Some(more), Some(available)) = (report.more_workers, report.available) {
        let _ = writeln!(text, "{more} more fit into {} ({})", size(available.bytes), available.bound);
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::Simulated;
    use super::*;

    #[test]
    fn the_table_fits_eighty_columns() {
        let simulated = Simulated::new("table");
        simulated.swap_out(4);
        let text = table(&simulated.report());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text, include_str!("table.txt"));
    }
}

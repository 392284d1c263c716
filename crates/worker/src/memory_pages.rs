//! `TransparentHugePages`, `KernelSamePageMerging`: said to the kernel before the Perl is loaded, and inherited by what is forked.

use nix::sys::prctl;

use base::log;
use config::Pages;

/// What it says of itself is 1 while it merges.
const MERGER: &str = "/sys/kernel/mm/ksm/run";

/// What the kernel refuses is a line in the log: it costs memory, and no request.
pub fn set(pages: &Pages) {
    if !pages.huge
        && let Err(error) = prctl::set_thp_disable(true)
    {
        log::warn("perl", format_args!("TransparentHugePages Off: the kernel refuses it: {error}"));
    }
    if !pages.merge {
        return;
    }
    if let Err(error) = sys::merge_same_pages() {
        let what = "this kernel cannot join the pages of a process, Linux 6.4 with CONFIG_KSM can";
        return log::warn("perl", format_args!("KernelSamePageMerging: {what}: {error}"));
    }
    if std::fs::read_to_string(MERGER).is_ok_and(|text| text.trim() != "1") {
        log::warn("perl", format_args!("KernelSamePageMerging: nothing is joined while {MERGER} is not 1"));
    }
}

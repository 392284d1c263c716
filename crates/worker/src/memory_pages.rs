//! `TransparentHugePages`, `KernelSamePageMerging`: set with prctl(2) before Perl is loaded; forked processes inherit
//! them.

use nix::sys::prctl;

use base::log;
use config::Pages;

/// Contains 1 while KSM merges pages.
const MERGER: &str = "/sys/kernel/mm/ksm/run";

/// Applies the settings. A refusal by the kernel is only logged, since it costs memory but no request.
pub fn set(pages: &Pages) {
    if !pages.huge
        && let Err(error) = prctl::set_thp_disable(true)
    {
        log::warn("perl", format_args!("TransparentHugePages Off: refused by the kernel: {error}"));
    }
    if !pages.merge {
        return;
    }
    if let Err(error) = sys::merge_same_pages() {
        let what = "this kernel cannot merge the pages of a process: it needs Linux 6.4 with CONFIG_KSM";
        return log::warn("perl", format_args!("KernelSamePageMerging: {what}: {error}"));
    }
    if std::fs::read_to_string(MERGER).is_ok_and(|text| text.trim() != "1") {
        log::warn("perl", format_args!("KernelSamePageMerging: no pages are merged while {MERGER} is not 1"));
    }
}

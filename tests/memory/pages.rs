//! `TransparentHugePages`, `KernelSamePageMerging`: their effect on mold and workers as reported in /proc.

use super::{conf, measured, of_role};
use crate::support::{Server, Site};

#[track_caller]
fn serve(directives: &str) -> Server {
    Site::new().file("app.psgi", "sub { [200, [], ['here']] }").serve(&format!("{}{directives}", conf(2)))
}

/// The value of a line in `/proc/PID/NAME`, which must be equal for mold and workers. `None` when the kernel does not
/// report it.
#[track_caller]
fn line_of_proc(server: &Server, name: &str, line: &str) -> Option<String> {
    let metrics = measured(server);
    let those = [of_role(&metrics, "mold"), of_role(&metrics, "worker")].concat();
    let mut values = those.iter().map(|process| {
        let text = std::fs::read_to_string(format!("/proc/{}/{name}", process["pid"])).ok()?;
        text.lines().find_map(|found| Some(found.strip_prefix(line)?.trim().to_owned()))
    });
    let first = values.next().expect("a mold");
    assert!(values.all(|value| value == first), "{line} differs: {metrics}");
    first
}

#[test]
fn huge_pages_are_as_the_machine_has_them_or_none() {
    let ours = std::fs::read_to_string("/proc/self/status").expect("procfs");
    let Some(ours) = ours.lines().find_map(|line| line.strip_prefix("THP_enabled:")) else {
        return println!("NOT VERIFIED: this kernel does not tell (before Linux 5.0)");
    };
    for (directives, expected) in
        [("", ours.trim()), ("TransparentHugePages On\n", ours.trim()), ("TransparentHugePages Off\n", "0")]
    {
        let enabled = line_of_proc(&serve(directives), "status", "THP_enabled:");
        assert_eq!(enabled.as_deref(), Some(expected), "{directives}");
    }
}

#[test]
fn kernel_same_page_merging_merges_pages_or_logs_why_not() {
    let server = serve("");
    let silent = line_of_proc(&server, "ksm_stat", "ksm_merge_any:");
    assert!(silent.is_none_or(|merges| merges == "no") && !server.log().contains("KernelSamePageMerging"));
    let server = serve("KernelSamePageMerging On\n");
    match std::fs::read_to_string("/sys/kernel/mm/ksm/run").ok().as_deref().map(str::trim) {
        None => drop(server.logged("KernelSamePageMerging: this kernel cannot merge the pages of a process")),
        Some("1") => {}
        Some(_) => {
            drop(server.logged("KernelSamePageMerging: no pages are merged while /sys/kernel/mm/ksm/run is not 1"))
        }
    }
    let merges = line_of_proc(&server, "ksm_stat", "ksm_merge_any:");
    assert!(merges.is_none_or(|merges| merges == "yes") || server.log().contains("this kernel cannot merge"));
    assert_eq!(server.text("/"), "here");
}

//! What a process has of the machine's memory for itself.

/// Memory that no other process has, in bytes: what its end would give back. `None` when it has ended, or is not ours to
/// look at.
pub fn private(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let kilobytes = text.lines().filter(|line| line.starts_with("Private_")).filter_map(|line| {
        let (_, amount) = line.split_once(':')?;
        amount.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    Some(kilobytes.sum::<u64>() * 1024).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_process_has_memory_of_its_own_and_a_stranger_or_nobody_tells_none() {
        assert!(super::private(std::process::id().cast_signed()).is_some_and(|bytes| bytes > 4096));
        assert_eq!(super::private(0), None);
    }
}

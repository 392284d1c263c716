//! Formulas of mod_perl's documentation. `size` is the RSS of a process, `share` its shared memory, including files.

use super::MemorySizes;

/// mod_perl Guide: the unshared memory of each process, plus the largest shared memory.
pub fn real_memory_with_largest_share(processes: &[MemorySizes]) -> u64 {
    unshared(processes) + processes.iter().map(|sizes| sizes.shared).max().unwrap_or(0)
}

/// Practical mod_perl, chapter 10: the unshared memory of each child, plus the whole parent.
pub fn real_memory_with_parent(children: &[MemorySizes], parent: &MemorySizes) -> u64 {
    unshared(children) + parent.rss
}

fn unshared(processes: &[MemorySizes]) -> u64 {
    processes.iter().map(|sizes| sizes.rss.saturating_sub(sizes.shared)).sum()
}

/// (RAM − shared) / (size of a process − shared). `None` for a process without unshared memory.
pub fn max_clients(ram: u64, process: u64, shared: u64) -> Option<u64> {
    ram.saturating_sub(shared).checked_div(process.saturating_sub(shared))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_reproduces_the_examples_of_the_documentation() {
        let megabytes = |ram: u64, process: u64, shared: u64| max_clients(ram << 20, process << 20, shared << 20);
        assert_eq!(megabytes(400, 10, 0), Some(40));
        assert_eq!(megabytes(500, 10, 0), Some(50));
        assert_eq!(megabytes(500, 10, 4), Some(82));
        assert_eq!(megabytes(500, 10, 8), Some(246));
        assert_eq!(megabytes(500, 10, 10), None);
        assert_eq!(megabytes(4, 10, 8), Some(0));
        // Preloading in 256 MB: the unshared memory of each process shrinks, the shared memory grows.
        let servers = |unshared: u64, shared: u64| max_clients(256 << 20, unshared + shared, shared);
        assert_eq!(servers(2_572_288, 2_134_016), Some(103));
        assert_eq!(servers(712_704, 3_997_696), Some(371));
    }

    #[test]
    fn real_memory_counts_shared_memory_once() {
        let process =
            |rss: u64, shared: u64| MemorySizes { rss, shared, private: rss - shared, ..MemorySizes::default() };
        let (parent, children) = (process(10, 6), [process(10, 8), process(12, 6)]);
        assert_eq!(real_memory_with_parent(&children, &parent), 2 + 6 + 10);
        assert_eq!(real_memory_with_largest_share(&[parent, children[0], children[1]]), 4 + 2 + 6 + 8);
        assert_eq!(real_memory_with_largest_share(&[]), 0);
    }
}

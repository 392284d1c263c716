//! The memory of one process.

use derive_more::{Add, AddAssign, Sum};
use serde::{Deserialize, Serialize};

/// Size of a thread's kernel stack in bytes, on x86-64 and AArch64.
const KERNEL_STACK: u64 = 16 << 10;

/// The memory of one process, or of several together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Add, AddAssign, Sum, Serialize, Deserialize)]
pub struct MemorySizes {
    /// Resident memory, including shared pages (RSS). A sum over processes counts shared pages several times.
    pub rss: u64,
    /// Resident memory, with each shared page divided by the number of its processes (PSS). Sums are meaningful.
    pub pss: u64,
    /// The part of `pss` that is pages of files, which stay in the page cache after the end of the process.
    pub pss_files: u64,
    /// Pages of this process only (USS).
    pub private: u64,
    /// Pages shared with other processes.
    pub shared: u64,
    /// Pages that belong to no file: heap, stack, written data of libraries.
    pub anonymous: u64,
    /// Anonymous pages shared with other processes: the remaining part that a fork shared.
    pub shared_anonymous: u64,
    /// Swapped out memory.
    pub swap: u64,
    /// Swapped out memory, with shared parts divided by the number of processes.
    pub swap_pss: u64,
    /// The kernel's page tables of the process.
    pub page_tables: u64,
    /// The kernel's stacks of its threads.
    pub kernel_stacks: u64,
}

impl MemorySizes {
    /// Parses `smaps_rollup` and `status`. `None` if the first is empty, because the process has ended.
    pub(super) fn parse(rollup: &str, status: &str) -> Option<MemorySizes> {
        let of = |name: &str| kilobytes(rollup, name).unwrap_or(0);
        let (anonymous, private_dirty) = (of("Anonymous"), of("Private_Dirty"));
        Some(MemorySizes {
            rss: kilobytes(rollup, "Rss")?,
            pss: of("Pss"),
            pss_files: of("Pss_File"),
            private: of("Private_Clean") + private_dirty,
            shared: of("Shared_Clean") + of("Shared_Dirty"),
            anonymous,
            // Anonymous pages are always dirty. Private pages of a memfd are dirty too, and make this value too low.
            shared_anonymous: anonymous.saturating_sub(private_dirty),
            swap: of("Swap"),
            swap_pss: of("SwapPss"),
            page_tables: kilobytes(status, "VmPTE").unwrap_or(0),
            kernel_stacks: value(status, "Threads")
                .and_then(|text| text.parse::<u32>().ok())
                .map_or(0, |threads| u64::from(threads) * KERNEL_STACK),
        })
    }

    /// The kernel's memory for the process, which no sum of pages includes.
    pub fn kernel(&self) -> u64 {
        self.page_tables + self.kernel_stacks
    }

    /// Memory that is freed when all processes that share these pages have ended.
    pub fn given_back(&self) -> u64 {
        self.pss.saturating_sub(self.pss_files) + self.kernel()
    }

    /// Memory that is freed when only this process ends, without file pages: the cost of one more such process.
    pub fn own(&self) -> u64 {
        self.private + self.kernel()
    }

    /// The part of `private` that is certainly private. A page shared with the mold that was swapped out, and read back
    /// only by the worker, counts as private until the mold reads it, too.
    pub fn certainly_private(&self, mold: &MemorySizes) -> u64 {
        self.private.saturating_sub(mold.swap)
    }
}

impl MemorySizes {
    /// Sizes as if no page of the process and its mold were swapped out: decisions must not depend on swapping.
    pub fn without_swap(self, mold: &MemorySizes) -> MemorySizes {
        let private = self.certainly_private(mold);
        MemorySizes { private, shared: self.shared + (self.private - private) + self.swap, ..self }
    }
}

/// Value in bytes of a line such as `VmPTE:  208 kB`. Values above 2^54 are invalid, so that sums cannot overflow.
pub(super) fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let kilobytes: u64 = value(text, name)?.strip_suffix(" kB")?.parse().ok()?;
    (kilobytes < 1 << 44).then_some(kilobytes << 10)
}

/// Value of a line `name: value`.
pub(super) fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLLUP: &str = "55a1bc351000-7ffee9f14000 ---p 00000000 00:00 0                          [rollup]\n\
        Rss:               65152 kB\nPss:               13366 kB\nPss_Dirty:         10897 kB\nPss_Anon:          10879 kB\n\
        Pss_File:           2469 kB\nPss_Shmem:            18 kB\nShared_Clean:      13312 kB\nShared_Dirty:      51192 kB\n\
        Private_Clean:         0 kB\nPrivate_Dirty:       648 kB\nReferenced:        65152 kB\nAnonymous:         51804 kB\n\
        Shared_Hugetlb:        0 kB\nPrivate_Hugetlb:    2048 kB\nSwap:                 12 kB\nSwapPss:               3 kB\n";

    #[test]
    fn a_rollup_is_parsed() {
        let sizes = MemorySizes::parse(ROLLUP, "Name:\tperl\nVmPTE:\t     212 kB\nThreads:\t2\n").expect("sizes");
        assert_eq!((sizes.rss, sizes.pss, sizes.pss_files), (65152 << 10, 13366 << 10, 2469 << 10));
        assert_eq!((sizes.private, sizes.shared), (648 << 10, (13312 + 51192) << 10));
        assert_eq!((sizes.anonymous, sizes.shared_anonymous), (51804 << 10, 51156 << 10));
        assert_eq!((sizes.swap, sizes.swap_pss), (12 << 10, 3 << 10));
        assert_eq!((sizes.page_tables, sizes.kernel_stacks), (212 << 10, 32 << 10));
        assert_eq!(sizes.rss, sizes.private + sizes.shared, "as GTop takes it");
        assert_eq!(sizes.given_back(), (13366 - 2469 + 212 + 32) << 10);
    }

    #[test]
    fn invalid_text_has_no_sizes() {
        for text in [
            "",
            "Rss:",
            "Rss: many kB",
            "Rss: 12",
            "Rss: 99999999999999999999 kB",
            "Rss: 18446744073709551615 kB",
            "\u{0}\n:",
        ] {
            assert_eq!(MemorySizes::parse(text, text), None, "{text:?}");
        }
        assert_eq!(MemorySizes::parse("Rss: 4 kB", "").map(|sizes| sizes.own()), Some(0));
    }

    /// After swapping, shared pages can appear private, which must not affect decisions by private memory.
    #[test]
    fn pages_that_only_swapping_made_private_do_not_count() {
        let before = MemorySizes { private: 2 << 20, ..MemorySizes::default() };
        let read_back = MemorySizes { private: 40 << 20, ..before };
        let mold = MemorySizes { swap: 38 << 20, ..MemorySizes::default() };
        assert_eq!(read_back.certainly_private(&mold), before.private);
        assert_eq!(before.certainly_private(&MemorySizes::default()), before.private);
        assert_eq!(before.certainly_private(&mold), 0);
        let decided_by = read_back.without_swap(&mold);
        assert_eq!((decided_by.private, decided_by.shared), (before.private, 38 << 20));
        let out = MemorySizes { shared: 1 << 20, swap: 30 << 20, ..before };
        assert_eq!(out.without_swap(&MemorySizes::default()).shared, 31 << 20, "swapped out memory is still shared");
    }
}

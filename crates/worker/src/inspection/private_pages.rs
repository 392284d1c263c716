//! Private pages of a process, and the mold's content at the same addresses.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Page size, in bytes.
pub const PAGE: usize = 4096;

/// Adjacent private pages, and the name of their mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRun {
    pub start: usize,
    pub end: usize,
    /// `[heap]`, `[stack]` or a file's name; empty for anonymous memory.
    pub mapping: String,
}

/// Bits of proc_pid_pagemap(5): present, backed by a file, mapped exclusively.
const PRESENT: u64 = 1 << 63;
const OF_A_FILE: u64 = 1 << 61;
const MAPPED_ONCE: u64 = 1 << 56;

/// The private pages of a process, adjacent ones merged, from its /proc/PID/maps and pagemap.
pub fn private_pages(maps: &str, pagemap: &File) -> io::Result<Vec<PageRun>> {
    let mut runs: Vec<PageRun> = Vec::new();
    for mapping in maps.lines().filter_map(writable) {
        let mut entries = vec![0; (mapping.end - mapping.start) / PAGE * 8];
        let length = pagemap.read_at(&mut entries, (mapping.start / PAGE * 8) as u64)?;
        let entries = entries.get(..length).unwrap_or_default().as_chunks::<8>().0;
        for (page, entry) in entries.iter().enumerate() {
            let entry = u64::from_ne_bytes(*entry);
            if entry & (PRESENT | OF_A_FILE | MAPPED_ONCE) != PRESENT | MAPPED_ONCE {
                continue;
            }
            let start = mapping.start + page * PAGE;
            match runs.last_mut().filter(|run| run.end == start && run.mapping == mapping.mapping) {
                Some(run) => run.end += PAGE,
                None => runs.push(PageRun { start, end: start + PAGE, mapping: mapping.mapping.clone() }),
            }
        }
    }
    Ok(runs)
}

/// Whether a memory range overlaps one of `runs`, which are sorted.
pub fn overlaps(runs: &[PageRun], start: usize, length: usize) -> bool {
    let first = runs.partition_point(|run| run.end <= start);
    runs.get(first).is_some_and(|run| run.start < start.saturating_add(length))
}

/// Parses a line of proc_pid_maps(5), `start-end perms offset device inode name`; `None` if not private and writable.
fn writable(line: &str) -> Option<PageRun> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let name = fields.nth(3).unwrap_or_default();
    let address = |text| usize::from_str_radix(text, 16).ok();
    let (start, end) = (address(start)?, address(end)?);
    let is_ours = permissions.starts_with("rw") && permissions.ends_with('p') && start < end;
    is_ours.then(|| PageRun { start, end, mapping: name.rsplit('/').next().unwrap_or_default().to_owned() })
}

/// Number of pages read at once.
const AT_ONCE: usize = 64;

/// Calls `each` with the address and bytes of every page of `run`, and with the mold's bytes of that page. `None`: the
/// mold has no page there or only zeroes.
pub fn compare(
    run: &PageRun,
    ours: &File,
    molds: &File,
    mut each: impl FnMut(usize, &[u8], Option<&[u8]>),
) -> io::Result<()> {
    let (mut own, mut other) = (vec![0; AT_ONCE * PAGE], vec![0; AT_ONCE * PAGE]);
    for start in (run.start..run.end).step_by(AT_ONCE * PAGE) {
        let length = (run.end - start).min(AT_ONCE * PAGE);
        let (Some(own), Some(other)) = (own.get_mut(..length), other.get_mut(..length)) else { continue };
        ours.read_exact_at(own, start as u64)?;
        read_what_is_there(molds, other, start);
        for (page, (own, other)) in own.chunks(PAGE).zip(other.chunks(PAGE)).enumerate() {
            let was_used = other.iter().any(|byte| *byte != 0);
            each(start + page * PAGE, own, was_used.then_some(other));
        }
    }
    Ok(())
}

/// Reads the mold's pages; missing pages become zeroes.
fn read_what_is_there(molds: &File, into: &mut [u8], start: usize) {
    for (page, into) in into.chunks_mut(PAGE).enumerate() {
        if molds.read_exact_at(into, (start + page * PAGE) as u64).is_err() {
            into.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_writable_mappings_are_inspected() {
        let name = |line| writable(line).map(|run| (run.start, run.end, run.mapping));
        assert_eq!(name("1000-3000 rw-p 00000000 00:00 0      [heap]"), Some((0x1000, 0x3000, "[heap]".to_owned())));
        assert_eq!(name("1000-3000 rw-p 00000000 00:00 0"), Some((0x1000, 0x3000, String::new())));
        let library = "7f00-8f00 rw-p 0038d000 fe:00 15 /usr/lib/libperl.so.5.36.0";
        assert_eq!(name(library).expect("writable").2, "libperl.so.5.36.0");
        for other in ["1000-2000 r--p 0 00:00 0", "1000-2000 rw-s 0 00:01 5 /memfd:x", "2000-1000 rw-p 0 0 0", "", "x"]
        {
            assert_eq!(name(other), None, "{other}");
        }
    }

    #[test]
    fn a_page_that_this_process_has_written_to_is_its_own() {
        let memory = vec![1_u8; 8 * PAGE];
        let start = (memory.as_ptr() as usize).next_multiple_of(PAGE);
        let maps = std::fs::read_to_string("/proc/self/maps").expect("our maps");
        let runs = private_pages(&maps, &File::open("/proc/self/pagemap").expect("our pagemap")).expect("runs");
        let run = runs.iter().find(|run| run.start <= start && start < run.end).expect("it is there");
        let mem = File::open("/proc/self/mem").expect("our memory");
        let own = PageRun { start, end: start + PAGE, ..run.clone() };
        compare(&own, &mem, &mem, |at, ours, same| {
            assert_eq!((at, ours), (start, vec![1_u8; PAGE].as_slice()));
            assert_eq!(same, Some(ours));
        })
        .expect("compared");
        let nowhere = File::open("/dev/null").expect("a file that is empty");
        compare(&own, &mem, &nowhere, |_, _, none| assert_eq!(none, None)).expect("compared");
    }
}

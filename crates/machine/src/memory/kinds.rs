//! Private memory of a process by the kind of its mapping.

use std::collections::BTreeMap;

use super::sizes::value;

/// Size of a thread's stack in the kernel, in bytes.
const KERNEL_STACK: u64 = 16 * 1024;

/// Bytes of private memory by kind, for instance `heap` or `data of libperl.so.5.36`.
pub type PrivateKinds = BTreeMap<String, u64>;

/// Reads `smaps` and `status` of a process. Kernel memory for it, page tables and stacks, is included.
pub fn private_kinds(smaps: &str, status: &str) -> PrivateKinds {
    let mut kinds = PrivateKinds::new();
    let mut kind = String::new();
    for line in smaps.lines() {
        match line.split_once(':') {
            Some((name, rest)) if name == "Private_Dirty" || name == "Private_Clean" => {
                let bytes = kilobytes(rest).unwrap_or(0);
                if bytes > 0 {
                    *kinds.entry(kind.clone()).or_default() += bytes;
                }
            }
            // Fields of a mapping begin with a capital letter, its first line with a lower-case address.
            _ if line.starts_with(|first: char| first.is_ascii_uppercase()) => {}
            _ => kind = kind_of(line),
        }
    }
    kinds.insert("page tables".to_owned(), value(status, "VmPTE").and_then(kilobytes).unwrap_or(0));
    let threads: u64 = value(status, "Threads").and_then(|count| count.parse().ok()).unwrap_or(1);
    kinds.insert("stacks in the kernel".to_owned(), threads.saturating_mul(KERNEL_STACK));
    kinds
}

fn kilobytes(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok().map(|count: u64| count.saturating_mul(1024))
}

/// The kind of a mapping, from a line of proc_pid_smaps(5): `start-end perms offset device inode name`.
fn kind_of(line: &str) -> String {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let permissions = fields.next().unwrap_or_default();
    let name = fields.nth(3).unwrap_or_default();
    let short = name.rsplit('/').next().unwrap_or_default();
    match name {
        "" => "anonymous memory".to_owned(),
        "[heap]" => "heap".to_owned(),
        "[stack]" => "stack".to_owned(),
        _ if permissions.ends_with('s') => format!("shared memory {short}"),
        _ if permissions.contains('x') => format!("code of {short}"),
        _ if name.starts_with('[') => name.to_owned(),
        _ => format!("data of {short}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
00400000-00500000 r-xp 00000000 08:01 42                         /usr/bin/cameleer
Rss:                1024 kB
Private_Clean:         4 kB
Private_Dirty:         0 kB
00500000-00600000 r--p 00100000 08:01 42                         /usr/bin/cameleer
Private_Clean:         0 kB
Private_Dirty:       100 kB
01000000-02000000 rw-p 00000000 00:00 0                          [heap]
Private_Clean:         0 kB
Private_Dirty:       300 kB
VmFlags: rd wr mr mw me ac
7f0000000000-7f0000010000 rw-p 00000000 00:00 0 \n\
Private_Clean:         8 kB
Private_Dirty:        16 kB
7f0000020000-7f0000030000 rw-s 00000000 00:01 7                  /memfd:worker (deleted)
Private_Dirty:        12 kB
7f0000030000-7f0000040000 rw-p 00000000 08:01 9                  /usr/lib/libperl.so.5.36
Private_Dirty:        20 kB
";

    #[test]
    fn private_memory_is_summed_by_the_kind_of_the_mapping() {
        let kinds = private_kinds(SMAPS, "Name:\tx\nVmPTE:\t     200 kB\nThreads:\t2\n");
        let expected = [
            ("anonymous memory", 24),
            ("code of cameleer", 4),
            ("data of cameleer", 100),
            ("data of libperl.so.5.36", 20),
            ("heap", 300),
            ("page tables", 200),
            ("shared memory memfd:worker", 12),
            ("stacks in the kernel", 32),
        ];
        let kinds: Vec<(&str, u64)> = kinds.iter().map(|(kind, bytes)| (kind.as_str(), bytes / 1024)).collect();
        assert_eq!(kinds, expected);
    }
}

//! The `#!` line of a file, which names the program that runs it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The kernel reads at most 256 bytes of a `#!` line.
const HEAD: usize = 512;

/// The first bytes of a file, at most `HEAD`.
pub fn head(file: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The text after `#!`. `None`: the file has no such line.
pub fn line(head: &[u8]) -> Option<&[u8]> {
    head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()
}

/// Whether the file is no Perl: a `#!` line without a perl in it, or a binary. A text without such a line is Perl.
pub fn is_foreign(head: &[u8]) -> bool {
    match line(head) {
        Some(line) => !line.split(|byte| byte.is_ascii_whitespace()).any(is_perl),
        None => head.contains(&0),
    }
}

/// Whether a word is the name of a perl: `perl`, `/usr/local/bin/perl5.8`, `C:\perl\bin\perl.exe`, and persistent
/// perls. After `env`, and in `-*- perl -*-` after another interpreter that starts perl itself, perl is a separate
/// word.
fn is_perl(word: &[u8]) -> bool {
    let name = word.rsplit(|byte| matches!(byte, b'/' | b'\\')).next().unwrap_or_default().to_ascii_lowercase();
    [&b"perl"[..], b"speedy", b"pperl"].iter().any(|perl| name.starts_with(perl))
}

#[cfg(test)]
mod tests {
    use super::is_foreign;

    #[test]
    fn perl_is_known_by_its_first_line() {
        for head in [
            "#!/usr/bin/perl\n",
            "#!/usr/bin/perl -w\r\n",
            "#!perl -T",
            "#! /usr/local/bin/perl5.8 -w\n",
            "#!/usr/bin/env perl\n",
            "#!/usr/bin/env -S perl -w\n",
            "#!C:\\perl\\bin\\perl.exe\n",
            "#!/usr/bin/speedy -- -t60\n",
            "#!/bin/sh -- # -*- perl -*-\n",
            "print \"Content-Type: text/plain\\n\\n\";\n",
            "",
        ] {
            assert!(!is_foreign(head.as_bytes()), "{head:?}");
        }
    }

    #[test]
    fn files_without_a_perl_line_are_programs() {
        for head in [
            "#!/bin/sh\n# not perl\n",
            "#!/usr/bin/env python3",
            "#!/home/perl/bin/ruby\n",
            "\x7fELF\x02\x01\x01\0",
            "#!\n",
        ] {
            assert!(is_foreign(head.as_bytes()), "{head:?}");
        }
    }
}

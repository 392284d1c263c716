//! Which files are programs, and which are Perl.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use base::cache::Cache;
use base::stamp::Stamp;

/// So much of a file tells what it is; the kernel reads less.
const HEAD: usize = 512;
/// Files that a worker remembers.
const MAX_KNOWN: usize = 1000;

/// What is known of files, by name.
#[derive(Debug, Default)]
pub struct Kinds(RefCell<Cache<PathBuf, (Stamp, bool), MAX_KNOWN>>);

impl Kinds {
    /// Whether the kernel is to execute this file. What cannot be read, or is no file, is not: who refuses it says why.
    pub fn is_program(&self, file: &Path) -> bool {
        let Ok(found) = std::fs::metadata(file) else { return false };
        if !found.is_file() {
            return false;
        }
        let stamp = Stamp::of(&found);
        if let Some((known, is_program)) = self.0.borrow_mut().get(file)
            && *known == stamp
        {
            return *is_program;
        }
        let is_program = is_program(file);
        self.0.borrow_mut().put(file.to_owned(), (stamp, is_program));
        is_program
    }
}

/// The same, looked up each time.
pub fn is_program(file: &Path) -> bool {
    head(file).is_ok_and(|head| is_foreign(&head))
}

/// Why the kernel has not executed a file, and what to do.
pub fn cannot_execute(file: &Path, error: &std::io::Error) -> String {
    let head = head(file).unwrap_or_default();
    let line = first_line(&head);
    let advice = match (error.raw_os_error().map(Errno::from_raw), line) {
        (Some(Errno::ENOENT), Some(line)) if line.ends_with(b"\r") => {
            "its first line ends with CR, which belongs to the interpreter's name; save it with the line ends of Unix"
                .to_owned()
        }
        (Some(Errno::ENOENT), Some(line)) => {
            format!("its first line names an interpreter that is not there: {}", String::from_utf8_lossy(line))
        }
        (Some(Errno::ENOEXEC), None) if !head.contains(&0) => {
            "it has no #! line; write #!/usr/bin/perl as its first, or CgiMode fork or persistent for its folder"
                .to_owned()
        }
        (Some(Errno::EACCES), _) => "the server's user may not execute it, or search a folder on the way".to_owned(),
        _ => {
            "its first line must name an interpreter that is there, or it must be a program for this machine".to_owned()
        }
    };
    format!("{}: cannot be executed: {error}: {advice}", file.display())
}

/// What stands behind `#!`; `None`: nothing does.
fn first_line(head: &[u8]) -> Option<&[u8]> {
    head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()
}

fn head(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(file)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// A `#!` line without a perl in it, or a binary. A text without such a line is Perl, as it has always been here.
fn is_foreign(head: &[u8]) -> bool {
    match first_line(head) {
        Some(line) => !line.split(|byte| byte.is_ascii_whitespace()).any(is_perl),
        None => head.contains(&0),
    }
}

/// `perl`, `/usr/local/bin/perl5.8`, `C:\perl\bin\perl.exe`, and the persistent ones. Beside `env`, and in `-*- perl -*-`
/// behind another interpreter that starts perl itself, it is a word of its own.
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
    fn all_others_are_programs() {
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

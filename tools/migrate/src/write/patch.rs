//! Changes of `.htaccess` files, as a unified diff for patch(1).

use std::fmt::Write;
use std::path::PathBuf;

/// Name of the diff in the new folder.
pub const HTACCESS_PATCH: &str = "htaccess.patch";

/// A `.htaccess` file and its changed text.
pub struct HtaccessCopy {
    /// Absolute path without links.
    pub file: PathBuf,
    pub old: String,
    pub new: String,
}

/// The changes of all files, for `patch -d / -p1`.
pub fn patch(copies: &[HtaccessCopy]) -> String {
    let mut out = String::new();
    for copy in copies {
        // A tab ends the name, which may contain blanks.
        let file = copy.file.display();
        let _ = writeln!(out, "--- {file}\t\n+++ {file}\t");
        out.push_str(&hunk(&copy.old, &copy.new));
    }
    out
}

/// One hunk with the whole file. Lines that both texts have follow each other in the same order.
fn hunk(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(old), lines(new));
    let (mut out, mut at, mut added) = (String::new(), 0, String::new());
    for line in &new {
        let rest = old.get(at..).unwrap_or_default();
        match rest.iter().position(|other| other == line) {
            Some(skipped) if is_kept(rest, skipped, &new) => {
                rest[..skipped].iter().for_each(|gone| add(&mut out, '-', gone));
                out.push_str(&std::mem::take(&mut added));
                add(&mut out, ' ', line);
                at += skipped + 1;
            }
            _ => add(&mut added, '+', line),
        }
    }
    old.get(at..).unwrap_or_default().iter().for_each(|gone| add(&mut out, '-', gone));
    format!("@@ -1,{} +1,{} @@\n{out}{added}", old.len(), new.len())
}

/// Whether the lines before are gone from the new text.
fn is_kept(rest: &[&str], skipped: usize, new: &[&str]) -> bool {
    rest[..skipped].iter().all(|gone| gone.trim().is_empty() || !new.contains(gone))
}

/// The lines with their line breaks.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn add(out: &mut String, mark: char, line: &str) {
    out.push(mark);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_are_replaced_and_the_end_of_the_file_is_marked() {
        let copy = HtaccessCopy { file: "/a b".into(), old: "x\ny\nz".to_owned(), new: "x\n# y\nz\n".to_owned() };
        let expected = "--- /a b\t\n+++ /a b\t\n@@ -1,3 +1,3 @@\n x\n-y\n-z\n\\ No newline at end of file\n+# y\n+z\n";
        assert_eq!(patch(&[copy]), expected);
    }
}

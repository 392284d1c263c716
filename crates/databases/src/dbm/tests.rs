//! Files that perl's DB_File, GDBM_File and SDBM_File write.

use std::process::Command;

use super::DbmFile;

/// The ways to write a file: perl's tie, and the file that has the data.
const FORMATS: [(&str, &str); 4] = [
    ("DB_File; tie %t, 'DB_File', 'f', O_RDWR|O_CREAT, 0644, $DB_HASH", "f"),
    ("DB_File; tie %t, 'DB_File', 'f', O_RDWR|O_CREAT, 0644, $DB_BTREE", "f"),
    ("GDBM_File; tie %t, 'GDBM_File', 'f', GDBM_WRCREAT, 0644", "f"),
    ("SDBM_File; tie %t, 'SDBM_File', 'f', O_RDWR|O_CREAT, 0644", "f.pag"),
];

/// A file with what perl's `fill` puts into `%t`.
fn written(tie: &str, file: &str, fill: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let code = format!("use Fcntl; use {tie} or die $!; {fill}; untie %t");
    let done = Command::new("perl").args(["-e", &code]).current_dir(folder.path()).status();
    assert!(done.expect("perl").success(), "{tie}");
    std::fs::read(folder.path().join(file)).expect("a file")
}

#[test]
fn each_of_many_entries_is_found() {
    for (tie, file) in FORMATS {
        let fill = "$t{qq(user$_)} = qq(value of $_) for 1..2000; delete $t{user7}; $t{user8} = 'new'";
        let parsed = DbmFile::parse(written(tie, file, fill)).expect(tie);
        for number in (1..=2000).filter(|number| ![7, 8].contains(number)) {
            assert_eq!(parsed.text(&format!("user{number}")), Ok(Some(&*format!("value of {number}"))), "{tie}");
        }
        assert_eq!(
            (parsed.get(b"user7"), parsed.get(b"user8"), parsed.get(b"user")),
            (None, Some(&b"new"[..]), None),
            "{tie}"
        );
    }
}

#[test]
fn a_value_in_several_pages_is_joined() {
    for (tie, file) in FORMATS.iter().filter(|(tie, _)| !tie.starts_with("SDBM")) {
        let fill = "$t{large} = join ',', 1..5000; $t{small} = 1; $t{'k' x 9000} = 'long key'";
        let parsed = DbmFile::parse(written(tie, file, fill)).expect(tie);
        let large: Vec<String> = (1..=5000).map(|number| number.to_string()).collect();
        assert_eq!(parsed.text("large"), Ok(Some(&*large.join(","))), "{tie}");
        assert_eq!(parsed.text("small"), Ok(Some("1")), "{tie}");
        assert_eq!(parsed.text(&"k".repeat(9000)), Ok(Some("long key")), "{tie}");
    }
}

#[test]
fn damaged_files_are_read_or_refused_within_their_bounds() {
    for (tie, file) in FORMATS {
        let whole = written(tie, file, "$t{qq(user$_)} = 'x' x $_ for 1..60");
        for length in (0..whole.len()).step_by(97) {
            drop(DbmFile::parse(whole.get(..length).unwrap_or_default().to_vec()));
        }
        for at in (0..whole.len()).step_by(13) {
            for value in [0, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed.iter_mut().skip(at).take(2).for_each(|byte| *byte = value);
                if let Ok(parsed) = DbmFile::parse(changed) {
                    assert!(parsed.get(b"user7").is_none_or(|value| value.len() <= whole.len()), "{tie}");
                }
            }
        }
    }
    assert!(DbmFile::parse(b"no database".to_vec()).is_err());
}

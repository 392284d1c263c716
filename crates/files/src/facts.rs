//! Facts about files for expressions of the configuration (httpd's expr.html).

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Local};
use nix::unistd::{Gid, Group, Uid, User};

use base::path::Text;
use config::response::expr::{DiskFact, ExprAnswer};
use config::work;

/// Last second of the year 9999, in seconds since 1970.
const LAST_SECOND: u64 = 253_402_300_799;

/// The time, or the nearest one from 1970 to 9999. chrono and httpdate panic for later times, which a file may have.
pub fn formattable(time: SystemTime) -> SystemTime {
    time.clamp(UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(LAST_SECOND))
}

/// Looks at a file. This may wait. A fact that is no property of a file is false.
pub fn about(fact: DiskFact, path: &Path) -> ExprAnswer {
    let about = if fact == DiskFact::IsLink { fs::symlink_metadata(path) } else { fs::metadata(path) };
    let about = about.ok();
    let file = about.as_ref().filter(|about| about.is_file());
    let text = |value: Option<String>| ExprAnswer::Text(value.unwrap_or_default());
    match fact {
        DiskFact::Exists => ExprAnswer::Holds(about.is_some()),
        DiskFact::IsFolder => ExprAnswer::Holds(about.is_some_and(|about| about.is_dir())),
        DiskFact::IsFile => ExprAnswer::Holds(file.is_some()),
        DiskFact::HasContent => ExprAnswer::Holds(file.is_some_and(|file| file.len() > 0)),
        DiskFact::IsLink => ExprAnswer::Holds(about.is_some_and(|about| about.is_symlink())),
        DiskFact::IsExecutable => ExprAnswer::Holds(about.is_some_and(|about| about.permissions().mode() & 0o111 != 0)),
        DiskFact::File => content(path, file),
        DiskFact::FileSize => ExprAnswer::Text(file.map_or(0, Metadata::len).to_string()),
        DiskFact::FileMod => ExprAnswer::Text(file.map_or(0, micros).to_string()),
        DiskFact::LastModified => {
            let changed = about.as_ref().and_then(|about| about.modified().ok()).map(formattable);
            text(changed.map(|changed| DateTime::<Local>::from(changed).format("%Y%m%d%H%M%S").to_string()))
        }
        DiskFact::Owner => {
            let owner = about.and_then(|about| User::from_uid(Uid::from_raw(about.uid())).ok().flatten());
            text(owner.map(|owner| owner.name))
        }
        DiskFact::Group => {
            let group = about.and_then(|about| Group::from_gid(Gid::from_raw(about.gid())).ok().flatten());
            text(group.map(|group| group.name))
        }
        DiskFact::NameOfFile | DiskFact::PathInfo => ExprAnswer::Holds(false),
    }
}

fn micros(file: &Metadata) -> i64 {
    file.mtime().saturating_mul(1_000_000).saturating_add(file.mtime_nsec() / 1_000)
}

/// The content of a regular file. Another kind of file might never end.
fn content(path: &Path, file: Option<&Metadata>) -> ExprAnswer {
    let failed = |why: &str| ExprAnswer::Failed(format!("cannot read {}: {why}", path.display()));
    match file {
        None => failed("there is no such file"),
        Some(file) if file.len() > work::MAX_VALUE_BYTES as u64 => {
            failed(&format!("the file is longer than {} KB", work::MAX_VALUE_BYTES >> 10))
        }
        Some(_) => match fs::read(path) {
            Ok(content) => ExprAnswer::Text(Text::new(&content).0),
            Err(error) => failed(&error.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_time_becomes_the_nearest_one_with_four_digits() {
        let day = Duration::from_secs(24 * 60 * 60);
        let last = UNIX_EPOCH + Duration::from_secs(LAST_SECOND);
        assert_eq!(formattable(UNIX_EPOCH - day), UNIX_EPOCH);
        assert_eq!(formattable(UNIX_EPOCH + day), UNIX_EPOCH + day);
        assert_eq!(formattable(last + day), last);
    }
}

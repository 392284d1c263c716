//! Writes the new directives into a separate file that the configuration includes. Deleting the file reverts them.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{ErrorKind, Read, Write as _};
use std::path::Path;

use anyhow::{Context, bail};

use super::TuneReport;
use base::printable;

/// First words of a file written by this command; only such a file may be overwritten.
const FIRST: &str = "# cameleer tune";

/// Fails unless the path is free or has a file written by this command.
pub fn may_be_written(path: &Path) -> anyhow::Result<()> {
    let about = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        about => about.with_context(|| path.display().to_string())?,
    };
    let mut first = [0; FIRST.len()];
    let is_ours = about.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok()
        && first == *FIRST.as_bytes();
    if !is_ours {
        bail!("--write {}: the file exists and was not written by cameleer tune; name another file", path.display());
    }
    Ok(())
}

pub fn write(path: &Path, report: &TuneReport) -> anyhow::Result<()> {
    may_be_written(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(|| format!("--write {}", path.display()))?;
    file.write_all(text(report).as_bytes())?;
    readable(file.as_file())?;
    file.persist(path).with_context(|| format!("--write {}", path.display()))?;
    Ok(())
}

/// Sets mode 0644, as is usual for configuration files.
fn readable(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

fn text(report: &TuneReport) -> String {
    let now = chrono::Utc::now().format("%Y-%m-%d %H:%M UTC");
    let mut text = format!("{FIRST}, {now}: {}\n", printable::line(&report.site));
    let _ = writeln!(
        text,
        "# {} visitors, {} different requests, {:.0} cores, {:.0} s of measurements",
        report.visitors, report.urls, report.cores, report.seconds
    );
    text += "# To be included at the end of the configuration; to undo it, delete this file and its Include.\n";
    for point in &report.points {
        let mark = if point.workers == report.chosen { "  <" } else { "" };
        let _ = writeln!(text, "#   {:>5} workers {:>10.1} requests/s{mark}", point.workers, point.requests_per_second);
    }
    for change in &report.changes {
        let at = change.at.as_deref().unwrap_or("the default");
        let _ = writeln!(
            text,
            "\n# was {} ({}): {}",
            printable::line(&change.from),
            printable::line(at),
            printable::line(&change.why)
        );
        match change.directive {
            // AllowOverride is only allowed in a section.
            "AllowOverride" => {
                let _ = writeln!(text, "# to be changed in its section: AllowOverride {}", change.to);
            }
            name => {
                let _ = writeln!(text, "{name} {}", change.to);
            }
        }
    }
    text
}

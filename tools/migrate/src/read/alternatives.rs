//! Files of `<IfDefine>` blocks that do not apply. The server may be started with other names of `-D` tomorrow.

use std::collections::HashSet;

use config::parse::INCLUDED;
use config::{At, Directive};
use master::configuration::ConfigOrigin;

use super::disk::Disk;
use super::{Included, OldModules, is_file, read_once};

/// Maximum number of readings: each may show conditions that others had hidden.
const MAX_READINGS: usize = 3;

/// Adds what is read if all these names are defined, and what is read if none is.
pub fn add(
    names: &[String],
    origin: &ConfigOrigin,
    main: &std::path::Path,
    modules: &OldModules,
    found: &mut Included<'_>,
) {
    if names.is_empty() {
        return;
    }
    let read = |defines: Vec<String>, found: &mut Included<'_>| {
        let disk = Disk::default();
        let origin = ConfigOrigin { defines, ..origin.clone() };
        let once = read_once(&origin, &disk, main, &|name| modules.has(name));
        let names = disk.defined_conditions();
        if disk.is_within_limits().is_ok() {
            take(once.passed, disk, main, found);
        }
        names
    };
    read(Vec::new(), found);
    let mut known: Vec<String> = names.to_vec();
    for _ in 0..MAX_READINGS {
        let count = known.len();
        let more = read(known.iter().chain(&origin.defines).cloned().collect(), found);
        known.extend(more.into_iter().filter(|name| !names.contains(name)));
        known.dedup();
        if known.len() == count {
            return;
        }
    }
}

/// Adds the lines that the first reading has not passed and whose files could be read.
fn take(passed: Vec<Directive>, disk: Disk, main: &std::path::Path, found: &mut Included<'_>) {
    let known: HashSet<At> = found.passed.iter().map(|passed| passed.at.clone()).collect();
    let unread = disk.unread();
    let is_readable = |one: &Directive| !one.args.iter().any(|file| unread.contains_key(std::path::Path::new(file)));
    let with_files: HashSet<At> =
        passed.iter().filter(|one| one.name == INCLUDED && is_readable(one)).map(|one| one.at.clone()).collect();
    let is_new = |one: &Directive| !known.contains(&one.at) && (is_file(one) || with_files.contains(&one.at));
    let new: Vec<Directive> = passed.into_iter().filter(|one| one.name != "IfModule" && is_new(one)).collect();
    let files = disk.files(main, new.iter().filter(|one| is_file(one)));
    let is_there = |path: &std::path::Path| found.files.iter().any(|file| file.path == path);
    let more: Vec<_> = files.into_iter().filter(|file| !is_there(&file.path)).collect();
    found.files.extend(more);
    found.passed.extend(new);
}

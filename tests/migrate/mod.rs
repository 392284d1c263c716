//! `cameleer migrate`: whole trees of httpd, and the servers that are made from them.

/// Devices, circles of includes, huge and unreadable files, a folder that is not empty.
mod bounds;
/// Places that the old server closed stay closed, or the check fails.
mod closed;
/// Blocks that applied to the old server, and `.htaccess` files.
mod conditions;
/// A tree of Debian's apache2, with httpd 2.4.
mod debian;
/// `.htaccess` files and the patch for them.
mod htaccess;
/// What the patch for `.htaccess` files must never do.
mod htaccess_patch;
/// Files that the old server included, by lines of all kinds.
mod includes;
/// Places that modules in C had closed, or whose files were sources of a program.
mod modules_in_c;
/// A tree of Apache 1.3, as it was in 2003.
mod old;
/// Edits of single lines.
mod single_lines;
/// A whole site of 2003: Registry, DBI, Mason, ASP, rewrite rules, TLS, `.htaccess`.
mod site_of_2003;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::{Finished, Server, Site};

/// A site with a copy of a tree of tests/migrate/trees. `@DIR@`, `@PORT@` and `more` are replaced in its files.
fn tree(name: &str, more: &[(&str, &str)]) -> Site {
    let site = Site::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/migrate/trees").join(name);
    copy(&from, site.folder(), &|text| {
        more.iter().fold(site.filled(text), |text, (mark, value)| text.replace(mark, value))
    });
    // Programs of the site run as nobody.
    fs::set_permissions(site.path("tmp"), fs::Permissions::from_mode(0o777)).expect("our own folder");
    site
}

/// Copies a folder with its links. A byte is a character for `filled`, so that files of any encoding are copied.
fn copy(from: &Path, to: &Path, filled: &dyn Fn(&str) -> String) {
    fs::create_dir_all(to).expect("a folder in TMPDIR");
    for entry in fs::read_dir(from).expect("a folder of this tree").flatten() {
        let (kind, place) = (entry.file_type().expect("a type"), to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &place, filled);
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path()).expect("a link"), place).expect("a link in TMPDIR");
        } else {
            let text: String = fs::read(entry.path()).expect("a file").into_iter().map(char::from).collect();
            let bytes: Vec<u8> = filled(&text).chars().map(|c| u8::try_from(c).expect("a byte")).collect();
            fs::write(&place, bytes).expect("written in TMPDIR");
            fs::set_permissions(&place, entry.metadata().expect("a file").permissions()).expect("our own file");
        }
    }
}

/// Starts the server from the migrated main file.
#[track_caller]
fn serve(site: Site, main: &str) -> Server {
    let socket = site.filled("ControlSocket @DIR@/control.sock");
    let command = site.command(["serve", "-f", &site.filled(&format!("@DIR@/{main}")), "-c", &socket]);
    Server::start(site, command)
}

/// Asserts that the report has each row, below the heading of its part. `@DIR@` and the like are replaced.
#[track_caller]
fn has_rows(site: &Site, report: &str, part: &str, rows: &[&str]) {
    let text = site.read(report);
    let begin = text.find(&format!("\n{part}: ")).unwrap_or_else(|| panic!("no part {part}: {text}"));
    let inside = text[begin + 1..].split("\n\n").nth(1).unwrap_or_default();
    for row in rows {
        let row = site.filled(row);
        assert!(inside.lines().any(|line| line == row), "{row}\n{text}");
    }
}

/// All paths below a folder with their contents, to see that nothing in it has changed.
fn contents(folder: &Path) -> String {
    let list =
        format!("cd '{}' && find . -type f -exec md5sum {{}} + -o -type l -printf '%p %l\\n' | sort", folder.display());
    Finished::of(Command::new("sh").args(["-c", &list])).succeeded().out
}

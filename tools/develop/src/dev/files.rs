//! Which files and folders are watched.

use std::path::Path;

/// Ends of names of code, templates, configurations, and files for browsers. Other files, as those that the program
/// writes itself, do not matter.
const ENDS: &[&str] = &[
    "pl", "pm", "psgi", "cgi", "fcgi", "ph", "al", "pod", "conf", "cfg", "ini", "yml", "yaml", "json", "toml", "tt",
    "tt2", "ttml", "ep", "epl", "tx", "mas", "mason", "mc", "mi", "mp", "mhtml", "comp", "tmpl", "tpl", "asp", "epl",
    "html", "htm", "xhtml", "shtml", "xsl", "css", "scss", "js", "mjs", "svg", "po", "mo", "htaccess",
];

/// Names of folders in which programs write, or that hold code of others.
const SKIPPED: &[&str] = &[
    "tmp",
    "temp",
    "cache",
    "log",
    "logs",
    "session",
    "sessions",
    "upload",
    "uploads",
    "node_modules",
    "blib",
    "local",
    "cover_db",
];

/// Whether a change of a file with this name below a watched folder matters.
pub fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with('.') {
        return name == ".htaccess";
    }
    // Emacs and vim name their copies like this.
    if name.starts_with('#') || name.ends_with('~') {
        return false;
    }
    path.extension().is_some_and(|end| ENDS.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// Whether the folders below this one are not watched.
pub fn is_skipped(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || SKIPPED.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_editors_and_of_the_program_do_not_matter() {
        for name in ["lib/A.pm", "app.psgi", "views/index.tt", "public/a.CSS", ".htaccess"] {
            assert!(is_source(Path::new(name)), "{name}");
        }
        for name in
            [".A.pm.swp", "A.pm~", "4913", "#A.pm#", ".#A.pm", "access.log", "site.db", "upload.jpg", "lib/Makefile"]
        {
            assert!(!is_source(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn folders_in_which_programs_write_are_skipped() {
        assert!(is_skipped(Path::new("a/tmp")) && is_skipped(Path::new(".git")) && !is_skipped(Path::new("a/lib")));
    }
}

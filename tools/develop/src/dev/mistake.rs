//! The page of a mistake: the message, and the lines of source that it names.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use nix::libc::{O_NOCTTY, O_NONBLOCK};
use regex::Regex;

/// Lines before and after the one with the mistake.
const AROUND: usize = 4;
/// The most files that are shown.
const MAX_FILES: usize = 4;
/// Bytes of a file that are read.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// The bit of a file's mode with which everybody may read it.
const READABLE_BY_ALL: u32 = 0o004;
/// Bytes of a line that are shown.
const MAX_LINE_BYTES: usize = 400;

/// `at FILE line N` of Perl, and `FILE:N:` of configurations.
static PLACE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)\bat (\S+) line (\d+)|^(/[^\s:]+):(\d+):").ok());

/// A file and a line in a message.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    file: PathBuf,
    line: usize,
}

/// The page about a message. `with_source`: with the lines of the files that the message names.
pub fn page(text: &str, with_source: bool) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Mistake</title>\n<style>\
         body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em;color:#222;background:#fff}\
         h1{font-size:1.3em;color:#a00}pre{background:#f6f6f6;padding:.8em;overflow:auto;white-space:pre-wrap}\
         .source{white-space:pre}.here{background:#fdd;display:inline-block;min-width:100%}h2{font-size:1em}\
         @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#262626}.here{background:#622}h1{color:#f88}}\
         </style></head><body>\n<h1>The program cannot be loaded</h1>\n",
    );
    let _ = writeln!(page, "<pre>{}</pre>", escaped(text.trim_end()));
    if with_source {
        places(text).iter().for_each(|place| page.push_str(&source(place)));
    } else {
        page.push_str("<p>Open this page as localhost, or by the address, to see the lines of source.</p>\n");
    }
    page.push_str("<p>This page is replaced when the mistake is mended and saved.</p>\n");
    page.push_str("<script src=\"/.cameleer/dev/reload.js\"></script>\n</body></html>\n");
    page
}

fn places(text: &str) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    let Some(pattern) = &*PLACE else { return places };
    for found in pattern.captures_iter(text) {
        let part =
            |first: usize, second: usize| found.get(first).or_else(|| found.get(second)).map(|part| part.as_str());
        let (Some(file), Some(Ok(line))) = (part(1, 3), part(2, 4).map(str::parse)) else { continue };
        let place = Place { file: file.into(), line };
        if !places.contains(&place) && places.len() < MAX_FILES {
            places.push(place);
        }
    }
    places
}

fn source(place: &Place) -> String {
    let Some(text) = read(place) else { return String::new() };
    let first = place.line.saturating_sub(AROUND).max(1);
    let mut shown =
        format!("<h2>{}, line {}</h2>\n<pre class=\"source\">", escaped(&place.file.display().to_string()), place.line);
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)).skip(first - 1).take(2 * AROUND + 1)
    {
        let cut: String = line.chars().take(MAX_LINE_BYTES).collect();
        let line = format!("{number:5}  {}", escaped(&cut));
        let _ = match number == place.line {
            true => writeln!(shown, "<span class=\"here\">{line}</span>"),
            false => writeln!(shown, "{line}"),
        };
    }
    shown + "</pre>\n"
}

/// The beginning of a regular file. A message may name a device or a FIFO, which may never end.
fn read(place: &Place) -> Option<String> {
    let file = File::options().read(true).custom_flags(O_NONBLOCK | O_NOCTTY).open(&place.file).ok()?;
    let metadata = file.metadata().ok()?;
    // The message may be that of code which names any file, and root may read all of them.
    let may_be_shown = metadata.mode() & READABLE_BY_ALL != 0 || is_below_this_folder(&place.file);
    if !metadata.is_file() || !may_be_shown {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the file is below the folder in which `cameleer dev` was started: that of the program.
fn is_below_this_folder(file: &Path) -> bool {
    let below = |folder: PathBuf| Some(file.canonicalize().ok()?.starts_with(folder));
    std::env::current_dir().ok().and_then(below).unwrap_or(false)
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place(file: &str, line: usize) -> Place {
        Place { file: file.into(), line }
    }

    #[test]
    fn places_are_found_in_messages_of_perl_and_of_configurations() {
        let text = "syntax error at /a/app.psgi line 3, near \"}\"\nCompilation failed at lib/B.pm line 7.\nagain at /a/app.psgi line 3.";
        assert_eq!(places(text), [place("/a/app.psgi", 3), place("lib/B.pm", 7)]);
        assert_eq!(places("/a/site.conf:4: Listne: unknown directive"), [place("/a/site.conf", 4)]);
        assert!(places("at x line 99999999999999999999999").is_empty());
    }

    #[test]
    fn the_page_shows_the_lines_and_escapes_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("app.psgi");
        std::fs::write(&file, "1;\nmy $x = <b>;\n3;\n").expect("written");
        let message = format!("<oops> at {} line 2.", file.display());
        assert!(!page(&message, false).contains("my $x"));
        let page = page(&message, true);
        assert!(page.contains("&lt;oops&gt;") && !page.contains("<b>"), "{page}");
        assert!(page.contains("<span class=\"here\">    2  my $x = &lt;b&gt;;</span>"), "{page}");
    }

    #[test]
    fn a_file_elsewhere_that_not_everybody_may_read_is_not_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("secret");
        std::fs::write(&file, "secret\n").expect("written");
        let shown = place(&file.display().to_string(), 1);
        assert!(read(&shown).is_some());
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("our own file");
        assert_eq!(read(&shown), None);
    }

    #[test]
    fn a_device_is_not_read() {
        assert_eq!(read(&place("/dev/zero", 1)), None);
    }
}

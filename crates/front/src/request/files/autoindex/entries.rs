//! The entries of a folder, as its file system has them.

use std::fs::{DirEntry, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::SystemTime;

use super::{IndexInput, MAX_NAMES};
use config::response::listing::ListingOption;
use files::open::Links;

/// Maximum number of bytes of a file in which its title is looked for.
const TITLE_WITHIN: u64 = 8 << 10;

pub struct IndexEntry {
    /// The name as bytes: file names need not be UTF-8.
    pub name: Vec<u8>,
    pub is_folder: bool,
    pub size: u64,
    pub changed: Option<SystemTime>,
    pub mime: Option<String>,
    pub encoding: Option<String>,
    /// Whether its title may be read.
    pub may_be_read: bool,
}

/// The entries read from a folder.
pub struct FolderContents {
    pub entries: Vec<IndexEntry>,
    /// Whether the folder has more names than were read.
    pub is_cut: bool,
    /// The number of names after which a cut list ends.
    pub looked: usize,
}

impl IndexInput {
    /// Reads the folder; may wait for the disk.
    pub fn contents(&self) -> io::Result<FolderContents> {
        let mut entries = Vec::new();
        let mut names = std::fs::read_dir(self.beside("".as_ref()))?;
        for entry in names.by_ref().take(MAX_NAMES) {
            entries.extend(self.entry(&entry?));
        }
        Ok(FolderContents { entries, is_cut: names.next().is_some(), looked: MAX_NAMES })
    }

    /// The entry; `None` if it is omitted, neither a file nor a folder, or a link that `Options` do not allow.
    fn entry(&self, entry: &DirEntry) -> Option<IndexEntry> {
        let name = entry.file_name().into_vec();
        if !self.listing.shows(&name, &self.work) || !self.query.is_wanted(&name) {
            return None;
        }
        let metadata = std::fs::metadata(entry.path()).ok()?;
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_link && !self.may_follow(entry, &metadata) || !metadata.is_dir() && !metadata.is_file() {
            return None;
        }
        Some(IndexEntry {
            name,
            is_folder: metadata.is_dir(),
            size: metadata.len(),
            changed: metadata.modified().ok().map(::files::facts::formattable),
            mime: None,
            encoding: None,
            may_be_read: metadata.is_file() && (!is_link || self.links == Links::Follow),
        })
    }

    fn may_follow(&self, entry: &DirEntry, target: &Metadata) -> bool {
        match self.links {
            Links::Follow => true,
            Links::OwnersMatch => entry.metadata().is_ok_and(|link| link.uid() == target.uid()),
            Links::Refuse => false,
        }
    }

    /// The title of an HTML file, for `ScanHTMLTitles`.
    pub fn title(&self, entry: &IndexEntry) -> Option<Vec<u8>> {
        let is_html = matches!(entry.mime.as_deref(), Some("text/html" | "application/xhtml+xml"));
        if !self.listing.has(ListingOption::ScanHtmlTitles)
            || !is_html
            || entry.encoding.is_some()
            || !entry.may_be_read
        {
            return None;
        }
        let mut begin = Vec::new();
        self.open(entry).ok()?.take(TITLE_WITHIN).read_to_end(&mut begin).ok()?;
        title_in(&begin)
    }

    /// Opens a file that may have been exchanged for a link or a pipe.
    fn open(&self, entry: &IndexEntry) -> io::Result<File> {
        let links = if self.links == Links::Follow { 0 } else { nix::libc::O_NOFOLLOW };
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(links | nix::libc::O_NONBLOCK | nix::libc::O_CLOEXEC);
        let file = options.open(self.beside(std::ffi::OsStr::from_bytes(&entry.name)))?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// The path of a name in the opened folder.
    fn beside(&self, name: &std::ffi::OsStr) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd())).join(name)
    }
}

/// The text between `<title>` and `</title>`, on one line and as HTML. Entities remain; a tag, which a title cannot
/// have, becomes text.
fn title_in(html: &[u8]) -> Option<Vec<u8>> {
    let find = |text: &[u8], tag: &[u8]| text.windows(tag.len()).position(|at| at.eq_ignore_ascii_case(tag));
    let (begin, end) = (b"<title>", b"</title>");
    let text = html.get(find(html, begin)? + begin.len()..)?;
    let text = text.get(..find(text, end)?)?;
    let mut title = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'\n' | b'\r' => title.push(b' '),
            b'<' => title.extend(b"&lt;"),
            b'>' => title.extend(b"&gt;"),
            byte => title.push(*byte),
        }
    }
    Some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line() {
        let title = |html: &str| title_in(html.as_bytes()).map(|title| String::from_utf8(title).unwrap());
        assert_eq!(title("<html><TITLE>a\nb</Title>").as_deref(), Some("a b"));
        assert_eq!(title("<title>a<script>&amp;</title>").as_deref(), Some("a&lt;script&gt;&amp;"));
        assert_eq!(title("<title>a"), None);
        assert_eq!(title("a"), None);
    }
}

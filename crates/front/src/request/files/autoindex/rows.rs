//! The rows of a list: names with their icons, dates, sizes and descriptions.

use std::time::SystemTime;

use super::IndexInput;
use super::entries::{FolderContents, IndexEntry};
use super::text::{escaped, link, path_encoded};
use config::response::listing::{FOLDER, ListedAs, ListingOption as Opt};

/// A row of the list.
pub struct IndexRow {
    /// Name as shown and linked; that of a folder has a slash.
    pub name: Vec<u8>,
    pub is_folder: bool,
    /// Whether the list has more columns than the name.
    pub is_detailed: bool,
    pub size: Option<u64>,
    pub changed: Option<SystemTime>,
    pub description: Option<Vec<u8>>,
    /// URL of the icon.
    pub icon: Option<String>,
    /// Text of the icon.
    pub alt: Option<String>,
    /// Text in place of the name, and its link, for the parent folder.
    parent: Option<Vec<u8>>,
}

/// Forms of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum IndexForm {
    Plain,
    Fancy,
    Table,
}

impl IndexInput {
    /// The form of the list.
    pub fn form(&self) -> IndexForm {
        match (self.listing.has(Opt::HtmlTable), self.listing.has(Opt::FancyIndexing)) {
            (true, _) => IndexForm::Table,
            (false, true) => IndexForm::Fancy,
            (false, false) => IndexForm::Plain,
        }
    }

    /// The rows in their order, the parent folder first.
    pub fn rows(&self, contents: &FolderContents) -> Vec<IndexRow> {
        let rows = contents.entries.iter().map(|entry| self.row(entry));
        // A row whose icon or description could not be looked up within the limit of work is left out.
        let mut rows: Vec<IndexRow> = rows.take_while(|_| !self.work.is_used_up()).collect();
        rows.sort_by(|a, b| self.query.compare(a, b, &self.listing));
        rows.splice(0..0, self.parent());
        rows
    }

    fn row(&self, entry: &IndexEntry) -> IndexRow {
        let slash: &[u8] = if entry.is_folder { b"/" } else { b"" };
        let name = [&entry.name[..], slash].concat();
        let plain = IndexRow {
            name,
            is_folder: entry.is_folder,
            is_detailed: false,
            size: None,
            changed: None,
            description: None,
            icon: None,
            alt: None,
            parent: None,
        };
        if self.form() == IndexForm::Plain {
            return plain;
        }
        let path = [&self.filename[..], &entry.name].concat();
        let listed = ListedAs { path: &path, mime: entry.mime.as_deref(), encoding: entry.encoding.as_deref() };
        let description = self.listing.description(&path, &self.work).map(|text| text.as_bytes().to_vec());
        let (icon, alt) = self.signs(listed, entry.is_folder.then_some("DIR"));
        IndexRow {
            is_detailed: true,
            size: (!entry.is_folder).then_some(entry.size),
            changed: entry.changed,
            description: description.or_else(|| self.title(entry)),
            icon,
            alt,
            ..plain
        }
    }

    /// The row of the parent folder.
    fn parent(&self) -> Option<IndexRow> {
        let own = self.path.strip_suffix(b"/").unwrap_or(&self.path);
        let end = own.iter().rposition(|byte| *byte == b'/')?;
        let above = own.get(..=end)?;
        if !self.listing.shows(b"..", &self.work) {
            return None;
        }
        let path = [&self.filename[..], b".."].concat();
        let listed = ListedAs { path: &path, mime: None, encoding: None };
        let (icon, alt) = self.signs(listed, Some("PARENTDIR"));
        let description = self.listing.description(&path, &self.work).map(|text| text.as_bytes().to_vec());
        Some(IndexRow {
            name: b"Parent Directory".to_vec(),
            is_folder: true,
            is_detailed: true,
            size: None,
            changed: None,
            description,
            icon,
            alt,
            parent: Some(escaped(&path_encoded(above))),
        })
    }

    /// Icon and text of an entry; `folder` is the usual text of a folder.
    fn signs(&self, entry: ListedAs<'_>, folder: Option<&str>) -> (Option<String>, Option<String>) {
        let of_folders = ListedAs { path: FOLDER.as_bytes(), mime: None, encoding: None };
        let icon = self.listing.icon(entry, &self.work);
        let alt = self.listing.alt(entry, &self.work);
        let Some(usual) = folder else { return (icon.map(str::to_owned), alt.map(str::to_owned)) };
        let icon = icon.or_else(|| self.listing.icon(of_folders, &self.work));
        let alt = alt.or_else(|| self.listing.alt(of_folders, &self.work)).unwrap_or(usual);
        (icon.map(str::to_owned), Some(alt.to_owned()))
    }
}

impl IndexRow {
    /// The target of the row's links, as HTML.
    pub fn link(&self) -> Vec<u8> {
        self.parent.clone().unwrap_or_else(|| link(&self.name))
    }
}

//! The page of an index, with the HTML that httpd writes.

use chrono::{DateTime, Local};

use super::IndexInput;
use super::entries::FolderContents;
use super::rows::{IndexForm, IndexRow};
use super::text::{cut_description, cut_name, escaped, quoted, size};
use config::response::listing::{BLANK, ColumnWidth, ListedAs, ListingColumn, ListingOption as Opt};

/// Widths of names and descriptions by default, as in httpd.
const NAME_WIDTH: usize = 23;
const DESCRIPTION_WIDTH: usize = 23;
/// Characters by which a description is wider if the icon, the date or the size is left out.
const ICON_SPACE: usize = 6;
const DATE_SPACE: usize = 19;
const SIZE_SPACE: usize = 7;

const HTML: &str =
    "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\" \"http://www.w3.org/TR/html4/strict.dtd\">\n<html>\n";
const XHTML: &str = "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\"\n\
                     \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">\n\
                     <html xmlns=\"http://www.w3.org/1999/xhtml\">\n";

/// A finished page.
pub struct IndexPage {
    pub html: Vec<u8>,
    /// The number of names that were read from a folder with more names.
    pub cut: Option<usize>,
}

/// Writes a page.
pub struct IndexWriter<'a> {
    pub wanted: &'a IndexInput,
    html: Vec<u8>,
}

impl IndexInput {
    /// Writes the page.
    pub fn page(&self, contents: FolderContents) -> IndexPage {
        let rows = self.rows(&contents);
        let is_cut = contents.is_cut || self.work.is_used_up();
        let mut page = IndexWriter { wanted: self, html: Vec::new() };
        page.head();
        match self.form() {
            IndexForm::Plain => page.plain(&rows),
            IndexForm::Fancy => page.fancy(&rows),
            IndexForm::Table => page.table(&rows),
        }
        let cut = is_cut.then_some(contents.looked);
        if let Some(names) = cut {
            page.put(&format!("<p>This list ends after {names} names; the folder has more.</p>\n"));
        }
        page.tail();
        IndexPage { html: page.html, cut }
    }
}

impl IndexWriter<'_> {
    /// Appends HTML.
    pub fn put(&mut self, html: &str) {
        self.html.extend_from_slice(html.as_bytes());
    }

    /// Appends HTML that need not be UTF-8.
    pub fn bytes(&mut self, html: &[u8]) {
        self.html.extend_from_slice(html);
    }

    pub fn has(&self, option: Opt) -> bool {
        self.wanted.listing.has(option)
    }

    /// The end of an element without content.
    pub fn end(&self) -> &'static str {
        if self.has(Opt::Xhtml) { " />" } else { ">" }
    }

    /// Whether the page has a style sheet.
    pub fn is_styled(&self) -> bool {
        self.wanted.listing.style_sheet.is_some()
    }

    /// `with` if the listing has a style sheet, else `without`.
    pub fn styled<'t>(&self, with: &'t str, without: &'t str) -> &'t str {
        if self.is_styled() { with } else { without }
    }

    fn title(&self) -> Vec<u8> {
        let path = &self.wanted.path;
        let length = path.iter().rposition(|byte| *byte != b'/').map_or(1, |at| at + 1);
        escaped(path.get(..length).unwrap_or(path))
    }

    fn head(&mut self) {
        match &self.wanted.around.0 {
            Some(above) if above.is_html => {
                if !self.has(Opt::SuppressHtmlPreamble) {
                    self.preamble();
                }
                self.bytes(&above.text);
            }
            Some(above) => {
                self.preamble();
                self.quote(&above.text);
            }
            None => {
                self.preamble();
                self.put(self.styled("  <h1 id=\"indextitle\">Index of ", "<h1>Index of "));
                self.bytes(&self.title());
                self.put("</h1>\n");
            }
        }
    }

    fn preamble(&mut self) {
        self.put(if self.has(Opt::Xhtml) { XHTML } else { HTML });
        self.put(" <head>\n  <title>Index of ");
        self.bytes(&self.title());
        self.put("</title>\n");
        if let Some(url) = &self.wanted.listing.style_sheet {
            self.put("  <link rel=\"stylesheet\" href=\"");
            self.bytes(&escaped(url.as_bytes()));
            self.put("\" type=\"text/css\"");
            self.put(self.end());
            self.put("\n");
        }
        if let Some(html) = &self.wanted.listing.head_insert {
            self.put(html);
        }
        self.put(" </head>\n <body>\n");
    }

    fn quote(&mut self, text: &[u8]) {
        self.put("<pre>\n");
        self.bytes(&quoted(text));
        self.put("</pre>\n");
    }

    fn tail(&mut self) {
        match &self.wanted.around.1 {
            Some(below) if below.is_html => {
                self.bytes(&below.text);
                if self.has(Opt::SuppressHtmlPreamble) {
                    return;
                }
            }
            Some(below) => {
                self.quote(&below.text);
                self.put(&self.wanted.foot);
            }
            None => self.put(&self.wanted.foot),
        }
        self.put("</body></html>\n");
    }

    fn plain(&mut self, rows: &[IndexRow]) {
        self.put("<ul>");
        for row in rows {
            self.put("<li>");
            self.name(row, b" ", &row.name);
            self.put("</li>\n");
        }
        self.put("</ul>\n");
    }

    /// A name as a link.
    pub fn name(&mut self, row: &IndexRow, before: &[u8], name: &[u8]) {
        self.put("<a href=\"");
        self.bytes(&row.link());
        self.put("\">");
        self.bytes(before);
        self.bytes(&escaped(name));
        self.put("</a>");
    }

    /// A heading, which sorts unless the client may not.
    pub fn heading(&mut self, text: &str, column: ListingColumn) {
        if self.has(Opt::SuppressColumnSorting) || self.has(Opt::IgnoreClient) {
            return self.put(text);
        }
        self.put("<a href=\"");
        self.bytes(&self.wanted.query.link(column));
        self.put("\">");
        self.put(text);
        self.put("</a>");
    }

    /// `<img …>` without its text.
    pub fn image(&mut self, url: &str, alt: &[u8]) {
        self.put("<img src=\"");
        self.bytes(&escaped(url.as_bytes()));
        self.put("\" alt=\"");
        self.bytes(alt);
        self.put("\"");
        let listing = &self.wanted.listing;
        for (name, pixels) in [("width", listing.icon_width), ("height", listing.icon_height)] {
            if let Some(pixels) = pixels.filter(|pixels| *pixels > 0) {
                self.put(&format!(" {name}=\"{pixels}\""));
            }
        }
        self.put(self.end());
    }

    /// The icon of a row; `empty` if it has none.
    pub fn icon(&mut self, row: &IndexRow, empty: &str) {
        let is_link = self.has(Opt::IconsAreLinks);
        if is_link {
            self.put("<a href=\"");
            self.bytes(&row.link());
            self.put("\">");
        }
        match row.icon.as_ref().or(self.wanted.listing.default_icon.as_ref()) {
            Some(url) => {
                let alt = row.alt.as_deref().unwrap_or("   ");
                self.image(url, &escaped(format!("[{alt}]").as_bytes()));
            }
            None => self.put(empty),
        }
        if is_link {
            self.put("</a>");
        }
    }

    /// URL of the icon of the heading.
    pub fn blank_icon(&self) -> Option<String> {
        let blank = ListedAs { path: BLANK.as_bytes(), mime: None, encoding: None };
        self.wanted.listing.icon(blank, &self.wanted.work).map(str::to_owned)
    }

    /// The date of a row, with the blanks behind it.
    pub fn date(&self, row: &IndexRow) -> Option<String> {
        let format = if self.has(Opt::UseOldDateFormat) { "%d-%b-%Y %H:%M  " } else { "%Y-%m-%d %H:%M  " };
        row.changed.map(|time| DateTime::<Local>::from(time).format(format).to_string())
    }

    /// The width of names; in a list that is no table, `*` is the longest one.
    pub fn name_width(&self, rows: &[IndexRow]) -> usize {
        match self.wanted.listing.name_width {
            Some(ColumnWidth::Fixed(width)) if width > 0 => width,
            Some(ColumnWidth::Longest) => {
                rows.iter().map(|row| row.name.len()).max().unwrap_or_default().max(NAME_WIDTH)
            }
            _ => NAME_WIDTH,
        }
    }

    /// A description in the width of its column.
    pub fn description(&self, text: &[u8]) -> Vec<u8> {
        let width = match self.wanted.listing.description_width {
            Some(ColumnWidth::Longest) => return text.to_vec(),
            Some(ColumnWidth::Fixed(width)) if width > 0 => width,
            _ => {
                let wider = |option, by| if self.has(option) { by } else { 0 };
                DESCRIPTION_WIDTH
                    + wider(Opt::SuppressIcon, ICON_SPACE)
                    + wider(Opt::SuppressLastModified, DATE_SPACE)
                    + wider(Opt::SuppressSize, SIZE_SPACE)
            }
        };
        cut_description(text, width)
    }

    fn fancy(&mut self, rows: &[IndexRow]) {
        let width = self.name_width(rows);
        self.put("<pre>");
        if !self.has(Opt::SuppressIcon) {
            match self.blank_icon() {
                Some(url) => {
                    self.image(&url, b"Icon ");
                    self.put(" ");
                }
                None => self.put("      "),
            }
        }
        self.heading("Name", ListingColumn::Name);
        self.put(&" ".repeat(width.saturating_sub("Name".len()) + 1));
        if !self.has(Opt::SuppressLastModified) {
            self.heading("Last modified", ListingColumn::Date);
            self.put("      ");
        }
        if !self.has(Opt::SuppressSize) {
            self.heading("Size", ListingColumn::Size);
            self.put("  ");
        }
        if !self.has(Opt::SuppressDescription) {
            self.heading("Description", ListingColumn::Description);
        }
        self.rule("\n");
        for row in rows {
            self.fancy_row(row, width);
        }
        self.rule("");
        self.put("</pre>\n");
    }

    fn rule(&mut self, otherwise: &str) {
        match self.has(Opt::SuppressRules) {
            true => self.put(otherwise),
            false => {
                self.put("<hr");
                self.put(self.end());
            }
        }
    }

    fn fancy_row(&mut self, row: &IndexRow, width: usize) {
        if !self.has(Opt::SuppressIcon) {
            self.icon(row, "     ");
            self.put(" ");
        }
        let name = cut_name(&row.name, width);
        self.name(row, b"", &name);
        self.put(&" ".repeat(width.saturating_sub(name.len()) + 1));
        if !self.has(Opt::SuppressLastModified) {
            self.put(&self.date(row).unwrap_or_else(|| " ".repeat(DATE_SPACE)));
        }
        if !self.has(Opt::SuppressSize) {
            self.put(&size(row.size));
            self.put("  ");
        }
        if let Some(text) = row.description.as_ref().filter(|_| !self.has(Opt::SuppressDescription)) {
            self.bytes(&self.description(text));
        }
        self.put("\n");
    }
}

//! The list as an HTML table: `HTMLTable`.

use super::page::IndexWriter;
use super::rows::IndexRow;
use super::text::{cut_name, escaped, size};
use config::response::listing::{ColumnWidth, ListingColumn, ListingOption as Opt};

impl IndexWriter<'_> {
    /// Writes the table.
    pub fn table(&mut self, rows: &[IndexRow]) {
        let (has_dates, has_sizes) = (!self.has(Opt::SuppressLastModified), !self.has(Opt::SuppressSize));
        let (has_icons, has_texts) = (!self.has(Opt::SuppressIcon), !self.has(Opt::SuppressDescription));
        self.put(self.styled("  <table id=\"indexlist\">\n   <tr class=\"indexhead\">", "  <table>\n   <tr>"));
        if has_icons {
            self.put(self.styled("<th class=\"indexcolicon\">", "<th valign=\"top\">"));
            match self.blank_icon() {
                Some(url) => self.image(&url, b"[ICO]"),
                None => self.put("&nbsp;"),
            }
            self.put("</th>");
        }
        let columns = [
            (true, "Name", "indexcolname", ListingColumn::Name),
            (has_dates, "Last modified", "indexcollastmod", ListingColumn::Date),
            (has_sizes, "Size", "indexcolsize", ListingColumn::Size),
            (has_texts, "Description", "indexcoldesc", ListingColumn::Description),
        ];
        for (_, text, class, column) in columns.into_iter().filter(|(is_shown, ..)| *is_shown) {
            self.put(self.styled(&format!("<th class=\"{class}\">"), "<th>"));
            self.heading(text, column);
            self.put("</th>");
        }
        self.put("</tr>\n");
        let span = usize::from(has_icons) + columns.iter().filter(|(is_shown, ..)| *is_shown).count();
        self.break_row(span);
        for (number, row) in rows.iter().enumerate() {
            self.table_row(row, number);
        }
        self.break_row(span);
        self.put("</table>\n");
    }

    fn break_row(&mut self, span: usize) {
        if self.has(Opt::SuppressRules) {
            return;
        }
        self.put(self.styled("   <tr class=\"indexbreakrow\">", "   <tr>"));
        self.put(&format!("<th colspan=\"{span}\"><hr"));
        self.put(self.end());
        self.put("</th></tr>\n");
    }

    fn table_row(&mut self, row: &IndexRow, number: usize) {
        let parity = if number % 2 == 1 { "odd" } else { "even" };
        match (&row.alt, self.is_styled()) {
            (_, false) => self.put("<tr>"),
            (Some(alt), true) if self.has(Opt::AddAltClass) => {
                self.put(&format!("   <tr class=\"{parity}-"));
                self.bytes(&escaped(alt.to_lowercase().as_bytes()));
                self.put("\">");
            }
            _ => self.put(&format!("   <tr class=\"{parity}\">")),
        }
        if !self.has(Opt::SuppressIcon) {
            self.put(self.styled("<td class=\"indexcolicon\">", "<td valign=\"top\">"));
            self.icon(row, "&nbsp;");
            self.put("</td>");
        }
        self.put(self.styled("<td class=\"indexcolname\">", "<td>"));
        match self.wanted.listing.name_width {
            Some(ColumnWidth::Longest) => self.name(row, b"", &row.name),
            _ => {
                let width = self.name_width(&[]);
                let name = cut_name(&row.name, width);
                self.name(row, b"", &name);
                self.put(&" ".repeat(width.saturating_sub(name.len())));
            }
        }
        self.put("</td>");
        if !self.has(Opt::SuppressLastModified) {
            let date = self.date(row).map(String::into_bytes);
            self.cell("indexcollastmod", " align=\"right\"", date);
        }
        if !self.has(Opt::SuppressSize) {
            self.cell("indexcolsize", " align=\"right\"", Some(size(row.size).into_bytes()));
        }
        if !self.has(Opt::SuppressDescription) {
            let text = row.description.as_ref().map(|text| self.description(text));
            self.cell("indexcoldesc", "", text);
        }
        self.put("</tr>\n");
    }

    fn cell(&mut self, class: &str, align: &str, text: Option<Vec<u8>>) {
        let plain = if text.is_some() { format!("<td{align}>") } else { "<td>".to_owned() };
        self.put(self.styled(&format!("<td class=\"{class}\">"), &plain));
        match text {
            Some(text) => self.bytes(&text),
            None => self.put("&nbsp;"),
        }
        self.put("</td>");
    }
}

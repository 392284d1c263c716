//! All tables of a request: its headers, notes, environment and settings, and those that Perl code creates.

use wire::frame::Frame;

use super::table::Table;
use crate::PlaceConfig;

/// The tables of every request, with apache.h's numbers. Higher numbers are tables that Perl code has created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Id {
    HeadersIn = 0,
    HeadersOut = 1,
    ErrHeadersOut = 2,
    Notes = 3,
    SubprocessEnv = 4,
    DirConfig = 5,
}

const OWN: usize = 6;

/// A request's tables. Tables that only repeat the frame or the configuration are filled when more than one
/// value is read, which most requests never do.
#[derive(Debug)]
pub(crate) struct Tables {
    tables: Vec<Table>,
    filled: [bool; OWN],
}

impl Default for Tables {
    fn default() -> Tables {
        Tables { tables: vec![Table::default(); OWN], filled: [false; OWN] }
    }
}

impl Tables {
    pub fn reset(&mut self) {
        self.tables.truncate(OWN);
        self.tables.iter_mut().for_each(Table::clear);
        self.filled = [false; OWN];
    }

    pub fn new_table(&mut self) -> u32 {
        self.tables.push(Table::default());
        self.tables.len() as u32 - 1
    }

    /// The table, whether filled or not.
    pub fn of(&self, id: Id) -> &Table {
        &self.tables[id as usize]
    }

    pub fn of_mut(&mut self, id: Id) -> &mut Table {
        &mut self.tables[id as usize]
    }

    pub fn number(&self, number: u32) -> Option<&Table> {
        self.tables.get(number as usize)
    }

    pub fn number_mut(&mut self, number: u32) -> Option<&mut Table> {
        self.tables.get_mut(number as usize)
    }

    /// Marks a table as filled. Returns true the first time for a table that is filled on demand.
    pub fn must_fill(&mut self, number: u32) -> bool {
        match self.filled.get_mut(number as usize) {
            Some(filled) => !std::mem::replace(filled, true),
            None => false,
        }
    }

    /// Clears the table, to be filled again.
    pub fn forget(&mut self, id: Id) {
        self.of_mut(id).clear();
        self.filled[id as usize] = false;
    }

    pub fn is_filled(&self, id: Id) -> bool {
        self.filled[id as usize]
    }
}

/// Fills the headers. Several `Cookie` fields of HTTP/1 are joined by a comma, as in httpd; the front has
/// joined all other headers.
pub(crate) fn fill_headers_in(table: &mut Table, frame: &Frame) {
    for (name, value) in frame.headers() {
        match name {
            b"cookie" => table.merge(b"Cookie", value),
            name => table.add(&title_case(name), value),
        }
    }
}

pub(crate) fn fill_dir_config(table: &mut Table, place: &PlaceConfig) {
    for (name, value) in &place.set_vars {
        table.add(name.as_bytes(), value.as_bytes());
    }
}

/// The frame's names are in lower case; programs that print them expect the form that browsers sent to mod_perl
/// 1.
fn title_case(name: &[u8]) -> Vec<u8> {
    let mut out = name.to_vec();
    let mut starts = true;
    for byte in &mut out {
        if starts {
            byte.make_ascii_uppercase();
        }
        starts = *byte == b'-';
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn header_names_read_as_browsers_write_them() {
        for (name, expected) in [("host", "Host"), ("user-agent", "User-Agent"), ("x--a", "X--A"), ("", "")] {
            assert_eq!(super::title_case(name.as_bytes()), expected.as_bytes());
        }
    }
}

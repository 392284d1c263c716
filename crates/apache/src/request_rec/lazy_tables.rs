//! Tables that are filled on first access: most handlers read none.

use super::table::Table;
use super::tables::{self, Id};
use super::{RequestRec, environment};

impl RequestRec {
    /// One value of a table, read without filling the table.
    pub fn table_value(&mut self, number: u32, name: &[u8]) -> Option<&[u8]> {
        if number == Id::HeadersIn as u32 && !self.tables.is_filled(Id::HeadersIn) {
            // Only Cookie may have several fields, which the table joins.
            let is_one = !name.eq_ignore_ascii_case(b"cookie");
            if is_one || self.frame.headers().filter(|(name, _)| *name == b"cookie").nth(1).is_none() {
                return self.frame.headers().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value);
            }
        }
        self.table(number)?.get(name)
    }

    pub fn table(&mut self, number: u32) -> Option<&Table> {
        self.fill(number);
        self.tables.number(number)
    }

    pub fn table_mut(&mut self, number: u32) -> Option<&mut Table> {
        self.fill(number);
        self.tables.number_mut(number)
    }

    /// Adds the variables of CGI to the table, as mod_perl 2 does on a handler's demand.
    pub fn add_cgi_variables(&mut self) {
        self.fill(Id::SubprocessEnv as u32);
        let mut pairs = Table::default();
        environment::of_cgi(self, &mut |key, value| pairs.set(key, value));
        let table = self.tables.of_mut(Id::SubprocessEnv);
        pairs.iter().for_each(|(name, value)| table.set(name, value));
    }

    fn fill(&mut self, number: u32) {
        if !self.tables.must_fill(number) {
            return;
        }
        if number == Id::SubprocessEnv as u32 {
            let mut pairs = Table::default();
            environment::variables(&self.frame, &mut |key, value| pairs.set(key, value));
            environment::cgi(self, &mut |key, value| pairs.set(key, value));
            *self.tables.of_mut(Id::SubprocessEnv) = pairs;
        } else if number == Id::HeadersIn as u32 {
            tables::fill_headers_in(self.tables.of_mut(Id::HeadersIn), &self.frame);
        } else if number == Id::DirConfig as u32 {
            tables::fill_dir_config(self.tables.of_mut(Id::DirConfig), &self.place);
        }
    }
}

//! The two tables of a response's headers, as httpd has them (manual of mod_headers): `Header` changes the first and
//! `Header always` the second, and both are sent.
//!
//! Fields of scripts and of `err_headers_out` are in the second. Those of the server's own pages are in the first,
//! which `Header` does not change for such a page. Rules of both reach the fields of a PSGI application: under httpd
//! their table depends on the program between the two, and for Plack's handlers of mod_perl on the status.

use std::collections::HashSet;

use http::header::{CONTENT_TYPE, HeaderMap};

use crate::base::response_facts::AlwaysHeaders;
use config::work;

/// Both tables.
#[derive(Debug, Default)]
pub struct HeaderTables {
    /// Of `Header` and `Header onsuccess`.
    pub success: HeaderMap,
    /// Of `Header always`.
    pub always: HeaderMap,
    /// Whether rules of `Header always` reach the names of the first table too.
    is_shared: bool,
}

impl HeaderTables {
    /// Divides the headers of a response.
    pub fn of(headers: HeaderMap, always: Option<&AlwaysHeaders>) -> HeaderTables {
        let is_shared = always.is_some_and(|always| always.is_shared);
        let known = always.map(|always| &always.fields).filter(|known| !known.is_empty() && !is_shared);
        let Some(known) = known else {
            return HeaderTables { success: headers, always: HeaderMap::new(), is_shared };
        };
        // A program may send thousands of fields of one name.
        let known: HashSet<_> = known.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let mut tables = HeaderTables::default();
        for (name, value) in &headers {
            let is_always = known.contains(&(name.as_str(), value.as_bytes()));
            let table = if is_always { &mut tables.always } else { &mut tables.success };
            table.append(name.clone(), value.clone());
        }
        tables
    }

    /// The table that a rule for this name changes. A response has one Content-Type.
    pub fn of_rule(&mut self, always: bool, name: &str) -> &mut HeaderMap {
        let is_first = !always || name == CONTENT_TYPE.as_str() || (self.is_shared && self.success.contains_key(name));
        if is_first { &mut self.success } else { &mut self.always }
    }

    /// Adds the fields of each table whose names it does not have.
    pub fn add_missing(&mut self, added: &HeaderTables) {
        for (always, added) in [(true, &added.always), (false, &added.success)] {
            for name in added.keys() {
                let table = self.of_rule(always, name.as_str());
                if !table.contains_key(name) {
                    table.extend(added.get_all(name).iter().map(|value| (name.clone(), value.clone())));
                }
            }
        }
    }

    /// All fields. Of a name in both tables, those of `always` are first.
    pub fn joined(&self) -> HeaderMap {
        let mut headers = self.success.clone();
        for name in self.always.keys() {
            headers.remove(name);
            let all = self.always.get_all(name).iter().chain(self.success.get_all(name));
            for value in all {
                headers.append(name.clone(), value.clone());
            }
        }
        headers
    }

    /// As [`HeaderTables::joined`], at the end.
    pub fn into_headers(self) -> HeaderMap {
        if self.always.is_empty() { self.success } else { self.joined() }
    }

    /// All fields, for the expression of a rule. The copy counts as work.
    pub fn seen(&self) -> HeaderMap {
        let fields = self.success.iter().chain(&self.always);
        work::spend(fields.map(|(name, value)| work::RULE + name.as_str().len() + value.len()).sum());
        self.joined()
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderName;

    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(HeaderName::from_static(name), value.parse().expect("a value"));
        }
        headers
    }

    #[test]
    fn fields_of_scripts_are_in_the_second_table() {
        let sent = headers(&[("x", "script"), ("etag", "\"t\""), ("content-type", "text/plain")]);
        let always = AlwaysHeaders::of_script(&sent);
        let mut tables = HeaderTables::of(sent, Some(&always));
        assert_eq!(tables.always, headers(&[("x", "script")]));
        tables.of_rule(false, "x").append("x", "rule".parse().expect("a value"));
        tables.of_rule(true, "content-type").insert(CONTENT_TYPE, "text/css".parse().expect("a value"));
        let expected = headers(&[("etag", "\"t\""), ("content-type", "text/css"), ("x", "script"), ("x", "rule")]);
        assert_eq!(tables.joined(), expected);
        assert_eq!(tables.into_headers(), expected);
    }
}

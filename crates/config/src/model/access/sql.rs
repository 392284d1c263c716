//! SQL databases of users, groups and rewrite maps: `DBDriver`, `DBDParams`, and queries.

use std::sync::Arc;

/// Connection parameters; requests with equal ones share connections.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Database {
    /// `DBDriver`
    pub driver: SqlDriver,
    /// `DBDParams`: path of the file, or connection parameters.
    pub params: String,
    /// `DBDInitSQL`: statements that each connection begins with.
    pub set_up: Vec<String>,
}

/// `DBDriver`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "names of databases")]
pub enum SqlDriver {
    Sqlite,
    Postgres,
}

/// Names of drivers, as in httpd.
const DRIVERS: [(&str, SqlDriver); 2] = [("sqlite3", SqlDriver::Sqlite), ("pgsql", SqlDriver::Postgres)];

impl SqlDriver {
    /// Parses a name, whose case does not matter.
    pub fn parse(name: &str) -> Result<SqlDriver, String> {
        let known = DRIVERS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known));
        known.map(|(_, driver)| *driver).ok_or_else(|| format!("expected sqlite3 or pgsql, got \"{name}\""))
    }
}

/// A query with places for values: `SELECT password FROM authn WHERE user = %s`. Values never become a part of its
/// text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SqlQuery(Arc<[String]>);

impl SqlQuery {
    /// Parses a query with `values` places, in httpd's syntax: `%s` and other letters are places, `%%` is a percent
    /// sign.
    pub fn parse(text: &str, values: usize) -> Result<SqlQuery, String> {
        let mut parts = vec![String::new()];
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            let part = parts.last_mut().ok_or("expected a query")?;
            part.push_str(before);
            rest = match after.strip_prefix('%') {
                Some(after) => {
                    part.push('%');
                    after
                }
                None if after.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                    parts.push(String::new());
                    after_type(after)?
                }
                None => {
                    part.push('%');
                    after
                }
            };
        }
        parts.last_mut().ok_or("expected a query")?.push_str(rest);
        match parts.len() - 1 {
            0 if text.trim().is_empty() => Err("expected a query, got nothing".to_owned()),
            found if found == values => Ok(SqlQuery(parts.into())),
            found => Err(format!("expected a query with {values} times %s, got {found}")),
        }
    }

    /// The query's text, with `place` for the value of each number from 1.
    pub fn text(&self, place: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        for (number, part) in self.0.iter().enumerate() {
            if number > 0 {
                text.push_str(&place(number));
            }
            text.push_str(part);
        }
        text
    }
}

/// The text after the type of a value. Only types of which a user's name or a key can be.
fn after_type(text: &str) -> Result<&str, String> {
    match text.strip_prefix('s') {
        Some(after) => Ok(after),
        None => Err(format!(
            "expected %s, got \"%{}\": values are texts; write %% for a percent sign",
            text.chars().next().unwrap_or_default()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_has_places_for_values() {
        let query = SqlQuery::parse("SELECT a FROM b WHERE c = %s AND d LIKE '%%x%' AND e=%s", 2).unwrap();
        let text = query.text(|number| format!("${number}"));
        assert_eq!(text, "SELECT a FROM b WHERE c = $1 AND d LIKE '%x%' AND e=$2");
        for (wrong, values) in [("SELECT 1", 1), ("%s %s", 1), ("%d", 1), ("", 0), ("%s", 0)] {
            assert!(SqlQuery::parse(wrong, values).is_err(), "{wrong}");
        }
    }
}

//! Queries of SQL databases. A query has a time limit, and its result is small. A database that cannot be reached is
//! not tried again for a moment, so that requests that need it fail at once.

mod away;
mod params;
mod postgres;
mod secured;
mod sqlite;

pub use secured::PgTlsStream;

use std::time::{Duration, Instant};

use config::access::{Database, SqlDriver, SqlQuery};

/// Time limit of a query with its connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of rows that are read.
const MAX_ROWS: usize = 1000;
/// Maximum size of a result, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// A query and its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlQuestion {
    /// The database to query.
    pub database: Database,
    /// Text of the query, with placeholders for values.
    pub query: SqlQuery,
    /// Values for the placeholders, in their order.
    pub values: Vec<String>,
}

/// Result of a query. NULL is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SqlRows {
    /// Names of the columns, in the order of the query.
    pub columns: Vec<String>,
    /// In each row a value for each column.
    pub rows: Vec<Vec<Option<String>>>,
    size: usize,
}

/// Why a query has no result.
enum SqlFailure {
    /// The database cannot be reached, or is too slow.
    Away(String),
    /// The database has refused the query, or its result cannot be used.
    Refused(String),
}

/// Asks a database, which may take five seconds. The error is for the log.
pub fn ask(question: &SqlQuestion) -> Result<SqlRows, String> {
    if let Some(why) = away::reason(&question.database) {
        return Err(why);
    }
    let end = Instant::now() + PATIENCE;
    let answer = match question.database.driver {
        SqlDriver::Sqlite => sqlite::ask(question, end),
        SqlDriver::Postgres => postgres::ask(question, end),
    };
    answer.map_err(|failure| match failure {
        SqlFailure::Away(why) => {
            away::remember(&question.database, &why);
            why
        }
        SqlFailure::Refused(why) => why,
    })
}

impl SqlRows {
    /// Adds a row, unless the result would be too large.
    fn push(&mut self, row: Vec<Option<String>>) -> Result<(), SqlFailure> {
        self.size += row.iter().flatten().map(String::len).sum::<usize>();
        if self.rows.len() >= MAX_ROWS || self.size > MAX_BYTES {
            let size = MAX_BYTES >> 10;
            return Err(SqlFailure::Refused(format!("the result has more than {MAX_ROWS} rows or {size} KB")));
        }
        self.rows.push(row);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! SQLite. Each query opens the file, so that a file that was replaced is seen, and nothing of it is left for the next
//! one.

use std::path::Path;
use std::time::Instant;

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Row, params_from_iter};

use super::{MAX_BYTES, SqlFailure, SqlQuestion, SqlRows};

/// Instructions of SQLite's machine between two looks at the clock.
const STEPS: i32 = 1000;

/// Runs a query until `end`.
pub fn ask(question: &SqlQuestion, end: Instant) -> Result<SqlRows, SqlFailure> {
    run(question, end).map_err(|failure| {
        let at = |why| format!("SQLite {}: {why}", question.database.params);
        match failure {
            SqlFailure::Away(why) => SqlFailure::Away(at(why)),
            SqlFailure::Refused(why) => SqlFailure::Refused(at(why)),
        }
    })
}

fn run(question: &SqlQuestion, end: Instant) -> Result<SqlRows, SqlFailure> {
    let database = open(Path::new(&question.database.params), end)?;
    for statement in &question.database.set_up {
        database.execute_batch(statement).map_err(failure)?;
    }
    let text = question.query.text(|number| format!("?{number}"));
    let mut statement = database.prepare(&text).map_err(failure)?;
    let columns: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut found = SqlRows { columns, ..SqlRows::default() };
    let mut rows = statement.query(params_from_iter(&question.values)).map_err(failure)?;
    while let Some(row) = rows.next().map_err(failure)? {
        let row = (0..found.columns.len()).map(|column| value(row, column)).collect::<Result<_, _>>()?;
        found.push(row)?;
    }
    Ok(found)
}

fn open(path: &Path, end: Instant) -> Result<Connection, SqlFailure> {
    let it = std::fs::metadata(path).map_err(|error| SqlFailure::Refused(error.to_string()))?;
    if !it.is_file() {
        return Err(SqlFailure::Refused("not a regular file".to_owned()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags).map_err(failure)?;
    database.busy_timeout(end.saturating_duration_since(Instant::now())).map_err(failure)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_BYTES as i32).map_err(failure)?;
    database.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0).map_err(failure)?;
    database.progress_handler(STEPS, Some(move || Instant::now() >= end)).map_err(failure)?;
    Ok(database)
}

fn value(row: &Row<'_>, column: usize) -> Result<Option<String>, SqlFailure> {
    Ok(match row.get_ref(column).map_err(failure)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => match std::str::from_utf8(text) {
            Ok(text) => Some(text.to_owned()),
            Err(_) => return Err(SqlFailure::Refused(format!("column {} has bytes that are not UTF-8", column + 1))),
        },
    })
}

fn failure(error: Error) -> SqlFailure {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => SqlFailure::Away("the query took too long".to_owned()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqlFailure::Away(error.to_string()),
        _ => SqlFailure::Refused(error.to_string()),
    }
}

//! Queries of SQLite. Those of PostgreSQL need a server: tests/access/databases.rs.

use std::time::{Duration, Instant};

use super::{SqlFailure, SqlQuestion, SqlRows, sqlite};
use config::access::{Database, SqlDriver, SqlQuery};

/// Asks a database with the table `t` of a text `a` and a number `b`, which may take `patience`.
fn run_query(query: &str, value: &str, patience: Duration) -> Result<SqlRows, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("database");
    let made = rusqlite::Connection::open(&path).expect("a database");
    made.execute_batch("CREATE TABLE t (a TEXT, b INT); INSERT INTO t VALUES ('x', 1), ('y', NULL)").expect("a table");
    let params = path.to_string_lossy().into_owned();
    let database = Database { driver: SqlDriver::Sqlite, params, set_up: Vec::new() };
    let query = SqlQuery::parse(query, 1).expect("a query");
    let question = SqlQuestion { database, query, values: vec![value.to_owned()] };
    sqlite::ask(&question, Instant::now() + patience).map_err(|failure| match failure {
        SqlFailure::Away(why) | SqlFailure::Refused(why) => why,
    })
}

#[test]
fn a_query_has_columns_and_rows() {
    let minute = Duration::from_secs(60);
    let found = run_query("SELECT a, b FROM t WHERE a >= %s ORDER BY a", "x", minute).expect("rows");
    assert_eq!(found.columns, ["a", "b"]);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(found.rows, [[text("x"), text("1")], [text("y"), None]]);
    let none = run_query("SELECT a FROM t WHERE a = %s", "' OR 1 = 1 --", minute).expect("no rows");
    assert_eq!(none.rows, Vec::<Vec<Option<String>>>::new());
}

#[test]
fn a_query_ends_at_its_time_and_its_result_has_a_maximum_size() {
    let endless = "WITH RECURSIVE n(x) AS (SELECT %s UNION ALL SELECT x FROM n) SELECT count(*) FROM n";
    let why = run_query(endless, "1", Duration::from_millis(50)).expect_err("too long");
    assert!(why.ends_with("the query took too long"), "{why}");
    let many = "WITH RECURSIVE n(x) AS (SELECT %s UNION ALL SELECT x FROM n) SELECT x FROM n";
    let why = run_query(many, "1", Duration::from_secs(60)).expect_err("too many");
    assert!(why.contains("more than 1000 rows"), "{why}");
}

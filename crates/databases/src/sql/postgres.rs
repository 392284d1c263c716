//! PostgreSQL. Idle connections are shared by all queries of the process; a query that finds none makes a new one, so
//! there are no more connections than callers.
//!
//! The calling thread runs the connection while it waits. A connection whose query has failed in any other way than by
//! an error of the server is closed.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use futures_util::TryStreamExt;
use tokio::runtime::{Builder, Runtime};
use tokio::time::error::Elapsed;
use tokio::time::timeout_at;
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Error};

use super::params::PgParams;
use super::secured::{PgSecurity, Securer};
use super::{PATIENCE, SqlFailure, SqlQuestion, SqlRows};
use config::access::Database;

/// Maximum number of idle connections to a database.
const MAX_IDLE: usize = 8;
/// Time after which an idle connection is closed.
const MAX_IDLE_TIME: Duration = Duration::from_secs(60);
/// Folder of the server's socket in Debian, where `DBDParams` has no host.
const SOCKETS: &str = "/var/run/postgresql";

static IDLE: LazyLock<Mutex<HashMap<Database, Vec<Idle>>>> = LazyLock::new(Mutex::default);

struct Idle {
    since: Instant,
    connection: Connection,
}

/// A connection and the runtime that drives it. The client is dropped first.
struct Connection {
    client: Client,
    runtime: Runtime,
}

/// Runs a query until `end`.
pub fn ask(question: &SqlQuestion, end: Instant) -> Result<SqlRows, SqlFailure> {
    let at = |failure| named(failure, &question.database);
    if let Some(connection) = take(&question.database) {
        match finish(question, connection, end) {
            // The server has closed the connection while it was idle.
            Err(SqlFailure::Away(_)) if Instant::now() < end => {}
            answer => return answer.map_err(at),
        }
    }
    let connection = Connection::new(&question.database, end).map_err(at)?;
    finish(question, connection, end).map_err(at)
}

/// Runs the query, and stores the connection if it can be used again.
fn finish(question: &SqlQuestion, connection: Connection, end: Instant) -> Result<SqlRows, SqlFailure> {
    let answer = connection.ask(question, end);
    if !matches!(answer, Err(SqlFailure::Away(_))) {
        store(&question.database, connection);
    }
    answer
}

fn take(database: &Database) -> Option<Connection> {
    let mut idle = lock();
    for connections in idle.values_mut() {
        connections.retain(|idle| idle.since.elapsed() < MAX_IDLE_TIME && !idle.connection.client.is_closed());
    }
    idle.retain(|_, connections| !connections.is_empty());
    idle.get_mut(database)?.pop().map(|idle| idle.connection)
}

fn store(database: &Database, connection: Connection) {
    let mut idle = lock();
    let connections = idle.entry(database.clone()).or_default();
    if connections.len() < MAX_IDLE {
        connections.push(Idle { since: Instant::now(), connection });
    }
}

fn lock() -> MutexGuard<'static, HashMap<Database, Vec<Idle>>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error with the database's name, and without its password.
fn named(failure: SqlFailure, database: &Database) -> SqlFailure {
    let config = Config::from_str(&PgParams::parse(&database.params).rest).ok();
    let name = config.as_ref().and_then(Config::get_dbname).unwrap_or_default();
    match failure {
        SqlFailure::Away(why) => SqlFailure::Away(format!("PostgreSQL database \"{name}\": {why}")),
        SqlFailure::Refused(why) => SqlFailure::Refused(format!("PostgreSQL database \"{name}\": {why}")),
    }
}

impl Connection {
    fn new(database: &Database, end: Instant) -> Result<Connection, SqlFailure> {
        let PgParams { rest, sslmode, sslrootcert } = PgParams::parse(&database.params);
        let mut config = Config::from_str(&rest)
            .map_err(|error| SqlFailure::Refused(format!("DBDParams cannot be read: {}", reason(&error))))?;
        let security = PgSecurity::of(sslmode.as_deref(), sslrootcert.as_deref()).map_err(SqlFailure::Refused)?;
        let securer = Securer::new(&security).map_err(SqlFailure::Refused)?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            config.host(SOCKETS);
        }
        // TLS needs a name.
        if config.get_hosts().is_empty() {
            for address in config.get_hostaddrs().to_vec() {
                config.host(address.to_string());
            }
        }
        if config.get_application_name().is_none() {
            config.application_name("cameleer");
        }
        // As with libpq, a Unix socket needs no TLS.
        let is_local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        config.ssl_mode(if is_local && config.get_hostaddrs().is_empty() { SslMode::Disable } else { security.mode });
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| SqlFailure::Away(error.to_string()))?;
        let set_up = set_up(&database.set_up);
        let connected = runtime.block_on(within(end, async {
            let client = connect(config, securer).await?;
            client.batch_execute(&set_up).await.map_err(|error| reason(&error))?;
            Ok(client)
        }));
        match connected {
            Ok(Ok(client)) => Ok(Connection { client, runtime }),
            Ok(Err(why)) => Err(SqlFailure::Away(why)),
            Err(_) => Err(too_slow("connection")),
        }
    }

    fn ask(&self, question: &SqlQuestion, end: Instant) -> Result<SqlRows, SqlFailure> {
        let text = question.query.text(|number| format!("${number}"));
        let values: Vec<AsText> = question.values.iter().map(|value| AsText(value.clone())).collect();
        let outcome = self.runtime.block_on(within(end, async {
            let statement = self.client.prepare(&text).await.map_err(failure)?;
            let columns = statement.columns().iter().map(|column| column.name().to_owned()).collect();
            let mut found = SqlRows { columns, ..SqlRows::default() };
            let rows = self.client.query_raw(&statement, values).await.map_err(failure)?;
            let mut rows = std::pin::pin!(rows);
            while let Some(row) = rows.try_next().await.map_err(failure)? {
                let value = |column| row.try_get::<_, Option<PgText>>(column).map(|value| value.map(|text| text.0));
                found.push((0..row.len()).map(value).collect::<Result<_, _>>().map_err(failure)?)?;
            }
            Ok(found)
        }));
        outcome.unwrap_or_else(|_| Err(too_slow("query")))
    }
}

/// Connects. As with libpq, `prefer` tries without TLS what fails with it: the server may allow that only, or have a
/// certificate that cannot be used.
async fn connect(mut config: Config, securer: Securer) -> Result<Client, String> {
    let mut connected = config.connect(securer.clone()).await.map_err(|error| reason(&error));
    if let (SslMode::Prefer, Err(why)) = (config.get_ssl_mode(), &connected) {
        let plain = config.ssl_mode(SslMode::Disable).connect(securer).await;
        connected = plain.map_err(|error| format!("{why}; without TLS: {}", reason(&error)));
    }
    let (client, connection) = connected?;
    tokio::spawn(connection);
    Ok(client)
}

/// The statements that a connection begins with. The server ends a query that nobody waits for any more.
fn set_up(statements: &[String]) -> String {
    let mut text = format!("SET statement_timeout = {}", PATIENCE.as_millis());
    for statement in statements {
        text.push_str(";\n");
        text.push_str(statement);
    }
    text
}

/// Ends a task at a time. The timer is made by the runtime that runs it.
async fn within<T>(end: Instant, task: impl Future<Output = T>) -> Result<T, Elapsed> {
    timeout_at(end.into(), task).await
}

fn too_slow(what: &str) -> SqlFailure {
    SqlFailure::Away(format!("the {what} took longer than {} s", PATIENCE.as_secs()))
}

/// Errors of the server's classes 57 and 08 end the connection, as others do that are not about the query.
fn failure(error: Error) -> SqlFailure {
    let is_about_query =
        error.as_db_error().is_some_and(|error| !matches!(error.code().code().get(..2), Some("57" | "08")));
    let is_conversion =
        std::error::Error::source(&error).is_some_and(|source| source.is::<tokio_postgres::types::WrongType>());
    match is_about_query || is_conversion {
        true => SqlFailure::Refused(reason(&error)),
        false => SqlFailure::Away(reason(&error)),
    }
}

fn reason(error: &Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(error), _) => error.message().to_owned(),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

/// A value that the server reads as text, whatever type it has in the query.
#[derive(Debug)]
struct AsText(String);

impl ToSql for AsText {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

/// A column of a type that is read as text.
struct PgText(String);

impl<'a> FromSql<'a> for PgText {
    fn from_sql(kind: &Type, bytes: &'a [u8]) -> Result<PgText, Box<dyn std::error::Error + Sync + Send>> {
        Ok(PgText(match *kind {
            Type::BOOL => if bool::from_sql(kind, bytes)? { "t" } else { "f" }.to_owned(),
            Type::INT2 => i16::from_sql(kind, bytes)?.to_string(),
            Type::INT4 => i32::from_sql(kind, bytes)?.to_string(),
            Type::INT8 => i64::from_sql(kind, bytes)?.to_string(),
            _ => String::from_sql(kind, bytes)?,
        }))
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::BOOL | Type::INT2 | Type::INT4 | Type::INT8) || <String as FromSql>::accepts(kind)
    }
}

//! Databases of `RewriteMap name dbm:…`, `dbd:…` and `fastdbd:…`. Files are cached as those of users are.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use crate::base::blocking::{self, NoThread};
use crate::base::databases;
use crate::base::fair::Claimant;
use ::databases::{DbmFile, SqlQuestion};
use access::FileCache;
use base::cache::BoundedCache;
use config::access::Database;
use config::response::rewrite::{Map, MapQuery};

/// Maximum number of stored values of `fastdbd:`.
const MAX_VALUES: usize = 4096;
/// Longest key and value that are stored, in bytes.
const MAX_BYTES: usize = 2048;

/// The databases of one thread and generation.
#[derive(Default)]
pub struct MapDatabases {
    files: FileCache<DbmFile>,
    /// Values of `fastdbd:`, by query and key.
    stored: RefCell<BoundedCache<(Database, config::access::SqlQuery, String), Option<String>, MAX_VALUES>>,
}

impl MapDatabases {
    /// The value of a key in a DBM file. The error is a line for the log.
    pub async fn of_file(&self, file: &Path, key: &str) -> Result<Option<String>, String> {
        let since = Instant::now();
        loop {
            match self.files.get(file, since) {
                Ok(Ok(values)) => {
                    let value = values.text(key).map_err(|why| format!("dbm:{}: {why}", file.display()))?;
                    return Ok(value.map(str::to_owned));
                }
                Ok(Err(error)) => return Err(format!("dbm:{error}")),
                Err(reading) => {
                    let look = blocking::run("read a DBM file", move || reading.take()).await;
                    self.files.learn(look.map_err(no_thread)?);
                }
            }
        }
    }

    /// The value of a key in an SQL database: the first column of a row. The error is a line for the log.
    pub async fn of_query(
        &self,
        database: Database,
        map: &MapQuery,
        key: &str,
        claimant: &Claimant,
    ) -> Result<Option<String>, String> {
        let place = (database, map.query.clone(), key.to_owned());
        if let Some(known) = self.stored.borrow_mut().get(&place).filter(|_| map.is_stored) {
            return Ok(known.clone());
        }
        let question = SqlQuestion { database: place.0.clone(), query: place.1.clone(), values: vec![key.to_owned()] };
        let found = databases::ask(question, claimant).await.map_err(no_thread)??;
        let value = Map::one_of(&found.rows).and_then(|row| row.first()?.clone());
        if map.is_stored && key.len() + value.as_ref().map_or(0, String::len) <= MAX_BYTES {
            self.stored.borrow_mut().put(place, value.clone());
        }
        Ok(value)
    }
}

fn no_thread(_: NoThread) -> String {
    "there is no thread to ask a database".to_owned()
}

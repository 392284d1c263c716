//! The hash of a user's password, from the providers of a place in their order. The first provider that knows the user
//! decides.

use super::cached;
use super::user_files::{HashQuery, NoAnswer, StoredHash, UserFileReading, UserFiles};
use config::access::{AccessRules, PasswordSource};
use databases::{SqlQuestion, SqlRows};

impl UserFiles {
    /// The hash of a user, from the first provider that knows the user.
    pub(super) fn hash_of(&self, rules: &AccessRules, query: HashQuery<'_>) -> Result<StoredHash, NoAnswer> {
        // No database has names with a NUL, and some take it for the end.
        if [Some(query.user), query.realm].into_iter().flatten().any(|name| name.contains('\0')) {
            return Err(unknown(query));
        }
        let mut unknown = NoAnswer::Unknown("no provider knows the user".to_owned());
        for (number, source) in rules.sources().iter().enumerate().skip(query.source) {
            match self.hash_in(source, rules, query) {
                Err(NoAnswer::Directory(_)) => return Err(NoAnswer::Directory(number)),
                Err(NoAnswer::Unknown(why)) => unknown = NoAnswer::Unknown(why),
                Ok(found) => {
                    // A cached hash keeps its age, so that a removed user is forgotten.
                    let is_cached = source.base() == &PasswordSource::Cache;
                    if !is_cached && rules.cached_sources.iter().any(|name| name == source.name()) {
                        cached::remember(rules, query, &found.text);
                    }
                    return Ok(found);
                }
                stopped => return stopped,
            }
        }
        Err(unknown)
    }

    fn hash_in(
        &self,
        source: &PasswordSource,
        rules: &AccessRules,
        query: HashQuery<'_>,
    ) -> Result<StoredHash, NoAnswer> {
        match (source, query.realm) {
            (PasswordSource::File, None) => self.hash_in_file(rules, query),
            (PasswordSource::File, Some(realm)) => self.hash_in_digest_file(rules, query, realm),
            (PasswordSource::Dbm, _) => self.hash_in_dbm(rules, query),
            (PasswordSource::Dbd, _) => hash_in_database(rules, query),
            (PasswordSource::Ldap, _) => Err(NoAnswer::Directory(query.source)),
            (PasswordSource::Cache, _) => match cached::hash_of(rules, query) {
                Some(text) => Ok(StoredHash { text, place: "AuthnCacheProvideFor".to_owned(), columns: Vec::new() }),
                None => Err(unknown(query)),
            },
            (PasswordSource::Alias(alias), _) => self.hash_in(&alias.source, &alias.settings(rules), query),
        }
    }

    fn hash_in_file(&self, rules: &AccessRules, query: HashQuery<'_>) -> Result<StoredHash, NoAnswer> {
        let Some(file) = &rules.user_file else {
            let needs = "Require needs an AuthUserFile here to compare passwords";
            return Err(NoAnswer::Misconfigured(needs.to_owned()));
        };
        match self.passwords.get(file, query.since) {
            Ok(Ok(passwords)) => match passwords.hash_of(query.user) {
                Some(hash) => Ok(StoredHash {
                    text: hash.text.to_owned(),
                    place: format!("{}:{}", file.display(), hash.line),
                    columns: Vec::new(),
                }),
                None => Err(unknown(query)),
            },
            Ok(Err(error)) => Err(NoAnswer::Misconfigured(format!("AuthUserFile: {error}"))),
            Err(reading) => Err(NoAnswer::Unread(UserFileReading::Users(reading))),
        }
    }

    fn hash_in_digest_file(
        &self,
        rules: &AccessRules,
        query: HashQuery<'_>,
        realm: &str,
    ) -> Result<StoredHash, NoAnswer> {
        let Some(file) = &rules.user_file else {
            let needs = "Require with AuthType Digest needs AuthName and AuthUserFile here";
            return Err(NoAnswer::Misconfigured(needs.to_owned()));
        };
        match self.digests.get(file, query.since) {
            Ok(Ok(digests)) => match digests.hash_of(query.user, realm) {
                Some(hash) => {
                    Ok(StoredHash { text: hash.to_owned(), place: file.display().to_string(), columns: Vec::new() })
                }
                None => Err(unknown(query)),
            },
            Ok(Err(error)) => Err(NoAnswer::Misconfigured(format!("AuthUserFile: {error}"))),
            Err(reading) => Err(NoAnswer::Unread(UserFileReading::Digests(reading))),
        }
    }

    fn hash_in_dbm(&self, rules: &AccessRules, query: HashQuery<'_>) -> Result<StoredHash, NoAnswer> {
        let Some(path) = &rules.dbm_users else {
            let needs = "the provider dbm needs an AuthDBMUserFile here";
            return Err(NoAnswer::Misconfigured(needs.to_owned()));
        };
        let file = rules.dbm_users_type.file(path);
        let key = match query.realm {
            None => query.user.to_owned(),
            Some(realm) => format!("{}:{realm}", query.user),
        };
        match self.dbm.get(&file, query.since) {
            Ok(Ok(users)) => match users
                .text(&key)
                .map_err(|why| NoAnswer::Misconfigured(format!("AuthDBMUserFile: {}: {why}", file.display())))?
            {
                // As in httpd, other data may follow behind a colon.
                Some(value) => Ok(StoredHash {
                    text: value.split(':').next().unwrap_or_default().to_owned(),
                    place: file.display().to_string(),
                    columns: Vec::new(),
                }),
                None => Err(unknown(query)),
            },
            Ok(Err(error)) => Err(NoAnswer::Misconfigured(format!("AuthDBMUserFile: {error}"))),
            Err(reading) => Err(NoAnswer::Unread(UserFileReading::Dbm(reading))),
        }
    }
}

fn hash_in_database(rules: &AccessRules, query: HashQuery<'_>) -> Result<StoredHash, NoAnswer> {
    let (wanted, name) = match query.realm {
        None => (&rules.password_query, "AuthDBDUserPWQuery"),
        Some(_) => (&rules.realm_query, "AuthDBDUserRealmQuery"),
    };
    let Some(wanted) = wanted else {
        return Err(NoAnswer::Misconfigured(format!("the provider dbd needs an {name} here")));
    };
    let database = rules.database().map_err(NoAnswer::Misconfigured)?;
    let values = [query.user].into_iter().chain(query.realm).map(str::to_owned).collect();
    let question = SqlQuestion { database, query: wanted.clone(), values };
    match query.answers.get(question).map_err(NoAnswer::Unasked)? {
        Ok(found) => hash_in_rows(found, query, name),
        Err(why) => Err(NoAnswer::Misconfigured(format!("{name}: {why}"))),
    }
}

/// The first column of the first row, and the others as variables.
fn hash_in_rows(found: &SqlRows, query: HashQuery<'_>, name: &str) -> Result<StoredHash, NoAnswer> {
    let Some(row) = found.rows.first() else { return Err(unknown(query)) };
    let named = found.columns.iter().zip(row).skip(1);
    let columns = named.map(|(name, value)| (name.clone(), value.clone().unwrap_or_default())).collect();
    match row.first() {
        Some(Some(text)) => Ok(StoredHash { text: text.clone(), place: name.to_owned(), columns }),
        _ => Err(unknown(query)),
    }
}

fn unknown(query: HashQuery<'_>) -> NoAnswer {
    let user = query.user.escape_debug();
    NoAnswer::Unknown(match query.realm {
        None => format!("user {user} not found"),
        Some(realm) => format!("user {user} in realm {realm} not found"),
    })
}

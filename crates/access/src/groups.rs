//! Groups of a user, from files and databases.

use std::time::Instant;

use super::User;
use super::answers::SqlAnswers;
use super::user_files::{NoAnswer, UserFileReading, UserFiles};
use config::access::{AccessRules, GroupSource, SqlQuery};
use databases::SqlQuestion;

impl UserFiles {
    /// Adds the groups of AuthGroupFile, and those of databases that `Require` needs.
    pub fn add_groups(
        &self,
        rules: &AccessRules,
        mut user: User,
        since: Instant,
        answers: &SqlAnswers,
    ) -> Result<User, NoAnswer> {
        if rules.group_file.is_some() {
            match self.groups_in_file(rules, &user.name, since) {
                Ok(groups) => user.groups = groups.into_iter().collect(),
                // As in httpd, the user is in no group. No requirement about groups is met, with `not` either.
                Err(NoAnswer::Misconfigured(why)) => user.records.groups_unread = Some(why),
                Err(stopped) => return Err(stopped),
            }
        }
        for lookup in rules.group_lookups() {
            let settings = &*lookup.settings(rules);
            let groups = match lookup.source {
                GroupSource::File => self.groups_in_file(settings, &user.name, since)?,
                GroupSource::Dbm => self.groups_in_dbm(settings, &user.name, since)?,
                GroupSource::Dbd => groups_in_database(settings, &user.name, answers)?,
            };
            user.records.groups.push((lookup.clone(), groups.into_iter().collect()));
        }
        Ok(user)
    }

    fn groups_in_file(&self, rules: &AccessRules, user: &str, since: Instant) -> Result<Vec<String>, NoAnswer> {
        let Some(file) = &rules.group_file else { return Ok(Vec::new()) };
        match self.groups.get(file, since) {
            Ok(Ok(groups)) => Ok(groups.of(user).map(str::to_owned).collect()),
            Ok(Err(error)) => Err(NoAnswer::Misconfigured(format!("AuthGroupFile: {error}"))),
            Err(reading) => Err(NoAnswer::Unread(UserFileReading::Groups(reading))),
        }
    }

    /// The value is `group,group`, or `hash:group,group:…`. As in httpd, without a file nobody is in a group.
    fn groups_in_dbm(&self, rules: &AccessRules, user: &str, since: Instant) -> Result<Vec<String>, NoAnswer> {
        let Some(path) = &rules.dbm_groups else { return Ok(Vec::new()) };
        let file = rules.dbm_groups_type.file(path);
        match self.dbm.get(&file, since) {
            Ok(Ok(groups)) => {
                let value = groups
                    .text(user)
                    .map_err(|why| NoAnswer::Misconfigured(format!("AuthDBMGroupFile: {}: {why}", file.display())))?;
                let value = value.unwrap_or_default();
                let list = value.split(':').nth(1).unwrap_or(value);
                Ok(list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect())
            }
            Ok(Err(error)) => Err(NoAnswer::Misconfigured(format!("AuthDBMGroupFile: {error}"))),
            Err(reading) => Err(NoAnswer::Unread(UserFileReading::Dbm(reading))),
        }
    }
}

/// The statement of `Require dbd-login` and `dbd-logout`, for a user.
pub fn statement(rules: &AccessRules, user: Option<&User>) -> Result<SqlQuestion, String> {
    let query = rules.group_query.clone().ok_or("Require dbd-login and dbd-logout need an AuthzDBDQuery here")?;
    question(rules, user, query)
}

/// Executes a statement, which may take seconds.
pub fn execute(statement: &SqlQuestion) -> Result<(), String> {
    databases::ask(statement).map(drop)
}

/// The query of `AuthzDBDRedirectQuery`, for a user. `None` without one.
pub fn redirect_question(rules: &AccessRules, user: Option<&User>) -> Option<Result<SqlQuestion, String>> {
    Some(question(rules, user, rules.redirect_query.clone()?))
}

fn question(rules: &AccessRules, user: Option<&User>, query: SqlQuery) -> Result<SqlQuestion, String> {
    let values = vec![user.map(|user| user.name.clone()).unwrap_or_default()];
    Ok(SqlQuestion { database: rules.database()?, query, values })
}

/// The first column of each row.
fn groups_in_database(rules: &AccessRules, user: &str, answers: &SqlAnswers) -> Result<Vec<String>, NoAnswer> {
    let Some(query) = rules.group_query.clone() else {
        return Err(NoAnswer::Misconfigured("Require dbd-group needs an AuthzDBDQuery here".to_owned()));
    };
    let database = rules.database().map_err(NoAnswer::Misconfigured)?;
    let question = SqlQuestion { database, query, values: vec![user.to_owned()] };
    match answers.get(question).map_err(NoAnswer::Unasked)? {
        Ok(found) => Ok(found.rows.iter().filter_map(|row| row.first()?.clone()).collect()),
        Err(why) => Err(NoAnswer::Misconfigured(format!("AuthzDBDQuery: {why}"))),
    }
}

//! Operations that answer a question: find the user's entry, bind as the user, compare, search.

use config::access::{LdapPlace, LdapRequirement};
use ldap::{LdapEntry, LdapFilter, LdapScope, LdapSearch, LdapUrl, code};

use super::connection::{DirectoryConnection, DirectoryFailure, shown};
use super::{AboutRequirement, DirectoryEntry, DirectoryKey, DirectoryQuestion, QuestionSubject};

/// Maximum number of groups that are looked at for one requirement.
const MAX_GROUPS: usize = 256;

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryAnswer {
    /// The password is right.
    Known(DirectoryEntry),
    /// The directory has no such user, with the reason for the log.
    Unknown(String),
    /// The password is wrong, with the reason for the log.
    Refused(String),
    /// Whether the requirement is met.
    Meets(bool),
}

/// A place's directory and a connection to it.
struct Asking<'a> {
    connection: &'a mut DirectoryConnection,
    key: &'a DirectoryKey,
    place: &'a LdapPlace,
    url: &'a LdapUrl,
    /// As whom searches and comparisons run.
    identities: Identities<'a>,
    /// Whether the connection is bound as the user of `identities`.
    is_users: bool,
}

/// An entry and its password.
type Identity<'a> = (&'a str, &'a [u8]);

/// Entries as which a question's operations run. `None`: as the server.
#[derive(Clone, Copy, Default)]
struct Identities<'a> {
    search: Option<Identity<'a>>,
    compare: Option<Identity<'a>>,
}

impl<'a> Identities<'a> {
    /// `AuthLDAPSearchAsUser`, `AuthLDAPCompareAsUser`
    fn of(place: &LdapPlace, about: &'a AboutRequirement) -> Identities<'a> {
        let user = about.entry.as_deref().zip(about.password.as_ref().map(|password| &password.0[..]));
        Identities { search: user.filter(|_| place.search_as_user), compare: user.filter(|_| place.compare_as_user) }
    }
}

impl DirectoryQuestion {
    pub(super) fn ask_on(
        &self,
        connection: &mut DirectoryConnection,
        key: &DirectoryKey,
    ) -> Result<DirectoryAnswer, DirectoryFailure> {
        let place = &**self.place();
        let Some(url) = &place.url else { return Err(DirectoryFailure::Refused("there is no AuthLDAPURL".to_owned())) };
        let initial = match &self.about {
            QuestionSubject::Password(user, _) => place.initial_name(user),
            QuestionSubject::Requirement(_) => None,
        };
        let identities = match &self.about {
            QuestionSubject::Password(_, password) => {
                Identities { search: initial.as_deref().map(|name| (name, &password[..])), compare: None }
            }
            QuestionSubject::Requirement(about) => Identities::of(place, about),
        };
        let mut asking = Asking { connection, key, place, url, identities, is_users: false };
        match &self.about {
            QuestionSubject::Password(user, password) => asking.password(user, password),
            QuestionSubject::Requirement(about) => asking.meets(about).map(DirectoryAnswer::Meets),
        }
    }
}

impl Asking<'_> {
    /// Binds as the entry of an operation, unless the connection is.
    fn be(&mut self, identity: Option<Identity<'_>>) -> Result<(), DirectoryFailure> {
        let Some((name, password)) = identity else { return self.be_server() };
        if self.is_users {
            return Ok(());
        }
        self.connection.is_servers = false;
        let outcome = self.connection.bind(name, password)?;
        self.is_users = outcome.code == code::SUCCESS;
        match self.is_users {
            true => Ok(()),
            false => Err(DirectoryFailure::Refused(format!("the bind as \"{name}\" is refused: {}", shown(&outcome)))),
        }
    }

    /// Binds as AuthLDAPBindDN, or anonymously, unless the connection is.
    fn be_server(&mut self) -> Result<(), DirectoryFailure> {
        if self.connection.is_servers {
            return Ok(());
        }
        let name = self.key.bind_dn.as_deref().unwrap_or_default();
        self.is_users = false;
        let outcome = self.connection.bind(name, self.key.bind_password.0.as_bytes())?;
        self.connection.is_servers = outcome.code == code::SUCCESS;
        match self.connection.is_servers {
            true => Ok(()),
            false => Err(DirectoryFailure::Refused(format!("the bind as \"{name}\" is refused: {}", shown(&outcome)))),
        }
    }

    fn search(
        &mut self,
        base: &str,
        scope: LdapScope,
        filter: &LdapFilter,
        attributes: &[String],
    ) -> Result<Vec<LdapEntry>, DirectoryFailure> {
        self.be(self.identities.search)?;
        // A second entry shows that the first is not the only one.
        let most = if matches!(scope, LdapScope::Base) { 1 } else { 2 };
        let seconds = u32::try_from(self.key.server.timeout.as_secs()).unwrap_or_default();
        let dereference = self.place.dereference;
        self.connection.search(&LdapSearch { base, scope, dereference, most, seconds, filter, attributes })
    }

    /// The only entry of a user, or why there is none.
    fn find(&mut self, user: &str) -> Result<Result<LdapEntry, String>, DirectoryFailure> {
        let filter = self.url.filter.clone().and(LdapFilter::equal(self.url.attribute(), user.as_bytes()));
        let mut attributes = self.url.attributes.clone();
        attributes.extend(self.place.remote_user_attribute.clone());
        let mut found = self.search(&self.url.base, self.url.scope, &filter, &attributes)?;
        let shown = user.escape_debug();
        Ok(match (found.pop(), found.is_empty()) {
            (None, _) => Err(format!("user {shown} not found in the directory")),
            (Some(_), false) => Err(format!("user {shown} has more than one entry in the directory")),
            // The empty name is that of the directory itself.
            (Some(entry), true) if entry.name.is_empty() => Err(format!("user {shown} has no entry in the directory")),
            (Some(entry), true) => Ok(entry),
        })
    }

    fn password(&mut self, user: &str, password: &[u8]) -> Result<DirectoryAnswer, DirectoryFailure> {
        // A bind without a password succeeds for any name (RFC 4513, section 5.1.2).
        if password.is_empty() || user.is_empty() {
            return Ok(DirectoryAnswer::Refused("an empty name or password".to_owned()));
        }
        if let Some((name, _)) = self.identities.search
            && let Some(refused) = self.refused(user, name, password)?
        {
            return Ok(refused);
        }
        let entry = match self.find(user)? {
            Ok(entry) => entry,
            Err(why) => return Ok(DirectoryAnswer::Unknown(why)),
        };
        let refused = self.refused(user, &entry.name, password)?;
        Ok(refused.unwrap_or_else(|| DirectoryAnswer::Known(self.known(user, &entry))))
    }

    /// Binds as an entry with the user's password. `None`: the password is right.
    fn refused(
        &mut self,
        user: &str,
        name: &str,
        password: &[u8],
    ) -> Result<Option<DirectoryAnswer>, DirectoryFailure> {
        self.connection.is_servers = false;
        let outcome = self.connection.bind(name, password)?;
        self.is_users = outcome.code == code::SUCCESS;
        match outcome.code {
            code::SUCCESS => Ok(None),
            code::INVALID_CREDENTIALS
            | code::INAPPROPRIATE_AUTHENTICATION
            | code::CONSTRAINT_VIOLATION
            | code::UNWILLING_TO_PERFORM
            | code::INVALID_DN_SYNTAX
            | code::NO_SUCH_OBJECT => Ok(Some(DirectoryAnswer::Refused(format!(
                "user {}: the directory refuses the password: {}",
                user.escape_debug(),
                shown(&outcome)
            )))),
            _ => Err(DirectoryFailure::Refused(format!("the bind as \"{name}\" is refused: {}", shown(&outcome)))),
        }
    }

    fn known(&self, login: &str, entry: &LdapEntry) -> DirectoryEntry {
        let value = |name: &str| {
            let values = entry.values(name).iter().map(|value| String::from_utf8_lossy(value));
            values.collect::<Vec<_>>().join("; ")
        };
        let wanted = self.url.attributes.iter().chain(&self.place.remote_user_attribute);
        let there = wanted.filter(|name| !entry.values(name).is_empty());
        let attributes = there.map(|name| (name.clone(), value(name))).collect();
        DirectoryEntry { name: entry.name.clone(), login: login.to_owned(), attributes }
    }

    fn meets(&mut self, about: &AboutRequirement) -> Result<bool, DirectoryFailure> {
        let AboutRequirement { entry, login, kind, words, .. } = about;
        let kind = *kind;
        let whole = words.join(" ");
        let filter = || LdapFilter::parse(&whole).map_err(DirectoryFailure::Refused);
        if kind == LdapRequirement::Search {
            let found = self.search(&self.url.base, self.url.scope, &filter()?, &[])?;
            return Ok(found.len() == 1);
        }
        let entry = match entry.clone() {
            Some(entry) => entry,
            None => match self.find(login)? {
                Ok(entry) => entry.name,
                Err(_) => return Ok(false),
            },
        };
        match kind {
            LdapRequirement::User => {
                let whole = [whole.clone()];
                let values = whole.iter().chain(words.iter().filter(|_| words.len() > 1));
                self.has_one_of(&entry, values.map(|value| (self.url.attribute(), value.as_str())))
            }
            LdapRequirement::Attribute => self.has_one_of(&entry, words.iter().filter_map(|word| word.split_once('='))),
            LdapRequirement::Dn => self.is_same(&entry, &whole),
            LdapRequirement::Filter => Ok(self.search(&entry, LdapScope::Base, &filter()?, &[])?.len() == 1),
            LdapRequirement::Group => self.is_member(&entry, login, &whole),
            LdapRequirement::Search => Ok(false),
        }
    }

    fn has_one_of<'v>(
        &mut self,
        entry: &str,
        values: impl Iterator<Item = (&'v str, &'v str)>,
    ) -> Result<bool, DirectoryFailure> {
        for (attribute, value) in values {
            self.be(self.identities.compare)?;
            if self.connection.compare(entry, attribute, value.as_bytes())? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Compares names of entries as AuthLDAPCompareDNOnServer asks for.
    fn is_same(&mut self, entry: &str, name: &str) -> Result<bool, DirectoryFailure> {
        if entry == name || !self.place.compare_dn_on_server || name.is_empty() {
            return Ok(entry == name);
        }
        let found = self.search(name, LdapScope::Base, &LdapFilter::present("objectClass"), &[])?;
        Ok(found.first().is_some_and(|found| found.name == entry))
    }

    /// Whether the user is a member of a group, or of groups in it.
    fn is_member(&mut self, entry: &str, login: &str, group: &str) -> Result<bool, DirectoryFailure> {
        let place = self.place;
        let member = if place.group_attribute_is_dn { entry } else { login };
        let attributes = or_else(&place.group_attributes, &["member", "uniqueMember"]);
        let below = or_else(&place.sub_group_attributes, &["member", "uniqueMember"]);
        let classes = or_else(&place.sub_group_classes, &["groupOfNames", "groupOfUniqueNames"]);
        let wanted: Vec<String> = below.iter().map(|name| (*name).to_owned()).collect();
        let (mut seen, mut next) = (vec![group.to_owned()], vec![group.to_owned()]);
        for depth in 0..=place.sub_group_depth {
            let mut deeper = Vec::new();
            for group in next {
                if self.has_one_of(&group, attributes.iter().map(|attribute| (*attribute, member)))? {
                    return Ok(true);
                }
                if depth == place.sub_group_depth {
                    continue;
                }
                let found = self.search(&group, LdapScope::Base, &LdapFilter::present("objectClass"), &wanted)?;
                let names = found.iter().flat_map(|found| below.iter().flat_map(|name| found.values(name)));
                for name in names.map(|name| String::from_utf8_lossy(name).into_owned()) {
                    if seen.contains(&name) {
                        continue;
                    }
                    if seen.len() >= MAX_GROUPS {
                        return Err(DirectoryFailure::Refused(format!(
                            "the group \"{group}\" has more than {MAX_GROUPS} members to look at"
                        )));
                    }
                    seen.push(name.clone());
                    if self.has_one_of(&name, classes.iter().map(|class| ("objectClass", *class)))? {
                        deeper.push(name);
                    }
                }
            }
            next = deeper;
        }
        Ok(false)
    }
}

/// The names of the configuration, or those of httpd.
fn or_else<'a>(names: &'a [String], default: &[&'a str]) -> Vec<&'a str> {
    if names.is_empty() { default.to_vec() } else { names.iter().map(String::as_str).collect() }
}

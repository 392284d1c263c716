//! Variables of a request, and the attributes that they can depend on.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::syntax::pattern::{Budget, Case, Pattern};

/// An attribute of a request that a pattern is matched against.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "Apache's names")]
pub enum Attribute {
    RemoteAddr,
    RemoteHost,
    RequestMethod,
    RequestProtocol,
    RequestUri,
    ServerAddr,
    /// A header, in lower case, or else a variable, as written.
    Named(String, String),
    /// Headers whose names match; as in httpd the last of them counts.
    Headers(Pattern),
}

impl Attribute {
    /// The attribute of this name in `SetEnvIf`.
    pub fn parse(budget: &mut Budget, name: &str) -> Result<Attribute, String> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "remote_addr" => Attribute::RemoteAddr,
            "remote_host" => Attribute::RemoteHost,
            "request_method" => Attribute::RequestMethod,
            "request_protocol" => Attribute::RequestProtocol,
            "request_uri" => Attribute::RequestUri,
            "server_addr" => Attribute::ServerAddr,
            lower if lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) => {
                Attribute::Named(lower.to_owned(), name.to_owned())
            }
            _ => Attribute::Headers(budget.compile(name, Case::Either)?),
        })
    }
}

/// The variables of one request; `None`: there are none, and no memory is allocated. Copies share their memory until
/// one of them changes: the parts of a page inherit its variables, and seldom change one.
#[derive(Debug, Clone, Default)]
pub struct Variables(Option<Arc<BTreeMap<String, String>>>);

impl PartialEq for Variables {
    fn eq(&self, other: &Variables) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Variables {}

impl Variables {
    /// `None`: unset, which differs from empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.as_ref()?.get(name).map(String::as_str)
    }

    /// `None` unsets the variable.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        if self.get(name) == value.as_deref() {
            return;
        }
        let own = Arc::make_mut(self.0.get_or_insert_default());
        match value {
            Some(value) => drop(own.insert(name.to_owned(), value)),
            None => drop(own.remove(name)),
        }
    }

    /// Applies `SetEnv` and `PassEnv`. Names that `UnsetEnv` cancelled are skipped.
    pub fn set_all(&mut self, changes: &[(String, Option<String>)]) {
        changes.iter().filter(|(_, value)| value.is_some()).for_each(|(name, value)| self.set(name, value.clone()));
    }

    /// Sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|all| all.iter()).map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Unset variables are not stored.
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|all| all.is_empty())
    }

    /// Variables that were set or unset (`None`) relative to `before`.
    pub fn changes_since(&self, before: &Variables) -> Vec<(String, Option<String>)> {
        let set = self.iter().filter(|(name, value)| before.get(name) != Some(value));
        let gone = before.iter().filter(|(name, _)| self.get(name).is_none());
        let set = set.map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
        set.chain(gone.map(|(name, _)| (name.to_owned(), None))).collect()
    }

    /// A copy with `REDIRECT_` before each name, for an internal redirection.
    pub fn redirected(&self) -> Variables {
        let renamed = self.iter().map(|(name, value)| (format!("REDIRECT_{name}"), value.to_owned()));
        Variables(Some(Arc::new(renamed.collect())))
    }
}

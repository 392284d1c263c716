//! The variables of a request, and what of it they are made from.

use std::collections::BTreeMap;

use crate::config::syntax::pattern::{Budget, Case, Pattern};

/// What of a request a pattern is held against.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "Apache's names")]
pub enum Attribute {
    RemoteAddr,
    RemoteHost,
    RequestMethod,
    RequestProtocol,
    RequestUri,
    ServerAddr,
    QueryString,
    /// `on` where the client speaks TLS, else `off`; expressions know it.
    Https,
    /// A header, in lower case, or else a variable, as written.
    Named(String, String),
    /// Headers whose names it is found in; as in httpd the last of them counts.
    Headers(Pattern),
}

impl Attribute {
    /// By its name in `SetEnvIf`.
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

/// The variables of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets one, or takes it away.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        match value {
            Some(value) => drop(self.0.insert(name.to_owned(), value)),
            None => drop(self.0.remove(name)),
        }
    }

    /// `SetEnv`, `PassEnv`; what `UnsetEnv` takes back is not there.
    pub fn say(&mut self, said: &[(String, Option<String>)]) {
        said.iter().filter(|(_, value)| value.is_some()).for_each(|(name, value)| self.set(name, value.clone()));
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What was set since they were `before`, and what was taken away.
    pub fn changes_since(&self, before: &Variables) -> Vec<(String, Option<String>)> {
        let set = self.iter().filter(|(name, value)| before.get(name) != Some(value));
        let gone = before.iter().filter(|(name, _)| self.get(name).is_none());
        let set = set.map(|(name, value)| (name.to_owned(), Some(value.to_owned())));
        set.chain(gone.map(|(name, _)| (name.to_owned(), None))).collect()
    }

    /// The same, each name with `REDIRECT_` in front: what the request was before it was sent on.
    pub fn redirected(&self) -> Variables {
        Variables(self.iter().map(|(name, value)| (format!("REDIRECT_{name}"), value.to_owned())).collect())
    }
}

/// What an expression is held against.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// Of the request.
    pub variables: &'a Variables,
    /// What else is known of it.
    pub look: &'a dyn Fn(&Attribute) -> Option<String>,
}

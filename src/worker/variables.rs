//! What `SetEnvIf` and `BrowserMatch` of a place find in a request that has come to it inside this process.

use std::borrow::Cow;

use super::located::Located;
use crate::config::rules::setenv::{Attribute, Variables};

/// Adds to the variables of the request what the rules of its place say, with the URI that it has now.
pub fn settle(request: u64, located: &Located) {
    let rules = &located.settings.rules.set_env_if;
    if rules.is_empty() {
        return;
    }
    let mut before = Variables::default();
    apache::variables(request).into_iter().for_each(|(name, value)| before.set(&name, Some(value)));
    let mut variables = before.clone();
    variables.apply(rules, |attribute| look(request, attribute).map(Cow::Owned));
    apache::change_variables(request, &variables.changes_since(&before));
}

fn look(request: u64, attribute: &Attribute) -> Option<String> {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    match attribute {
        Attribute::RemoteAddr => Some(apache::addresses(request).0),
        Attribute::RemoteHost => apache::remote_host(request).or_else(|| Some(apache::addresses(request).0)),
        Attribute::ServerAddr => Some(apache::addresses(request).1),
        Attribute::RequestMethod => Some(apache::method(request)),
        Attribute::RequestProtocol => Some(apache::protocol(request)),
        Attribute::RequestUri => Some(text(apache::said(request).uri)),
        Attribute::Named(name, _) => apache::header_in(request, name.as_bytes()).map(text),
    }
}

//! The variables of a request: what `SetEnvIf` finds in it, and what `SetEnv` says anyway.

use std::borrow::Cow;
use std::rc::Rc;

use http::request::Parts;

use super::Record;
use crate::config::rules::expr::Seen;
use crate::config::rules::setenv::{Attribute, Condition, Variables};
use crate::config::{Settings, meter};
use crate::front::base::protocol::protocol;
use crate::front::base::refusal::Refusal;
use crate::front::routing::Route;

/// What the variables were worked out from, for one head.
#[derive(Clone)]
pub struct Basis {
    settings: Rc<Settings>,
    path: Vec<u8>,
    name: Option<Rc<str>>,
}

impl Basis {
    fn of(visit: &Record, route: &Route) -> Basis {
        let name = visit.visitor.borrow().name.clone();
        Basis { settings: route.settings.clone(), path: route.path.clone(), name }
    }

    fn is(&self, other: &Basis) -> bool {
        Rc::ptr_eq(&self.settings, &other.settings) && self.path == other.path && self.name == other.name
    }
}

/// Works out the variables of a request that leads to `route`, unless nothing has changed since. An error when that takes
/// too long.
pub fn settle(visit: &Record, head: &Parts, route: &Route) -> Result<(), Refusal> {
    if !route.settings.rules.set_env_if.is_empty() {
        let basis = Basis::of(visit, route);
        if visit.basis.borrow().as_ref().is_some_and(|before| before.is(&basis)) {
            return route.in_time();
        }
        visit.basis.replace(Some(basis));
    } else {
        visit.basis.take();
    }
    meter::stretch(|| work_out(visit, head, route));
    route.in_time()
}

/// The request goes on with another head.
pub fn forget(visit: &Record) {
    visit.basis.take();
}

fn work_out(visit: &Record, head: &Parts, route: &Route) {
    let rules = &route.settings.rules;
    let mut variables = visit.before.borrow().clone();
    if rules.has_variables() {
        variables.apply(&rules.set_env_if, |attribute| look(visit, head, route, attribute));
        for (name, value) in &rules.env {
            if let Some(value) = value {
                variables.set(name, Some(value.clone()));
            }
        }
    }
    secure(visit, route, &mut variables);
    *visit.variables.borrow_mut() = variables;
}

/// What mod_ssl and mod_http2 say of the connection.
fn secure(visit: &Record, route: &Route, variables: &mut Variables) {
    if visit.stream.is_some() {
        variables.set("HTTP2", Some("on".to_owned()));
    }
    if visit.is_secure() {
        variables.set("HTTPS", Some("on".to_owned()));
    }
    let Some(session) = visit.client.session() else { return };
    if let Some(name) = &session.name {
        variables.set("SSL_TLS_SNI", Some(name.clone()));
    }
    if route.settings.rules.ssl.std_env_vars == Some(true) {
        session.variables().for_each(|(name, value)| variables.set(name, Some(value)));
    }
}

fn look<'a>(visit: &'a Record, head: &'a Parts, route: &'a Route, attribute: &Attribute) -> Option<Cow<'a, str>> {
    match attribute {
        Attribute::RemoteAddr => Some(visit.remote().ip.as_str().into()),
        // The name is known only where HostnameLookups asks for it; the address is the next best thing.
        Attribute::RemoteHost => match &visit.visitor.borrow().name {
            Some(name) => Some(name.to_string().into()),
            None => Some(visit.remote().ip.as_str().into()),
        },
        Attribute::ServerAddr => Some(visit.client.local.ip.as_str().into()),
        Attribute::RequestMethod => Some(head.method.as_str().into()),
        Attribute::QueryString => head.uri.query().map(Cow::Borrowed),
        Attribute::RequestProtocol => Some(protocol(head.version).into()),
        Attribute::RequestUri => Some(String::from_utf8_lossy(&route.path)),
        Attribute::Headers(pattern) => {
            let meant = head.headers.iter().filter(|(name, _)| pattern.is_match(name.as_str()));
            meant.last().map(|(_, value)| String::from_utf8_lossy(value.as_bytes()))
        }
        Attribute::Named(name, _) => {
            head.headers.get(name.as_str()).map(|value| String::from_utf8_lossy(value.as_bytes()))
        }
    }
}

/// Whether a condition holds for a request whose variables are known.
pub fn holds(visit: &Record, condition: &Condition) -> bool {
    let route = visit.route.borrow();
    let known = |attribute: &Attribute| {
        let route = route.as_deref()?;
        look(visit, &visit.head, route, attribute).map(Cow::into_owned)
    };
    condition.holds(Seen { variables: &visit.variables.borrow(), look: &known })
}

/// As they travel to a worker: `NAME=value`, each followed by a zero byte.
pub fn encode(variables: &Variables) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in variables.iter() {
        // A header's value has no zero bytes, a configuration's may.
        bytes.extend(format!("{name}={value}").bytes().filter(|byte| *byte != 0));
        bytes.push(0);
    }
    bytes
}

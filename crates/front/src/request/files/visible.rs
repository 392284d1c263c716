//! Which entries a folder's list shows a client: those that it could open, by the access rules of each entry's own sections.
//! A list that showed more would tell names of protected files to strangers. Only what is known without a worker, a password
//! file or a look-up in the DNS is considered.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use http::Method;

use crate::request::context::{RequestContext, variables};
use crate::routing::{FoundFile, NotYet, Route};
use access::{Facts, Name, RequirementAnswer, Verdict, judge};
use config::access::Methods;
use config::{Phase, Section};

/// The phases in which Perl handlers decide about access.
const PHASES: [Phase; 3] = [Phase::Access, Phase::Authen, Phase::Authz];

/// One client's view of one folder.
pub struct View<'a> {
    context: &'a RequestContext,
    route: &'a Route,
    /// Whether a section or `.htaccess` file could give an entry access rules that the folder has not. If none can, all is shown.
    may_differ: bool,
}

impl<'a> View<'a> {
    /// The client's view of the folder that `route` leads to.
    pub fn of(context: &'a RequestContext, route: &'a Route) -> View<'a> {
        let config = &context.generation.config;
        let may_differ = config.allows_overrides() || config.sections.iter().any(closes);
        View { context, route, may_differ }
    }

    /// Whether the list shows the entry of this name. An entry that needs a password or the client's host name is hidden, as in
    /// httpd; so is one with access handlers in Perl, which only a worker could ask.
    pub fn shows(&self, name: &[u8], is_folder: bool) -> Result<bool, NotYet> {
        if !self.may_differ {
            return Ok(true);
        }
        let (context, slash) = (self.context, if is_folder { &b"/"[..] } else { b"" });
        let path = [&self.route.path[..], name, slash].concat();
        let mut file = self.route.filename.join(OsStr::from_bytes(name)).into_os_string();
        file.push(OsStr::from_bytes(slash));
        let (routes, config) = (&context.generation.routes, &context.generation.config);
        let entry = FoundFile { path: &path, filename: Path::new(&file), script_length: path.len() };
        let found = routes.refine(config, self.route, entry)?;
        let has_more_perl = PHASES.iter().any(|phase| {
            let handlers = found.settings.phases.of(*phase);
            !handlers.is_empty() && handlers != self.route.settings.phases.of(*phase)
        });
        let (inner, outer) = (&found.settings.access, &self.route.settings.access);
        let has_more_perl = has_more_perl
            || inner.asks_providers() && (&inner.requires, &inner.passwords) != (&outer.requires, &outer.passwords);
        let needs_tls = found.settings.response.ssl.required == Some(true) && !context.is_secure();
        Ok(found.refusal.is_none() && !has_more_perl && !needs_tls && self.may_enter(&found))
    }

    fn may_enter(&self, route: &Route) -> bool {
        let rules = &route.settings.access;
        if !rules.allows(Method::GET.as_str()) {
            return false;
        }
        let visitor = self.context.visitor.borrow();
        let facts = Facts {
            methods: Methods::of(Method::GET.as_str()),
            client: self.context.remote().ip_addr(),
            local: self.context.client.local.ip_addr(),
            // A host name that is known may not have been confirmed by a look-up in the other direction, so none is used.
            name: Name::NotAsked,
            user: visitor.user.as_ref(),
            env: &|name| self.context.variables.borrow().get(name).is_some(),
            expr: &|expr| variables::is_true(self.context, &self.context.head, route, expr),
            // They have let the client into the folder, or the entry is hidden already.
            provider: &|_| RequirementAnswer::Granted,
        };
        rules.is_open() || judge(rules, &facts) == Verdict::Allowed
    }
}

/// Whether a section holds any access rule.
fn closes(section: &Section) -> bool {
    let said = &section.said;
    let asks_perl = PHASES.iter().any(|phase| !said.phases.of(*phase).is_empty());
    said.access.hosts.is_some()
        || said.access.requires.is_some()
        || said.access.allowed_methods.is_some()
        || said.response.ssl.required == Some(true)
        || asks_perl
}

//! What of a folder's contents its list shows a client: what the rules of each entry's own place would let it see, as far as
//! that is known without asking anybody.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use http::Method;

use crate::access::{Facts, Name, Verdict, judge};
use crate::config::access::Methods;
use crate::config::{Phase, Section};
use crate::front::request::context::RequestContext;
use crate::front::routing::{NotYet, Route};

/// Phases in which Perl code has a say about who comes in.
const PHASES: [Phase; 3] = [Phase::Access, Phase::Authen, Phase::Authz];

/// One client, looking at one folder.
pub struct View<'a> {
    context: &'a RequestContext,
    route: &'a Route,
    /// Some place below may have rules that the folder has not.
    may_differ: bool,
}

impl<'a> View<'a> {
    /// Of the folder that `route` leads to.
    pub fn of(context: &'a RequestContext, route: &'a Route) -> View<'a> {
        let config = &context.generation.config;
        let may_differ = config.allows_overrides() || config.sections.iter().any(closes);
        View { context, route, may_differ }
    }

    /// Whether the entry of this name would be shown to who asks for it. What only a password or a look-up of the client's name
    /// could open stays hidden, as in httpd; so does what Perl code might have to say something about.
    pub fn shows(&self, name: &[u8], is_folder: bool) -> Result<bool, NotYet> {
        if !self.may_differ {
            return Ok(true);
        }
        let (context, slash) = (self.context, if is_folder { &b"/"[..] } else { b"" });
        let path = [&self.route.path[..], name, slash].concat();
        let mut file = self.route.filename.join(OsStr::from_bytes(name)).into_os_string();
        file.push(OsStr::from_bytes(slash));
        let (routes, config) = (&context.generation.routes, &context.generation.config);
        let found = routes.refine(config, self.route, &path, Path::new(&file), path.len())?;
        let has_more_perl = PHASES.iter().any(|phase| {
            let handlers = found.settings.phases.of(*phase);
            !handlers.is_empty() && handlers != self.route.settings.phases.of(*phase)
        });
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
            // The name that is known may be one that the address's owner only claims.
            name: Name::NotAsked,
            user: visitor.user.as_ref(),
            env: &|name| self.context.variables.borrow().get(name).is_some(),
        };
        rules.is_open() || judge(rules, &facts) == Verdict::Allowed
    }
}

/// Whether a section says anything about who may come in.
fn closes(section: &Section) -> bool {
    let said = &section.said;
    let asks_perl = PHASES.iter().any(|phase| !said.phases.of(*phase).is_empty());
    said.access.hosts.is_some()
        || said.access.requires.is_some()
        || said.access.allowed_methods.is_some()
        || said.response.ssl.required == Some(true)
        || asks_perl
}

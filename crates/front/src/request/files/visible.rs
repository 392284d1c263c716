//! Selects the entries that a folder's index shows to a client: those allowed by the access rules of each entry's own
//! sections.
//! Other names would reveal protected files. Only information that needs no worker, password file or DNS lookup is
//! considered.

use std::cell::Cell;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use http::Method;

use crate::request::access::certificate;
use crate::request::context::expressions::ExprOf;
use crate::request::context::{RequestContext, variables};
use crate::routing::{FoundFile, NotYet, Route};
use access::{AccessVerdict, ClientName, RequestFacts, RequirementAnswer, judge};
use config::access::Methods;
use config::{Phase, Section};

/// The phases in which Perl handlers decide about access.
const PHASES: [Phase; 3] = [Phase::Access, Phase::Authen, Phase::Authz];

/// A client's view of a folder.
pub struct FolderView<'a> {
    context: &'a RequestContext,
    route: &'a Route,
    /// Whether any section or `.htaccess` file may give an entry other access rules than the folder's. If none can,
    /// every entry is shown.
    may_differ: bool,
}

impl<'a> FolderView<'a> {
    /// The client's view of the folder that `route` leads to.
    pub fn of(context: &'a RequestContext, route: &'a Route) -> FolderView<'a> {
        let config = &context.generation.config;
        let may_differ = config.allows_overrides() || config.sections.iter().any(closes);
        FolderView { context, route, may_differ }
    }

    /// Whether the index shows the entry `name`. Entries that need a password or a client name are hidden, as in
    /// httpd. Entries with Perl access handlers are hidden, too, because only a worker can run these.
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
        // An `<If>` of the entry's own sections is not evaluated, and may close it.
        let is_own = |number: &&u16| !self.route.plain_sections().contains(number);
        let own: Vec<u16> = found.plain_sections().iter().filter(is_own).copied().collect();
        Ok(!config.have_branches(&own, &found.files) && self.may_open(&found))
    }

    /// Whether a rule of mod_rewrite or an `<If>` may close an entry, which is only known when it is requested.
    pub fn has_rules_of_requests(&self) -> bool {
        let config = &self.context.generation.config;
        let host = config.hosts.get(usize::from(self.route.host));
        self.route.settings.response.rewrite.is_on()
            || host.is_none_or(|host| host.rewrite.is_on())
            || config.have_branches(self.route.plain_sections(), &self.route.files)
    }

    /// Whether the client may open a file, without any question to a worker, a file of passwords or DNS.
    pub fn may_open(&self, found: &Route) -> bool {
        let has_more_perl = PHASES.iter().any(|phase| {
            let handlers = found.settings.phases.of(*phase);
            !handlers.is_empty() && handlers != self.route.settings.phases.of(*phase)
        });
        let (inner, outer) = (&found.settings.access, &self.route.settings.access);
        let has_more_perl = has_more_perl
            || inner.needs_providers() && (&inner.requires, &inner.passwords) != (&outer.requires, &outer.passwords);
        let guards = &found.settings.fcgid.guards;
        let has_more_guards = guards.are_on() && *guards != self.route.settings.fcgid.guards;
        let is_certified = certificate::may_open(self.context, found, self.route);
        found.refusal.is_none() && !has_more_guards && !has_more_perl && is_certified && self.may_enter(found)
    }

    fn may_enter(&self, route: &Route) -> bool {
        let rules = &route.settings.access;
        if !rules.allows(Method::GET.as_str()) {
            return false;
        }
        let visitor = self.context.visitor();
        let is_unknown = Cell::new(false);
        let facts = RequestFacts {
            methods: Methods::of(Method::GET.as_str()),
            client: self.context.remote().ip_addr(),
            local: self.context.client.local.ip_addr(),
            // A known host name may not be confirmed by a forward lookup, so none is used.
            name: ClientName::NotAsked,
            user: visitor.user(),
            env: &|name| self.context.has_variable(name),
            expr: &|expr| variables::is_true(self.context, &self.context.head, route, expr),
            // The groups that were looked up are those of the folder's rules.
            groups: &|wanted| {
                let text = wanted.groups.as_ref().filter(|_| *rules == self.route.settings.access)?;
                let of = ExprOf::request(self.context, &self.context.head, route);
                let names = self.context.text_of(&of, text);
                Some(names.split_whitespace().map(str::to_owned).collect())
            },
            text: &|text| {
                let of = ExprOf::request(self.context, &self.context.head, route);
                let found = self.context.apply_rules(|| self.context.evaluated_text(&of, text));
                is_unknown.set(found.is_err() || is_unknown.get());
                found.unwrap_or_default()
            },
            // An entry that a directory or name server decides about is hidden.
            learned: &|_| None,
            // The providers already granted access to the folder, and entries with other providers are hidden.
            provider: &|_| RequirementAnswer::Granted,
        };
        rules.is_open() || judge(rules, &facts) == AccessVerdict::Allowed && !is_unknown.get()
    }
}

/// Whether a section contains any access rule.
fn closes(section: &Section) -> bool {
    let own = &section.own;
    let asks_perl = PHASES.iter().any(|phase| !own.phases.of(*phase).is_empty());
    own.access.hosts.is_some()
        || own.access.requires.is_some()
        || own.access.allowed_methods.is_some()
        || own.response.ssl.restricts()
        || own.fcgid.guards.are_on()
        || asks_perl
}

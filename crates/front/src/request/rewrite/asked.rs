//! Provides the request's values for conditions and variables of rewrite rules.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use http::request::Parts;

use super::places::{document_root, is_folder};
use crate::base::protocol::protocol;
use crate::base::target;
use crate::request::context::{RequestContext, variables};
use crate::routing::{Route, bytes, server_name};
use base::path::Text;
use config::LogLevel;
use config::response::expr::Expr;
use config::response::rewrite::{FileTest, Known, Question, RuleAnswer, Seen};
use files::open::{Links, PathWithLinks};

/// A request while rewrite rules process it.
pub struct AskedOf<'a> {
    /// Context of the request.
    pub context: &'a RequestContext,
    /// The request's current head.
    pub head: &'a Parts,
    /// The request's current route.
    pub route: &'a Route,
    /// Answers to the rules' questions so far.
    pub answers: &'a [(Question, RuleAnswer)],
    /// Highest level of lines for the log.
    pub trace_level: u8,
}

/// Highest level of lines that `LogLevel rewrite:trace1` to `trace8` asks for; 0: none.
pub fn trace_level(context: &RequestContext, route: &Route) -> u8 {
    let config = &context.generation.config;
    LogLevel::trace_number(config.level_of(config.hosts.get(usize::from(route.host)), "rewrite"))
}

impl Seen for AskedOf<'_> {
    fn known(&self, known: Known) -> String {
        let AskedOf { context, head, route, .. } = *self;
        let config = &context.generation.config;
        let host = config.hosts.get(usize::from(route.host));
        match known {
            Known::DocumentRoot => Text::new(bytes(document_root(context, route))).0,
            Known::Https => (if context.is_secure() { "on" } else { "off" }).to_owned(),
            Known::IsSubreq => context.is_subrequest().to_string(),
            Known::RemoteAddr => context.remote().ip.clone(),
            Known::RemoteHost => match context.visitor().name() {
                Some(name) => name.to_string(),
                None => context.remote().ip.clone(),
            },
            Known::RemotePort => context.remote().port.to_string(),
            Known::RemoteUser => context.visitor().user().map(|user| user.name.clone()).unwrap_or_default(),
            Known::RequestMethod => head.method.as_str().to_owned(),
            Known::RequestScheme => scheme(context).to_owned(),
            Known::RequestUri => Text::new(&route.path).0,
            Known::ServerAddr => context.client.local.ip.clone(),
            Known::ServerAdmin => host.and_then(|host| host.server_admin.clone()).unwrap_or_default(),
            Known::ServerName => route.server_name.to_string(),
            Known::ServerPort => port(context, head, route).to_string(),
            Known::ServerSoftware => context.generation.software.to_string(),
            Known::AuthType => context.visitor().user().map(|_| "Basic".to_owned()).unwrap_or_default(),
            Known::Time(format) => chrono::Local::now().format(format).to_string(),
            Known::ServerProtocol => protocol(head.version).to_owned(),
            Known::TheRequest => {
                let written = context.head.uri.path_and_query().map_or("/", |target| target.as_str());
                let target = target::as_sent(&context.head).map_or(written.into(), |sent| Text::new(sent).0);
                format!("{} {target} {}", context.head.method, protocol(context.head.version))
            }
            Known::QueryString | Known::RequestFilename | Known::PathInfo => String::new(),
        }
    }

    fn header(&self, name: &str) -> String {
        let value = self.context.header_of(self.head, name).map(|value| String::from_utf8_lossy(value.as_bytes()));
        value.unwrap_or_default().into_owned()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.context.variables().get(name).map(str::to_owned)
    }

    fn tls(&self, name: &str) -> String {
        self.context.tls_variable(name).unwrap_or_default()
    }

    fn found(&self, expr: &Expr) -> Option<Vec<String>> {
        variables::found(self.context, self.head, self.route, expr)
    }

    fn answer(&self, question: &Question) -> Option<RuleAnswer> {
        self.answers.iter().find(|(known, _)| known == question).map(|(_, answer)| answer.clone())
    }

    fn trace_level(&self) -> u8 {
        self.trace_level
    }

    fn file(&self, name: &str, test: FileTest) -> bool {
        let (opener, path) = (&self.context.generation.opener, Text::bytes_of(PathBuf::from(name)));
        // Tests that need an open file open it like a file to send.
        let opened = || opener.open(PathWithLinks { root: &path, path: &path, links: Links::Follow }).ok();
        match test {
            FileTest::Folder => is_folder(&self.context.generation, &path),
            FileTest::File => opener.is_there(&path) && !is_folder(&self.context.generation, &path),
            FileTest::Size => opened().is_some_and(|it| it.kind.is_file() && it.size > 0),
            FileTest::Executable => {
                opened().and_then(|it| it.file.metadata().ok()).is_some_and(|it| it.permissions().mode() & 0o111 != 0)
            }
            FileTest::Link => {
                let root = path.parent().unwrap_or(Path::new("/"));
                opener.is_refused(PathWithLinks { root, path: &path, links: Links::Refuse })
            }
        }
    }

    fn origin(&self) -> String {
        let (scheme, secure) = (scheme(self.context), Some(self.context.is_secure()));
        // The client's port, not the port where a proxy reaches this server.
        let port = server_name::port_of(&self.context.generation.config, self.head, self.route, secure);
        let usual = if scheme == "https" { 443 } else { 80 };
        let name = &self.route.server_name;
        if port == usual { format!("{scheme}://{name}") } else { format!("{scheme}://{name}:{port}") }
    }
}

fn scheme(context: &RequestContext) -> &'static str {
    if context.is_secure() { "https" } else { "http" }
}

fn port(context: &RequestContext, head: &Parts, route: &Route) -> u16 {
    server_name::port_of(&context.generation.config, head, route, context.is_secure_by_proxy())
}

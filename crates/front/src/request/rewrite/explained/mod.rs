//! `cameleer explain`: the effect of rewrite rules on a request that is not sent.
//!
//! The request has no headers besides Host, no user, and the address 127.0.0.1. Look-aheads and programs of maps are
//! not run.

mod source;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use percent_encoding::percent_encode;

use super::places::{path_of, tidy};
use crate::base::address::Address;
use crate::request::MAX_REDIRECTS;
use crate::request::context::known;
use crate::routing::{Route, bytes, route_of, with_branches};
use base::path::{PATH, Text};
use config::Config;
use config::response::expr::Expr;
use config::response::rewrite::{
    FileTest, LookedUp, Question, Rewrite, Rewritten, RuleAnswer, RuleInput, RuleResponse, RuleSource, RuleVariable,
    run,
};
use source::ExplainedSource;

/// Level of the lines that are shown.
const TRACE_LEVEL: u8 = 5;

/// The request of `cameleer explain`: there is no client, and no header but `Host`.
#[derive(Debug, Clone, Copy)]
pub struct ExplainedRequest<'a> {
    /// Decides which virtual hosts are searched.
    pub local: &'a Address,
    /// Whether the request is one over TLS.
    pub is_secure: bool,
    /// `GET`
    pub method: &'a str,
    /// Host of the request, with the port if given.
    pub host: &'a str,
    /// Encoded, as in a request line.
    pub path: &'a str,
    /// Without the question mark.
    pub query: Option<&'a str>,
}

/// A request that is not sent, with the configuration of the path that the rules have reached.
struct ExplainedPlace<'a> {
    request: ExplainedRequest<'a>,
    config: &'a Config,
    route: &'a Route,
    query: Option<&'a str>,
}

enum RulesResult {
    /// The path is answered, or the client is redirected.
    Over,
    /// The rules of this path and query.
    Path(String, Option<String>),
}

/// Steps of the rules, line by line. Empty if there are no rules.
pub fn explain(config: &Arc<Config>, request: ExplainedRequest<'_>) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    let (mut path, mut query) = (request.path.to_owned(), request.query.map(str::to_owned));
    for _ in 0..MAX_REDIRECTS {
        match at_path(config, request, &path, query.as_deref(), &mut lines)? {
            RulesResult::Over => return Ok(lines),
            RulesResult::Path(onward, its_query) => (path, query) = (encoded(&onward), its_query),
        }
    }
    lines.push(format!("500: the request was sent on {MAX_REDIRECTS} times"));
    Ok(lines)
}

/// The route with the `<If>` sections whose conditions are true. What other requests would answer counts as false.
pub fn with_conditions(
    config: &Arc<Config>,
    request: ExplainedRequest<'_>,
    route: Rc<Route>,
) -> anyhow::Result<Rc<Route>> {
    let here = at(config, request, &route, request.query);
    let is_true = |expr: &Expr| expr.holds(&ExplainedSource(&here));
    match config.branches(route.plain_sections(), &route.files, &is_true) {
        none if none.is_empty() => Ok(route),
        branches => with_branches(config, &route, branches),
    }
}

fn at_path(
    config: &Arc<Config>,
    request: ExplainedRequest<'_>,
    path: &str,
    query: Option<&str>,
    lines: &mut Vec<String>,
) -> anyhow::Result<RulesResult> {
    let Ok(mut route) = route_of(config, request.local, request.host, path)? else { return Ok(RulesResult::Over) };
    let mut query = query.map(str::to_owned);
    let of_host = config.hosts.get(usize::from(route.host)).map(|host| &host.rewrite).filter(|rules| rules.is_on());
    if let Some(rules) = of_host {
        let start = RuleInput { path: Text::new(&route.path).0, query: query.clone(), ..RuleInput::default() };
        let made = at(config, request, &route, query.as_deref()).run(rules, start, lines);
        if made.away.is_some() || made.question.is_some() {
            return Ok(RulesResult::Over);
        }
        query = made.query.clone();
        if made.changed {
            let to = tidy(&made.path);
            let root = config.document_root_of(route.host, &route.filename);
            let first = to.split('/').nth(1).unwrap_or_default();
            if !made.pass_through && made.names_folder && Path::new("/").join(first).exists() && !first.is_empty() {
                lines.push(format!("the file is {to}"));
                return Ok(RulesResult::Over);
            }
            let file = root.join(to.trim_start_matches('/'));
            lines.push(match made.pass_through {
                true => format!("the path is {to}"),
                false => format!("the file is {}", file.display()),
            });
            let Ok(onward) = route_of(config, request.local, request.host, &encoded(&to))? else {
                return Ok(RulesResult::Over);
            };
            route = onward;
        }
        if made.end {
            return Ok(RulesResult::Over);
        }
    }
    let rules = &route.settings.response.rewrite;
    if !rules.is_on() {
        return Ok(RulesResult::Over);
    }
    let whole = Text::new(bytes(&route.filename)).0;
    let (file, path_info) = parted(&whole);
    let start = RuleInput { path: file.clone(), path_info, query: query.clone(), ..RuleInput::default() };
    let here = at(config, request, &route, query.as_deref());
    let made = here.run(rules, start, lines);
    if !made.changed || made.away.is_some() || made.question.is_some() || made.path == file {
        return Ok(RulesResult::Over);
    }
    let path = path_of(Path::new(&here.known(RuleVariable::DocumentRoot)), &route, rules, &made.path, &whole);
    lines.push(format!("internal redirect with {path} [INTERNAL REDIRECT]"));
    Ok(if made.end { RulesResult::Over } else { RulesResult::Path(path, made.query) })
}

fn at<'a>(
    config: &'a Config,
    request: ExplainedRequest<'a>,
    route: &'a Route,
    query: Option<&'a str>,
) -> ExplainedPlace<'a> {
    ExplainedPlace { request, config, route, query }
}

fn encoded(path: &str) -> String {
    percent_encode(&Text::bytes_in(path), PATH).to_string()
}

/// Splits a file name behind its existing part, or else behind the first name that does not exist.
fn parted(whole: &str) -> (String, String) {
    let mut end = 0;
    for (at, _) in whole.match_indices('/').chain([(whole.len(), "")]) {
        let above = whole.get(..at).unwrap_or_default();
        end = at;
        if !above.is_empty() && !Path::new(above).is_dir() {
            break;
        }
    }
    let end = if whole.ends_with('/') && Path::new(whole).is_dir() { whole.len() } else { end };
    let (file, path_info) = whole.split_at(end);
    (file.to_owned(), path_info.to_owned())
}

impl ExplainedPlace<'_> {
    fn run(&self, rules: &Rewrite, start: RuleInput, lines: &mut Vec<String>) -> Rewritten {
        let made = run(rules, start, self);
        lines.extend(made.trace.iter().map(|line| line.text.clone()));
        match &made.away {
            Some(RuleResponse::Status(status)) => lines.push(format!("answered with {status}")),
            Some(RuleResponse::Backend(url)) => lines.push(format!("answered by the backend {url}")),
            Some(RuleResponse::To(..)) | None => {}
        }
        let forced = [("handler", &made.forced.handler), ("type", &made.forced.content_type)];
        lines.extend(forced.into_iter().filter_map(|(what, name)| Some(format!("the {what} is {}", name.as_ref()?))));
        made
    }
}

impl RuleSource for ExplainedPlace<'_> {
    fn known(&self, known: RuleVariable) -> String {
        let host = self.config.hosts.get(usize::from(self.route.host));
        let request = &self.request;
        match known {
            RuleVariable::DocumentRoot => {
                Text::new(bytes(self.config.document_root_of(self.route.host, &self.route.filename))).0
            }
            RuleVariable::Https => (if request.is_secure { "on" } else { "off" }).to_owned(),
            RuleVariable::RequestScheme => (if request.is_secure { "https" } else { "http" }).to_owned(),
            RuleVariable::ApiVersion => known::API_VERSION_OF_RULES.to_owned(),
            RuleVariable::ContextDocumentRoot => known::context_document_root(self.config, self.route),
            RuleVariable::ContextPrefix => known::context_prefix(self.config, self.route),
            RuleVariable::Ipv6 => "off".to_owned(),
            RuleVariable::ConnRemoteAddr | RuleVariable::RemoteAddr | RuleVariable::RemoteHost => {
                "127.0.0.1".to_owned()
            }
            RuleVariable::RequestMethod => request.method.to_owned(),
            RuleVariable::RequestUri => Text::new(&self.route.path).0,
            RuleVariable::ServerAddr => request.local.ip.clone(),
            RuleVariable::ServerAdmin => host.and_then(|host| host.server_admin.clone()).unwrap_or_default(),
            RuleVariable::ServerName => self.route.server_name.to_string(),
            RuleVariable::ServerPort => self.route.server_port.to_string(),
            RuleVariable::ServerProtocol => "HTTP/1.1".to_owned(),
            RuleVariable::TheRequest => {
                let query = request.query.map(|query| format!("?{query}")).unwrap_or_default();
                format!("{} {}{query} HTTP/1.1", request.method, request.path)
            }
            RuleVariable::Time(format) => chrono::Local::now().format(format).to_string(),
            RuleVariable::AuthType
            | RuleVariable::IsSubreq
            | RuleVariable::PathInfo
            | RuleVariable::QueryString
            | RuleVariable::RemotePort
            | RuleVariable::RemoteUser
            | RuleVariable::RequestFilename
            | RuleVariable::ServerSoftware => String::new(),
        }
    }

    fn header(&self, name: &str) -> String {
        if name == "host" { self.request.host.to_owned() } else { String::new() }
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn tls(&self, name: &str) -> String {
        if name == "HTTPS" { self.known(RuleVariable::Https) } else { String::new() }
    }

    fn found(&self, expr: &Expr) -> Option<Vec<String>> {
        expr.found(&ExplainedSource(self))
    }

    fn file(&self, name: &str, test: FileTest) -> bool {
        let path = Text::bytes_of(PathBuf::from(name));
        let about = if test == FileTest::Link { path.symlink_metadata() } else { path.metadata() };
        about.is_ok_and(|about| match test {
            FileTest::Folder => about.is_dir(),
            FileTest::File => about.is_file(),
            FileTest::Size => about.is_file() && about.len() > 0,
            FileTest::Link => about.is_symlink(),
            FileTest::Executable => about.permissions().mode() & 0o111 != 0,
        })
    }

    fn origin(&self) -> String {
        let scheme = self.known(RuleVariable::RequestScheme);
        let usual = if self.request.is_secure { 443 } else { 80 };
        let name = &self.route.server_name;
        match self.route.server_port {
            port if port == usual => format!("{scheme}://{name}"),
            port => format!("{scheme}://{name}:{port}"),
        }
    }

    fn answer(&self, question: &Question) -> Option<RuleAnswer> {
        Some(match question {
            Question::Value(..) => RuleAnswer::Value(None),
            Question::LookAhead(_) => RuleAnswer::LookedUp(Box::new(LookedUp { status: 500, ..LookedUp::default() })),
        })
    }

    fn trace_level(&self) -> u8 {
        TRACE_LEVEL
    }
}

//! A request as the source of an expression's values.

use std::net::IpAddr;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use crate::base::target;
use crate::request::context::RequestContext;
use crate::request::context::known::{API_VERSION, known};
use crate::routing::{Route, bytes, server_name};
use base::path::Text;
use config::Handler;
use config::response::expr::{DiskFact, ExprAnswer, ExprFailure, ExprQuestion, ExprSource, ExprVariable as Var};
use config::response::rewrite::RuleVariable;
use config::response::variables::Variables;

/// A request at a route, and its response if there is one.
#[derive(Clone, Copy)]
pub struct ExprOf<'a> {
    /// The request for which the expression is evaluated.
    pub context: &'a RequestContext,
    /// The request's current head.
    pub head: &'a Parts,
    /// The request's current route.
    pub route: &'a Route,
    /// Variables for the expression; `None`: those of the context.
    pub variables: Option<&'a Variables>,
    /// The user while access is checked; `None`: the user of the context.
    pub user: Option<&'a str>,
    /// Set in expressions about a response, such as those of `Header`.
    pub response: Option<SeenResponse<'a>>,
}

/// A response before it is sent.
#[derive(Clone, Copy)]
pub struct SeenResponse<'a> {
    pub status: StatusCode,
    pub headers: &'a HeaderMap,
    /// Length of its body, if it is known.
    pub length: Option<u64>,
}

impl<'a> ExprOf<'a> {
    /// The request before it has a response.
    pub fn request(context: &'a RequestContext, head: &'a Parts, route: &'a Route) -> ExprOf<'a> {
        ExprOf { context, head, route, variables: None, user: None, response: None }
    }

    fn known(&self, variable: RuleVariable) -> String {
        known(self.context, self.head, self.route, variable)
    }

    fn time(&self, format: &'static str) -> String {
        self.known(RuleVariable::Time(format))
    }

    /// A fact about the route's file.
    fn of_file(&self, fact: DiskFact) -> Result<String, ExprFailure> {
        let question = ExprQuestion::Disk(fact, Text::new(bytes(&self.route.filename)).0);
        match self.answer(&question) {
            Some(ExprAnswer::Text(text)) => Ok(text),
            Some(_) => Ok(String::new()),
            None => Err(ExprFailure::Unknown(question)),
        }
    }

    fn filename(&self) -> Result<String, ExprFailure> {
        match self.route.resolved {
            true => Ok(Text::new(bytes(&self.route.filename)).0),
            false => self.of_file(DiskFact::NameOfFile),
        }
    }

    fn path_info(&self) -> Result<String, ExprFailure> {
        let Some(length) = self.route.script_length.filter(|_| self.route.resolved) else {
            return self.of_file(DiskFact::PathInfo);
        };
        Ok(Text::new(self.route.path.get(length as usize..).unwrap_or_default()).0)
    }

    fn handler(&self) -> String {
        let settings = &self.route.settings;
        match (&settings.handler, settings.named_by) {
            (Handler::Default, config::NamedBy::SetHandler) => "default-handler".to_owned(),
            (handler, _) => handler.name().unwrap_or_default().to_owned(),
        }
    }

    fn on(&self, is_on: bool) -> String {
        if is_on { "on" } else { "off" }.to_owned()
    }

    fn protocol(&self) -> (u32, u32) {
        match self.head.version {
            http::Version::HTTP_09 => (0, 9),
            http::Version::HTTP_10 => (1, 0),
            http::Version::HTTP_2 => (2, 0),
            _ => (1, 1),
        }
    }
}

impl ExprSource for ExprOf<'_> {
    fn variable(&self, variable: Var) -> Result<String, ExprFailure> {
        let context = self.context;
        Ok(match variable {
            Var::ApiVersion => API_VERSION.to_owned(),
            Var::AuthType => self.known(RuleVariable::AuthType),
            Var::ConnRemoteAddr => self.known(RuleVariable::ConnRemoteAddr),
            Var::ContentType => self.response_header(CONTENT_TYPE.as_str()).unwrap_or_default(),
            Var::ContextDocumentRoot => self.known(RuleVariable::ContextDocumentRoot),
            Var::ContextPrefix => self.known(RuleVariable::ContextPrefix),
            Var::DocumentRoot => self.known(RuleVariable::DocumentRoot),
            Var::DocumentUri | Var::RequestUri => self.known(RuleVariable::RequestUri),
            Var::Handler => self.handler(),
            Var::Http2 => self.on(context.stream.is_some()),
            Var::Https => self.known(RuleVariable::Https),
            Var::Ipv6 => self.on(context.client.remote.ip_addr().to_canonical().is_ipv6()),
            Var::IsSubreq => self.known(RuleVariable::IsSubreq),
            Var::LastModified => self.of_file(DiskFact::LastModified)?,
            Var::PathInfo => self.path_info()?,
            Var::QueryString => target::query(self.head).map(|query| Text::new(query).0).unwrap_or_default(),
            Var::RemoteAddr => self.known(RuleVariable::RemoteAddr),
            Var::RemoteHost => self.known(RuleVariable::RemoteHost),
            Var::RemotePort => self.known(RuleVariable::RemotePort),
            Var::RemoteUser => self.user.map_or_else(|| self.known(RuleVariable::RemoteUser), str::to_owned),
            Var::RequestFilename | Var::ScriptFilename => self.filename()?,
            Var::RequestMethod => self.known(RuleVariable::RequestMethod),
            Var::RequestScheme => self.known(RuleVariable::RequestScheme),
            Var::RequestStatus => self.response.map_or(StatusCode::OK, |response| response.status).as_str().to_owned(),
            Var::ScriptGroup => self.of_file(DiskFact::Group)?,
            Var::ScriptUser => self.of_file(DiskFact::Owner)?,
            Var::ServerAddr => self.known(RuleVariable::ServerAddr),
            Var::ServerAdmin => self.known(RuleVariable::ServerAdmin),
            Var::ServerName => self.known(RuleVariable::ServerName),
            Var::ServerPort => {
                let (config, secure) = (&context.generation.config, Some(context.is_secure()));
                server_name::port_of(config, self.head, self.route, secure).to_string()
            }
            Var::ServerProtocol => self.known(RuleVariable::ServerProtocol),
            Var::ServerProtocolVersion => {
                let (major, minor) = self.protocol();
                (major * 1000 + minor).to_string()
            }
            Var::ServerProtocolVersionMajor => self.protocol().0.to_string(),
            Var::ServerProtocolVersionMinor => self.protocol().1.to_string(),
            Var::ServerSoftware => self.known(RuleVariable::ServerSoftware),
            Var::TheRequest => self.known(RuleVariable::TheRequest),
            Var::Time => self.time("%Y%m%d%H%M%S"),
            Var::TimeDay => self.time("%d"),
            Var::TimeHour => self.time("%H"),
            Var::TimeMin => self.time("%M"),
            Var::TimeMon => self.time("%m"),
            Var::TimeSec => self.time("%S"),
            Var::TimeWday => self.time("%w"),
            Var::TimeYear => self.time("%Y"),
            // There are no log identifiers without ErrorLogFormat, and no identd.
            Var::ConnLogId | Var::RemoteIdent | Var::RequestLogId => String::new(),
        })
    }

    fn client(&self) -> Option<IpAddr> {
        Some(self.context.remote().ip_addr())
    }

    fn request_header(&self, name: &str) -> Option<String> {
        let changed = self.context.expressions.changed.borrow();
        let value = match changed.as_ref().filter(|_| self.response.is_some()) {
            Some(changed) => changed.get(name),
            None => self.context.header_of(self.head, name),
        };
        value.map(|value| Text::new(value.as_bytes()).0)
    }

    fn response_header(&self, name: &str) -> Option<String> {
        let response = self.response?;
        let value = response.headers.get(name).map(|value| Text::new(value.as_bytes()).0);
        // The front sends a length with each body of known length.
        value.or_else(|| response.length.filter(|_| name == CONTENT_LENGTH.as_str()).map(|length| length.to_string()))
    }

    fn request_env(&self, name: &str) -> Option<String> {
        match self.variables {
            Some(variables) => variables.get(name).map(str::to_owned),
            None => self.context.variables().get(name).map(str::to_owned),
        }
    }

    /// The front has only its own notes: those of programs stay in their workers.
    fn note(&self, name: &str) -> Option<String> {
        self.context.note(name)
    }

    fn os_env(&self, name: &str) -> Option<String> {
        let env = &self.context.generation.config.facts.env;
        env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn tls(&self, name: &str) -> Option<String> {
        self.context.tls_variable_at(name, &self.route.settings.response.ssl)
    }

    fn answer(&self, question: &ExprQuestion) -> Option<ExprAnswer> {
        self.context.answer_to(question)
    }
}

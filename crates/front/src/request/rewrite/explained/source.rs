//! A request that is not sent as the source of expressions.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use super::ExplainedPlace;
use crate::routing::bytes;
use base::path::Text;
use config::response::expr::{ExprAnswer, ExprFailure, ExprQuestion, ExprSource, ExprVariable as Var};
use config::response::rewrite::{RuleSource, RuleVariable};
use files::facts::about;

/// Answers to expressions about a request that is not sent: the client is 127.0.0.1, and there is no response.
pub struct ExplainedSource<'a>(pub &'a ExplainedPlace<'a>);

impl ExprSource for ExplainedSource<'_> {
    fn variable(&self, variable: Var) -> Result<String, ExprFailure> {
        let ExplainedPlace { route, query, .. } = self.0;
        let known = match variable {
            Var::QueryString => return Ok(query.unwrap_or_default().to_owned()),
            Var::RequestFilename | Var::ScriptFilename => return Ok(Text::new(bytes(&route.filename)).0),
            Var::RequestStatus => return Ok("200".to_owned()),
            Var::ConnRemoteAddr | Var::RemoteAddr => RuleVariable::RemoteAddr,
            Var::ContextDocumentRoot => RuleVariable::ContextDocumentRoot,
            Var::ContextPrefix => RuleVariable::ContextPrefix,
            Var::Ipv6 => RuleVariable::Ipv6,
            Var::DocumentRoot => RuleVariable::DocumentRoot,
            Var::DocumentUri | Var::RequestUri => RuleVariable::RequestUri,
            Var::Https => RuleVariable::Https,
            Var::RemoteHost => RuleVariable::RemoteHost,
            Var::RequestMethod => RuleVariable::RequestMethod,
            Var::RequestScheme => RuleVariable::RequestScheme,
            Var::ServerAddr => RuleVariable::ServerAddr,
            Var::ServerAdmin => RuleVariable::ServerAdmin,
            Var::ServerName => RuleVariable::ServerName,
            Var::ServerPort => RuleVariable::ServerPort,
            Var::ServerProtocol => RuleVariable::ServerProtocol,
            Var::TheRequest => RuleVariable::TheRequest,
            Var::Time => RuleVariable::Time("%Y%m%d%H%M%S"),
            Var::TimeDay => RuleVariable::Time("%d"),
            Var::TimeHour => RuleVariable::Time("%H"),
            Var::TimeMin => RuleVariable::Time("%M"),
            Var::TimeMon => RuleVariable::Time("%m"),
            Var::TimeSec => RuleVariable::Time("%S"),
            Var::TimeWday => RuleVariable::Time("%w"),
            Var::TimeYear => RuleVariable::Time("%Y"),
            _ => return Ok(String::new()),
        };
        Ok(self.0.known(known))
    }

    fn client(&self) -> Option<IpAddr> {
        Some(Ipv4Addr::LOCALHOST.into())
    }

    fn request_header(&self, name: &str) -> Option<String> {
        Some(self.0.header(name))
    }

    fn response_header(&self, _: &str) -> Option<String> {
        None
    }

    fn request_env(&self, _: &str) -> Option<String> {
        None
    }

    fn note(&self, _: &str) -> Option<String> {
        None
    }

    fn os_env(&self, name: &str) -> Option<String> {
        let env = &self.0.config.facts.env;
        env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn tls(&self, name: &str) -> Option<String> {
        Some(self.0.tls(name))
    }

    fn answer(&self, question: &ExprQuestion) -> Option<ExprAnswer> {
        match question {
            ExprQuestion::Disk(fact, name) => Some(about(*fact, &Text::bytes_of(PathBuf::from(name)))),
            ExprQuestion::LookAhead(_) => None,
        }
    }
}

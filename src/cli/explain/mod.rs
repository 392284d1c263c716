//! `cameleer explain GET /path`: shows the effects of a configuration on a request, and the responsible lines.

mod lines;
mod report;

use std::sync::Arc;

use clap::Args;

use self::lines::SectionLines;
use base::printable;
use config::Listen;
use front::{Address, ExplainedRequest, port_of, route_of};
use master::configuration::expansion;
use toolkit::conf::Conf;
use toolkit::{Misuse, print};

const HINT: &str = "\
Reads the configuration like a start, including its Perl, and the .htaccess files of the path.
No request is sent and no handler runs: decisions of Perl code for a request are not known";

/// Show how a configuration handles one request, and by which lines
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Explain {
    #[command(flatten)]
    conf: Conf,
    /// List each line of the main server
    #[arg(long)]
    all: bool,
    /// Request method
    #[arg(value_name = "METHOD")]
    method: String,
    /// Path or URL of the request
    #[arg(value_name = "URL")]
    url: String,
}

#[derive(Debug)]
pub struct ExplainInput {
    pub method: String,
    /// The host, with its port if given.
    pub host: String,
    /// Path without the query.
    pub path: String,
    query: Option<String>,
    is_secure: bool,
    local: Address,
}

impl Explain {
    pub fn run(self) -> anyhow::Result<()> {
        let (config, tree) = expansion::read(&self.conf.origin()?)?.into_parts();
        let config = Arc::new(config);
        let input = self.input(config.listen.first())?;
        let text = match route_of(&config, &input.local, &input.host, &input.path)? {
            Ok(route) => {
                let route = front::with_conditions(&config, input.explained(), route)?;
                let rewriting = front::explain(&config, input.explained())?;
                report::text(&input, &config, &route, &SectionLines::of(&config, &tree, self.all), &rewriting)
            }
            Err(status) => format!("{} {}: refused with {status} before any phase\n", input.method, input.path),
        };
        print(&printable::lines(&text))
    }

    fn input(&self, listen: Option<&Listen>) -> anyhow::Result<ExplainInput> {
        let (host, target) = match self.url.split_once("://") {
            Some((_, rest)) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", self.url.as_str()),
        };
        let target = target.split('#').next().unwrap_or_default();
        let (path, query) =
            target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query.to_owned())));
        let path = if path.is_empty() && !host.is_empty() { "/" } else { path };
        if !path.starts_with('/') {
            return Err(Misuse(format!("{}: expected a path that begins with / or a URL", self.url)).into());
        }
        let local = match listen {
            Some(Listen::Tcp(address)) => {
                let port = port_of(host).unwrap_or(address.port());
                Address::tcp((address.ip(), port).into())
            }
            _ => Address::unix(),
        };
        let (method, host, path) = (self.method.to_ascii_uppercase(), host.to_owned(), path.to_owned());
        let is_secure = self.url.starts_with("https:");
        Ok(ExplainInput { method, host, path, query, is_secure, local })
    }
}

impl ExplainInput {
    fn explained(&self) -> ExplainedRequest<'_> {
        ExplainedRequest {
            local: &self.local,
            is_secure: self.is_secure,
            method: &self.method,
            host: &self.host,
            path: &self.path,
            query: self.query.as_deref(),
        }
    }
}

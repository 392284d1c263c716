//! `cameleer explain GET /path`: shows the effects of a configuration on a request, and the responsible lines.

mod lines;
mod report;
mod target;

use std::sync::Arc;

use clap::Args;

use self::lines::SectionLines;
use self::target::ExplainTarget;
use base::printable;
use config::Listen;
use front::{Address, ExplainedRequest, port_of, route_of};
use master::configuration::expansion;
use toolkit::conf::Conf;
use toolkit::print;

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
        // The command line is checked before the configuration's Perl runs.
        let (method, target) = (target::method(&self.method)?, ExplainTarget::parse(&self.url)?);
        let (config, tree) = expansion::read(&self.conf.origin()?)?.into_parts();
        let config = Arc::new(config);
        let input = ExplainInput::new(method, target, config.listen.first());
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
}

impl ExplainInput {
    /// `listen`: the first address of the configuration.
    fn new(method: String, target: ExplainTarget, listen: Option<&Listen>) -> ExplainInput {
        let ExplainTarget { host, path, query, is_secure } = target;
        let local = match listen {
            Some(Listen::Tcp(address)) => {
                let port = port_of(&host).unwrap_or(address.port());
                Address::tcp((address.ip(), port).into())
            }
            _ => Address::unix(),
        };
        ExplainInput { method, host, path, query, is_secure, local }
    }

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

//! `cameleer purge`: removes responses from the cache of a running server.

use clap::Args;

use master::sockets::control_socket::Command;
use toolkit::Misuse;
use toolkit::client::ServerChoice;
use toolkit::print;

const HINT: &str = "\
URL is  http://host/path?query   an address with any scheme and port
        /path?query              the path on all virtual hosts
        http://host/news*        all addresses with this beginning";

/// Purge responses from the cache of a running server
#[derive(Debug, Args)]
#[command(after_help = HINT)]
pub struct Purge {
    /// Purge the responses of this URL; repeatable
    #[arg(value_name = "URL", conflicts_with = "all")]
    urls: Vec<String>,
    /// Purge all responses
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    which: ServerChoice,
}

impl Purge {
    /// Purges the cache, and prints the number of dropped responses.
    pub fn run(self) -> anyhow::Result<()> {
        let urls = if self.all { vec!["*".to_owned()] } else { self.urls };
        if urls.is_empty() {
            return Err(Misuse("name the URLs to purge, or give --all".to_owned()).into());
        }
        let (mut server, mut purged) = (self.which.connect()?, 0);
        for url in urls {
            purged += server.request(Command::Purge { url })?.purged.unwrap_or_default();
        }
        print(&format!("{purged} purged\n"))
    }
}

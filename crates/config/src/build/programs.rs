//! The pool of the processes that run CGI programs.

use crate::draft::Draft;
use crate::model::budget::{ReforkWhen, WorkerLimits};
use crate::model::config::Config;
use crate::model::handler::Handler;
use crate::model::pools::PROGRAMS_NAME;
use crate::model::program::CgiMode;
use crate::model::server::{NamedPool, PoolSettings};
use crate::syntax::tree::At;

/// Idle processes: httpd's MinSpareServers and MaxSpareServers. Each has less than a megabyte of its own.
const SPARE: [u32; 2] = [5, 10];

impl Draft {
    /// Adds the pool if a place of the configuration has CGI programs. The queue is as long as that of the default pool.
    pub(super) fn add_program_pool(&mut self) {
        if self.config.facts.single || !has_programs(&self.config) {
            return;
        }
        let max_clients = self.config.max_programs;
        let [min_spare, max_spare] = SPARE.map(|spare| spare.min(max_clients));
        let pool = PoolSettings {
            start: min_spare,
            min_spare,
            max_spare,
            max_clients,
            auto: false,
            // A process of the cgi pool runs no code that could grow.
            max_requests: 0..=0,
            worker: WorkerLimits::default(),
            refork: ReforkWhen::Off,
            ..self.config.pool.clone()
        };
        let (name, at, perl) = (PROGRAMS_NAME.to_owned(), At::default(), self.config.perl);
        self.config.program_pool = Some(Box::new(NamedPool { name, at, pool, perl, is_host: false, base: None }));
    }
}

/// Whether a section or an alias makes files CGI scripts, and a section leaves them to the kernel.
fn has_programs(config: &Config) -> bool {
    let said = || config.sections.iter().map(|section| &section.said);
    let has_alias = config.hosts.iter().flat_map(|host| &host.aliases).any(|alias| alias.script);
    let by_extension = || said().flat_map(|said| said.response.types.handlers());
    let mut handlers = said().filter_map(|said| said.handler.as_ref()).chain(by_extension());
    let has_scripts = has_alias || handlers.any(|handler| *handler == Handler::CgiScript);
    let server = config.hosts.first().and_then(|host| config.sections.get(usize::from(host.base)));
    let is_left = server.is_none_or(|server| server.said.program.mode.is_none_or(|mode| mode == CgiMode::Program));
    has_scripts && (is_left || said().skip(1).any(|said| said.program.mode == Some(CgiMode::Program)))
}

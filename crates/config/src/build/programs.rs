//! The pool of the processes that run CGI programs.

use crate::draft::Draft;
use crate::model::budget::{ReforkWhen, WorkerLimits};
use crate::model::config::Config;
use crate::model::handler::Handler;
use crate::model::options::{DirectoryOptions, PartialOptions};
use crate::model::pools::PROGRAMS_NAME;
use crate::model::program::CgiMode;
use crate::model::server::{NamedPool, PoolSettings};
use crate::model::settings::PartialSettings;
use crate::syntax::tree::At;

/// Idle processes: httpd's MinSpareServers and MaxSpareServers. Each has less than a megabyte of its own.
const SPARE: [u32; 2] = [5, 10];
/// Idle processes where only a `.htaccess` file may name programs: the first request for one has a process forked.
const SPARE_IF_ANY: [u32; 2] = [0, 10];

impl Draft {
    /// Adds the pool if a place of the configuration has CGI programs, or a `.htaccess` file may name some. The queue
    /// is as long as that of the default pool.
    pub(super) fn add_program_pool(&mut self) {
        let may_run = leaves_programs_to_kernel(&self.config) || may_exec(&self.config) || has_guards(&self.config);
        if self.config.facts.single || !may_run {
            return;
        }
        let spare =
            match (names_programs(&self.config) || may_exec(&self.config), lets_htaccess_name_programs(&self.config)) {
                (true, _) => SPARE,
                (false, true) => SPARE_IF_ANY,
                (false, false) => return,
            };
        let max_clients = self.config.max_programs;
        let [min_spare, max_spare] = spare.map(|spare| spare.min(max_clients));
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

impl Config {
    /// Whether a place of the configuration has FastCGI programs that this server starts, or a `.htaccess` file may
    /// name some.
    pub fn has_fcgid_programs(&self) -> bool {
        handlers(self).any(|handler| *handler == Handler::FcgidScript)
            || has_guards(self)
            || lets_htaccess_name_programs(self)
    }
}

/// The handlers that sections name.
fn handlers(config: &Config) -> impl Iterator<Item = &Handler> {
    let settings = || config.sections.iter().map(|section| &section.own);
    let by_extension = settings().flat_map(|own| own.response.types.handlers());
    settings().filter_map(|own| own.handler.as_ref()).chain(by_extension)
}

/// Whether pages with server-side includes may run commands.
fn may_exec(config: &Config) -> bool {
    let settings = || config.sections.iter().map(|section| &section.own);
    let allows = |options: &PartialOptions| DirectoryOptions::default().after(options).includes_exec;
    let is_parsed = |own: &PartialSettings| {
        let handlers = own.handler.iter().chain(own.response.types.handlers());
        own.response.may_include() || { handlers }.any(|handler| *handler == Handler::ServerParsed)
    };
    settings().any(is_parsed) && settings().any(|own| own.options.as_ref().is_some_and(allows))
}

/// Whether a section or an alias makes files CGI scripts.
fn names_programs(config: &Config) -> bool {
    let has_alias = config.hosts.iter().flat_map(|host| &host.aliases).any(|alias| alias.script);
    let has_folder = config.hosts.iter().any(|host| host.virtual_folders.have_scripts());
    has_alias || has_folder || has_guards(config) || handlers(config).any(Handler::is_cgi)
}

/// Whether FastCGI programs decide about access to a place.
fn has_guards(config: &Config) -> bool {
    config.sections.iter().any(|section| section.own.fcgid.guards.are_on())
}

/// Whether a `.htaccess` file may make files CGI scripts: by a handler, where it may set ExecCGI or a section does.
fn lets_htaccess_name_programs(config: &Config) -> bool {
    let settings = || config.sections.iter().map(|section| &section.own);
    let may_run = settings().filter_map(|own| own.options.as_ref()).any(PartialOptions::adds_exec_cgi);
    let mut allowed = settings().filter_map(|own| own.allow_override);
    allowed.any(|allowed| allowed.lets_scripts_run() || may_run && allowed.lets_handlers_be_set())
}

/// Whether the server, or a section, leaves CGI scripts to the kernel.
fn leaves_programs_to_kernel(config: &Config) -> bool {
    let server = config.hosts.first().and_then(|host| config.sections.get(usize::from(host.base)));
    let by_server = server.is_none_or(|server| server.own.program.mode.is_none_or(|mode| mode == CgiMode::Program));
    by_server || config.sections.iter().skip(1).any(|it| it.own.program.mode == Some(CgiMode::Program))
}

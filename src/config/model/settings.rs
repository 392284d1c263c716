//! What the parts of a site say, and what a request gets of it.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::config::model::context::{Rank, Scope};
use crate::config::model::handler::Handler;
use crate::config::model::options::{Options, SaidOptions};
use crate::config::model::overrides::Overrides;
use crate::config::model::phases::{Phase, Phases};
use crate::config::model::response::Rules;
use crate::config::model::start_up::PsgiApp;
use crate::config::model::{access, program, response, scheduling};

/// Settings that apply to a part of the site.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Which part.
    pub scope: Scope,
    /// `<Files>` in a `<Directory>`: that section, which must apply as well.
    pub inside: Option<u16>,
    /// What was said in it; merged over what came before.
    pub said: Said,
    /// Its place in the merge.
    pub rank: Rank,
}

/// What a section says. `None` and empty mean: nothing, keep what was.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// `SetHandler`
    pub handler: Option<Handler>,
    /// `PerlHandler`: replaces an outer list.
    pub perl_handlers: Option<Vec<String>>,
    /// `PerlCleanupHandler`
    pub cleanup_handlers: Option<Vec<String>>,
    /// The other phases.
    pub phases: Phases,
    /// `PsgiApp`
    pub psgi_app: Option<PsgiApp>,
    /// `PerlSetVar` and `PerlAddVar`: name, value, whether it is added to earlier values.
    pub set_vars: Vec<(String, String, bool)>,
    /// `PerlSetEnv`, and `PerlPassEnv` with the master's value.
    pub set_env: Vec<(String, String)>,
    /// `PerlSendHeader`
    pub send_header: Option<bool>,
    /// `PerlSetupEnv`
    pub setup_env: Option<bool>,
    /// `Options`
    pub options: Option<SaidOptions>,
    /// `AllowOverride`
    pub allow_override: Option<Overrides>,
    /// `DirectoryIndex`
    pub directory_index: Option<Vec<String>>,
    /// `DefaultType`
    pub default_type: Option<String>,
    /// `LimitRequestBody` in bytes.
    pub limit_request_body: Option<u64>,
    /// `RequestTimeout`
    pub request_timeout: Option<Duration>,
    /// `RequestTimeoutGrace`
    pub request_timeout_grace: Option<Duration>,
    /// `QueueTimeout`
    pub queue_timeout: Option<Duration>,
    /// See there.
    pub rules: response::Rules,
    /// Who may come in.
    pub access: access::Said,
    /// Who gets a worker.
    pub admission: scheduling::Said,
    /// How programs of a CGI folder run.
    pub program: program::Said,
}

/// Merged settings of one request: what the sections said, in order, over the defaults.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Who answers.
    pub handler: Handler,
    /// See [`Said::perl_handlers`].
    pub perl_handlers: Vec<String>,
    /// See [`Said::cleanup_handlers`].
    pub cleanup_handlers: Vec<String>,
    /// See [`Said::phases`].
    pub phases: Phases,
    /// See [`Said::psgi_app`].
    pub psgi_app: Option<PsgiApp>,
    /// The `<Location>` prefix that set the handler: `SCRIPT_NAME` of a PSGI application, without trailing slash.
    pub mount: String,
    /// Names may repeat (`PerlAddVar`).
    pub set_vars: Vec<(String, String)>,
    /// Names do not repeat.
    pub set_env: Vec<(String, String)>,
    /// Default off.
    pub send_header: bool,
    /// Default on.
    pub setup_env: bool,
    /// Default FollowSymLinks only.
    pub options: Options,
    /// Default `index.html`.
    pub directory_index: Vec<String>,
    /// Default none: no Content-Type for unknown extensions.
    pub default_type: Option<String>,
    /// Default 1 GiB.
    pub limit_request_body: u64,
    /// Default 300 s; zero is unlimited.
    pub request_timeout: Duration,
    /// Default 5 s.
    pub request_timeout_grace: Duration,
    /// Default 30 s.
    pub queue_timeout: Duration,
    /// `SetHandler` was written, so that `AddHandler` does not count.
    pub handler_is_set: bool,
    /// See there.
    pub rules: response::Rules,
    /// Who may come in.
    pub access: access::Rules,
    /// Who gets a worker.
    pub admission: scheduling::Rules,
    /// How programs of a CGI folder run.
    pub program: program::Limits,
}

impl Settings {
    /// A worker has to run the phases of requests that come here.
    pub fn has_perl_phases(&self) -> bool {
        self.phases.said().any(|(phase, handlers)| phase.needs_worker() && !handlers.is_empty())
    }

    /// A PerlHandler that no SetHandler leads to is asked for folders, as in mod_perl 1: it may make their lists.
    pub fn asks_perl_for_folders(&self) -> bool {
        self.handler == Handler::Default && !self.handler_is_set && !self.perl_handlers.is_empty()
    }

    /// A PerlAuthenHandler or PerlAuthzHandler decides about users, in the worker.
    pub fn asks_perl_for_users(&self) -> bool {
        [Phase::Authen, Phase::Authz].into_iter().any(|phase| !self.phases.of(phase).is_empty())
    }
}

impl Settings {
    /// The handler that a file's extensions say, where nobody said one by `SetHandler`.
    pub fn handler_of(&self, file: &Path) -> Option<&Handler> {
        if self.handler_is_set {
            return None;
        }
        self.rules.types.handler(&file.file_name()?.to_string_lossy())
    }

    /// The same settings where this handler answers.
    pub fn with_handler(&self, handler: &Handler) -> Settings {
        Settings { handler: handler.clone(), ..self.clone() }
    }

    /// Merges what an inner section of this scope says.
    pub fn merge(&mut self, said: &Said, scope: &Scope) {
        if said.handler.is_some() {
            self.mount = mount(scope);
        }
        replace(&mut self.handler, &said.handler);
        replace(&mut self.perl_handlers, &said.perl_handlers);
        replace(&mut self.cleanup_handlers, &said.cleanup_handlers);
        self.phases.merge(&said.phases);
        replace(&mut self.send_header, &said.send_header);
        replace(&mut self.setup_env, &said.setup_env);
        replace(&mut self.directory_index, &said.directory_index);
        replace(&mut self.limit_request_body, &said.limit_request_body);
        replace(&mut self.request_timeout, &said.request_timeout);
        replace(&mut self.request_timeout_grace, &said.request_timeout_grace);
        replace(&mut self.queue_timeout, &said.queue_timeout);
        if said.psgi_app.is_some() {
            self.psgi_app.clone_from(&said.psgi_app);
        }
        if let Some(default_type) = &said.default_type {
            self.default_type = Some(default_type.clone()).filter(|name| !name.eq_ignore_ascii_case("none"));
        }
        if let Some(options) = &said.options {
            self.options = self.options.at(scope, options);
        }
        self.rules.merge(&said.rules);
        self.access.merge(&said.access);
        self.admission.merge(&said.admission);
        self.program.merge(&said.program);
        self.merge_variables(said);
    }

    /// A `.htaccess` file may have thousands: each is looked at once.
    fn merge_variables(&mut self, said: &Said) {
        let mut since: HashMap<&str, usize> = HashMap::new();
        for (at, (name, _, added)) in said.set_vars.iter().enumerate() {
            if !added {
                since.insert(name, at);
            }
        }
        self.set_vars.retain(|(name, _)| !since.contains_key(name.as_str()));
        for (at, (name, value, _)) in said.set_vars.iter().enumerate() {
            if since.get(name.as_str()).is_none_or(|since| at >= *since) {
                self.set_vars.push((name.clone(), value.clone()));
            }
        }
        let mut places: HashMap<String, usize> =
            self.set_env.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        for (name, value) in &said.set_env {
            match places.get(name).and_then(|at| self.set_env.get_mut(*at)) {
                Some((_, known)) => known.clone_from(value),
                None => {
                    places.insert(name.clone(), self.set_env.len());
                    self.set_env.push((name.clone(), value.clone()));
                }
            }
        }
    }
}

fn replace<T: Clone>(setting: &mut T, said: &Option<T>) {
    if let Some(value) = said {
        setting.clone_from(value);
    }
}

fn mount(scope: &Scope) -> String {
    match scope {
        Scope::Location(prefix) => prefix.trim_end_matches('/').to_owned(),
        _ => String::new(),
    }
}

impl Settings {
    /// Under the defaults, which say everything.
    pub fn nothing() -> Settings {
        Settings {
            handler: Handler::Default,
            perl_handlers: Vec::new(),
            cleanup_handlers: Vec::new(),
            phases: Phases::default(),
            psgi_app: None,
            mount: String::new(),
            set_vars: Vec::new(),
            set_env: Vec::new(),
            send_header: false,
            setup_env: false,
            options: Options::default(),
            directory_index: Vec::new(),
            default_type: None,
            limit_request_body: 0,
            request_timeout: Duration::ZERO,
            request_timeout_grace: Duration::ZERO,
            queue_timeout: Duration::ZERO,
            handler_is_set: false,
            rules: Rules::default(),
            access: access::Rules::default(),
            admission: scheduling::Rules::default(),
            program: program::Limits::default(),
        }
    }
}

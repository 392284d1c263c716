//! Settings of sections, and the merged settings of a request.

use crate::model::merge::{apart, keep, replace, settings};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use wire::control::PoolNumber;

use crate::model::access::origins::WebSocketOrigins;
use crate::model::context::{Rank, Scope};
use crate::model::fastcgi::{fcgi, fcgid};
use crate::model::handler::{Handler, NamedBy};
use crate::model::options::{DirectoryOptions, PartialOptions};
use crate::model::overrides::Overrides;
use crate::model::perl::api::{PerlFilters, PerlGeneration, PerlOptions};
use crate::model::perl::phases::{Phase, Phases};
use crate::model::response::ResponseRules;
use crate::model::response::cache::{Caching, PartialCaching};
use crate::model::response::rewrite::ForcedByRule;
use crate::model::start_up::PsgiApp;
use crate::model::{access, program, proxy, scheduling};
use crate::syntax::tree::At;

/// Settings that apply to a part of the site.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Requests to which the section applies.
    pub scope: Scope,
    /// Index of the `<Directory>` that contains a `<Files>`, or of the section that contains an `<If>`, and must apply
    /// as well.
    pub inside: Option<u16>,
    /// Indices of the `<If>` sections inside of this one, within the same file, in the order of the file.
    pub branches: Vec<u16>,
    /// Settings that the section itself sets; they are merged over those of outer sections.
    pub own: PartialSettings,
    /// Position in the merge order.
    pub rank: Rank,
    /// The pool for processes and code of the section.
    pub pool: PoolNumber,
    /// Position in the file. The section of a host has the host's position.
    pub at: At,
}

settings! {
    /// Settings of a section. `None` and empty: not set, the outer value applies.
    #[derive(Clone, Default)]
    section struct PartialSettings {
        /// `AllowOverride`
        allow_override: Option<Overrides>;
        /// Whether the section has `SetHandler None`: the handler is determined by ScriptAlias, AddHandler and the
        /// defaults.
        unsets_handler: bool;
    }

    /// Merged settings of a request: those of its sections, in order, over the defaults.
    #[derive(Clone, Default)]
    merged struct Settings {
        /// Prefix of the `<Location>` that set the handler: `SCRIPT_NAME` of a PSGI application, without trailing
        /// slash.
        mount: String;
        /// Argument of the innermost section, as written: mod_perl 2's `$r->location`.
        section: String;
        /// Directive that determines `handler`.
        named_by: NamedBy;
        /// Whether a `ScriptAlias` maps the path.
        script_alias: bool;
    }

    /// `PerlPool`: the pool that handles the request.
    pool: Option<PoolNumber> => PoolNumber, replace;
    /// `SetHandler`
    handler: Option<Handler> => Handler, replace;
    /// `PerlHandler`: replaces an outer list.
    perl_handlers: Option<Vec<String>> => Vec<String>, replace;
    /// `PerlCleanupHandler`
    cleanup_handlers: Option<Vec<String>> => Vec<String>, replace;
    /// Handlers of the other phases.
    phases: Phases => Phases, Phases::merge;
    /// `PsgiApp`
    psgi_app: Option<PsgiApp> => Option<PsgiApp>, keep;
    /// `PerlSetVar` and `PerlAddVar`: name, value, and whether it is added to earlier values.
    set_vars: Vec<(String, String, bool)> => Vec<(String, String)>, merge_vars;
    /// `PerlSetEnv`, and `PerlPassEnv` with the master's value.
    set_env: Vec<(String, String)> => Vec<(String, String)>, merge_env;
    /// `PerlSendHeader`
    send_header: Option<bool> => bool, replace;
    /// `PerlOptions`
    perl_options: PerlOptions => PerlOptions, PerlOptions::merge;
    /// `PerlInputFilterHandler`, `PerlOutputFilterHandler`, `PerlSetInputFilter`, `PerlSetOutputFilter`
    perl_filters: PerlFilters => PerlFilters, PerlFilters::merge;
    /// `PerlSetupEnv`
    setup_env: Option<bool> => bool, replace;
    /// `Options`
    options: Option<PartialOptions> => DirectoryOptions, apart;
    /// `DirectoryIndex`
    directory_index: Option<Vec<String>> => Vec<String>, replace;
    /// `DefaultType`
    default_type: Option<String> => Option<String>, merge_default_type;
    /// `LimitRequestBody` in bytes.
    limit_request_body: Option<u64> => u64, replace;
    /// `RequestTimeout`
    request_timeout: Option<Duration> => Duration, replace;
    /// `RequestTimeoutLimit`; zero is unlimited.
    request_timeout_limit: Option<Duration> => Duration, replace;
    /// `RequestTimeoutGrace`
    request_timeout_grace: Option<Duration> => Duration, replace;
    /// `QueueTimeout`
    queue_timeout: Option<Duration> => Duration, replace;
    /// `EventIdleTimeout`; zero is unlimited.
    event_idle_timeout: Option<Duration> => Duration, replace;
    /// `WebSocketMaxMessage`, in bytes.
    websocket_max_message: Option<u64> => u64, replace;
    /// `WebSocketMaxRate`, in frames per second; 0: no limit.
    websocket_max_rate: Option<u32> => u32, replace;
    /// `WebSocketOrigin`
    websocket_origin: Option<WebSocketOrigins> => WebSocketOrigins, replace;
    /// `HoldKeepAlive`; zero is never.
    hold_keep_alive: Option<Duration> => Duration, replace;
    /// `HoldTimeout`
    hold_timeout: Option<Duration> => Duration, replace;
    /// Settings of responses: redirections, headers, types and so on.
    response: ResponseRules => ResponseRules, ResponseRules::merge;
    /// Access control.
    access: access::PartialAccess => access::AccessRules, access::AccessRules::merge;
    /// Sharing of workers.
    scheduling: scheduling::PartialScheduling => scheduling::Scheduling, scheduling::Scheduling::merge;
    /// Caching of responses.
    caching: PartialCaching => Caching, Caching::merge;
    /// The reverse proxy.
    proxy: proxy::ProxyRules => proxy::ProxyRules, proxy::ProxyRules::merge;
    /// FastCGI applications.
    fcgi: fcgi::FcgiRules => fcgi::FcgiRules, fcgi::FcgiRules::merge;
    /// FastCGI programs that this server starts.
    fcgid: fcgid::FcgidRules => fcgid::FcgidRules, fcgid::FcgidRules::merge;
    /// CGI programs.
    program: program::PartialProgram => program::ProgramLimits, program::ProgramLimits::merge;
}

impl Settings {
    /// Whether a worker has to run phases of the request.
    pub fn has_perl_phases(&self) -> bool {
        !self.perl_filters.output.is_empty() || self.has_perl_handlers()
    }

    /// Whether Perl code has a phase of the request other than the response.
    pub fn has_perl_handlers(&self) -> bool {
        self.phases.configured().any(|(phase, handlers)| phase.needs_worker() && !handlers.is_empty())
            || self.access.needs_providers()
    }

    /// Whether a CGI program answers, and no Perl code has a part in the request: no phase, no cleanup, no filter.
    pub fn is_program_alone(&self) -> bool {
        let is_program = self.handler.is_cgi() && self.program.mode == program::CgiMode::Program;
        is_program && !self.has_perl_phases() && self.cleanup_handlers.is_empty() && self.perl_filters.is_empty()
    }

    /// Whether a PSGI application answers, and no other Perl code has a part in the request. Only such requests can go
    /// to a worker with an event loop, which would skip phases, cleanups and filters.
    pub fn is_psgi_alone(&self) -> bool {
        let is_alone = self.cleanup_handlers.is_empty() && self.perl_filters.is_empty();
        self.handler == Handler::Psgi && !self.has_perl_phases() && is_alone
    }

    /// Whether `%ENV` is filled for programs. mod_perl 2 does so for perl-script, or according to PerlOptions.
    pub fn sets_up_env(&self, generation: PerlGeneration) -> bool {
        match generation {
            PerlGeneration::One => self.setup_env,
            PerlGeneration::Two => self.perl_options.has("SetupEnv", self.handler != Handler::ModPerl),
        }
    }

    /// Length of the part of a path that names the program, if it is known without a file system lookup.
    pub fn script_length(&self, path: &[u8]) -> Option<u32> {
        match self.handler {
            Handler::Psgi => Some(self.mount.len().min(path.len()) as u32),
            // A handler from the file's extension means that the whole path is the file. Splitting the path at a folder
            // with such an extension would let a picture below that folder run as a program.
            Handler::PerlScript | Handler::ModPerl | Handler::CgiScript | Handler::FcgidScript
                if self.named_by == NamedBy::Extension =>
            {
                Some(path.len() as u32)
            }
            _ => None,
        }
    }

    /// Whether a program's output begins with headers.
    pub fn parses_headers(&self) -> bool {
        self.send_header || self.perl_options.has("ParseHeaders", false)
    }

    /// Whether a PerlHandler without SetHandler handles folders, as in mod_perl 1: it may generate their listings.
    pub fn needs_perl_for_folders(&self) -> bool {
        self.handler == Handler::Default && self.named_by == NamedBy::Default && !self.perl_handlers.is_empty()
    }

    /// Whether Perl code in the worker decides about users: a PerlAuthenHandler, a PerlAuthzHandler or a provider.
    /// Where users are required and there is no AuthUserFile, a handler of an earlier phase may push such a handler.
    pub fn needs_perl_for_users(&self) -> bool {
        let has = |phase: Phase| !self.phases.of(phase).is_empty();
        let may_push = !self.access.requires.is_empty() && !self.access.has_users() && Phase::Authen.before().any(has);
        may_push || has(Phase::Authen) || has(Phase::Authz) || self.access.needs_providers()
    }
}

impl Settings {
    /// Whether a PSGI application handles the request.
    pub fn is_psgi(&self) -> bool {
        let is_ours = |name: &String| name == "Cameleer::PSGI";
        match self.handler {
            Handler::Psgi => true,
            Handler::PerlScript | Handler::ModPerl => self.psgi_app.is_some() && self.perl_handlers.iter().any(is_ours),
            _ => false,
        }
    }

    /// The handler that a file's extensions or its type determine, unless `SetHandler` applies. `is_usual` returns
    /// whether an extension has a built-in type.
    pub fn handler_of(&self, file: &Path, is_usual: impl Fn(&str) -> bool) -> Option<&Handler> {
        if self.named_by == NamedBy::SetHandler {
            return None;
        }
        self.response.types.handler(&file.file_name()?.to_string_lossy(), is_usual)
    }

    /// Whether an extension of a file that only the disk shows may name another handler than the path does.
    pub fn handler_depends_on_the_file(&self) -> bool {
        // Below a ScriptAlias the end of a path may be a program's PATH_INFO and not a file's name.
        let by_path = self.handler.is_about_a_file() || self.script_alias && self.named_by < NamedBy::SetHandler;
        by_path && self.response.types.handlers().next().is_some()
    }

    /// `Options ExecCGI`, which CGI programs below a ScriptAlias and programs of FastCgiServer do not need.
    pub fn may_exec_cgi(&self) -> bool {
        let is_named = self.fcgid.server.is_some() && self.handler == Handler::FcgidScript;
        self.options.exec_cgi || is_named || self.script_alias && self.handler.is_cgi()
    }

    /// A copy with another handler.
    pub fn with_handler(&self, handler: &Handler) -> Settings {
        // Below a place of programs, the part of a path that names the program is known to the disk alone.
        let is_forced = handler.is_cgi() && self.response.types.forces_programs();
        let named_by = if is_forced { NamedBy::SetHandler } else { NamedBy::Extension };
        Settings { handler: handler.clone(), named_by, ..self.clone() }
    }

    /// The same settings with the handler and the media type of a rewrite rule.
    pub fn forced(&self, by: &ForcedByRule) -> Settings {
        let mut settings = self.clone();
        if let Some(name) = &by.handler {
            (settings.handler, settings.named_by) = (Handler::named(name), NamedBy::SetHandler);
        }
        if let Some(name) = &by.content_type {
            settings.response.types.force = Some(Some(name.clone()));
        }
        settings
    }

    /// Merges the settings of an inner section with this scope.
    pub fn merge_at(&mut self, inner: &PartialSettings, scope: &Scope) {
        if inner.handler.is_some() && !matches!(scope, Scope::If(_)) {
            self.mount = mount(scope);
        }
        if let Some(named) = scope.named() {
            self.section = named;
        }
        if let Some(options) = &inner.options {
            self.options = self.options.at(scope, options);
        }
        let mut options = self.perl_options;
        options.merge(&inner.perl_options);
        if options.has("MergeHandlers", false) {
            self.merge(&inner.clone().behind(self));
        } else {
            self.merge(inner);
        }
    }
}

impl PartialSettings {
    /// `PerlOptions +MergeHandlers`: prepends the outer lists of handlers.
    fn behind(mut self, outer: &Settings) -> PartialSettings {
        self.perl_handlers = self.perl_handlers.map(|inner| [&outer.perl_handlers[..], &inner].concat());
        self.cleanup_handlers = self.cleanup_handlers.map(|inner| [&outer.cleanup_handlers[..], &inner].concat());
        self.phases.prepend(&outer.phases);
        self.perl_filters.prepend(&outer.perl_filters);
        self
    }
}

/// Merges variables in linear time: a `.htaccess` file may have thousands.
fn merge_vars(outer: &mut Vec<(String, String)>, inner: &[(String, String, bool)]) {
    let mut since: HashMap<&str, usize> = HashMap::new();
    for (at, (name, _, added)) in inner.iter().enumerate() {
        if !added {
            since.insert(name, at);
        }
    }
    outer.retain(|(name, _)| !since.contains_key(name.as_str()));
    for (at, (name, value, _)) in inner.iter().enumerate() {
        if since.get(name.as_str()).is_none_or(|since| at >= *since) {
            outer.push((name.clone(), value.clone()));
        }
    }
}

/// Merges variables in linear time; a name that exists keeps its position.
fn merge_env(outer: &mut Vec<(String, String)>, inner: &[(String, String)]) {
    let mut places: HashMap<String, usize> =
        outer.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
    for (name, value) in inner {
        match places.get(name).and_then(|at| outer.get_mut(*at)) {
            Some((_, known)) => known.clone_from(value),
            None => {
                places.insert(name.clone(), outer.len());
                outer.push((name.clone(), value.clone()));
            }
        }
    }
}

/// Merges `DefaultType`; `None` cancels the outer value.
fn merge_default_type(outer: &mut Option<String>, inner: &Option<String>) {
    if let Some(inner) = inner {
        *outer = Some(inner.clone()).filter(|name| !name.eq_ignore_ascii_case("none"));
    }
}

fn mount(scope: &Scope) -> String {
    match scope {
        Scope::Location(prefix) => prefix.trim_end_matches('/').to_owned(),
        _ => String::new(),
    }
}

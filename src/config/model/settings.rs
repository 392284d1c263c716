//! What the parts of a site say, and what a request gets of it.

use crate::config::model::merge::{apart, keep, replace, settings};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use wire::control::PoolNumber;

use crate::config::model::context::{Rank, Scope};
use crate::config::model::handler::Handler;
use crate::config::model::options::{Options, PartialOptions};
use crate::config::model::overrides::Overrides;
use crate::config::model::perl::api::{Generation, PerlFilters, PerlOptions};
use crate::config::model::perl::phases::{Phase, Phases};
use crate::config::model::response::ResponseRules;
use crate::config::model::response::cache::{Caching, PartialCaching};
use crate::config::model::start_up::PsgiApp;
use crate::config::model::{access, program, scheduling};
use crate::config::syntax::tree::At;

/// Settings that apply to a part of the site.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Which part.
    pub scope: Scope,
    /// `<Files>` in a `<Directory>`: that section, which must apply as well.
    pub inside: Option<u16>,
    /// What was said in it; merged over what came before.
    pub said: PartialSettings,
    /// Its place in the merge.
    pub rank: Rank,
    /// The pool that what is said in it belongs to.
    pub pool: PoolNumber,
    /// Where it begins; of a host's own, where that begins.
    pub at: At,
}

settings! {
    /// What a section says. `None` and empty mean: nothing, keep what was.
    #[derive(Clone, Default)]
    said struct PartialSettings {
        /// `AllowOverride`
        allow_override: Option<Overrides>;
    }

    /// Merged settings of one request: what the sections said, in order, over the defaults.
    #[derive(Clone, Default)]
    merged struct Settings {
        /// The `<Location>` prefix that set the handler: `SCRIPT_NAME` of a PSGI application, without trailing slash.
        mount: String;
        /// What the innermost section names, as it was written: mod_perl 2's `$r->location`.
        section: String;
        /// `SetHandler` was written, so that `AddHandler` does not count.
        handler_is_set: bool;
    }

    /// `PerlPool`: whose workers answer.
    pool: Option<PoolNumber> => PoolNumber, replace;
    /// `SetHandler`
    handler: Option<Handler> => Handler, replace;
    /// `PerlHandler`: replaces an outer list.
    perl_handlers: Option<Vec<String>> => Vec<String>, replace;
    /// `PerlCleanupHandler`
    cleanup_handlers: Option<Vec<String>> => Vec<String>, replace;
    /// The other phases.
    phases: Phases => Phases, Phases::merge;
    /// `PsgiApp`
    psgi_app: Option<PsgiApp> => Option<PsgiApp>, keep;
    /// `PerlSetVar` and `PerlAddVar`: name, value, whether it is added to earlier values.
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
    options: Option<PartialOptions> => Options, apart;
    /// `DirectoryIndex`
    directory_index: Option<Vec<String>> => Vec<String>, replace;
    /// `DefaultType`
    default_type: Option<String> => Option<String>, merge_default_type;
    /// `LimitRequestBody` in bytes.
    limit_request_body: Option<u64> => u64, replace;
    /// `RequestTimeout`
    request_timeout: Option<Duration> => Duration, replace;
    /// `RequestTimeoutGrace`
    request_timeout_grace: Option<Duration> => Duration, replace;
    /// `QueueTimeout`
    queue_timeout: Option<Duration> => Duration, replace;
    /// What is said about answers: redirections, headers, types and so on.
    response: ResponseRules => ResponseRules, ResponseRules::merge;
    /// Who may come in.
    access: access::PartialAccess => access::AccessRules, access::AccessRules::merge;
    /// Who gets a worker.
    scheduling: scheduling::PartialScheduling => scheduling::Scheduling, scheduling::Scheduling::merge;
    /// What is kept of answers: `CacheEnable` and its kin.
    caching: PartialCaching => Caching, Caching::merge;
    /// How programs of a CGI folder run.
    program: program::PartialProgram => program::ProgramLimits, program::ProgramLimits::merge;
}

impl Settings {
    /// A worker has to run the phases of requests that come here.
    pub fn has_perl_phases(&self) -> bool {
        !self.perl_filters.output.is_empty() || self.has_perl_handlers()
    }

    fn has_perl_handlers(&self) -> bool {
        self.phases.said().any(|(phase, handlers)| phase.needs_worker() && !handlers.is_empty())
            || self.access.asks_providers()
    }

    /// Whether `%ENV` is filled for programs: mod_perl 2 does so for perl-script, and where PerlOptions says it.
    pub fn sets_up_env(&self, generation: Generation) -> bool {
        match generation {
            Generation::One => self.setup_env,
            Generation::Two => self.perl_options.has("SetupEnv", self.handler != Handler::ModPerl),
        }
    }

    /// How many bytes of a path name a program, where that is known without a look at the disk.
    pub fn script_length(&self, path: &[u8]) -> Option<u32> {
        match self.handler {
            Handler::Psgi => Some(self.mount.len().min(path.len()) as u32),
            // A file's extension says who answers: it is this file or none. To take the name of a folder above it, and this
            // extension for a path behind a file, would let a picture run as a program.
            Handler::PerlScript | Handler::ModPerl | Handler::CgiScript if !self.handler_is_set => {
                Some(path.len() as u32)
            }
            _ => None,
        }
    }

    /// Whether what a program prints begins with headers.
    pub fn parses_headers(&self) -> bool {
        self.send_header || self.perl_options.has("ParseHeaders", false)
    }

    /// A PerlHandler that no SetHandler leads to is asked for folders, as in mod_perl 1: it may make their lists.
    pub fn asks_perl_for_folders(&self) -> bool {
        self.handler == Handler::Default && !self.handler_is_set && !self.perl_handlers.is_empty()
    }

    /// A PerlAuthenHandler or PerlAuthzHandler, or a provider in Perl, decides about users, in the worker. Where users are required and no
    /// AuthUserFile knows any, it may be that code of an earlier phase pushes such a handler.
    pub fn asks_perl_for_users(&self) -> bool {
        let has = |phase: Phase| !self.phases.of(phase).is_empty();
        let may_push = !self.access.requires.is_empty() && !self.access.has_users() && Phase::Authen.before().any(has);
        may_push || has(Phase::Authen) || has(Phase::Authz) || self.access.asks_providers()
    }
}

impl Settings {
    /// A PSGI application answers.
    pub fn is_psgi(&self) -> bool {
        let is_ours = |name: &String| name == "Cameleer::PSGI";
        match self.handler {
            Handler::Psgi => true,
            Handler::PerlScript | Handler::ModPerl => self.psgi_app.is_some() && self.perl_handlers.iter().any(is_ours),
            _ => false,
        }
    }

    /// The handler that a file's extensions say, where nobody said one by `SetHandler`.
    pub fn handler_of(&self, file: &Path) -> Option<&Handler> {
        if self.handler_is_set {
            return None;
        }
        self.response.types.handler(&file.file_name()?.to_string_lossy())
    }

    /// The same settings where this handler answers.
    pub fn with_handler(&self, handler: &Handler) -> Settings {
        Settings { handler: handler.clone(), ..self.clone() }
    }

    /// Merges what an inner section of this scope says.
    pub fn merge_at(&mut self, said: &PartialSettings, scope: &Scope) {
        if said.handler.is_some() {
            self.mount = mount(scope);
        }
        if let Some(named) = scope.named() {
            self.section = named;
        }
        if let Some(options) = &said.options {
            self.options = self.options.at(scope, options);
        }
        let mut options = self.perl_options;
        options.merge(&said.perl_options);
        if options.has("MergeHandlers", false) {
            self.merge(&said.clone().behind(self));
        } else {
            self.merge(said);
        }
    }
}

impl PartialSettings {
    /// `PerlOptions +MergeHandlers`: the lists of handlers begin with those of the outer sections.
    fn behind(mut self, outer: &Settings) -> PartialSettings {
        self.perl_handlers = self.perl_handlers.map(|inner| [&outer.perl_handlers[..], &inner].concat());
        self.cleanup_handlers = self.cleanup_handlers.map(|inner| [&outer.cleanup_handlers[..], &inner].concat());
        self.phases.stand_behind(&outer.phases);
        self.perl_filters.stand_behind(&outer.perl_filters);
        self
    }
}

/// A `.htaccess` file may have thousands: each is looked at once.
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

/// Likewise; a name that is there keeps its place.
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

/// `DefaultType None` takes back what an outer section says.
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

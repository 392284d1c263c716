//! Sections to [`Settings`]: each says something over what came before.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use super::rules::Rules;
use super::{Applied, Config, Handler, Options, Phases, Said, Scope, Settings, access, admission, program};

impl Config {
    /// What these sections say, in this order, over the defaults. Below a `ScriptAlias` everything is a CGI script.
    pub fn settings(&self, sections: &[u16], script_alias: bool) -> Settings {
        self.settings_of(&Applied { sections: sections.to_vec(), files: Vec::new() }, script_alias)
    }

    /// The same with `.htaccess` files.
    pub fn settings_of(&self, applied: &Applied, script_alias: bool) -> Settings {
        let mut settings = nothing();
        for number in [0].iter().chain(&applied.sections) {
            if let Some(section) = self.section(&applied.files, *number) {
                settings.merge(&section.said, &section.scope);
                // What the table's defaults say is not said by anybody.
                settings.handler_is_set |= *number != 0 && section.said.handler.is_some();
            }
        }
        if script_alias {
            settings.handler = Handler::CgiScript;
            settings.handler_is_set = true;
            settings.options.exec_cgi = true;
            settings.mount.clear();
        }
        settings
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

    fn merge(&mut self, said: &Said, scope: &Scope) {
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

/// Of each name the last pair, in their order.
pub(super) fn last_of_each<T>(pairs: &mut Vec<(String, T)>) {
    let last: HashMap<String, usize> = pairs.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
    let mut places = 0..;
    pairs.retain(|(name, _)| last.get(name).copied() == places.next());
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

/// Under the defaults, which say everything.
fn nothing() -> Settings {
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
        admission: admission::Rules::default(),
        program: program::Limits::default(),
    }
}

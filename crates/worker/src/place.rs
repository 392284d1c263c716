//! The configuration of a location or a server, as the Apache:: API shows it.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::rc::Rc;

use base::path::Text;
use config::access::{Requirement, Satisfy};
use config::{AliasFrom, Config, Handler, Host, Listen, LogTarget, PerlGeneration, Settings, perl_api};
use files::mime;

/// Content type that httpd gives folders.
const FOLDER: &str = "httpd/unix-directory";

/// Settings that `Apache::Server` shows of a host, independent of the location.
pub(super) fn server(config: &Config, host: u16) -> apache::PlaceConfig {
    let bases: Vec<u16> =
        [0, usize::from(host)].iter().filter_map(|at| config.hosts.get(*at)).map(|h| h.base).collect();
    place(config, host, &config.settings(if host == 0 { &bases[..1] } else { &bases }, false))
}

/// Settings that the API shows of a location.
pub(super) fn place(config: &Config, host: u16, settings: &Settings) -> apache::PlaceConfig {
    let server = config.hosts.get(usize::from(host)).or(config.hosts.first());
    apache::PlaceConfig {
        document_root: server.map(|h| h.document_root.to_string_lossy().into_owned()).unwrap_or_default(),
        server_root: config.server_root.to_string_lossy().into_owned(),
        server_name: server.and_then(|h| h.server_name.clone()).unwrap_or_default(),
        // httpd's text for a missing ServerAdmin.
        server_admin: server.and_then(|h| h.server_admin.clone()).unwrap_or_else(|| "[no address given]".into()),
        set_vars: settings.set_vars.clone(),
        set_env: settings.set_env.clone(),
        send_header: settings.parses_headers() || settings.handler.is_cgi(),
        pass_auth: settings.program.pass_auth,
        setup_env: settings.sets_up_env(config.perl.generation),
        options: i64::from(settings.options.bits()) | if settings.may_exec_cgi() { apache::OPT_EXECCGI } else { 0 },
        timeout: config.timeout_of(host).as_secs() as u32,
        names: server.map(|h| h.server_aliases.clone()).unwrap_or_default(),
        error_log: error_log(config),
        log_level: config.level_of(server, "perl"),
        location: settings.mount.clone(),
        section: settings.section.clone(),
        handler: settings.handler.name().map(str::to_owned),
        dispatcher: settings.phases.dispatch.clone(),
        server_software: config.tokens.software(apache::api().mod_perl(), &apache::version_components()),
        names_components: config.tokens.names_components(),
        server_port: server.and_then(|h| h.server_port),
        listen_port: listen_port(config),
        host,
        is_virtual: host != 0,
        auth_type: settings.access.auth_type.clone(),
        auth_name: settings.access.auth_name.clone(),
        satisfies: match settings.access.satisfy {
            None => apache::Satisfies::NoSpec,
            Some(Satisfy::All) => apache::Satisfies::All,
            Some(Satisfy::Any) => apache::Satisfies::Any,
        },
        requires: settings.access.requires.iter().map(requirement).collect(),
        perl_options: perl_options(config, settings),
        default_type: settings.default_type.clone(),
        ..Default::default()
    }
}

/// The content types of a location's files.
pub(super) fn types_of(config: Rc<Config>, settings: Rc<Settings>) -> apache::FactOf<String> {
    apache::FactOf::new(move |name| {
        let path = Path::new(OsStr::from_bytes(name));
        if path.is_dir() { Some(FOLDER.to_owned()) } else { mime::describe(&config, &settings, path).mime }
    })
}

/// The document roots of a host whose folders are named after hosts.
pub(super) fn document_roots_of(config: Rc<Config>, host: u16) -> apache::FactOf<usize> {
    if !config.has_virtual_folders(host) {
        return apache::FactOf::default();
    }
    apache::FactOf::new(move |file| {
        let root = config.hosts.get(usize::from(host))?.virtual_folders.root_of(Path::new(OsStr::from_bytes(file)))?;
        Some(root.as_os_str().len())
    })
}

pub(super) fn aliases_of(config: Rc<Config>, host: u16) -> apache::FactOf<apache::PassedAlias> {
    apache::FactOf::new(move |path| {
        let (alias, file) = config.alias_of(host, &Text::new(path).0)?;
        let AliasFrom::Prefix(prefix) = &alias.from else { return None };
        let root = alias.to.to_string_lossy().into_owned();
        let file = Text::bytes_of(file).into_os_string().into_vec();
        Some(apache::PassedAlias { prefix: prefix.clone(), root, file })
    })
}

/// Content-Language as mod_mime sets it in its Type phase: by the file's extensions, else DefaultLanguage. `None`
/// without DefaultLanguage, where only files have a language.
pub(super) fn language_of(config: &Config, settings: &Settings, request: u64) -> Option<String> {
    settings.response.types.default_language.as_ref()?;
    let name = apache::filename(request);
    let described = mime::describe(config, settings, Path::new(OsStr::from_bytes(&name)));
    Some(described.language.unwrap_or_default())
}

/// Names of the PerlOptions that are on, by default as in mod_perl 2.
fn perl_options(config: &Config, settings: &Settings) -> String {
    if config.perl.generation == PerlGeneration::One {
        return String::new();
    }
    let is_usual = |name: &str| match name {
        // Persistent scripts have the flags of perl-script: CGI.pm needs the global request.
        "SetupEnv" | "GlobalRequest" => {
            matches!(settings.handler, Handler::PerlScript | Handler::CgiScript | Handler::FcgidScript)
        }
        "SendHeader" | "MergeHandlers" | "ParseHeaders" | "Parent" | "Clone" => false,
        _ => true,
    };
    let is_on = |name: &&&str| settings.perl_options.has(name, is_usual(name));
    perl_api::FLAGS.iter().filter(is_on).copied().collect::<Vec<_>>().join(" ")
}

fn error_log(config: &Config) -> String {
    match &config.error_log {
        LogTarget::Standard => String::new(),
        LogTarget::File(file) => file.to_string_lossy().into_owned(),
        LogTarget::Pipe(command) => format!("|{command}"),
        LogTarget::Syslog(target) => target.to_string(),
    }
}

fn requirement(line: &Requirement) -> apache::RequireLine {
    apache::RequireLine {
        method_mask: line.methods.mask(),
        text: line.text.clone(),
        of_user: access::is_about_users(&line.what),
    }
}

fn listen_port(config: &Config) -> u16 {
    let tcp = config.listen.iter().find_map(|listen| match listen {
        Listen::Tcp(address) => Some(address.port()),
        Listen::Unix(_) => None,
    });
    tcp.unwrap_or(80)
}

/// For each host, the notes, variables and times in its access log formats that only the worker knows.
pub(super) fn logged(config: &Config) -> Vec<Rc<apache::Logged>> {
    let of = |host: &Host| {
        let mut logged = apache::Logged::default();
        host.access_logs.iter().flat_map(|log| arguments(&log.format)).for_each(|item| match item {
            (name, 'n') => logged.notes.push(name.to_owned()),
            (name, 'e') => logged.env.push(name.to_owned()),
            (name, 'x') => logged.cpu |= matches!(name, "cameleer:cpu_us" | "cameleer:json"),
            _ => {}
        });
        for names in [&mut logged.notes, &mut logged.env] {
            names.sort();
            names.dedup();
        }
        Rc::new(logged)
    };
    config.hosts.iter().map(of).collect()
}

/// Each `%{name}letter` of a log format. Conditions may be on either side of the name.
fn arguments(format: &str) -> impl Iterator<Item = (&str, char)> {
    format.match_indices('%').filter_map(|(at, percent)| {
        let (name, rest) = conditions_off(&format[at + percent.len()..]).strip_prefix('{')?.split_once('}')?;
        Some((name, conditions_off(rest).chars().next()?))
    })
}

/// Strips `!`, `<`, `>` and status numbers.
fn conditions_off(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit() || "!,<>".contains(c))
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn names_in_formats_are_found_whatever_stands_around_them() {
        let found: Vec<_> = arguments(r#"%h %!200,304{A}n "%{b-c}>e" %% %{x}400i %{d%e}n %{cut"#).collect();
        assert_eq!(found, [("A", 'n'), ("b-c", 'e'), ("x", 'i'), ("d%e", 'n')]);
    }
}

//! A configuration as compact text, for the golden cases.

use std::fmt::Write;

use crate::config::model::access::{self, Limited};
use crate::config::model::config::Config;
use crate::config::model::context::Scope;
use crate::config::model::host::{AliasFrom, Host};
use crate::config::model::options::{Options, SaidOptions};
use crate::config::model::remote_ip::RemoteIp;
use crate::config::model::response::Rules;
use crate::config::model::server::LogTarget;
use crate::config::model::settings::{PartialSettings, Section, Settings};
use crate::config::model::start_up::Step;

pub fn dump(config: &Config) -> String {
    let mut out = format!(
        "server_root {:?}\nuser {:?} group {:?}\npid_file {:?}\ncontrol_socket {:?}\nbacklog {}\nerror_log {}\nlog_level {:?}\n",
        config.server_root,
        config.user,
        config.group,
        config.pid_file,
        config.control_socket,
        config.listen_backlog,
        target(&config.error_log),
        config.log_level
    );
    writeln!(out, "{:?}\n{:?}\n{:?}", config.pool, config.timeouts, config.limits).unwrap();
    writeln!(out, "{:?}", config.perl).unwrap();
    config.listen.iter().for_each(|listen| writeln!(out, "listen {listen:?}").unwrap());
    config.start_up.iter().for_each(|step| writeln!(out, "start_up {} {}", step.at, step_words(&step.step)).unwrap());
    config.logs.iter().enumerate().for_each(|(i, log)| writeln!(out, "log {i} {}", target(log)).unwrap());
    config
        .error_logs
        .iter()
        .enumerate()
        .for_each(|(i, log)| writeln!(out, "host_error_log {i} {}", target(log)).unwrap());
    config.types.iter().for_each(|(extension, name)| writeln!(out, "type {extension} {name}").unwrap());
    config.hosts.iter().enumerate().for_each(|(i, host)| out.push_str(&host_lines(i, host)));
    config.sections.iter().enumerate().skip(1).for_each(|(i, section)| out.push_str(&section_line(i, section)));
    out
}

fn target(log: &LogTarget) -> String {
    match log {
        LogTarget::Standard => "-".to_owned(),
        LogTarget::File(path) => path.display().to_string(),
        LogTarget::Pipe(command) => format!("|{command}"),
    }
}

fn step_words(step: &Step) -> String {
    format!("{step:?}")
}

fn host_lines(index: usize, host: &Host) -> String {
    let addresses: Vec<String> = host
        .addresses
        .iter()
        .map(|address| {
            let ip = address.ip.map_or_else(|| "*".to_owned(), |ip| ip.to_string());
            let port = address.port.map_or_else(|| "*".to_owned(), |port| port.to_string());
            format!("{ip}:{port}")
        })
        .collect();
    let mut out =
        format!("host {index} [{}] base {} containers {:?}\n", addresses.join(" "), host.base, host.containers);
    let mut line = |text: String| writeln!(out, "host {index} {text}").unwrap();
    if let Some(name) = &host.server_name {
        line(format!("name {name} port {:?} aliases {:?}", host.server_port, host.server_aliases));
    }
    line(format!("root {:?} admin {:?}", host.document_root, host.server_admin));
    let keep = host.keep_alive;
    line(format!("keep_alive {} within {:?} most {}", keep.is_on(), keep.within(), keep.most.unwrap_or_default()));
    for alias in &host.aliases {
        let from = match &alias.from {
            AliasFrom::Prefix(prefix) => prefix.clone(),
            AliasFrom::Match(regex) => format!("~ {regex}"),
        };
        line(format!("{} {from} {}", if alias.script { "script_alias" } else { "alias" }, alias.to.display()));
    }
    if host.logs_errors_itself() {
        line(format!("error_log {:?} level {:?}", host.error_log, host.log_level));
    }
    if host.remote_ip != RemoteIp::default() {
        line(format!("{:?}", host.remote_ip));
    }
    for redirect in &host.redirects {
        line(format!("{redirect:?}"));
    }
    for log in &host.access_logs {
        let condition = log.condition.as_ref().map_or_else(String::new, |condition| format!(" {condition:?}"));
        line(format!("access_log {} {}{condition}", log.log, log.format));
    }
    out
}

fn section_line(index: usize, section: &Section) -> String {
    let inside = section.inside.map_or_else(String::new, |outer| format!(" in {outer}"));
    format!("section {index}{inside} {}{}\n", scope(&section.scope), said(&section.said))
}

fn scope(scope: &Scope) -> String {
    match scope {
        Scope::Host => "host".to_owned(),
        Scope::Directory(path) => format!("directory {}", path.display()),
        Scope::DirectoryMatch(regex) => format!("directory ~ {regex}"),
        Scope::Files(regex) => format!("files ~ {regex}"),
        Scope::Location(path) => format!("location {path}"),
        Scope::LocationMatch(regex) => format!("location ~ {regex}"),
    }
}

fn said(said: &PartialSettings) -> String {
    let mut out = String::new();
    let mut word = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            write!(out, " {name}={value}").unwrap();
        }
    };
    word("handler", said.handler.as_ref().map(|v| format!("{v:?}")));
    word("perl", said.perl_handlers.as_ref().map(|v| format!("{v:?}")));
    word("cleanup", said.cleanup_handlers.as_ref().map(|v| format!("{v:?}")));
    for (phase, handlers) in said.phases.said() {
        word(phase.name(), Some(format!("{handlers:?}")));
    }
    word("dispatch", said.phases.dispatch.clone());
    word("psgi", said.psgi_app.as_ref().map(|v| format!("{v:?}")));
    for (name, value, added) in &said.set_vars {
        word("var", Some(format!("{name}:{}{value:?}", if *added { "+" } else { "" })));
    }
    for (name, value) in &said.set_env {
        word("env", Some(format!("{name}:{value:?}")));
    }
    word("send_header", said.send_header.map(|v| v.to_string()));
    word("setup_env", said.setup_env.map(|v| v.to_string()));
    word(
        "options",
        said.options.as_ref().map(|v| match v {
            SaidOptions::Set(set) => options(*set),
            SaidOptions::Change { add, remove } => format!("+{}-{}", options(*add), options(*remove)),
        }),
    );
    word("override", said.allow_override.map(|v| v.to_string()));
    word("index", said.directory_index.as_ref().map(|v| format!("{v:?}")));
    word("default_type", said.default_type.clone());
    word("body", said.limit_request_body.map(|v| v.to_string()));
    word("request_timeout", said.request_timeout.map(|v| format!("{v:?}")));
    word("request_timeout_grace", said.request_timeout_grace.map(|v| format!("{v:?}")));
    word("queue_timeout", said.queue_timeout.map(|v| format!("{v:?}")));
    word("program", (said.program != Default::default()).then(|| format!("{:?}", said.program)));
    word("admission", (said.admission != Default::default()).then(|| format!("{:?}", said.admission)));
    word("access", (said.access != Default::default()).then(|| format!("({})", access(&said.access))));
    out.push_str(&rule_lines(&said.rules).replace('\n', " "));
    out
}

fn access(said: &access::PartialAccess) -> String {
    let access::PartialAccess {
        hosts,
        satisfy,
        auth_type,
        auth_name,
        user_file,
        group_file,
        authoritative,
        requires: access::SaidRequires { lines: requires, merging },
        lookups,
        throttles,
        forbids,
        allowed_methods,
    } = said;
    let mut out = String::new();
    if let Some(hosts) = hosts {
        let each =
            |lines: &[Limited<_>]| lines.iter().map(|l| format!(" {:?} {:?};", l.methods, l.what)).collect::<String>();
        let order = hosts.orders.iter().map(|l| format!(" {:?} {:?};", l.methods, l.what)).collect::<String>();
        write!(out, "order{order} allow{} deny{}", each(&hosts.allow), each(&hosts.deny)).unwrap();
    }
    for line in requires.iter().flatten() {
        write!(out, " require {:?} {:?}", line.methods, line.what).unwrap();
    }
    for throttle in throttles.iter().flatten() {
        write!(out, " throttle {:?} {}", throttle.methods, throttle.most).unwrap();
    }
    let auth = (auth_type, auth_name, user_file, group_file);
    if auth != (&None, &None, &None, &None) {
        write!(out, " auth {auth:?}").unwrap();
    }
    if let Some(authoritative) = authoritative {
        write!(out, " authoritative {authoritative}").unwrap();
    }
    if let Some(satisfy) = satisfy {
        write!(out, " satisfy {satisfy:?}").unwrap();
    }
    if *merging != access::Merging::Off {
        write!(out, " merging {merging:?}").unwrap();
    }
    if let Some(forbids) = forbids {
        write!(out, " forbids {forbids}").unwrap();
    }
    if let Some(methods) = allowed_methods.as_ref().filter(|methods| !methods.is_empty()) {
        write!(out, " methods {methods:?}").unwrap();
    }
    if let Some(lookups) = lookups {
        write!(out, " lookups {lookups:?}").unwrap();
    }
    out.trim_start().to_owned()
}

/// As one section would say it.
fn rules(rules: &access::Rules) -> access::PartialAccess {
    let rules = rules.clone();
    access::PartialAccess {
        hosts: (!rules.hosts.is_empty()).then_some(rules.hosts),
        satisfy: rules.satisfy,
        auth_type: rules.auth_type,
        auth_name: rules.auth_name,
        user_file: rules.user_file,
        group_file: rules.group_file,
        authoritative: rules.authoritative,
        requires: access::SaidRequires { lines: Some(rules.requires), merging: access::Merging::Off },
        lookups: Some(rules.lookups),
        throttles: Some(rules.throttles),
        forbids: rules.forbids,
        allowed_methods: Some(rules.allowed_methods),
    }
}

fn options(options: Options) -> String {
    let names = [
        (options.exec_cgi, "ExecCGI"),
        (options.follow_sym_links, "FollowSymLinks"),
        (options.sym_links_if_owner_match, "SymLinksIfOwnerMatch"),
        (options.indexes, "Indexes"),
    ];
    let set: Vec<&str> = names.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
    format!("({})", set.join(","))
}

pub fn settings(settings: &Settings) -> String {
    let Settings { handler, perl_handlers, cleanup_handlers, psgi_app, mount, set_vars, set_env, .. } = settings;
    let mut out =
        format!("handler {handler:?} mount {mount:?}\nperl {perl_handlers:?}\ncleanup {cleanup_handlers:?}\n");
    settings.phases.said().for_each(|(phase, handlers)| writeln!(out, "{} {handlers:?}", phase.name()).unwrap());
    writeln!(out, "psgi {psgi_app:?}\nvars {set_vars:?}\nenv {set_env:?}").unwrap();
    writeln!(out, "send_header {}\nsetup_env {}", settings.send_header, settings.setup_env).unwrap();
    writeln!(out, "options {}", options(settings.options)).unwrap();
    writeln!(out, "index {:?}\ndefault_type {:?}", settings.directory_index, settings.default_type).unwrap();
    writeln!(out, "body {}\nrequest_timeout {:?}", settings.limit_request_body, settings.request_timeout).unwrap();
    writeln!(out, "queue_timeout {:?}{}", settings.queue_timeout, rule_lines(&settings.rules)).unwrap();
    writeln!(out, "access {}", access(&rules(&settings.access))).unwrap();
    if settings.program != Default::default() {
        writeln!(out, "{:?}", settings.program).unwrap();
    }
    if settings.admission != Default::default() {
        writeln!(out, "{:?}", settings.admission).unwrap();
    }
    out
}

/// Each kind of rule that was said, on a line of its own.
fn rule_lines(rules: &Rules) -> String {
    let mut out = String::new();
    let mut line = |name: &str, said: bool, value: &dyn std::fmt::Debug| {
        if said {
            write!(out, "\n{name} {value:?}").unwrap();
        }
    };
    line("redirects", !rules.redirects.is_empty(), &rules.redirects);
    line("errors", !rules.error_documents.is_empty(), &rules.error_documents);
    line("headers", !rules.headers.is_empty(), &rules.headers);
    line("request_headers", !rules.request_headers.is_empty(), &rules.request_headers);
    line("expires", rules.expires != Default::default(), &rules.expires);
    line("set_env_if", !rules.set_env_if.is_empty(), &rules.set_env_if);
    line("env", !rules.env.is_empty(), &rules.env);
    line("types", rules.types != Default::default(), &rules.types.words());
    line("directory_slash", rules.directory_slash.is_some(), &rules.directory_slash);
    line("signature", rules.signature.is_some(), &rules.signature);
    line("canonical_name", rules.canonical_name.is_some(), &rules.canonical_name);
    line("file_etag", rules.file_etag.is_some(), &rules.file_etag);
    line("compress", rules.compress != Default::default(), &rules.compress);
    line("inflate", rules.inflate != Default::default(), &rules.inflate);
    let listing = format!("{:?}", rules.listing);
    line("listing", listing != format!("{:?}", super::rules::listing::Listing::default()), &rules.listing);
    out
}

//! The report: target of the request, responder, phases, and the responsible lines.

use std::fmt::Write;

use super::ExplainInput;
use super::lines::SectionLines;
use config::{Config, Handler, Phase, PsgiApp};
use front::{Route, explain_redirect};

/// The report. `rewriting` is what rewrite rules do, line by line.
pub fn text(
    input: &ExplainInput,
    config: &Config,
    route: &Route,
    lines: &SectionLines<'_>,
    rewriting: &[String],
) -> String {
    let mut text = format!("{} {}{}\n\n", input.method, input.host, input.path);
    row(&mut text, "virtual host", &host(config, route));
    row(&mut text, "file", &file(route));
    let to_https = explain_redirect(config, input.explained(), route);
    row(&mut text, "answered by", &to_https.unwrap_or_else(|| answered_by(route, lines)));
    if !rewriting.is_empty() {
        row(&mut text, "rewriting", "by rules, whose result may be another place than this one; see below");
    }
    let pool = config.pool_for(&route.settings);
    if config.is_of_programs(pool) {
        let most = config.pool_of(pool).max_clients;
        row(&mut text, "workers", &format!("processes without Perl, at most {most} (CgiMaxProcesses)"));
    } else if !config.more_pools.is_empty() {
        let generation = config.perl_of(pool).generation.number();
        let place = at(route, lines, &["PerlPool"]);
        let name = config.pool_name(pool);
        row(&mut text, "workers", &format!("of pool {name}, PerlGeneration {generation}{place}"));
    }
    if route.settings.has_perl_phases() {
        row(&mut text, "phases", "all in a worker: a phase before the response has Perl code");
    }
    text.push_str("\nphase by phase\n");
    phases(&mut text, config, route, lines);
    if !rewriting.is_empty() {
        text.push_str("\nrewriting, rule by rule, for a request without headers\n");
        for line in rewriting {
            let _ = writeln!(text, "  {line}");
        }
    }
    text.push_str("\nlimits\n");
    limits(&mut text, route);
    text.push_str("\ndirectives that apply; later ones override earlier ones\n");
    text.push_str(&lines.for_route(route));
    text
}

fn row(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<18} {value}");
}

fn host(config: &Config, route: &Route) -> String {
    let at = config.hosts.get(usize::from(route.host)).and_then(|host| config.sections.get(usize::from(host.base)));
    match (route.host, at) {
        (0, _) | (_, None) => format!("{} (the main server)", route.server_name),
        (_, Some(section)) => format!("{}  {}", route.server_name, section.at),
    }
}

fn file(route: &Route) -> String {
    if route.backend.is_some() {
        return "none: a backend answers".to_owned();
    }
    let exists = match std::fs::symlink_metadata(&route.filename) {
        Ok(about) if about.is_dir() => "a folder",
        Ok(_) => "exists",
        Err(_) => "does not exist",
    };
    let by = if route.script_alias { ", by ScriptAlias" } else { "" };
    format!("{} ({exists}{by})", route.filename.display())
}

fn answered_by(route: &Route, lines: &SectionLines<'_>) -> String {
    if let Some(status) = route.refusal {
        return format!("the front, with {}", status.as_u16());
    }
    if let Some(redirect) = &route.redirect {
        let to = redirect.location.as_deref().unwrap_or("no other place");
        return format!("the front: {} to {to}{}", redirect.status, at(route, lines, &REDIRECTS));
    }
    if let Some(to) = &route.backend {
        return format!("the backend {}  {}", to.url, to.at);
    }
    let settings = &route.settings;
    let handled = at(route, lines, &["SetHandler", "AddHandler"]);
    match &settings.handler {
        Handler::PerlScript | Handler::ModPerl => {
            let configured = at(route, lines, &["PerlHandler", "PerlResponseHandler"]);
            format!(
                "a worker, by {}{}",
                settings.perl_handlers.join(", "),
                if configured.is_empty() { handled } else { configured }
            )
        }
        Handler::Psgi => {
            let app = match &settings.psgi_app {
                Some(PsgiApp::File(file)) => file.display().to_string(),
                Some(PsgiApp::Code(_)) => "the code of PsgiEval".to_owned(),
                None => "no application".to_owned(),
            };
            format!("a worker, by the PSGI application {app}{}", at(route, lines, &["PsgiApp", "PsgiEval"]))
        }
        Handler::CgiScript => format!("a worker, as a CGI script{handled}"),
        handler if handler.is_page() => format!("the front: its page {}{handled}", handler.name().unwrap_or_default()),
        Handler::Default => "the front: a file".to_owned(),
        handler => format!("{}{handled}", handler.name().unwrap_or_default()),
    }
}

const REDIRECTS: [&str; 4] = ["Redirect", "RedirectMatch", "RedirectTemp", "RedirectPermanent"];

fn at(route: &Route, lines: &SectionLines<'_>, names: &[&str]) -> String {
    lines.last(route, names).map_or_else(String::new, |at| format!("  {at}"))
}

/// Lists the built-in action and the Perl handlers of each phase.
fn phases(text: &mut String, config: &Config, route: &Route, lines: &SectionLines<'_>) {
    for phase in Phase::ALL.iter().copied().filter(|phase| *phase <= Phase::Cleanup) {
        let perl = match phase {
            Phase::Handler => route.settings.perl_handlers.as_slice(),
            Phase::Cleanup => route.settings.cleanup_handlers.as_slice(),
            _ => route.settings.phases.of(phase),
        };
        let own = without_perl(phase, config, route, lines);
        let perl = perl.iter().map(|name| format!("worker: {name}")).collect::<Vec<_>>().join(", ");
        let handlers: Vec<String> = own.into_iter().chain((!perl.is_empty()).then_some(perl)).collect();
        if !handlers.is_empty() {
            row(text, phase.name().trim_start_matches("Perl"), &handlers.join("; "));
        }
    }
}

/// The built-in action of a phase. The front performs it, or a worker if Perl code runs before the response.
fn without_perl(phase: Phase, config: &Config, route: &Route, lines: &SectionLines<'_>) -> Option<String> {
    let access = &route.settings.access;
    let who = if route.settings.has_perl_phases() { "worker" } else { "front" };
    let what = match phase {
        Phase::Trans => return Some("front: Alias and DocumentRoot map the path to the file".to_owned()),
        Phase::Log => return Some(format!("front: access logs: {}", logs(config, route))),
        Phase::Access if access.hosts.is_empty() => "no Order, Allow or Deny".to_owned(),
        Phase::Access => "Order, Allow and Deny".to_owned(),
        Phase::Authen => match &access.auth_type {
            _ if access.requires.is_empty() => "no user is required".to_owned(),
            Some(kind) => format!("AuthType {kind}"),
            None => "no AuthType: no password is asked for".to_owned(),
        },
        Phase::Authz if !access.requires.is_empty() => {
            format!("Require decides, or refuses with 401 or 403{}", at(route, lines, &["Require"]))
        }
        Phase::Type => "media type by the file name".to_owned(),
        _ => return None,
    };
    Some(format!("{who}: {what}"))
}

fn logs(config: &Config, route: &Route) -> usize {
    let of = |host: usize| config.hosts.get(host).map_or(0, |host| host.access_logs.len());
    match of(usize::from(route.host)) {
        0 => of(0),
        own => own,
    }
}

fn limits(text: &mut String, route: &Route) {
    let settings = &route.settings;
    let seconds = |time: std::time::Duration| match time.as_millis() {
        0 => "no limit".to_owned(),
        _ => format!("{} s", time.as_secs_f64()),
    };
    row(text, "QueueTimeout", &seconds(settings.queue_timeout));
    row(text, "RequestTimeout", &seconds(settings.request_timeout));
    let body = settings.limit_request_body;
    row(text, "LimitRequestBody", &if body == 0 { "no limit".to_owned() } else { format!("{body} bytes") });
}

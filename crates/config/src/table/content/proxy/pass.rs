//! Reverse proxy: backends that answer requests.

use std::sync::Arc;

use super::parameters::{PASSES, parameters};
use super::{balancer, fastcgi, section_url};
use crate::draft::{Draft, OpenedSection};
use crate::model::context::{Rank, Scope, SectionContext};
use crate::model::proxy::pass::ProxyPass;
use crate::model::proxy::reverse::ReverseMap;
use crate::model::proxy::{BackendAddress, BackendParameters, BackendUrl, ErrorOverride, PassFrom, Via};
use crate::syntax::source::Replacing;
use crate::syntax::tree::Directive;
use crate::syntax::value;
use crate::table::checks::arguments;
use crate::table::row::{self, ANYWHERE, HOSTS, MANY, Row, flag, rows, section, word, words};

pub static ROWS: &[Row] = rows![
    "mod_proxy.c",
    words("ProxyPass", PASSES, "[/url-path] URL|! [parameter=value]…", 1..=MANY, |d, args| pass(
        d,
        args,
        Kind::Prefix
    ))
    .replacing(Replacing::UnlessInterpolated)
    .because("this server answers its requests itself"),
    "Passes requests for /url-path and everything below it to a backend: `http://host:port/path`, `https://…`, `ws://…`, `wss://…`, `balancer://name/path`, `fcgi://host:port/path`, or with `unix:/socket|` before it. The rest of the path follows the backend's path. \
            `!` excludes paths. Lines are tried in the order of the file, after that of a `<Location>`, where the path is the section's. Parameters: timeout, connectiontimeout, retry, ttl (seconds), disablereuse=On, \
            upgrade=websocket (or ANY, NONE); words: nocanon, noquery, interpolate. With `balancer://name` those of ProxySet. Bodies stream in both directions.",
    words("ProxyPassMatch", PASSES, "[regex] URL|! [parameter=value]…", 1..=MANY, |d, args| pass(
        d,
        args,
        Kind::Match
    ))
    .replacing(Replacing::UnlessInterpolated)
    .because("see ProxyPass"),
    "As ProxyPass, for paths that match the regular expression; `$1` in the backend's path is the text of its first group. Without such a group the whole path follows.",
    flag("ProxyPassInherit", HOSTS, |d, on| d.host().inherits_passes = Some(on))
        .default("On", "as in httpd: virtual hosts pass the main server's paths, too"),
    "Whether the ProxyPass lines of the main server apply in a virtual host. Off in the main server is the default of all hosts.",
    word("ProxySourceAddress", HOSTS, "address", |d, text| {
        let address = text.parse().map_err(|_| format!("expected an IP address of this machine, got \"{text}\""))?;
        d.settings().proxy.source = Some(address);
        Ok(())
    })
    .because("the kernel chooses the address by the route"),
    "The local address of connections to backends. A backend that has only addresses of the other version of IP is not reached.",
    words("ProxyPassReverse", PASSES, "[/url-path] URL", 1..=3, reverse)
        .replacing(Replacing::UnlessInterpolated)
        .because("backends that know their public address need no rewriting"),
    "Rewrites Location, Content-Location and URI fields of backends: a URL that begins with URL becomes one of this server that begins with /url-path. Bodies stay as they are.",
    words("ProxyPassReverseCookieDomain", PASSES, "internal-domain public-domain", 2..=3, |d, args| {
        let [there, here, ..] = args else { return Ok(()) };
        d.settings().proxy.cookie_domains.push((there.clone(), here.clone()));
        Ok(())
    })
    .replacing(Replacing::UnlessInterpolated)
    .because("see ProxyPassReverse"),
    "Replaces the domain of cookies that backends set.",
    words("ProxyPassReverseCookiePath", PASSES, "internal-path public-path", 2..=3, |d, args| {
        let [there, here, ..] = args else { return Ok(()) };
        d.settings().proxy.cookie_paths.push((there.clone(), here.clone()));
        Ok(())
    })
    .replacing(Replacing::UnlessInterpolated)
    .because("see ProxyPassReverse"),
    "Replaces the beginning of the path of cookies that backends set.",
    flag("ProxyPreserveHost", ANYWHERE, |d, on| d.settings().proxy.preserve_host = Some(on))
        .default("off", "as in httpd: the backend gets the host of its own address"),
    "Passes the client's Host field to the backend.",
    flag("ProxyAddHeaders", ANYWHERE, |d, on| d.settings().proxy.add_headers = Some(on))
        .default("on", "httpd's default: programs behind a proxy need the client's address"),
    "Adds X-Forwarded-For, X-Forwarded-Host and X-Forwarded-Server to requests for backends.",
    words("ProxyErrorOverride", ANYWHERE, "on|off [status…]", 1..=MANY, error_override)
        .default("off", "the backend's page usually explains the error best"),
    "Replaces a backend's error pages, of all statuses from 400 on or of the listed ones, by those of this server and by ErrorDocument.",
    row::duration("ProxyTimeout", PASSES, |d, time| d.settings().proxy.timeout = Some(time)).because("Timeout applies"),
    "Longest wait for the next piece from a backend; then the client gets 504, or the rest of its response is missing.",
    word("ProxyVia", PASSES, "on|off|full|block", |d, word| {
        d.settings().proxy.via = Some(match word.to_ascii_lowercase().as_str() {
            "off" => Via::Off,
            "on" => Via::On,
            "full" => Via::Full,
            "block" => Via::Block,
            _ => return Err(format!("expected on, off, full or block, got \"{word}\"")),
        });
        Ok(())
    })
    .default("off", "httpd's default; few programs read Via"),
    "Adds this server to Via fields of requests and responses; `block` removes them.",
    flag("ProxyPassInterpolateEnv", PASSES, |d, on| d.settings().proxy.interpolate = Some(on))
        .default("off", "few lines need it"),
    "Whether `${NAME}` in the path of a ProxyPass with the word `interpolate` is a variable of the request.",
    flag("ProxyWebsocketFallbackToProxyHttp", HOSTS, |d, on| d.settings().proxy.websocket_fallback = Some(on))
        .of("mod_proxy_wstunnel.c")
        .default("on", "as in httpd"),
    "Whether a backend of ws:// and wss:// also gets requests that ask for no WebSocket.",
    section("Proxy", HOSTS, "URL [parameter=value]…", 1..=MANY, proxy)
        .because("the directives inside have their own defaults"),
    "Settings for requests that are passed to a backend whose URL begins with URL; `*` stands for any text. Parameters are \
     those of ProxySet, for a balancer; those of another backend stand behind its ProxyPass. `<Directory>`, `<Files>` and `.htaccess` do not apply to such requests.",
    section("ProxyMatch", HOSTS, "regex", 1..=1, |d, args, _| {
        let pattern = d.pattern(args.first().map_or("", String::as_str))?;
        d.container(SectionContext::Location, Scope::Backend(pattern), Rank::BACKEND)
    })
    .because("see Proxy"),
    "As Proxy, for URLs of backends that match the regular expression.",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Prefix,
    Match,
}

/// `ProxyPass [/path] URL|! [parameter=value]…`
fn pass(draft: &mut Draft, args: &[String], kind: Kind) -> Result<(), String> {
    let in_place = draft.is_in_container();
    let (from, rest) = match (in_place, args) {
        (true, rest) => (place(draft)?, rest),
        (false, [from, rest @ ..]) if !rest.is_empty() => match kind {
            Kind::Match => (PassFrom::Match(draft.pattern(from)?), rest),
            Kind::Prefix if from.starts_with('/') => (PassFrom::Prefix(from.clone()), rest),
            Kind::Prefix => return Err(format!("expected a path that begins with /, got \"{from}\"")),
        },
        _ => return Err(format!("expected a path and a URL, got {}", arguments(args.len()))),
    };
    let [to, parameters @ ..] = rest else { return Err("expected a URL or !".to_owned()) };
    let to = if to == "!" { None } else { Some(BackendUrl::parse(to)?) };
    let parameters = match to.as_ref().map(|to| &to.address) {
        Some(BackendAddress::Balancer(name)) => of_balancer(draft, name, parameters)?,
        _ => self::parameters(draft, parameters)?,
    };
    if parameters.interpolate && parameters.nocanon {
        return Err(
            "interpolate and nocanon exclude each other: clients could name variables in their paths".to_owned()
        );
    }
    let parameters = Arc::new(parameters);
    advise(draft, to.as_ref());
    fastcgi::name(draft, to.as_ref());
    let pass = ProxyPass { from, to, parameters, at: draft.at.clone() };
    match in_place {
        true => draft.settings().proxy.of_place = Some(pass),
        false => draft.settings().proxy.passes.lines.push(pass),
    }
    Ok(())
}

/// For `check`: a backend on a port of Perl's own servers may be a program that this server can run.
fn advise(draft: &mut Draft, to: Option<&BackendUrl>) {
    let Some(BackendUrl { address: BackendAddress::Tcp(host, port @ (3000 | 5000 | 8080)), .. }) = to else { return };
    if draft.facts.check && ["127.0.0.1", "localhost", "::1"].contains(&host.as_str()) {
        draft.warn(&format!(
            "port {port} is one that Starman, plackup, hypnotoad and Mojolicious use: if this backend is a PSGI application, \
             `PsgiApp /path/app.psgi` in its <Location> lets Cameleer run it without another server"
        ));
    }
}

/// The paths of the current `<Location>`.
fn place(draft: &mut Draft) -> Result<PassFrom, String> {
    let section = usize::from(draft.position.section);
    match draft.config.sections.get(section).map(|section| &section.scope) {
        Some(Scope::Location(path)) => Ok(PassFrom::Prefix(path.clone())),
        Some(Scope::LocationMatch(pattern)) => Ok(PassFrom::Match(pattern.clone())),
        _ => Err("is only allowed in the server, a virtual host or <Location>".to_owned()),
    }
}

/// Parameters of a line that leads to a balancer: words about the path are the line's, all others the balancer's.
fn of_balancer(draft: &mut Draft, name: &str, words: &[String]) -> Result<BackendParameters, String> {
    let is_about_the_path =
        |word: &&String| ["nocanon", "noquery", "interpolate"].iter().any(|known| word.eq_ignore_ascii_case(known));
    let (own, others): (Vec<&String>, Vec<&String>) = words.iter().partition(is_about_the_path);
    let [own, others] = [own, others].map(|words| words.into_iter().cloned().collect::<Vec<_>>());
    balancer::set_all(draft, name, &others)?;
    parameters(draft, &own)
}

/// `ProxyPassReverse [/path] URL`
fn reverse(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let args: Vec<&String> = args.iter().filter(|arg| !arg.eq_ignore_ascii_case("interpolate")).collect();
    let (here, there) = match args[..] {
        [there] if draft.is_in_container() => match place(draft)? {
            PassFrom::Prefix(path) => (path, there.clone()),
            PassFrom::Match(_) => {
                return Err("is not allowed in <LocationMatch>; write the path and put the line outside".to_owned());
            }
        },
        [here, there] => (here.clone(), there.clone()),
        _ => return Err(format!("expected a path and a URL, got {}", arguments(args.len()))),
    };
    // A socket is no part of the URLs that a backend names.
    let there = there.split_once('|').map_or(there.clone(), |(_, url)| url.to_owned());
    draft.settings().proxy.reverses.push(ReverseMap { here, there });
    Ok(())
}

/// `ProxyErrorOverride on|off [status…]`
fn error_override(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let [word, statuses @ ..] = args else { return Ok(()) };
    let statuses = statuses.iter().map(|status| {
        let number = status.parse().ok().filter(|number| (400..600).contains(number));
        number.ok_or_else(|| format!("expected a status from 400 to 599, got \"{status}\""))
    });
    let statuses: Vec<u16> = statuses.collect::<Result<_, _>>()?;
    draft.settings().proxy.error_override = Some(match value::flag(word)? {
        false => ErrorOverride::Off,
        true if statuses.is_empty() => ErrorOverride::All,
        true => ErrorOverride::These(statuses),
    });
    Ok(())
}

/// `<Proxy URL>`, `<Proxy ~ regex>`
fn proxy(draft: &mut Draft, args: &[String], _: &[Directive]) -> OpenedSection {
    let (url, words) = match args {
        [tilde, regex] if tilde == "~" => {
            let pattern = draft.pattern(regex)?;
            return draft.container(SectionContext::Location, Scope::Backend(pattern), Rank::BACKEND);
        }
        [url, words @ ..] if words.iter().all(|word| word.contains('=')) => (url, words),
        _ => return Err(format!("expected one URL, got {}", arguments(args.len()))),
    };
    let backend = BackendUrl::parse(url).ok();
    fastcgi::name(draft, backend.as_ref());
    let pattern = draft.pattern(&section_url::regex(url))?;
    let opened = draft.container(SectionContext::Location, Scope::Backend(pattern), Rank::BACKEND)?;
    match (&opened, backend.map(|backend| backend.address)) {
        (Some(position), Some(BackendAddress::Balancer(name))) => {
            draft.balancers.sections.push((position.section, name.clone()));
            balancer::set_all(draft, &name, words)?;
        }
        _ => balancer::of_backend(draft, words)?,
    }
    Ok(opened)
}

//! Balancers: groups of backends of which one answers a request.

use std::sync::Arc;

use super::health;
use super::parameters::{PASSES, backend_parameter, parameters};
use crate::draft::Draft;
use crate::model::proxy::balancer::{
    Balancer, BalancerMember, BalancerSettings, HealthCheckMethod, LbMethod, MAX_MEMBERS, MemberStatus, StickySession,
};
use crate::model::proxy::{BackendAddress, BackendParameters, BackendScheme, BackendUrl};
use crate::syntax::tree::ConfigError;
use crate::syntax::value::{flag, number};
use crate::table::row::{self, HOSTS, MANY, Row, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_proxy.c",
    words("BalancerMember", PASSES, "[balancer://name] URL [parameter=value]…", 1..=MANY, member)
        .because("see ProxyPass"),
    "A backend of a balancer: in `<Proxy balancer://name>`, or with the balancer's URL first. Parameters: those of \
     ProxyPass, and route, redirect, loadfactor (1 to 100), lbset, status (letters D S I R H E N with + or -), hcmethod \
     (TCP, OPTIONS, HEAD, GET), hcinterval, hcpasses, hcfails, hcuri, hcexpr, hctemplate.",
    words("ProxySet", PASSES, "[balancer://name] parameter=value…", 1..=MANY, set).because("see ProxyPass"),
    "Parameters of a balancer: in `<Proxy balancer://name>`, or with its URL first. lbmethod (byrequests, bytraffic, \
     bybusyness), stickysession=cookie|parameter, stickysessionsep, scolonpathdelim, nofailover, maxattempts, \
     failonstatus, failontimeout, forcerecovery.",
    row::flag("BalancerInherit", HOSTS, |d, on| d.host().inherits_balancers = Some(on)).default(
        "On",
        "as in httpd: virtual hosts know the main server's balancers"
    ),
    "Whether a virtual host knows the balancers of the main server.",
    row::flag("BalancerPersist", HOSTS, |d, on| {
        if on {
            d.warn("members in error are remembered over a reload until their time of retry is over, and over a restart not at all");
        }
    })
    .because("Off, as in httpd"),
    "Accepted: marks of members survive a reload anyway, and never a restart.",
    words("ProxyHCExpr", HOSTS, "name {expression}", 2..=MANY, health::condition).of("mod_proxy_hcheck.c").because("see BalancerMember"),
    "Names a condition for hcexpr: `%{REQUEST_STATUS} =~ /regex/` or `hc('body') =~ /regex/`, each also with `!~`.",
    words("ProxyHCTemplate", HOSTS, "name parameter=value…", 2..=MANY, health::template).of("mod_proxy_hcheck.c").because("see BalancerMember"),
    "Names a list of hc… parameters, for hctemplate of BalancerMember.",
    word("ProxyHCTPsize", HOSTS, "number", |_, text| number(text, &(1..=1024)).map(drop)).of("mod_proxy_hcheck.c")
        .because("checks need no threads"),
    "Accepted: checks run in the front's first thread, each in a task of its own.",
];

impl Draft {
    /// The balancer of this name of the current host, which is made if it does not exist.
    pub fn balancer(&mut self, name: &str) -> Option<&mut Balancer> {
        let (host, at) = (self.position.host, self.at.clone());
        let all = &mut self.config.balancers;
        let known = all.iter().position(|one| one.host == host && one.name == name);
        let index = known.unwrap_or(all.len());
        if known.is_none() {
            let (members, settings) = (Vec::new(), BalancerSettings::default());
            all.push(Balancer { host, name: name.to_owned(), members, settings, at });
        }
        all.get_mut(index)
    }

    /// Requires members of each balancer to which a line leads.
    pub fn check_balancers(&mut self) {
        let lines = self
            .config
            .sections
            .iter()
            .flat_map(|section| section.own.proxy.of_place.iter().chain(&section.own.proxy.passes.lines));
        let named = lines.filter_map(|pass| Some((&pass.at, balancer_of(pass.to.as_ref()?)?)));
        let has_members =
            |name: &str| self.config.balancers.iter().any(|one| one.name == name && !one.members.is_empty());
        let errors = named.filter(|(_, name)| !has_members(name)).map(|(at, name)| {
            let advice = format!("write <Proxy balancer://{name}> with BalancerMember");
            ConfigError::at(at, format!("ProxyPass: balancer://{name} has no members; {advice}"))
        });
        let errors: Vec<ConfigError> = errors.collect();
        self.errors.extend(errors);
    }
}

fn balancer_of(url: &BackendUrl) -> Option<&str> {
    match &url.address {
        BackendAddress::Balancer(name) => Some(name),
        _ => None,
    }
}

/// The balancer that the first argument or the section names, and the further arguments.
fn named<'a>(draft: &Draft, args: &'a [String]) -> Result<(String, &'a [String]), String> {
    let name_in = |text: &String| balancer_of(&BackendUrl::parse(text).ok()?).map(str::to_owned);
    if let [first, rest @ ..] = args
        && let Some(name) = name_in(first)
    {
        return Ok((name, rest));
    }
    let section = draft.position.section;
    let of_section = draft.balancers.sections.iter().find(|(known, _)| *known == section);
    let name = of_section.map(|(_, name)| name.clone());
    Ok((name.ok_or("expected balancer://name first, or a place in <Proxy balancer://name>")?, args))
}

/// `BalancerMember [balancer://name] URL [parameter=value]…`
fn member(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let (name, args) = named(draft, args)?;
    let [url, words @ ..] = args else { return Err("expected the URL of a backend".to_owned()) };
    let url = BackendUrl::parse(url)?;
    if url.scheme == BackendScheme::Balancer {
        return Err("a balancer cannot be a member of another; list the members of both in one".to_owned());
    }
    if url.scheme == BackendScheme::Fcgi {
        return Err("FastCGI applications cannot be members; let ProxyPass lead to one, and the application start more processes".to_owned());
    }
    let mut backend = BackendParameters::default();
    let mut member = BalancerMember {
        url,
        parameters: Arc::default(),
        route: String::new(),
        redirect: String::new(),
        load_factor: 100,
        lb_set: 0,
        status: MemberStatus::default(),
        check: None,
        at: draft.at.clone(),
    };
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let key = key.to_ascii_lowercase();
        if !member_parameter(&mut member, &key, value)? && !health::parameter(draft, &mut member.check, &key, value)? {
            backend_parameter(draft, &mut backend, &key, value)?;
        }
    }
    if let Some(check) = &member.check
        && check.method == HealthCheckMethod::Tcp
        && (check.uri.is_some() || check.condition.is_some())
    {
        draft.warn("hcuri and hcexpr have no effect with hcmethod=TCP; set hcmethod to GET, HEAD or OPTIONS");
    }
    member.parameters = Arc::new(backend);
    let Some(balancer) = draft.balancer(&name) else { return Ok(()) };
    if balancer.members.len() >= MAX_MEMBERS {
        return Err(format!(
            "balancer://{name} has more than {MAX_MEMBERS} members; remove some, or divide them between two balancers"
        ));
    }
    balancer.members.push(member);
    Ok(())
}

/// Applies a parameter of members only; false for others.
fn member_parameter(member: &mut BalancerMember, key: &str, value: &str) -> Result<bool, String> {
    match key {
        "route" => value.clone_into(&mut member.route),
        "redirect" => value.clone_into(&mut member.redirect),
        "lbset" => member.lb_set = number(value, &(0..=99)).map_err(|why| format!("lbset: {why}"))? as u8,
        "loadfactor" => member.load_factor = load_factor(value)?,
        "status" => member.status.change(value)?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn load_factor(text: &str) -> Result<u32, String> {
    let hundredths = text.parse::<f64>().ok().map(|factor| (factor * 100.0).round());
    let hundredths = hundredths.filter(|factor| (100.0..=10_000.0).contains(factor));
    Ok(hundredths.ok_or_else(|| format!("loadfactor: expected a number from 1 to 100, got \"{text}\""))? as u32)
}

impl MemberStatus {
    /// Applies letters with + or -, as `+H-D`.
    fn change(&mut self, letters: &str) -> Result<(), String> {
        let mut on = true;
        for letter in letters.chars() {
            let mark = match letter.to_ascii_uppercase() {
                '+' | '-' => {
                    on = letter == '+';
                    continue;
                }
                'D' => &mut self.disabled,
                'S' => &mut self.stopped,
                'I' => &mut self.ignore_errors,
                'R' => &mut self.hot_spare,
                'H' => &mut self.hot_standby,
                'E' => &mut self.in_error,
                'N' => &mut self.draining,
                _ => return Err(format!("status: expected letters of D S I R H E N with + or -, got \"{letters}\"")),
            };
            *mark = on;
        }
        Ok(())
    }
}

/// `ProxySet [balancer://name] parameter=value…`
fn set(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    if let Ok((name, words)) = named(draft, args) {
        return set_all(draft, &name, words);
    }
    let words = match args {
        [url, words @ ..] if url.contains("://") && !url.contains('=') => words,
        words => words,
    };
    of_backend(draft, words)
}

/// Parameters of a backend, in its `<Proxy>` section.
pub fn of_backend(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    if !words.is_empty() {
        parameters(draft, words)?;
        draft.warn("parameters of a backend count behind its ProxyPass only; these are ignored");
    }
    Ok(())
}

/// Sets parameters of a balancer.
pub fn set_all(draft: &mut Draft, name: &str, words: &[String]) -> Result<(), String> {
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let key = key.to_ascii_lowercase();
        if matches!(&*key, "timeout" | "growth" | "nonce") {
            draft.warn(&format!("{key} has no effect for balancers: requests do not wait for a free connection"));
            continue;
        }
        if key == "lbmethod" && value == "heartbeat" {
            draft.warn("lbmethod=heartbeat counts as bybusyness: members send no messages about their load");
        }
        let Some(balancer) = draft.balancer(name) else { return Ok(()) };
        let known = parameter(&mut balancer.settings, &key, value).map_err(|why| format!("{key}: {why}"))?;
        if !known {
            return Err(format!(
                "the parameter {key} of balancers is not supported; expected lbmethod, stickysession, stickysessionsep, \
                 scolonpathdelim, nofailover, maxattempts, failonstatus, failontimeout or forcerecovery"
            ));
        }
    }
    Ok(())
}

fn parameter(settings: &mut BalancerSettings, key: &str, value: &str) -> Result<bool, String> {
    match key {
        "lbmethod" => settings.method = method(value)?,
        "stickysession" => {
            let (cookie, parameter) = value.split_once('|').unwrap_or((value, value));
            settings.sticky = Some(StickySession { cookie: cookie.to_owned(), parameter: parameter.to_owned() });
        }
        "stickysessionsep" => {
            settings.separator = match value {
                "" => return Err("expected a character, or off".to_owned()),
                value if value.eq_ignore_ascii_case("off") => None,
                value => value.chars().next(),
            }
        }
        "scolonpathdelim" => settings.semicolon_ends = flag(value)?,
        "nofailover" => settings.no_failover = flag(value)?,
        "maxattempts" => settings.max_attempts = Some(number(value, &(0..=10_000))? as u32),
        "failontimeout" => settings.fail_on_timeout = flag(value)?,
        "forcerecovery" => settings.force_recovery = flag(value)?,
        "failonstatus" => {
            let statuses = value.split(',').map(|status| number(status, &(100..=599)).map(|status| status as u16));
            settings.fail_on_status = statuses.collect::<Result<_, _>>()?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn method(name: &str) -> Result<LbMethod, String> {
    match name {
        "byrequests" => Ok(LbMethod::ByRequests),
        "bytraffic" => Ok(LbMethod::ByTraffic),
        "bybusyness" | "heartbeat" => Ok(LbMethod::ByBusyness),
        _ => Err(format!("expected byrequests, bytraffic or bybusyness, got \"{name}\"")),
    }
}

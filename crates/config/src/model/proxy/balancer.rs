//! Balancers: groups of backends of which one answers a request. The meaning is that of httpd 2.4's mod_proxy_balancer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::pass::BackendParameters;
use super::url::BackendUrl;
use crate::syntax::pattern::Pattern;
use crate::syntax::tree::At;

/// Maximum number of members of a balancer: a choice looks at each of them.
pub const MAX_MEMBERS: usize = 256;

/// The target of `balancer://name`, which spreads requests over its members.
#[derive(Debug, Clone)]
pub struct Balancer {
    /// Index of the host that defines the balancer.
    pub host: u16,
    /// The name in `balancer://name`, in lower case.
    pub name: String,
    /// The backends, in the order of the file.
    pub members: Vec<BalancerMember>,
    /// How a member is chosen.
    pub settings: BalancerSettings,
    /// Position of the directive that first names the balancer.
    pub at: At,
}

/// How a balancer chooses members: `ProxySet`, parameters of `ProxyPass`.
#[derive(Debug, Clone)]
pub struct BalancerSettings {
    /// `lbmethod`
    pub method: LbMethod,
    /// `stickysession`
    pub sticky: Option<StickySession>,
    /// `stickysessionsep`: what stands between a session's name and its route; `None`: nothing, the value is the route.
    pub separator: Option<char>,
    /// `scolonpathdelim`: a semicolon ends the value in a path, too.
    pub semicolon_ends: bool,
    /// `nofailover`: a session whose member is down gets 503.
    pub no_failover: bool,
    /// `failonstatus`: statuses that put a member in error.
    pub fail_on_status: Vec<u16>,
    /// `failontimeout`: a timeout puts a member in error.
    pub fail_on_timeout: bool,
    /// `maxattempts`: most further members that are tried; `None`: all.
    pub max_attempts: Option<u32>,
    /// `forcerecovery`: if all members are in error, all are tried at once.
    pub force_recovery: bool,
}

/// `lbmethod`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LbMethod {
    /// `byrequests`, the default: in proportion to `loadfactor`.
    #[default]
    ByRequests,
    /// By the number of bytes, in both directions.
    ByTraffic,
    /// By the number of running requests.
    ByBusyness,
}

/// `stickysession=cookie|parameter`: where a client names the route of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StickySession {
    /// The cookie whose value ends with the member's route.
    pub cookie: String,
    /// Name of the parameter in the path or query.
    pub parameter: String,
}

/// `BalancerMember`
#[derive(Debug, Clone)]
pub struct BalancerMember {
    /// The backend, with the beginning of its paths.
    pub url: BackendUrl,
    /// Parameters of its connections.
    pub parameters: Arc<BackendParameters>,
    /// `route`: the name of the member in sessions; empty: none.
    pub route: String,
    /// `redirect`: the route that takes over the sessions of this member while it is not usable; empty: none.
    pub redirect: String,
    /// `loadfactor`, in hundredths: 1 to 10000.
    pub load_factor: u32,
    /// `lbset`: members of a higher set are used if those of the lower ones cannot be.
    pub lb_set: u8,
    /// `status`
    pub status: MemberStatus,
    /// Active checks.
    pub check: Option<HealthCheck>,
    /// Position of the directive.
    pub at: At,
}

/// `status`: administrator's marks of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberStatus {
    /// `D`: disabled.
    pub disabled: bool,
    /// `S`: stopped.
    pub stopped: bool,
    /// `I`: never in error.
    pub ignore_errors: bool,
    /// `R`: used while another member of its set cannot be.
    pub hot_spare: bool,
    /// `H`: used while no other member of its set can be.
    pub hot_standby: bool,
    /// `E`: begins in error.
    pub in_error: bool,
    /// `N`: only for its sessions.
    pub draining: bool,
}

/// Active checks of a member: mod_proxy_hcheck.
#[derive(Debug, Clone)]
pub struct HealthCheck {
    /// `hcmethod`
    pub method: HealthCheckMethod,
    /// `hcinterval`
    pub interval: Duration,
    /// `hcpasses`: successes in a row after which the member is used again.
    pub passes: u32,
    /// `hcfails`: failures in a row after which the member is not used.
    pub fails: u32,
    /// `hcuri`: path of the request; `None`: that of the member.
    pub uri: Option<String>,
    /// `hcexpr`: whether a response is a success; `None`: its status is below 400.
    pub condition: Option<HealthCondition>,
}

/// `hcmethod`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthCheckMethod {
    /// A connection is success.
    Tcp,
    /// A request with `OPTIONS`.
    Options,
    /// A request with `HEAD`.
    Head,
    /// A request with `GET`.
    Get,
}

/// `ProxyHCExpr`: a comparison of a response's status or body with a regular expression.
#[derive(Debug, Clone)]
pub struct HealthCondition {
    /// Whether the body is compared; otherwise the status.
    pub of_body: bool,
    /// Whether the pattern must not match.
    pub negated: bool,
    /// Searched in the status or the body.
    pub pattern: Pattern,
}

/// Facts about balancers that are needed until the configuration is complete.
#[derive(Debug, Clone, Default)]
pub struct BalancerDraft {
    /// Names of the balancers of `<Proxy balancer://name>`, by the index of the section.
    pub sections: Vec<(u16, String)>,
    /// `ProxyHCExpr` and `ProxyHCTemplate`.
    pub checks: CheckTemplates,
}

/// Named conditions and lists of parameters, in lower case.
#[derive(Debug, Clone, Default)]
pub struct CheckTemplates {
    /// `ProxyHCExpr`
    pub conditions: HashMap<String, HealthCondition>,
    /// `ProxyHCTemplate`: parameters and values.
    pub templates: HashMap<String, Vec<(String, String)>>,
}

impl Default for BalancerSettings {
    fn default() -> BalancerSettings {
        BalancerSettings {
            method: LbMethod::default(),
            sticky: None,
            separator: Some('.'),
            semicolon_ends: false,
            no_failover: false,
            fail_on_status: Vec::new(),
            fail_on_timeout: false,
            max_attempts: None,
            force_recovery: true,
        }
    }
}

impl Default for HealthCheck {
    fn default() -> HealthCheck {
        let interval = Duration::from_secs(30);
        HealthCheck { method: HealthCheckMethod::Tcp, interval, passes: 1, fails: 1, uri: None, condition: None }
    }
}

impl LbMethod {
    /// The name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            LbMethod::ByRequests => "byrequests",
            LbMethod::ByTraffic => "bytraffic",
            LbMethod::ByBusyness => "bybusyness",
        }
    }
}

impl HealthCondition {
    /// Whether a response fulfils the condition.
    pub fn holds(&self, status: u16, body: &str) -> bool {
        let subject = if self.of_body { body } else { &*status.to_string() };
        self.pattern.is_match(subject) != self.negated
    }
}

impl BalancerSettings {
    /// The route that a client names in its path and query, or in its cookies.
    pub fn route_of(&self, target: &str, cookies: &[&str]) -> Option<String> {
        let sticky = self.sticky.as_ref()?;
        let ends: &[char] = if self.semicolon_ends { &['?', '&', ';'] } else { &['?', '&'] };
        let session = parameter(target, &sticky.parameter, ends)
            .or_else(|| cookies.iter().find_map(|line| cookie(line, &sticky.cookie)))?;
        let route = match self.separator {
            Some(separator) => session.split_once(separator)?.1,
            None => session,
        };
        (!route.is_empty()).then(|| route.to_owned())
    }
}

/// The value of `name=value` in a path or query.
fn parameter<'a>(target: &'a str, name: &str, ends: &[char]) -> Option<&'a str> {
    let mut rest = target;
    while let Some((_, after)) = rest.split_once(name).filter(|_| !name.is_empty()) {
        if let Some(value) = after.strip_prefix('=') {
            let value = value.split(ends).next().unwrap_or_default();
            return (!value.is_empty()).then_some(value);
        }
        rest = after;
    }
    None
}

fn cookie<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let pairs = line.split([';', ',']).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(known, _)| known.trim() == name).map(|(_, value)| value.trim_matches('"')).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_behind_the_separator_of_a_parameter_or_a_cookie() {
        let both = StickySession { cookie: "ROUTE".to_owned(), parameter: "jsessionid".to_owned() };
        let settings = BalancerSettings { sticky: Some(both), ..BalancerSettings::default() };
        let route = |target, cookies: &[&str]| settings.route_of(target, cookies);
        assert_eq!(route("/a;jsessionid=1.x?b", &[]), Some("x".to_owned()));
        assert_eq!(route("/a?c=d&jsessionid=1.x&b", &["ROUTE=.y"]), Some("x".to_owned()));
        assert_eq!(route("/a", &["a=b; ROUTE=.y"]), Some("y".to_owned()));
        assert_eq!(route("/a", &["XROUTE=.y"]), None);
        assert_eq!(route("/a", &["ROUTE=y"]), None);
        let bare = BalancerSettings { separator: None, ..settings.clone() };
        assert_eq!(bare.route_of("/a", &["ROUTE=y"]), Some("y".to_owned()));
        let short = BalancerSettings { semicolon_ends: true, ..settings.clone() };
        assert_eq!(short.route_of("/a;jsessionid=1.x;v=2", &[]), Some("x".to_owned()));
    }
}

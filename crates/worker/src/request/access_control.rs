//! Access control for locations that the front has not judged: internal redirects and subrequests, and locations
//! where Perl code decides about users. The rules are the front's, in [`access`].

use std::cell::Cell;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;

use super::complaint::complain;
use super::phases::{DECLINED, Going, OK, Stop};
use super::variables;
use crate::location::ResolvedLocation;
use crate::site::Site;
use access::{Asked, Facts, Name, Proof, RequirementAnswer, User, Verdict, challenge, judge, names};
use config::access::{AccessRules, AuthzProvider, FileTurn, Methods, Satisfy};
use config::{Phase, work};

impl Site {
    /// Checks access. With `Satisfy Any`, either the client's address or its user suffices.
    pub(super) fn admit(&self, location: &Rc<ResolvedLocation>, request: u64, is_judged: bool) -> Going {
        let rules = &location.settings.access;
        let method = apache::method(request);
        if !rules.allows(&method) {
            complain(request, &format!("client method denied by AllowMethods: {method}"));
            return Err(Stop(405));
        }
        let asks_perl = location.settings.asks_perl_for_users()
            || [Phase::Authen, Phase::Authz].into_iter().any(|p| self.has_handlers(location, request, p));
        let any = rules.satisfy == Some(Satisfy::Any);
        if is_judged && !asks_perl && !rules.asks_providers() && !any {
            return self.all(location, request, Phase::Access);
        }
        let methods = Methods::of(&method);
        let is_welcome = self
            .all(location, request, Phase::Access)
            .and_then(|()| self.ask(&rules.of_addresses(), rules, Visitor { request, methods, user: None }));
        match is_welcome {
            Ok(()) if any => Ok(()),
            Err(stop) if !any || !rules.requires.iter().any(|line| line.methods.has(methods)) => Err(stop),
            _ => self.admit_user(location, request, methods),
        }
    }

    /// Checks the user. As in httpd 2.4, no credentials are requested if the result is the same for every user.
    fn admit_user(&self, location: &Rc<ResolvedLocation>, request: u64, methods: Methods) -> Going {
        let rules = &location.settings.access;
        let part = rules.of_users();
        let nobody = Visitor { request, methods, user: None };
        let verdict = self.verdict(&part, nobody)?;
        if verdict != Verdict::NeedsUser {
            return admitted(verdict, rules, nobody);
        }
        let user = self.identify(location, request)?;
        let visitor = Visitor { user: Some(&user), ..nobody };
        if rules.are_asked_first() && self.verdict(&part, visitor)? == Verdict::Allowed {
            return Ok(());
        }
        if self.first(location, request, Phase::Authz)? == OK {
            return Ok(());
        }
        self.ask(&part, rules, visitor)
    }

    /// Returns the answer of a PerlAddAuthzProvider.
    fn asked(&self, provider: &AuthzProvider, request: u64) -> Result<RequirementAnswer, Stop> {
        let words = format!("{}\0{}", provider.handler, provider.words);
        let said = self.perl.ask(c"Cameleer::ModPerl2::authorize", &words);
        self.end_forked_child(said.as_ref().err());
        match said.map_err(|interrupted| Stop(self.left(request, interrupted)))?.as_str() {
            "0" => Ok(RequirementAnswer::Denied),
            "1" => Ok(RequirementAnswer::Granted),
            "2" => Ok(RequirementAnswer::Neutral),
            "4" => Ok(RequirementAnswer::NeedsUser),
            other => {
                complain(request, &format!("the provider {} returned \"{}\"", provider.handler, other.escape_debug()));
                Err(Stop(500))
            }
        }
    }

    /// Identifies the user by PerlAuthenHandler or AuthUserFile; `AuthAuthoritative` sets the order.
    fn identify(&self, location: &Rc<ResolvedLocation>, request: u64) -> Result<User, Stop> {
        let rules = &location.settings.access;
        let is_file_first = rules.are_asked_first() || rules.passwords.file == FileTurn::First;
        let ours = (is_file_first && rules.has_users()).then(|| self.compare(rules, request));
        let proof = match ours {
            Some(proof @ (Proof::Is(_) | Proof::Refused(_) | Proof::Misconfigured(_))) => proof,
            unknown => match self.perl_knows(location, request)? {
                OK => self.users.wait(rules, Asked::Proven(apache::user(request).unwrap_or_default())),
                _ if self.is_left_to_perl(location, request) => {
                    Proof::Unknown("no PerlAuthenHandler identifies the user, and there is no AuthUserFile".to_owned())
                }
                _ => unknown.unwrap_or_else(|| self.compare(rules, request)),
            },
        };
        proven(proof, rules, request)
    }

    /// Runs PerlAuthenHandlers, then PerlAddAuthnProviders, to identify the client; DECLINED if none identifies it.
    fn perl_knows(&self, location: &Rc<ResolvedLocation>, request: u64) -> Result<i32, Stop> {
        let mut said = self.first(location, request, Phase::Authen)?;
        for handler in &location.settings.access.passwords.handlers {
            if said == DECLINED {
                said = self.is_password_right(handler, request)?;
            }
        }
        Ok(said)
    }

    fn is_password_right(&self, handler: &str, request: u64) -> Result<i32, Stop> {
        let said = self.perl.ask(c"Cameleer::ModPerl2::authenticate", handler);
        self.end_forked_child(said.as_ref().err());
        match said.map_err(|interrupted| Stop(self.left(request, interrupted)))?.parse() {
            Ok(known @ (OK | DECLINED)) => Ok(known),
            refused => Err(Stop(refused.unwrap_or(500))),
        }
    }

    /// Checks only the client's address.
    pub(super) fn check_address(&self, location: &Rc<ResolvedLocation>, request: u64) -> Result<i32, Stop> {
        let rules = &location.settings.access;
        let methods = Methods::of(&apache::method(request));
        self.all(location, request, Phase::Access)?;
        self.ask(&rules.of_addresses(), rules, Visitor { request, methods, user: None })?;
        Ok(OK)
    }

    /// Identifies the user by Perl code or the AuthUserFile; DECLINED if neither applies.
    pub(super) fn check_user(&self, location: &Rc<ResolvedLocation>, request: u64) -> Result<i32, Stop> {
        let rules = &location.settings.access;
        match self.perl_knows(location, request)? {
            OK => Ok(OK),
            _ if !rules.has_users() => Ok(DECLINED),
            _ => proven(self.compare(rules, request), rules, request).map(|_| OK),
        }
    }

    /// Checks the rights of the user identified before.
    pub(super) fn check_rights(&self, location: &Rc<ResolvedLocation>, request: u64) -> Result<i32, Stop> {
        let rules = &location.settings.access;
        if self.first(location, request, Phase::Authz)? == OK {
            return Ok(OK);
        }
        let known = apache::user(request).map(|name| self.users.wait(rules, Asked::Proven(name)));
        let user = known.map(|proof| proven(proof, rules, request)).transpose()?;
        let visitor = Visitor { request, methods: Methods::of(&apache::method(request)), user: user.as_ref() };
        self.ask(&rules.of_users(), rules, visitor)?;
        Ok(OK)
    }

    /// Whether only Perl code can identify users here.
    fn is_left_to_perl(&self, location: &Rc<ResolvedLocation>, request: u64) -> bool {
        let rules = &location.settings.access;
        let has_code = !rules.passwords.handlers.is_empty() || self.has_handlers(location, request, Phase::Authen);
        rules.is_basic() && rules.file_of_users().is_none() && has_code
    }

    fn compare(&self, rules: &AccessRules, request: u64) -> Proof {
        let authorization = apache::header_in(request, b"authorization");
        let proof = self.users.wait(rules, Asked::Header(authorization.as_deref(), self.config.hash_limits));
        if let Proof::Is(user) = &proof {
            apache::user_is(&user.name, "Basic");
        }
        proof
    }

    /// Admits the client or logs why not.
    fn ask(&self, part: &AccessRules, rules: &AccessRules, visitor: Visitor<'_>) -> Going {
        admitted(self.verdict(part, visitor)?, rules, visitor)
    }

    /// Judges part of a location's rules, and looks up facts such as the host name until the verdict is final.
    fn verdict(&self, part: &AccessRules, visitor: Visitor<'_>) -> Result<Verdict, Stop> {
        if part.is_open() {
            return Ok(Verdict::Allowed);
        }
        let Visitor { request, methods, user } = visitor;
        let (client, local) = apache::addresses(request);
        let (mut name, failed, allowance) = (None, Cell::new(None), work::Allowance::default());
        loop {
            let facts = Facts {
                methods,
                client: address(&client),
                local: address(&local),
                name: known(&name),
                user,
                env: &|name| apache::has_variable(request, name),
                expr: &|expr| variables::is_true(request, expr, &allowance),
                provider: &|provider| {
                    self.asked(provider, request).unwrap_or_else(|stop| {
                        failed.set(Some(stop));
                        RequirementAnswer::Denied
                    })
                },
            };
            let judged = judge(part, &facts);
            if let Some(stop) = failed.get() {
                return Err(stop);
            }
            if allowance.is_used_up() {
                complain(request, &work::Allowance::complaint());
                return Err(Stop(500));
            }
            match judged {
                // The name in the frame may be unverified, so it is looked up again.
                Verdict::NeedsName => name = Some(names::look_up(&names::System, facts.client, true)),
                settled => return Ok(settled),
            }
        }
    }
}

/// The request and user that are judged.
#[derive(Clone, Copy)]
struct Visitor<'a> {
    request: u64,
    methods: Methods,
    user: Option<&'a User>,
}

/// Converts a verdict to a status, and logs refusals.
fn admitted(verdict: Verdict, rules: &AccessRules, visitor: Visitor<'_>) -> Going {
    let Visitor { request, user, .. } = visitor;
    match verdict {
        Verdict::Allowed => Ok(()),
        Verdict::Forbidden => {
            complain(request, "client denied by server configuration");
            Err(Stop(403))
        }
        Verdict::WrongUser => {
            let name = user.map(|user| user.name.escape_debug().to_string()).unwrap_or_default();
            complain(request, &format!("user {name} is not among the required users and groups"));
            if rules.forbids == Some(true) { Err(Stop(403)) } else { Err(unauthorized(rules, request)) }
        }
        Verdict::NeedsName | Verdict::NeedsUser => Err(unauthorized(rules, request)),
    }
}

/// Returns the user, or the status that requests credentials.
fn proven(proof: Proof, rules: &AccessRules, request: u64) -> Result<User, Stop> {
    match proof {
        Proof::Is(user) => Ok(user),
        Proof::Nobody => Err(unauthorized(rules, request)),
        Proof::Unknown(why) | Proof::Refused(why) => {
            complain(request, &why);
            Err(unauthorized(rules, request))
        }
        Proof::Misconfigured(why) => {
            complain(request, &why);
            Err(Stop(500))
        }
    }
}

fn known(name: &Option<Option<String>>) -> Name<'_> {
    match name {
        None => Name::NotAsked,
        Some(None) => Name::Nameless,
        Some(Some(name)) => Name::Is(name),
    }
}

/// Parses an address written by the front. An invalid one becomes 0.0.0.0.
fn address(text: &str) -> IpAddr {
    text.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

fn unauthorized(rules: &AccessRules, request: u64) -> Stop {
    apache::set_challenge(request, &challenge(rules.auth_name.as_deref().unwrap_or_default()));
    Stop(401)
}

//! Access control for locations that the front has not judged: internal redirects and subrequests, and locations
//! where Perl code decides about users. The rules are the front's, in [`access`].

mod certificate;
mod guards;

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::{CStr, OsStr};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::at::LocatedRequest;
use super::phases::{DECLINED, Going, OK, PhaseEnd, all, first, has_handlers};
use super::request_error::log_error;
use super::variables;
use access::{
    AccessInquiry, AccessVerdict, AuthRequest, AuthSubject, ClientName, DirectoryRequirement, Inquiries, Proof,
    RequestFacts, RequirementAnswer, RequirementQuery, User, challenge, is_faked, judge, names,
};
use config::access::{AccessRules, AuthzProvider, GroupRequirement, Methods, Satisfy, SourcesTurn};
use config::{Phase, work};
pub(super) use guards::JudgedByFront;

/// Judges a request at its location.
pub(super) struct AccessCheck<'a> {
    at: LocatedRequest<'a>,
    rules: &'a AccessRules,
    method: String,
    methods: Methods,
}

impl<'a> AccessCheck<'a> {
    pub fn of(at: LocatedRequest<'a>) -> AccessCheck<'a> {
        let method = apache::method(at.request);
        let methods = Methods::of(&method);
        AccessCheck { at, rules: &at.settings().access, method, methods }
    }

    /// Checks access. With `Satisfy Any`, either the client's address or its user suffices.
    pub fn admit(&self, judged: JudgedByFront) -> Going {
        let AccessCheck { at, rules, .. } = *self;
        let is_judged = judged != JudgedByFront::Nothing;
        if judged != JudgedByFront::RulesAndGuards {
            guards::refuse(at)?;
        }
        if !is_judged {
            certificate::check(at)?;
        }
        if !rules.allows(&self.method) {
            log_error(at.request, &format!("client method denied by AllowMethods: {}", self.method));
            return Err(PhaseEnd(405));
        }
        let asks_perl = at.settings().needs_perl_for_users()
            || [Phase::Authen, Phase::Authz].into_iter().any(|phase| has_handlers(at, phase));
        let any = rules.satisfy == Some(Satisfy::Any);
        if is_judged && !asks_perl && !rules.needs_providers() && !any {
            return all(at, Phase::Access);
        }
        let is_welcome = all(at, Phase::Access).and_then(|()| self.decide(&rules.of_addresses(), None));
        match is_welcome {
            Ok(()) if any => Ok(()),
            Err(stop) if !any || !rules.requires.iter().any(|line| line.methods.has(self.methods)) => Err(stop),
            _ => self.admit_user(),
        }
    }

    /// Checks the user. As in httpd 2.4, no credentials are requested if the result is the same for every user.
    fn admit_user(&self) -> Going {
        let part = self.rules.of_users();
        let verdict = self.verdict(&part, None)?;
        if verdict != AccessVerdict::NeedsUser {
            return self.admitted(verdict, None);
        }
        let user = self.identify()?;
        if self.rules.come_first() && self.verdict(&part, Some(&user))? == AccessVerdict::Allowed {
            return Ok(());
        }
        if first(self.at, Phase::Authz)? == OK {
            return Ok(());
        }
        self.decide(&part, Some(&user))
    }

    /// Checks only the client's address.
    pub fn check_address(&self) -> Result<i32, PhaseEnd> {
        guards::refuse(self.at)?;
        all(self.at, Phase::Access)?;
        self.decide(&self.rules.of_addresses(), None)?;
        Ok(OK)
    }

    /// Identifies the user by Perl code or the AuthUserFile; DECLINED if neither applies.
    pub fn check_user(&self) -> Result<i32, PhaseEnd> {
        guards::refuse(self.at)?;
        match self.perl_knows()? {
            OK => Ok(OK),
            _ if !self.rules.has_users() => Ok(DECLINED),
            _ => self.proven(self.compare()).map(|_| OK),
        }
    }

    /// Checks the rights of the user identified before.
    pub fn check_rights(&self) -> Result<i32, PhaseEnd> {
        guards::refuse(self.at)?;
        if first(self.at, Phase::Authz)? == OK {
            return Ok(OK);
        }
        let known = apache::user(self.at.request).map(|name| self.look_up(AuthSubject::Proven(User::of(name))));
        let user = known.map(|proof| self.proven(proof)).transpose()?;
        self.decide(&self.rules.of_users(), user.as_ref())?;
        Ok(OK)
    }

    /// Returns the answer of a PerlAddAuthzProvider.
    fn answer_of(&self, provider: &AuthzProvider) -> Result<RequirementAnswer, PhaseEnd> {
        let words = format!("{}\0{}", provider.handler, provider.words);
        match self.call_provider(c"Cameleer::ModPerl2::authorize", &words)?.as_str() {
            "0" => Ok(RequirementAnswer::Denied),
            "1" => Ok(RequirementAnswer::Granted),
            "2" => Ok(RequirementAnswer::Neutral),
            "4" => Ok(RequirementAnswer::NeedsUser),
            other => {
                let why = format!("the provider {} returned \"{}\"", provider.handler, other.escape_debug());
                log_error(self.at.request, &why);
                Err(PhaseEnd(500))
            }
        }
    }

    /// Identifies the user by PerlAuthenHandler or a built-in provider; `AuthAuthoritative` and AuthBasicProvider set
    /// the order.
    fn identify(&self) -> Result<User, PhaseEnd> {
        let rules = self.rules;
        let are_first = rules.come_first() || rules.passwords.turn == SourcesTurn::First;
        let ours = (are_first && rules.has_users()).then(|| self.compare());
        let proof = match ours {
            Some(proof @ (Proof::Is(_) | Proof::Refused(_) | Proof::Misconfigured(_))) => proof,
            unknown => match self.perl_knows()? {
                OK => {
                    let user = User::of(apache::user(self.at.request).unwrap_or_default());
                    self.look_up(AuthSubject::Proven(user))
                }
                _ if self.is_left_to_perl() => {
                    Proof::Unknown("no PerlAuthenHandler identifies the user, and there is no AuthUserFile".to_owned())
                }
                _ => unknown.unwrap_or_else(|| self.compare()),
            },
        };
        self.proven(proof)
    }

    /// Runs PerlAuthenHandlers, then PerlAddAuthnProviders, to identify the client; DECLINED if none identifies it.
    fn perl_knows(&self) -> Result<i32, PhaseEnd> {
        let mut status = first(self.at, Phase::Authen)?;
        for handler in &self.rules.passwords.handlers {
            if status == DECLINED {
                status = self.is_password_right(handler)?;
            }
        }
        Ok(status)
    }

    fn is_password_right(&self, handler: &str) -> Result<i32, PhaseEnd> {
        match self.call_provider(c"Cameleer::ModPerl2::authenticate", handler)?.parse() {
            Ok(known @ (OK | DECLINED)) => Ok(known),
            refused => Err(PhaseEnd(refused.unwrap_or(500))),
        }
    }

    fn call_provider(&self, sub: &'static CStr, argument: &str) -> Result<String, PhaseEnd> {
        let site = self.at.site;
        let result = site.perl.call_for_text(sub, argument);
        site.calls.end_forked_child(result.as_ref().err());
        result.map_err(|interrupted| PhaseEnd(site.calls.conclude_interrupted(self.at.request, interrupted)))
    }

    /// Whether only Perl code can identify users here.
    fn is_left_to_perl(&self) -> bool {
        let rules = self.rules;
        let has_code = !rules.passwords.handlers.is_empty() || has_handlers(self.at, Phase::Authen);
        rules.is_basic() && !rules.has_users() && has_code
    }

    fn compare(&self) -> Proof {
        let (request, config) = (self.at.request, &self.at.site.config);
        let authorization = apache::header_in(request, b"authorization");
        let has_such_users = self.at.settings().response.ssl.fake_basic_auth == Some(true);
        if authorization.as_deref().is_some_and(|sent| is_faked(sent, has_such_users)) {
            let why = "a client sent the name and password of a user by certificate (FakeBasicAuth)";
            return Proof::Refused(why.to_owned());
        }
        let target = apache::target_as_sent(request);
        let proof = self.look_up(AuthSubject::Request(AuthRequest {
            authorization: authorization.as_deref(),
            limits: config.hash_limits,
            ldap: &config.ldap,
            source: 0,
            method: &self.method,
            target: &target,
            realm: &self.realm(),
            key: &config.facts.nonce_key,
            // The cache is the front's.
            scope: None,
        }));
        if let Proof::Is(user) = &proof {
            apache::user_is(&user.name, user.method.name());
            let variables = user.records.entry.iter().flat_map(|entry| entry.variables(self.rules));
            let changes: Vec<_> = variables.map(|(name, value)| (name, Some(value.to_owned()))).collect();
            apache::change_variables(request, &changes);
            user.info.iter().for_each(|info| apache::set_authentication_info(request, info));
        }
        proof
    }

    fn look_up(&self, subject: AuthSubject<'_>) -> Proof {
        self.at.site.users.wait(self.rules, subject)
    }

    /// Admits the client or logs why not.
    fn decide(&self, part: &AccessRules, user: Option<&User>) -> Going {
        self.admitted(self.verdict(part, user)?, user)
    }

    /// Judges part of a location's rules, and looks up facts such as the host name until the verdict is final.
    fn verdict(&self, part: &AccessRules, user: Option<&User>) -> Result<AccessVerdict, PhaseEnd> {
        if part.is_open() {
            return Ok(AccessVerdict::Allowed);
        }
        let request = self.at.request;
        let (client, local) = apache::addresses(request);
        let (mut name, failed, allowance) = (None, Cell::new(None), work::Allowance::default());
        let mut inquiries = Inquiries::default();
        loop {
            let facts = RequestFacts {
                methods: self.methods,
                client: address(&client),
                local: address(&local),
                name: known(&name),
                user,
                env: &|name| apache::has_variable(request, name),
                expr: &|expr| variables::is_true(request, user.map(|user| &*user.name), expr, &allowance),
                groups: &|wanted| {
                    let names = self.groups(wanted);
                    // An expression without a value must not open a place by `not`.
                    if names.is_none() && wanted.groups.is_some() {
                        failed.set(Some(PhaseEnd(500)));
                    }
                    names
                },
                text: &|text| variables::text_as(request, user.map(|user| &*user.name), text, &allowance),
                learned: &|inquiry| inquiries.learned(inquiry),
                provider: &|provider| {
                    self.answer_of(provider).unwrap_or_else(|stop| {
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
                log_error(request, &work::Allowance::message());
                return Err(PhaseEnd(500));
            }
            match judged {
                // The name in the frame may be unverified, so it is looked up again.
                AccessVerdict::NeedsName => name = Some(names::look_up(&names::System, facts.client, true)),
                AccessVerdict::NeedsAnswer => {
                    let inquiry = inquiries.take_open().map_err(|why| {
                        log_error(request, why);
                        PhaseEnd(500)
                    })?;
                    let met = self.inquire(user, facts.client, &inquiry)?;
                    inquiries.add(inquiry, met);
                }
                settled => return Ok(settled),
            }
        }
    }

    /// The names of groups of which one is needed.
    fn groups(&self, wanted: &GroupRequirement) -> Option<Vec<String>> {
        let request = self.at.request;
        match &wanted.groups {
            Some(text) => {
                let names = variables::value_of(request, text)?;
                Some(names.split_whitespace().map(str::to_owned).collect())
            }
            None => sys::privileges::group_of_file(Path::new(OsStr::from_bytes(&apache::filename(request))))
                .map(|name| vec![name]),
        }
    }

    /// The answer to an inquiry of the rules.
    fn inquire(&self, user: Option<&User>, client: IpAddr, inquiry: &AccessInquiry) -> Result<bool, PhaseEnd> {
        let answer = match inquiry {
            AccessInquiry::Forward(names) => names::leads_to(&names::System, names, client),
            AccessInquiry::Directory(kind, words) => {
                let users = &self.at.site.users;
                let requirement = RequirementQuery { server: &self.at.site.config.ldap, kind: *kind, words };
                match users.meets(self.rules, user, &requirement) {
                    DirectoryRequirement::Known(met) => Ok(met),
                    DirectoryRequirement::Misconfigured(why) => Err(why),
                    DirectoryRequirement::Open(question) => users.remember(&question, question.ask()),
                }
            }
            AccessInquiry::Statement => {
                let executed = access::statement(self.rules, user).and_then(|statement| access::execute(&statement));
                executed.map(|()| true).map_err(|why| format!("AuthzDBDQuery: {why}"))
            }
        };
        answer.map_err(|why| {
            log_error(self.at.request, &why);
            PhaseEnd(500)
        })
    }

    /// Converts a verdict to a status, and logs refusals.
    fn admitted(&self, verdict: AccessVerdict, user: Option<&User>) -> Going {
        let request = self.at.request;
        match verdict {
            AccessVerdict::Allowed => Ok(()),
            AccessVerdict::Forbidden => {
                log_error(request, "client denied by server configuration");
                Err(PhaseEnd(403))
            }
            AccessVerdict::WrongUser => {
                let name = user.map(|user| user.name.escape_debug().to_string()).unwrap_or_default();
                let unread = user.and_then(|user| user.records.groups_unread.as_ref()).map(|why| format!(" ({why})"));
                let hint = unread.unwrap_or_default();
                log_error(request, &format!("user {name} is not among the required users and groups{hint}"));
                if self.rules.forbids == Some(true) { Err(PhaseEnd(403)) } else { Err(self.unauthorized(false)) }
            }
            AccessVerdict::NeedsName | AccessVerdict::NeedsAnswer | AccessVerdict::NeedsUser => {
                Err(self.unauthorized(false))
            }
        }
    }

    /// Returns the user, or the status that requests credentials.
    fn proven(&self, proof: Proof) -> Result<User, PhaseEnd> {
        let request = self.at.request;
        match proof {
            Proof::Is(user) => Ok(user),
            Proof::Nobody => Err(self.unauthorized(false)),
            Proof::Stale => Err(self.unauthorized(true)),
            Proof::Unknown(why) | Proof::Refused(why) => {
                log_error(request, &why);
                Err(self.unauthorized(false))
            }
            Proof::Invalid(why) => {
                log_error(request, &why);
                Err(PhaseEnd(400))
            }
            Proof::Misconfigured(why) => {
                log_error(request, &why);
                Err(PhaseEnd(500))
            }
        }
    }

    fn unauthorized(&self, stale: bool) -> PhaseEnd {
        let key = &self.at.site.config.facts.nonce_key;
        apache::set_challenge(self.at.request, &challenge(self.rules, &self.realm(), key, stale));
        PhaseEnd(401)
    }

    /// Value of `AuthName` for this request; empty without the directive.
    fn realm(&self) -> Cow<'_, str> {
        match &self.rules.realm {
            Some(realm) => variables::text_of(self.at.request, realm).into(),
            None => self.rules.auth_name.as_deref().unwrap_or_default().into(),
        }
    }
}

fn known(name: &Option<Option<String>>) -> ClientName<'_> {
    match name {
        None => ClientName::NotAsked,
        Some(None) => ClientName::Nameless,
        Some(Some(name)) => ClientName::Is(name),
    }
}

/// Parses an address written by the front. An invalid one becomes 0.0.0.0.
fn address(text: &str) -> IpAddr {
    text.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED))
}

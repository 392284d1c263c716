//! Access by TLS: `SSLRequireSSL`, `SSLVerifyClient`, `SSLRequire`, and users by their certificates.

use std::rc::Rc;

use http::StatusCode;
use http::header::AUTHORIZATION;
use http::request::Parts;

use crate::base::refusal::Refusal;
use crate::client::tls_session::Session;
use crate::request::context::expressions::ExprOf;
use crate::request::context::{RequestContext, variables};
use crate::routing::Route;
use access::{CERTIFICATE_PASSWORD, basic_credentials, is_faked};
use config::response::ssl::Ssl;
use config::tls::client_auth::ClientVerify;

/// Lets the connection's client into the place, or refuses it.
pub async fn check(context: &RequestContext, head: &Parts, route: &Rc<Route>) -> Result<(), Refusal> {
    let place = &route.settings.response.ssl;
    let mut sent = head.headers.get_all(AUTHORIZATION).iter();
    if sent.any(|sent| is_faked(sent.as_bytes(), place.fake_basic_auth == Some(true))) {
        context.log_error(route, &"a client sent the name and password of a user by certificate (FakeBasicAuth)");
        return Err(Refusal::new(StatusCode::FORBIDDEN));
    }
    if !place.restricts() {
        return Ok(());
    }
    if place.required == Some(true) && !context.is_secure() {
        return Err(Refusal::new(StatusCode::FORBIDDEN)
            .because("This page is sent over TLS only: its address begins with https."));
    }
    // As in httpd, nothing else is demanded of a request without TLS.
    let Some(session) = context.client.session() else { return Ok(()) };
    if let Some(why) = refusal(place, session) {
        context.log_error(route, &why);
        return Err(Refusal::new(StatusCode::FORBIDDEN).because("This page needs a valid certificate of the client."));
    }
    if !place.conditions.is_empty() {
        variables::settle_all(context, head, route).await?;
    }
    for condition in &place.conditions {
        let of = ExprOf::request(context, head, route);
        let evaluate = || context.apply_rules(|| context.evaluated(&of, condition));
        let result = context.answered(head, route, evaluate).await;
        context.within_limits(route)?;
        if !result.is_ok_and(|result| result.value) {
            context.log_error(route, &format_args!("SSLRequire {}: is not true", condition.as_str()));
            return Err(Refusal::new(StatusCode::FORBIDDEN));
        }
    }
    Ok(())
}

/// Whether an index may show a file of `found` to a client that may open its folder, `of`.
pub fn may_open(context: &RequestContext, found: &Route, of: &Route) -> bool {
    let (place, outer) = (&found.settings.response.ssl, &of.settings.response.ssl);
    let needs_tls = place.required == Some(true) && !context.is_secure();
    let is_refused = context
        .client
        .session()
        .is_some_and(|session| refusal(place, session).is_some() || place.conditions != outer.conditions);
    !needs_tls && !is_refused
}

/// Why `SSLVerifyClient` of the place refuses the client, for the error log.
fn refusal(place: &Ssl, session: &Session) -> Option<String> {
    let verify = place.verify();
    if verify == ClientVerify::None {
        return None;
    }
    match &session.client {
        Some(client) => {
            let rejection = client.verdict.refused_by(verify, place.depth())?;
            Some(format!("SSLVerifyClient: the client's certificate is refused: {}", rejection.reason))
        }
        None if verify != ClientVerify::Require => None,
        None if session.asked => Some("SSLVerifyClient: the client has no certificate".to_owned()),
        None => Some(
            "SSLVerifyClient: the TLS handshake of this host asks for no certificate; write SSLVerifyClient optional into \
             the virtual host"
                .to_owned(),
        ),
    }
}

/// `SSLOptions +FakeBasicAuth`: the `Authorization` header of a client with a valid certificate.
pub fn authorization(context: &RequestContext, route: &Route) -> Option<String> {
    let place = &route.settings.response.ssl;
    if place.fake_basic_auth != Some(true) {
        return None;
    }
    let client = context.client.session()?.client.as_ref();
    let subject = client.filter(|client| client.verdict.is_valid_at(place))?.subject()?;
    // A colon would end the name, and make another user of it.
    (!subject.contains(':')).then(|| basic_credentials(&subject, CERTIFICATE_PASSWORD))
}

/// `SSLUserName`: names the user after a variable, for programs and logs.
pub fn name_user(context: &RequestContext, route: &Route) {
    let Some(variable) = &route.settings.response.ssl.user else { return };
    if context.client.session().is_none() || route.settings.needs_perl_for_users() {
        return;
    }
    let named = context.tls_variable_at(variable, &route.settings.response.ssl);
    if let Some(name) = named.filter(|name| !name.is_empty()) {
        context.visitor_mut().be_certified(name);
    }
}

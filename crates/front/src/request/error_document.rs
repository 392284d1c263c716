//! `ErrorDocument`: the configured response in place of the plain error page.

use http::header::{
    HeaderValue, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LOCATION, RANGE,
};
use http::{HeaderMap, Response, StatusCode};

use super::body::RequestBody;
use super::context::expressions::{ExprOf, SeenResponse};
use super::context::{RequestContext, redirect_variables, variables};
use super::respond::body::BodySource;
use crate::base::refusal::Refusal;
use crate::request;
use crate::routing::server_name;
use base::path::Text;
use config::response::ErrorDocument;
use config::response::expr::ExprText;

/// Headers with conditions and ranges, which refer to the original page and not to its error document.
const ABOUT_THE_PAGE: [http::HeaderName; 6] =
    [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE, RANGE];

/// The response to a refused request, and whether the page is the front's own. As in httpd, the page of a place of the
/// site is an ordinary response there: `Header` without `always` applies.
pub async fn answer(context: &RequestContext, refusal: Refusal) -> (Response<BodySource>, bool) {
    let route = context.route().clone();
    let document = route.as_ref().and_then(|route| route.settings.response.error_document(refusal.status.as_u16()));
    let foot = route
        .as_ref()
        .map(|route| server_name::foot(&context.generation.config, &context.generation.software, route))
        .unwrap_or_default();
    let own = match document {
        None | Some(ErrorDocument::Default) => refusal.response(&foot),
        Some(ErrorDocument::Text(text)) => {
            let text = filled(context, &refusal, text).await;
            refusal.with_text(Text::bytes_in(&text).into())
        }
        Some(ErrorDocument::Away(url)) => match HeaderValue::from_str(&filled(context, &refusal, url).await) {
            Ok(url) => Refusal::with(StatusCode::FOUND, LOCATION, url).response(&foot),
            Err(_) => refusal.response(&foot),
        },
        Some(ErrorDocument::Local(target)) => {
            let target = filled(context, &refusal, target).await;
            match local(context, &refusal, &target).await {
                Some(mut response) => {
                    response.headers_mut().extend(refusal.header);
                    return (response, false);
                }
                None => refusal.response(&foot),
            }
        }
    };
    (own, true)
}

/// The text of a document with its expressions.
async fn filled(context: &RequestContext, refusal: &Refusal, text: &ExprText) -> String {
    let (Some(route), None) = (context.route().clone(), text.constant()) else {
        return text.constant().unwrap_or_default().to_owned();
    };
    let none = HeaderMap::new();
    let response = Some(SeenResponse { status: refusal.status, headers: &none, length: None });
    context.text(&ExprOf { response, ..ExprOf::request(context, &context.head, &route) }, text).await
}

/// The response of a local path; `None` if that fails too.
async fn local(context: &RequestContext, refusal: &Refusal, target: &str) -> Option<Response<BodySource>> {
    explain(context, refusal);
    context.begin_error_page(refusal.status);
    let mut head = request::redirected(&context.head, target.as_bytes()).ok()?;
    for name in ABOUT_THE_PAGE {
        head.headers.remove(name);
    }
    let mut response = request::follow(context, &head, &mut RequestBody::none()).await.ok()?;
    if response.status() == StatusCode::OK && !context.page_has_status() {
        *response.status_mut() = refusal.status;
    }
    Some(response)
}

/// Sets the `REDIRECT_…` variables about the error, for the program that makes the page.
fn explain(context: &RequestContext, refusal: &Refusal) {
    let mut variables = redirect_variables::pass_on(context, &context.head, refusal.status);
    variables.set("REDIRECT_REQUEST_METHOD", Some(context.head.method.to_string()));
    let of_program = context.take_failure();
    match of_program.is_empty() {
        true => variables.set("REDIRECT_ERROR_NOTES", Some(refusal.explanation().to_owned())),
        false => variables::add_encoded(&mut variables, &of_program),
    }
    context.inherit_variables(variables);
}

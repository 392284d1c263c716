//! Compresses responses for clients that accept it, where `AddOutputFilterByType` or `SetOutputFilter` asks for it.

use std::path::Path;

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderValue, VARY,
};
use http::response::Parts;
use http::{Method, Response, StatusCode};

use super::accept_encoding::choose;
use super::body::{AT_ONCE, BodySource, Compressed, Encoder, EncoderAction, EncoderStep, STEP, in_turn};
use super::headers::mime;
use super::packed_files::{self, ChosenCoding, FileResponse};
use crate::base::fair::Claimant;
use crate::base::refusal::Refusal;
use crate::cache::packed::Packing;
use crate::request::access::folder_of;
use crate::request::context::RequestContext;
use crate::request::context::expressions::SeenResponse;
use crate::request::filters::chosen::{self, FilterSubject};
use base::stamp::Stamp;
use config::response::compress::{Coding, TagChange};

/// Minimum length in bytes; a shorter response fits into one packet anyway.
const WORTH_IT: u64 = 256;

/// Length in bytes below which a response has one form for all clients, as in httpd.
const NEVER_CODED: u64 = 69;

/// Whether the response is to be compressed, or is a file about which [`apply`] decides.
pub fn may_apply(context: &RequestContext, response: &Response<BodySource>) -> bool {
    let extensions = response.extensions();
    let route = context.route();
    route.as_ref().is_some_and(|route| route.settings.response.may_compress())
        || extensions.get::<Stamp>().is_some()
        || extensions.get::<Packing>().is_some()
}

/// Compresses a response if the configuration, the client and the response allow it.
pub async fn apply(context: &RequestContext, response: Response<BodySource>) -> Response<BodySource> {
    // The state of a compressor would be the largest part of an idle connection.
    if matches!(response.body(), BodySource::Held(_)) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let stamp = head.extensions.remove::<Stamp>();
    let packing = head.extensions.remove::<Packing>();
    let Some(chosen) = agree(context, &mut head, &body) else {
        return if stamp.is_some() { plain(head, body) } else { Response::from_parts(head, body) };
    };
    let body = match (body, stamp) {
        (BodySource::File(file), Some(stamp)) => {
            match packed_files::compressed(file, stamp, chosen, claimant(context)).await {
                Ok(FileResponse::Packed(packed)) => BodySource::Whole(packed),
                Ok(FileResponse::Plain(body)) => return plain(head, body),
                Err(_) => return Refusal::new(StatusCode::INTERNAL_SERVER_ERROR).response(""),
            }
        }
        (BodySource::Whole(bytes), _) if packing.is_some() || bytes.len() <= STEP => {
            match once(&bytes, chosen, packing, claimant(context)).await {
                Some(packed) => BodySource::Whole(packed),
                None => return Response::from_parts(head, BodySource::Whole(bytes)),
            }
        }
        (body, _) => match Encoder::new(chosen.coding, chosen.level, body.length()) {
            Ok(encoder) => BodySource::Compressed(Box::new(Compressed::new(body, encoder, claimant(context)))),
            Err(_) => return Response::from_parts(head, body),
        },
    };
    relabel(&mut head.headers, chosen);
    Response::from_parts(head, body)
}

/// The claimant of compression turns: the owner of the request's folder, then the client.
fn claimant(context: &RequestContext) -> Claimant {
    let route = context.route();
    let folder = route.as_ref().map(|route| folder_of(context, route)).unwrap_or(Path::new("/"));
    Claimant::new(folder, Some(context.remote().ip_addr()))
}

/// The uncompressed response with a file that was not read yet.
fn plain(head: Parts, body: BodySource) -> Response<BodySource> {
    let body = match body {
        BodySource::File(file) => match file.into_source() {
            Ok(body) => body,
            Err(_) => return Refusal::new(StatusCode::INTERNAL_SERVER_ERROR).response(""),
        },
        body => body,
    };
    Response::from_parts(head, body)
}

/// Compresses all of `plain`; `None` if that is not shorter. The result for a cached response is stored for all
/// clients.
async fn once(plain: &Bytes, chosen: ChosenCoding, packing: Option<Packing>, claimant: Claimant) -> Option<Bytes> {
    let ChosenCoding { coding, level, .. } = chosen;
    if let Some(known) = packing.as_ref().and_then(|packing| packing.packed(coding, level)) {
        return known;
    }
    let packed = whole(plain.clone(), coding, level, claimant).await;
    packing.inspect(|packing| packing.keep(coding, level, packed.as_ref()));
    packed
}

/// Compresses all of `plain`; `None` if that is not shorter.
async fn whole(plain: Bytes, coding: Coding, level: u32, claimant: Claimant) -> Option<Bytes> {
    let length = plain.len();
    let mut encoder = Encoder::new(coding, level, Some(length as u64)).ok()?;
    let step = EncoderStep { pieces: vec![plain], then: EncoderAction::Finish };
    let packed = match encoder.cost(&step) > AT_ONCE {
        true => in_turn(claimant, move || encoder.run(&step)).await?,
        false => encoder.run(&step),
    };
    packed.ok().filter(|packed| packed.len() < length).map(Bytes::from)
}

/// The coding and level for a response. Adds Vary if another client could get another coding.
fn agree(context: &RequestContext, head: &mut Parts, body: &BodySource) -> Option<ChosenCoding> {
    let route = context.route();
    let route = route.as_ref().filter(|route| route.settings.response.may_compress())?;
    let rules = &route.settings.response.compress;
    let response = SeenResponse { status: head.status, headers: &head.headers, length: body.length() };
    let remembered = head.extensions.get();
    let mut codings = chosen::codings(&FilterSubject { context, route, response, remembered });
    let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mime = mime(content_type);
    let is_tiny = body.length().is_some_and(|length| length < NEVER_CODED);
    if codings.is_empty() || is_tiny || !may_change(head) {
        return None;
    }
    let variables = context.variables();
    let only_pages = variables.get("gzip-only-text/html").is_some() && mime != "text/html";
    codings.retain(|coding| variables.get(coding.refusal()).is_none() && !(only_pages && *coding == Coding::Gzip));
    if codings.is_empty() {
        return None;
    }
    vary(&mut head.headers);
    let is_head = context.head.method == Method::HEAD;
    let is_short = body.length().is_some_and(|length| length < WORTH_IT);
    if is_short || matches!(body, BodySource::Empty) && !is_head {
        return None;
    }
    let chosen = choose(&context.head.headers, &codings).map(|coding| ChosenCoding {
        coding,
        level: rules.level(coding),
        tag: rules.tag_change(coding),
    });
    if is_head {
        // A HEAD has the tag that a GET would have, but its body is not compressed to find that out.
        if let Some(ChosenCoding { coding, tag: tag @ Some(_), .. }) = chosen {
            retag(&mut head.headers, tag, coding.token());
        }
        return None;
    }
    chosen
}

/// Adds `Vary: Accept-Encoding`. Caches need it even when this client gets the plain form.
pub fn vary(headers: &mut HeaderMap) {
    let is_said = headers.get_all(VARY).iter().any(|value| {
        let items = value.to_str().unwrap_or_default().split(',').map(str::trim);
        { items }.any(|item| item == "*" || item.eq_ignore_ascii_case(ACCEPT_ENCODING.as_str()))
    });
    if !is_said {
        headers.append(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
}

/// Whether the response may be transformed: no partial or bodiless one, no `no-transform`, and no coded one.
fn may_change(head: &Parts) -> bool {
    let headers = &head.headers;
    use StatusCode as Is;
    let fixed = [Is::PARTIAL_CONTENT, Is::NO_CONTENT, Is::RESET_CONTENT, Is::NOT_MODIFIED].contains(&head.status);
    let forbidden = headers.get_all(CACHE_CONTROL).iter().any(|value| contains(value, "no-transform"));
    !fixed && !forbidden && !headers.contains_key(CONTENT_ENCODING) && !headers.contains_key(CONTENT_RANGE)
}

fn contains(value: &HeaderValue, word: &str) -> bool {
    value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains(word))
}

/// Sets the headers of the compressed body.
fn relabel(headers: &mut HeaderMap, chosen: ChosenCoding) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(chosen.coding.token()));
    headers.remove(ACCEPT_RANGES);
    retag(headers, chosen.tag, chosen.coding.token());
}

/// Changes the entity tag of a body whose coding has changed. Without a directive a strong tag becomes weak, because it
/// identifies the bytes of the other body.
pub fn retag(headers: &mut HeaderMap, change: Option<TagChange>, suffix: &str) {
    match change {
        None => weaken(headers),
        Some(TagChange::NoChange) => {}
        Some(TagChange::Remove) => {
            headers.remove(ETAG);
        }
        Some(TagChange::AddSuffix) => {
            let inner = headers.get(ETAG).and_then(|tag| tag.as_bytes().strip_suffix(b"\""));
            let longer = inner.map(|tag| [tag, b"-", suffix.as_bytes(), b"\""].concat());
            if let Some(tag) = longer.and_then(|tag| HeaderValue::from_bytes(&tag).ok()) {
                headers.insert(ETAG, tag);
            }
        }
    }
}

/// Makes a strong entity tag weak.
fn weaken(headers: &mut HeaderMap) {
    let weak = headers.get(ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/"));
    let weak = weak.and_then(|tag| HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()).ok());
    if let Some(weak) = weak {
        headers.insert(ETAG, weak);
    }
}

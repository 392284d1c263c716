//! The qualities that a client's headers give to a variant, in each dimension of negotiation (httpd manual,
//! "Content Negotiation"; RFC 9110, section 12.5).

use super::accept::{AcceptItem, Accepts, SERVER_PARSED, SERVER_PARSED_3};
use super::variant::Variant;
use config::response::negotiation::ForcePriority;

/// Quality of variants without a language beside variants with one: acceptable if no language is.
const WITHOUT_LANGUAGE: f32 = 0.0001;
/// Quality of `en` for a client that accepts `en-GB` only.
const OF_PREFIX: f32 = 0.001;

/// The qualities of a variant, from 0 (not acceptable) to 1.
#[derive(Debug, Clone, Copy)]
pub struct Qualities {
    pub mime: f32,
    pub language: f32,
    pub charset: f32,
    pub encoding: f32,
    /// The level, if the client accepts the type by its name.
    pub level_matched: f32,
    /// Place of the variant's language in `LanguagePriority`.
    pub language_place: Option<usize>,
    /// Whether no wildcard and no missing header had a part in the qualities (RFC 2296).
    pub is_definite: bool,
}

pub struct Rules<'a> {
    /// The client's `Accept`, `Accept-Language`, `Accept-Charset` and `Accept-Encoding`.
    pub accepts: &'a Accepts,
    /// Whether qualities may differ from those of the headers, for clients that send no sensible ones. Off for clients
    /// that choose themselves (`Negotiate`).
    pub may_adjust: bool,
    /// Whether a program is preferred to other variants: the request has a query, a trailing path or another method.
    pub prefers_programs: bool,
    /// Whether the remote variant selection algorithm applies (RFC 2296).
    pub is_remote: bool,
    pub force: ForcePriority,
    pub priority: &'a [String],
    pub without_language: f32,
}

/// httpd's type of programs.
pub const PROGRAM: &str = "application/x-httpd-cgi";

impl Rules<'_> {
    /// Quality of variants without a language among `variants`.
    pub fn quality_without_language(variants: &[Variant], may_adjust: bool) -> f32 {
        let has_languages = variants.iter().any(|variant| !variant.languages.is_empty());
        if may_adjust && has_languages { WITHOUT_LANGUAGE } else { 1.0 }
    }

    /// The qualities of `variant`. `is_preferred`: the variable `prefer-language` names its language.
    pub fn qualities(&self, variant: &Variant, is_preferred: bool) -> Qualities {
        let mut found = Qualities {
            mime: 0.0,
            language: 1.0,
            charset: 1.0,
            encoding: self.encoding(variant),
            level_matched: 0.0,
            language_place: None,
            is_definite: true,
        };
        self.mime(variant, &mut found);
        if is_preferred {
            found.is_definite = true;
        } else {
            self.language(variant, &mut found);
        }
        self.charset(variant, &mut found);
        found
    }

    /// `type/subtype` is a better match than `type/*`, and that a better one than `*/*`.
    fn mime(&self, variant: &Variant, found: &mut Qualities) {
        let items = self.accepts.types.as_deref().unwrap_or(&[]);
        let has_qualities = items.iter().any(|item| item.quality < 1.0);
        let any = AcceptItem { name: "*/*".to_owned(), quality: 1.0, level: 0.0, charset: String::new() };
        let program = AcceptItem { name: PROGRAM.to_owned(), quality: self.of_program(), ..any.clone() };
        let any = [any];
        let items = if self.accepts.types.is_none() { &any[..] } else { items };
        let mut best = 0;
        for item in items.iter().chain([&program]) {
            let stars = stars(item, variant);
            if stars == 3 {
                found.level_matched = variant.level;
            }
            if stars <= best {
                continue;
            }
            best = stars;
            found.mime = match stars {
                1 if self.may_adjust && !has_qualities => 0.01,
                2 if self.may_adjust && !has_qualities => 0.02,
                _ => item.quality,
            };
        }
        found.is_definite &= best == 3;
    }

    fn of_program(&self) -> f32 {
        match (self.is_remote, self.prefers_programs) {
            (true, _) => 0.0,
            (_, true) => 2.0,
            _ => 0.001,
        }
    }

    fn language(&self, variant: &Variant, found: &mut Qualities) {
        if variant.languages.is_empty() {
            if self.may_adjust {
                found.language = self.without_language;
            }
            return;
        }
        match &self.accepts.languages {
            None => found.is_definite = false,
            Some(items) => self.accepted_language(variant, items, found),
        }
        let falls_back = self.force.fallback && found.language == 0.0;
        if !self.force.prefer && !falls_back {
            return;
        }
        let place = variant.languages.iter().filter_map(|language| self.place(language)).min();
        if found.language == 0.0 && place.is_some() && self.force.fallback {
            (found.language_place, found.language, found.is_definite) = (place, WITHOUT_LANGUAGE, false);
        } else if found.language != 0.0 && self.force.prefer {
            found.language_place = place;
        }
    }

    fn place(&self, language: &str) -> Option<usize> {
        self.priority.iter().position(|first| language.starts_with(first.as_str()))
    }

    /// For each language of the variant the longest item that is a prefix of it counts; of these the best one.
    fn accepted_language(&self, variant: &Variant, items: &[AcceptItem], found: &mut Qualities) {
        let star = items.iter().find(|item| item.name == "*");
        let named = || items.iter().filter(|item| item.name != "*");
        let (mut best, mut fits_star, mut of_prefix): (Option<f32>, _, _) = (None, false, 0.0);
        for language in &variant.languages {
            let mut longest: Option<&AcceptItem> = None;
            for item in named() {
                if is_within(language, &item.name) && longest.is_none_or(|known| item.name.len() > known.name.len()) {
                    longest = Some(item);
                }
                let prefix = item.name.split_once('-').map(|(prefix, _)| prefix);
                if longest.is_none() && self.may_adjust && prefix.is_some_and(|it| language.starts_with(it)) {
                    of_prefix = OF_PREFIX;
                }
            }
            match longest {
                Some(item) => best = Some(best.map_or(item.quality, |best| best.max(item.quality))),
                None => fits_star |= star.is_some(),
            }
        }
        if let Some(star) = star.filter(|star| fits_star && best.is_none_or(|best| star.quality > best)) {
            (best, found.is_definite) = (Some(star.quality), false);
        }
        found.language = best.unwrap_or(of_prefix);
    }

    fn charset(&self, variant: &Variant, found: &mut Qualities) {
        let Some(items) = &self.accepts.charsets else {
            found.is_definite &= variant.charset.is_empty();
            return;
        };
        let is_text = variant.mime.starts_with("text/") || variant.is_html();
        let charset = match variant.charset.as_str() {
            "" if !is_text || !self.may_adjust => return,
            "" => LATIN_1,
            known => known,
        };
        found.charset = match by_name(items, charset) {
            Named::Item(quality) => quality,
            Named::Star(quality) => {
                found.is_definite = false;
                quality
            }
            Named::No => f32::from(u8::from(charset == LATIN_1)),
        };
    }

    fn encoding(&self, variant: &Variant) -> f32 {
        let Some(items) = &self.accepts.encodings else {
            return if variant.is_encoded() { 0.5 } else { 1.0 };
        };
        let name = if variant.is_encoded() { variant.encoding.as_str() } else { "identity" };
        let plain = |name: &str| name.strip_prefix("x-").unwrap_or(name).to_ascii_lowercase();
        match items.iter().find(|item| plain(&item.name) == plain(name)) {
            Some(item) => item.quality,
            None => match by_name(items, "*") {
                Named::Item(quality) | Named::Star(quality) => quality,
                Named::No if variant.is_encoded() => 0.0,
                Named::No => WITHOUT_LANGUAGE,
            },
        }
    }
}

/// The charset of texts without one.
pub const LATIN_1: &str = "iso-8859-1";

/// The result of a search by name.
enum Named {
    Item(f32),
    Star(f32),
    No,
}

fn by_name(items: &[AcceptItem], name: &str) -> Named {
    let quality = |name: &str| items.iter().find(|item| item.name == name).map(|item| item.quality);
    match (quality(name), quality("*")) {
        (Some(quality), _) => Named::Item(quality),
        (None, Some(quality)) => Named::Star(quality),
        (None, None) => Named::No,
    }
}

/// How exactly an item of `Accept` names the variant's type: 0 not at all, 1 by `*/*`, 2 by `type/*`, 3 by its name.
fn stars(item: &AcceptItem, variant: &Variant) -> u8 {
    let (accepted, mime) = (item.name.as_str(), variant.mime.as_str());
    if accepted.starts_with('*') {
        return 1;
    }
    if accepted.strip_suffix("/*").is_some_and(|kind| mime.starts_with(kind)) {
        return 2;
    }
    let is_parsed_html = accepted == "text/html" && matches!(mime, SERVER_PARSED | SERVER_PARSED_3);
    match (accepted == mime || is_parsed_html) && item.level >= variant.level {
        true => 3,
        false => 0,
    }
}

/// Whether a language is `range`, or continues it with a hyphen.
fn is_within(language: &str, range: &str) -> bool {
    language.strip_prefix(range).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

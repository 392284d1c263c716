//! The choice between variants: httpd's own algorithm with its tie-breaks, or that of RFC 2296.

use super::quality::{LATIN_1, Qualities, Rules};
use super::variant::Variant;

/// A variant that may still be chosen.
struct Candidate<'a> {
    at: usize,
    variant: &'a Variant,
    qualities: Qualities,
    /// Product of the qualities that count first.
    quality: f32,
}

/// Variables that exclude variants or prefer some.
#[derive(Debug, Default)]
pub struct Preferences {
    /// `prefer-language`
    pub language: Option<String>,
    /// `no-gzip`: no encoded variant.
    pub no_encodings: bool,
    /// `gzip-only-text/html`: encoded variants of HTML only.
    pub encodings_of_html_only: bool,
}

/// The index of the best variant; `None` if none is acceptable.
pub fn choose(rules: &Rules<'_>, variants: &[Variant], preferences: &Preferences) -> Option<usize> {
    let preferred = preferences.language.as_deref().and_then(|language| {
        let is_meant = |variant: &Variant| variant.languages.iter().any(|known| known == language);
        best(rules, variants, preferences, Some(&is_meant))
    });
    preferred.or_else(|| best(rules, variants, preferences, None))
}

fn best(
    rules: &Rules<'_>,
    variants: &[Variant],
    preferences: &Preferences,
    is_preferred: Option<&dyn Fn(&Variant) -> bool>,
) -> Option<usize> {
    let mut best: Option<Candidate<'_>> = None;
    let allowed = variants.iter().enumerate().filter(|(_, variant)| {
        !preferences.exclude(variant) && is_preferred.is_none_or(|is_preferred| is_preferred(variant))
    });
    for (at, variant) in allowed {
        let qualities = rules.qualities(variant, is_preferred.is_some());
        let candidate = match rules.is_remote {
            true => remote_candidate(at, variant, qualities),
            false => candidate(at, variant, qualities),
        };
        let Some(candidate) = candidate else { continue };
        let is_better = best.as_ref().is_none_or(|best| match rules.is_remote {
            true => candidate.is_better_remotely(best),
            false => candidate.is_better(best),
        });
        if is_better {
            best = Some(candidate);
        }
    }
    best.filter(|best| !rules.is_remote || best.qualities.is_definite).map(|best| best.at)
}

/// A variant that is acceptable in every dimension.
fn candidate(at: usize, variant: &Variant, qualities: Qualities) -> Option<Candidate<'_>> {
    let Qualities { mime, language, charset, encoding, .. } = qualities;
    let all = [mime, language, charset, encoding, variant.source_quality];
    let quality = mime * variant.source_quality;
    all.iter().all(|quality| *quality > 0.0).then_some(Candidate { at, variant, qualities, quality })
}

/// As [`candidate`], for RFC 2296, which does not know encodings.
fn remote_candidate(at: usize, variant: &Variant, qualities: Qualities) -> Option<Candidate<'_>> {
    let quality = qualities.mime * variant.source_quality * qualities.charset * qualities.language;
    (qualities.encoding > 0.0 && quality > 0.0).then_some(Candidate { at, variant, qualities, quality })
}

impl Candidate<'_> {
    /// httpd's order: quality of type and source, language, LanguagePriority, level, charset, encoding, length. The
    /// first variant of equal ones stays the best.
    fn is_better(&self, best: &Candidate<'_>) -> bool {
        let (own, other) = (&self.qualities, &best.qualities);
        let decisions = [
            by_number(self.quality, best.quality),
            by_number(own.language, other.language),
            by_place(own.language_place, other.language_place),
            self.by_level(best),
            by_number(own.charset, other.charset),
            // A charset that the client must know is better than the default of texts.
            (!is_latin_1(self.variant) && is_latin_1(best.variant)).then_some(true),
            by_number(own.encoding, other.encoding),
        ];
        let decided = decisions.into_iter().flatten().next();
        decided.unwrap_or_else(|| length(self.variant) < length(best.variant))
    }

    fn is_better_remotely(&self, best: &Candidate<'_>) -> bool {
        let by_quality = by_number(self.quality, best.quality);
        by_quality.unwrap_or(self.qualities.encoding > best.qualities.encoding)
    }

    /// Between variants of one type: the highest level that the client names, or else the lowest level.
    fn by_level(&self, best: &Candidate<'_>) -> Option<bool> {
        let is_comparable = match self.variant.is_html() {
            true => best.variant.is_html(),
            false => self.variant.mime == best.variant.mime,
        };
        let matched = by_number(self.qualities.level_matched, best.qualities.level_matched);
        matched.or_else(|| by_number(best.variant.level, self.variant.level)).filter(|_| is_comparable)
    }
}

/// Whether the first number is greater; `None` if they are equal.
fn by_number(own: f32, other: f32) -> Option<bool> {
    (own != other).then_some(own > other)
}

/// A language of LanguagePriority is better than none of it, and an earlier one better than a later one.
fn by_place(own: Option<usize>, other: Option<usize>) -> Option<bool> {
    match (own, other) {
        (Some(own), Some(other)) => (own != other).then_some(own < other),
        (None, None) => None,
        (own, _) => Some(own.is_some()),
    }
}

fn is_latin_1(variant: &Variant) -> bool {
    matches!(variant.charset.as_str(), "" | LATIN_1)
}

/// As in httpd, an unknown length is shorter than any other.
fn length(variant: &Variant) -> i64 {
    variant.length.map_or(-1, |length| i64::try_from(length).unwrap_or(i64::MAX))
}

impl Preferences {
    fn exclude(&self, variant: &Variant) -> bool {
        let is_encoded = variant.is_encoded() && variant.encoding != "identity";
        is_encoded && (self.no_encodings || self.encodings_of_html_only && variant.mime != "text/html")
    }
}

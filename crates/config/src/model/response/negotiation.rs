//! Negotiation of content: `LanguagePriority`, `ForceLanguagePriority`, `MultiviewsMatch`.

use crate::model::merge::{keep, settings};

settings! {
    /// `ForceLanguagePriority`, `LanguagePriority`, `MultiviewsMatch`.
    #[derive(Clone, Default)]
    place struct Negotiation {
        /// `LanguagePriority`: languages in lower case, the preferred one first.
        pub language_priority: Option<Vec<String>>, keep;
        /// `ForceLanguagePriority`; default `Prefer`.
        pub force: Option<ForcePriority>, keep;
        /// `MultiviewsMatch`; default `NegotiatedOnly`.
        pub matches: Option<MultiviewsMatch>, keep;
    }
}

/// `ForceLanguagePriority`: when `LanguagePriority` decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForcePriority {
    /// `Prefer`: between languages that the client accepts equally.
    pub prefer: bool,
    /// `Fallback`: where the client accepts none.
    pub fallback: bool,
}

impl ForcePriority {
    /// httpd's default.
    pub const USUAL: ForcePriority = ForcePriority { prefer: true, fallback: false };

    /// Parses the arguments.
    pub fn parse(args: &[String]) -> Result<ForcePriority, String> {
        let (mut force, mut none) = (ForcePriority { prefer: false, fallback: false }, false);
        for arg in args {
            match arg.to_ascii_lowercase().as_str() {
                "none" => none = true,
                "prefer" => force.prefer = true,
                "fallback" => force.fallback = true,
                _ => return Err(format!("expected None, Prefer or Fallback, got \"{arg}\"")),
            }
        }
        match none && (force.prefer || force.fallback) {
            true => Err("None cannot be combined with Prefer or Fallback; remove None, or the others".to_owned()),
            false => Ok(force),
        }
    }
}

/// `MultiviewsMatch`: extensions that a file found by MultiViews may have beside those of a type, language, charset or
/// encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MultiviewsMatch {
    /// Extensions that name a handler.
    pub handlers: bool,
    /// Extensions that name a filter.
    pub filters: bool,
    /// All extensions.
    pub any: bool,
}

impl MultiviewsMatch {
    /// Parses the arguments.
    pub fn parse(args: &[String]) -> Result<MultiviewsMatch, String> {
        let (mut matches, mut only) = (MultiviewsMatch::default(), false);
        for arg in args {
            match arg.to_ascii_lowercase().as_str() {
                "negotiatedonly" => only = true,
                "handlers" => matches.handlers = true,
                "filters" => matches.filters = true,
                "any" => matches.any = true,
                _ => return Err(format!("expected Any, NegotiatedOnly, Filters or Handlers, got \"{arg}\"")),
            }
        }
        let words = usize::from(only) + usize::from(matches.any) + usize::from(matches.handlers || matches.filters);
        match words {
            0..=1 => Ok(matches),
            _ => Err("Any and NegotiatedOnly stand alone: only Handlers and Filters can be combined".to_owned()),
        }
    }
}

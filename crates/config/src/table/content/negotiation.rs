//! Negotiation of content (mod_negotiation): languages, and the names that MultiViews finds.

use crate::draft::Draft;
use crate::model::context::SectionContext;
use crate::model::overrides::Class;
use crate::model::response::negotiation::{ForcePriority, MultiviewsMatch};
use crate::table::row::{Contexts, FILE_INFO, HOSTS, MANY, Row, flag, places, rows, words};

/// As in httpd, MultiviewsMatch is not allowed in `<Location>`.
const NOT_IN_LOCATION: Contexts =
    places(FILE_INFO.places & !(SectionContext::Location as u8)).and_htaccess(Class::FILE_INFO);

pub static ROWS: &[Row] = rows![
    "mod_negotiation.c",
    words("LanguagePriority", FILE_INFO, "language…", 1..=MANY, language_priority)
        .because("the smallest of equally acceptable files is sent"),
    "Languages in the order in which one is chosen, if the client accepts several equally. A further line of the same \
     section adds languages.",
    words("ForceLanguagePriority", FILE_INFO, "None|Prefer|Fallback [Prefer|Fallback]", 1..=2, force)
        .default("Prefer", "httpd's default"),
    "When LanguagePriority decides. Prefer: between languages that the client accepts equally. Fallback: where the \
     client accepts none of the languages, in place of status 406. None: never.",
    words("MultiviewsMatch", NOT_IN_LOCATION, "Any|NegotiatedOnly|Filters|Handlers [Handlers|Filters]", 1..=2, matches)
        .of("mod_mime.c")
        .default("NegotiatedOnly", "httpd's default: a script is found only where that is asked for"),
    "Extensions that files found by Options MultiViews may have, beside those that determine a type, language, charset \
     or encoding. Handlers: `page` finds `page.pl` where AddHandler names .pl; Filters: extensions of AddOutputFilter; \
     Any: all extensions.",
    flag("CacheNegotiatedDocs", HOSTS, |_, _| {}).because("Vary tells caches of HTTP/1.1 all they need"),
    "Accepted without effect: as httpd 2.4, the server sends the same headers with On and Off.",
];

/// Maximum number of languages of LanguagePriority: each is compared with those of a page's variants.
const MAX_LANGUAGES: usize = 200;

/// `LanguagePriority language…`
fn language_priority(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    let languages = draft.settings().response.negotiation.language_priority.get_or_insert_default();
    if languages.len() + args.len() > MAX_LANGUAGES {
        return Err(format!("expected at most {MAX_LANGUAGES} languages; remove those that no file has"));
    }
    languages.extend(args.iter().map(|language| language.to_ascii_lowercase()));
    Ok(())
}

/// `ForceLanguagePriority None|Prefer|Fallback…`
fn force(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.settings().response.negotiation.force = Some(ForcePriority::parse(args)?);
    Ok(())
}

/// `MultiviewsMatch Any|NegotiatedOnly|Filters|Handlers…`
fn matches(draft: &mut Draft, args: &[String]) -> Result<(), String> {
    draft.settings().response.negotiation.matches = Some(MultiviewsMatch::parse(args)?);
    Ok(())
}

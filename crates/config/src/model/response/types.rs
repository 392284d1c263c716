//! Types, handlers, encodings, languages and charsets by file extension: `AddType`, `AddHandler`, `RemoveType` and so
//! on. As in mod_mime, every extension of a name counts, and the last one of each kind wins.

use crate::model::merge::{by_key, keep, settings};
use std::collections::BTreeMap;

use crate::model::handler::Handler;

settings! {
    /// Settings of a section, or merged settings.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct Types {
        /// Value by kind and extension (without dot, lower case); `None` cancels an outer setting.
        pub added: BTreeMap<(FileAspect, String), Option<String>>, by_key;
        /// `AddHandler`: handler by extension (without dot, lower case); `None` cancels an outer setting.
        pub handlers: BTreeMap<String, Option<Handler>>, by_key;
        /// `ForceType`; `Some(None)` is `ForceType None`.
        pub force: Option<Option<String>>, keep;
        /// `AddDefaultCharset`; `Some(None)` is `Off`.
        pub default_charset: Option<Option<String>>, keep;
        /// `ModMimeUsePathInfo`: whether the name at the end of PATH_INFO replaces that of the file; default off.
        pub use_path_info: Option<bool>, keep;
        /// `DefaultLanguage`
        pub default_language: Option<String>, keep;
    }
}

/// A property that an extension can determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "headers' names")]
pub enum FileAspect {
    Type,
    Encoding,
    Language,
    Charset,
}

/// Properties of a file, from its extensions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Described {
    /// The MIME type, without charset.
    pub mime: Option<String>,
    /// `Content-Encoding`
    pub encoding: Option<String>,
    /// `Content-Language`: languages with commas between them.
    pub language: Option<String>,
    /// Charset for the MIME type.
    pub charset: Option<String>,
}

impl Types {
    /// Properties of a file name. `usual` returns the built-in type of an extension.
    pub fn describe(&self, name: &str, usual: impl Fn(&str) -> Option<String>) -> Described {
        let mut described = Described::default();
        for extension in extensions(name) {
            let configured = |kind| self.added.get(&(kind, extension.clone())).cloned().flatten();
            let encoding = configured(FileAspect::Encoding);
            // An extension with an encoding is not used as a type: `page.html.gz` is HTML.
            let mime =
                configured(FileAspect::Type).or_else(|| if encoding.is_none() { usual(&extension) } else { None });
            described.mime = mime.or(described.mime);
            described.language = joined(described.language, configured(FileAspect::Language), ",");
            described.charset = configured(FileAspect::Charset).or(described.charset);
            described.encoding = joined(described.encoding, encoding, ", ");
        }
        described.language = described.language.or_else(|| self.default_language.clone());
        match &self.force {
            Some(Some(forced)) => Described { mime: Some(forced.clone()), ..described },
            _ => described,
        }
    }

    /// The parts of a file name that determine no property, the base name first, as written; `None`: no extension
    /// determines one. `says_more`: whether an extension, in lower case, counts for another reason (`MultiviewsMatch`).
    pub fn unknown_parts<'a>(
        &self,
        name: &'a str,
        usual: impl Fn(&str) -> Option<String>,
        says_more: impl Fn(&str) -> bool,
    ) -> Option<Vec<&'a str>> {
        let dots = name.len() - name.trim_start_matches('.').len();
        let base = name.get(dots..)?.find('.').map_or(name.len(), |at| dots + at);
        let (base, rest) = name.split_at_checked(base)?;
        let (mut unknown, mut is_known) = (vec![base], false);
        for part in rest.split('.').filter(|part| !part.is_empty()) {
            let extension = part.to_ascii_lowercase();
            let is_configured = |kind| self.added.get(&(kind, extension.clone())).is_some_and(Option::is_some);
            let aspects = [FileAspect::Type, FileAspect::Charset, FileAspect::Language, FileAspect::Encoding];
            match aspects.into_iter().any(is_configured) || usual(&extension).is_some() || says_more(&extension) {
                true => is_known = true,
                false => unknown.push(part),
            }
        }
        is_known.then_some(unknown)
    }

    /// The handler for a file name, if an extension or the type determines one. `is_usual` returns whether an extension
    /// has a built-in type.
    pub fn handler(&self, name: &str, is_usual: impl Fn(&str) -> bool) -> Option<&Handler> {
        let by_extension = || extensions(name).filter_map(|extension| self.handlers.get(&extension)?.as_ref()).last();
        let named = if self.handlers.is_empty() { None } else { by_extension() };
        named.or_else(|| (self.have_programs() && self.is_program(name, is_usual)).then_some(&PROGRAM))
    }

    /// All handlers that extensions and types determine.
    pub fn handlers(&self) -> impl Iterator<Item = &Handler> {
        self.handlers.values().flatten().chain(self.have_programs().then_some(&PROGRAM))
    }

    /// Whether a file may have a type of programs.
    fn have_programs(&self) -> bool {
        let mut added = self.added.iter().filter(|((aspect, _), _)| *aspect == FileAspect::Type);
        self.forces_programs() || added.any(|(_, kind)| kind.as_deref().is_some_and(is_of_programs))
    }

    /// Whether `ForceType` makes all files programs.
    pub fn forces_programs(&self) -> bool {
        self.force.iter().flatten().any(|kind| is_of_programs(kind))
    }

    /// Whether the type of a file is one of programs.
    fn is_program(&self, name: &str, is_usual: impl Fn(&str) -> bool) -> bool {
        // Only whether the type is one of programs matters, so that any other name stands for a built-in type.
        let usual = |extension: &str| is_usual(extension).then(String::new);
        self.describe(name, usual).mime.as_deref().is_some_and(is_of_programs)
    }
}

/// Types by which httpd's mod_cgi knows programs: the type of a file without a handler is its handler.
const TYPES_OF_PROGRAMS: [&str; 2] = ["cgi-script", "application/x-httpd-cgi"];
/// The handler of files with such a type.
static PROGRAM: Handler = Handler::CgiScript;

/// Whether files of a type are programs. Parameters of the type do not count.
pub fn is_of_programs(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    TYPES_OF_PROGRAMS.iter().any(|known| kind.eq_ignore_ascii_case(known))
}

fn joined(inner: Option<String>, outer: Option<String>, between: &str) -> Option<String> {
    match (inner, outer) {
        (Some(inner), Some(outer)) => Some(format!("{inner}{between}{outer}")),
        (inner, outer) => outer.or(inner),
    }
}

/// Extensions of a file name, in lower case; none for `README` and `.profile`.
fn extensions(name: &str) -> impl Iterator<Item = String> {
    name.trim_start_matches('.').split('.').skip(1).filter(|part| !part.is_empty()).map(str::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_counts_and_the_last_of_a_kind_wins() {
        let mut types = Types::default();
        for (kind, extension, value) in [
            (FileAspect::Encoding, "gz", "x-gzip"),
            (FileAspect::Language, "de", "de"),
            (FileAspect::Charset, "utf8", "utf-8"),
            (FileAspect::Type, "own", "application/x-own"),
        ] {
            types.added.insert((kind, extension.into()), Some(value.into()));
        }
        let usual = |extension: &str| match extension {
            "html" => Some("text/html".to_owned()),
            "gz" => Some("application/gzip".to_owned()),
            _ => None,
        };
        let words = |name: &str| {
            let Described { mime, encoding, language, charset } = types.describe(name, usual);
            [mime, encoding, language, charset].map(Option::unwrap_or_default).join("|")
        };
        assert_eq!(words("a.html.gz"), "text/html|x-gzip||");
        assert_eq!(words("a.de.utf8.html.bak"), "text/html||de|utf-8");
        assert_eq!(words("a.html.own"), "application/x-own|||");
        assert_eq!(words(".html"), "|||");
        assert_eq!(Types::default().describe("a.gz", usual).mime.as_deref(), Some("application/gzip"));
    }

    #[test]
    fn an_inner_section_cancels_a_handler() {
        let mut types = Types::default();
        types.handlers.insert("pl".into(), Some(Handler::PerlScript));
        assert_eq!(types.handler("a.pl", |_| false), Some(&Handler::PerlScript));
        assert_eq!(types.handler("a.PL.txt", |_| true), Some(&Handler::PerlScript));
        let mut inner = Types::default();
        inner.handlers.insert("pl".into(), None);
        types.merge(&inner);
        assert_eq!(types.handler("a.pl", |_| false), None);
    }

    #[test]
    fn a_type_of_programs_is_a_handler_until_another_type_replaces_it() {
        let of = |kind: Option<&str>| {
            let mut types = Types::default();
            types.added.insert((FileAspect::Type, "cgi".into()), kind.map(str::to_owned));
            types
        };
        let is_program = |types: &Types, name: &str| types.handler(name, |extension| extension == "html").is_some();
        let mut types = of(Some("application/x-httpd-cgi; level=1"));
        assert!(is_program(&types, "a.cgi") && is_program(&types, "a.cgi.unknown") && is_program(&types, "a.html.cgi"));
        assert!(!is_program(&types, "a.cgi.html") && !is_program(&types, "a.html"));
        assert_eq!(types.handlers().count(), 1);
        for kind in [None, Some("text/plain")] {
            let mut inner = types.clone();
            inner.merge(&of(kind));
            assert!(!is_program(&inner, "a.cgi"), "{kind:?}");
        }
        types.force = Some(Some("text/plain".to_owned()));
        assert!(!is_program(&types, "a.cgi"));
        types.force = Some(Some("cgi-script".to_owned()));
        assert!(is_program(&types, "README"));
    }
}

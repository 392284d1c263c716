//! Compression of responses: `SetOutputFilter`, `AddOutputFilter`. `AddOutputFilterByType` is in `filters`.

use crate::model::merge::{by_key, keep, settings};
use std::collections::BTreeMap;

/// A content coding of responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "names of formats")]
pub enum Coding {
    Brotli,
    Zstd,
    Gzip,
}

impl Coding {
    /// All codings, usually from the best compression to the worst.
    pub const ALL: [Coding; 3] = [Coding::Brotli, Coding::Zstd, Coding::Gzip];

    /// The coding that the filter of this name produces.
    pub fn of_filter(name: &str) -> Option<Coding> {
        match name.to_ascii_lowercase().as_str() {
            "brotli_compress" => Some(Coding::Brotli),
            "zstd" | "zstd_compress" => Some(Coding::Zstd),
            "deflate" => Some(Coding::Gzip),
            _ => None,
        }
    }

    /// Name in `Content-Encoding`.
    pub fn token(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Zstd => "zstd",
            Coding::Gzip => "gzip",
        }
    }

    /// Extension of files with this coding.
    pub fn extension(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Zstd => "zst",
            Coding::Gzip => "gz",
        }
    }

    /// Variable that disables the coding for a request.
    pub fn refusal(self) -> &'static str {
        match self {
            Coding::Brotli => "no-brotli",
            Coding::Zstd => "no-zstd",
            Coding::Gzip => "no-gzip",
        }
    }
}

/// How the entity tag of a compressed response differs from that of the plain one: `DeflateAlterETag`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagChange {
    /// `"tag"` becomes `"tag-gzip"`.
    AddSuffix,
    /// The tag stays.
    NoChange,
    /// The response has no tag.
    Remove,
}

impl TagChange {
    /// Parses a value of `DeflateAlterETag`.
    pub fn parse(word: &str) -> Result<TagChange, String> {
        match word.to_ascii_lowercase().as_str() {
            "addsuffix" => Ok(TagChange::AddSuffix),
            "nochange" => Ok(TagChange::NoChange),
            "remove" => Ok(TagChange::Remove),
            _ => Err(format!("expected AddSuffix, NoChange or Remove, got \"{word}\"")),
        }
    }
}

settings! {
    /// Compression settings.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct Compress {
        /// `SetOutputFilter`: codings of all responses. Empty: `SetOutputFilter None`.
        pub all: Option<Vec<Coding>>, keep;
        /// `AddOutputFilter`: codings by extension, in lower case.
        pub extensions: BTreeMap<String, Vec<Coding>>, by_key;
        /// `DeflateCompressionLevel`; default 5.
        pub gzip_level: Option<u32>, keep;
        /// `BrotliCompressionQuality`; default 5.
        pub brotli_quality: Option<u32>, keep;
        /// `PrecompressedFiles`; default off.
        pub precompressed: Option<bool>, keep;
        /// `ZstdCompressionLevel`; default 3.
        pub zstd_level: Option<u32>, keep;
        /// `DeflateAlterETag`; default: a weak tag.
        pub gzip_tag: Option<TagChange>, keep;
        /// `BrotliAlterETag`; default: a weak tag.
        pub brotli_tag: Option<TagChange>, keep;
    }
}

impl Compress {
    /// Whether any response may be compressed.
    pub fn is_on(&self) -> bool {
        self.all.as_ref().is_some_and(|all| !all.is_empty())
            || self.extensions.values().any(|codings| !codings.is_empty())
    }

    /// Codings for a response with this file name, in the order of the configuration; those of the filter chain are
    /// last.
    pub fn codings(&self, file: &str, chain: impl Iterator<Item = Coding>) -> Vec<Coding> {
        let by_extension = file.split('.').skip(1).filter_map(|part| self.extensions.get(&part.to_ascii_lowercase()));
        let all = self.all.iter().flatten().chain(by_extension.flatten()).copied().chain(chain);
        let mut codings = Vec::with_capacity(Coding::ALL.len());
        for coding in all {
            if !codings.contains(&coding) {
                codings.push(coding);
            }
        }
        codings
    }

    /// Compression level of a coding.
    pub fn level(&self, coding: Coding) -> u32 {
        match coding {
            Coding::Brotli => self.brotli_quality.unwrap_or(5),
            Coding::Zstd => self.zstd_level.unwrap_or(3),
            Coding::Gzip => self.gzip_level.unwrap_or(5),
        }
    }

    /// The change of the entity tag by a coding. `None`: the tag becomes weak.
    pub fn tag_change(&self, coding: Coding) -> Option<TagChange> {
        match coding {
            Coding::Brotli => self.brotli_tag,
            Coding::Zstd => None,
            Coding::Gzip => self.gzip_tag,
        }
    }
}

/// Whether a file name has an extension whose value is `true`.
pub(super) fn has_extension(known: &BTreeMap<String, bool>, file: &str) -> bool {
    file.split('.').skip(1).any(|extension| known.get(&extension.to_ascii_lowercase()) == Some(&true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_are_listed_once_in_the_order_of_the_configuration() {
        let outer =
            Compress { extensions: BTreeMap::from([("svg".into(), vec![Coding::Zstd])]), ..Compress::default() };
        let chain = || [Coding::Brotli, Coding::Gzip, Coding::Brotli].into_iter();
        assert_eq!(outer.codings("a.html", chain()), [Coding::Brotli, Coding::Gzip]);
        assert_eq!(outer.codings("a.SVG.html", chain()), [Coding::Zstd, Coding::Brotli, Coding::Gzip]);
        assert_eq!(outer.codings("a.png", [].into_iter()), []);
        let mut inner = outer.clone();
        inner.merge(&Compress {
            all: Some(vec![Coding::Gzip]),
            extensions: BTreeMap::from([("svg".into(), vec![])]),
            ..Compress::default()
        });
        assert_eq!(inner.codings("a.svg", chain()), [Coding::Gzip, Coding::Brotli]);
        assert!(inner.is_on() && !Compress { all: Some(vec![]), ..Compress::default() }.is_on());
    }
}

//! Output filters that change the text of a response, in their order: INFLATE, SUBSTITUTE, INCLUDES.
//!
//! Compression has settings of its own in `compress`, as it follows all of these: httpd sorts filters by their types,
//! and only filters of one type keep the order of the configuration.

use std::collections::BTreeMap;

use crate::model::merge::{append, by_key, keep, settings};

/// Maximum number of filters of a response. Each stores a line, and a `.htaccess` file could list thousands.
const MOST: usize = 8;

/// An output filter that changes the text of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFilter {
    /// Undoes the content coding gzip.
    Inflate,
    /// Applies the patterns of `Substitute`.
    Substitute,
    /// Executes server-side includes.
    Includes,
}

impl TextFilter {
    /// The filter of this name, in any case.
    pub fn of(name: &str) -> Option<TextFilter> {
        match name.to_ascii_lowercase().as_str() {
            "inflate" => Some(TextFilter::Inflate),
            "substitute" => Some(TextFilter::Substitute),
            "includes" => Some(TextFilter::Includes),
            _ => None,
        }
    }
}

settings! {
    /// Filters by place, extension and type.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct TextFilters {
        /// `SetOutputFilter`: filters of all responses. Empty: `SetOutputFilter` names none of these.
        pub all: Option<Vec<TextFilter>>, keep;
        /// `AddOutputFilter`: filters by extension, in lower case; empty cancels an outer setting.
        pub extensions: BTreeMap<String, Vec<TextFilter>>, by_key;
        /// `AddOutputFilterByType`: MIME type and filter.
        pub types: Vec<(String, TextFilter)>, append;
    }
}

impl TextFilters {
    /// Whether any response may have a filter besides INCLUDES.
    pub fn are_on(&self) -> bool {
        let listed = self.all.iter().chain(self.extensions.values()).flatten();
        listed.chain(self.types.iter().map(|(_, filter)| filter)).any(|filter| *filter != TextFilter::Includes)
    }

    /// The filters of a response of this MIME type (without parameters) and file name, in the order in which they read
    /// its text.
    pub fn of(&self, mime: &str, file: &str) -> Vec<TextFilter> {
        let extensions = file.split('.').skip(1);
        let by_extension = extensions.filter_map(|part| self.extensions.get(&part.to_ascii_lowercase())).flatten();
        let by_type = self.types.iter().filter(|(known, _)| known.eq_ignore_ascii_case(mime));
        let all = self.all.iter().flatten().chain(by_extension).chain(by_type.map(|(_, filter)| filter));
        in_order(all.copied())
    }
}

/// Filters in httpd's order, at most [`MOST`]. INFLATE has a type of its own, which comes first; a second one finds
/// nothing to undo.
fn in_order(filters: impl Iterator<Item = TextFilter>) -> Vec<TextFilter> {
    let (inflates, mut sorted): (Vec<_>, Vec<_>) = filters.partition(|filter| *filter == TextFilter::Inflate);
    if !inflates.is_empty() {
        sorted.insert(0, TextFilter::Inflate);
    }
    sorted.truncate(MOST);
    sorted
}

#[cfg(test)]
mod tests {
    use super::TextFilter::{Includes, Inflate, Substitute};
    use super::*;

    #[test]
    fn filters_are_in_the_order_of_the_configuration_except_inflate() {
        let outer = TextFilters {
            all: Some(vec![Substitute, Inflate, Includes]),
            types: vec![("text/html".into(), Substitute)],
            extensions: BTreeMap::from([("shtml".into(), vec![Includes])]),
        };
        assert_eq!(outer.of("TEXT/html", "a.html"), [Inflate, Substitute, Includes, Substitute]);
        assert_eq!(outer.of("text/plain", "a.SHTML"), [Inflate, Substitute, Includes, Includes]);
        let mut inner = outer.clone();
        inner.merge(&TextFilters { all: Some(vec![]), ..TextFilters::default() });
        assert_eq!(inner.of("text/html", "shtml"), [Substitute]);
        let many = TextFilters { all: Some(vec![Substitute; 1000]), ..TextFilters::default() };
        assert_eq!(many.of("text/html", "a").len(), MOST);
        assert!(inner.are_on() && !TextFilters { all: Some(vec![Includes]), ..TextFilters::default() }.are_on());
    }
}

//! Output filters that change the text of a response, in their order: INFLATE, SUBSTITUTE, INCLUDES.
//!
//! Compression has settings of its own in `compress`, as it follows all of these: httpd sorts filters by their types,
//! and only filters of one type keep the order of the configuration.

use std::collections::BTreeMap;

use super::chain::ChosenFilter;
use super::provider::{FilterProvider, FilterRank, TextFilter};
use crate::model::merge::{by_key, keep, settings};

/// Maximum number of filters of a response. Each stores a line, and a `.htaccess` file could list thousands.
const MAX_FILTERS: usize = 8;

settings! {
    /// Filters by place and extension. Those by type and condition are in `chain`.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct TextFilters {
        /// `SetOutputFilter`: filters of all responses. Empty: `SetOutputFilter` names none of these.
        pub all: Option<Vec<TextFilter>>, keep;
        /// `AddOutputFilter`: filters by extension, in lower case; empty cancels an outer setting.
        pub extensions: BTreeMap<String, Vec<TextFilter>>, by_key;
    }
}

impl TextFilters {
    /// Whether a filter besides INCLUDES is listed.
    pub fn are_on(&self) -> bool {
        self.all.iter().chain(self.extensions.values()).flatten().any(|filter| *filter != TextFilter::Includes)
    }

    /// The filters of a response with this file name, in the order in which they read its text. `chain` are those of
    /// its filter chain.
    pub fn of(&self, file: &str, chain: &[ChosenFilter]) -> Vec<TextFilter> {
        let extensions = file.split('.').skip(1);
        let by_extension = extensions.filter_map(|part| self.extensions.get(&part.to_ascii_lowercase())).flatten();
        let listed = self.all.iter().flatten().chain(by_extension).map(|filter| {
            let provider = FilterProvider::Text(*filter);
            (provider.rank(), *filter)
        });
        let by_condition = chain.iter().filter_map(|chosen| match chosen.provider {
            FilterProvider::Text(filter) => Some((chosen.rank, filter)),
            FilterProvider::Coding(_) => None,
        });
        in_order(listed.chain(by_condition).collect())
    }
}

/// Filters in the order of their ranks, at most [`MAX_FILTERS`]. A second INFLATE finds nothing to undo.
fn in_order(mut filters: Vec<(FilterRank, TextFilter)>) -> Vec<TextFilter> {
    filters.sort_by_key(|(rank, _)| *rank);
    let mut sorted: Vec<TextFilter> = filters.into_iter().map(|(_, filter)| filter).collect();
    let mut inflates = 0;
    sorted.retain(|filter| {
        inflates += usize::from(*filter == TextFilter::Inflate);
        *filter != TextFilter::Inflate || inflates == 1
    });
    sorted.truncate(MAX_FILTERS);
    sorted
}

#[cfg(test)]
mod tests {
    use super::TextFilter::{Includes, Inflate, Substitute};
    use super::*;
    use crate::model::response::filters::FilterProtocol;

    #[test]
    fn filters_are_in_the_order_of_the_configuration_except_inflate() {
        let outer = TextFilters {
            all: Some(vec![Substitute, Inflate, Includes]),
            extensions: BTreeMap::from([("shtml".into(), vec![Includes])]),
        };
        let by_condition = |rank, filter| {
            let (provider, protocol) = (FilterProvider::Text(filter), FilterProtocol::default());
            ChosenFilter { rank, provider, protocol }
        };
        let one = [by_condition(FilterRank::RESOURCE, Substitute)];
        assert_eq!(outer.of("a.html", &one), [Inflate, Substitute, Includes, Substitute]);
        assert_eq!(outer.of("a.SHTML", &[]), [Inflate, Substitute, Includes, Includes]);
        let late = [by_condition(FilterRank::CONTENT_SET, Substitute), by_condition(FilterRank::RESOURCE, Includes)];
        assert_eq!(TextFilters::default().of("a", &late), [Includes, Substitute]);
        let mut inner = outer.clone();
        inner.merge(&TextFilters { all: Some(vec![]), ..TextFilters::default() });
        assert_eq!(inner.of("shtml", &one), [Substitute]);
        let many = TextFilters { all: Some(vec![Substitute; 1000]), ..TextFilters::default() };
        assert_eq!(many.of("a", &[]).len(), MAX_FILTERS);
        assert!(
            outer.are_on()
                && !inner.are_on()
                && !TextFilters { all: Some(vec![Includes]), ..TextFilters::default() }.are_on()
        );
    }
}

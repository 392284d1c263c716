//! The output filters that exist, and their order.

use crate::model::response::compress::Coding;

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

/// Position among the filters of a response, as httpd sorts them: a filter with a lower rank reads the text earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilterRank(u8);

impl FilterRank {
    /// Filters that undo a content coding.
    pub const DECODE: FilterRank = FilterRank(9);
    /// `RESOURCE`: filters of the text.
    pub const RESOURCE: FilterRank = FilterRank(10);
    /// `CONTENT_SET`: filters of the whole content, such as compression.
    pub const CONTENT_SET: FilterRank = FilterRank(20);

    /// The rank of a type of `FilterDeclare`, in any case.
    pub fn of_type(name: &str) -> Option<FilterRank> {
        Some(FilterRank(match name.to_ascii_uppercase().as_str() {
            "RESOURCE" => 10,
            "CONTENT_SET" => 20,
            "PROTOCOL" => 30,
            "TRANSCODE" => 40,
            "CONNECTION" => 50,
            "NETWORK" => 60,
            _ => return None,
        }))
    }
}

/// An output filter that a smart filter may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterProvider {
    /// A filter that changes the text.
    Text(TextFilter),
    /// A filter that compresses.
    Coding(Coding),
}

impl FilterProvider {
    /// The filter of this name, in any case.
    pub fn of(name: &str) -> Option<FilterProvider> {
        let text = TextFilter::of(name).map(FilterProvider::Text);
        text.or_else(|| Coding::of_filter(name).map(FilterProvider::Coding))
    }

    /// The rank of the filter itself.
    pub fn rank(self) -> FilterRank {
        match self {
            FilterProvider::Text(TextFilter::Inflate) => FilterRank::DECODE,
            FilterProvider::Text(_) => FilterRank::RESOURCE,
            FilterProvider::Coding(_) => FilterRank::CONTENT_SET,
        }
    }
}

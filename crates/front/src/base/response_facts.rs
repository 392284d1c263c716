//! Facts about a response that travel with it as its extensions.

use std::sync::Arc;

use http::header::{
    CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED, LOCATION,
    TRANSFER_ENCODING,
};

use config::response::filters::ChosenFilter;

/// The filters of the chain that were chosen for the response: conditions are evaluated once.
#[derive(Debug, Clone)]
pub struct RememberedFilters(pub Arc<[ChosenFilter]>);

/// Fields of a script that describe its body or lead elsewhere, which are in the first table.
const OF_FIRST: [HeaderName; 7] =
    [CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, LAST_MODIFIED, LOCATION, TRANSFER_ENCODING];

/// The fields of a response that rules of `Header always` reach.
#[derive(Debug, Clone, Default)]
pub struct AlwaysHeaders {
    /// Fields in the table of these rules.
    pub fields: HeaderMap,
    /// Whether the rules of both tables reach each field, as of a PSGI application.
    pub is_shared: bool,
}

impl AlwaysHeaders {
    /// The fields that a program sends in the header of its output.
    pub fn of_script(headers: &HeaderMap) -> AlwaysHeaders {
        let fields = headers.iter().filter(|(name, _)| !OF_FIRST.contains(name));
        let fields = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
        AlwaysHeaders { fields, is_shared: false }
    }

    /// Whether rules of `Header always` reach no field.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && !self.is_shared
    }
}

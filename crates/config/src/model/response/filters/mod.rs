//! Output filters of responses: those that a place or an extension names, and those of the filter chain.

mod chain;
mod listed;
mod provider;

pub use chain::{ChainLink, ChosenFilter, Dispatch, FilterChain, FilterProtocol, FilteredResponse, SmartFilter};
pub use listed::TextFilters;
pub use provider::{FilterProvider, FilterRank, TextFilter};

//! Filters by conditions of the response: `FilterDeclare`, `FilterProvider`, `FilterChain`, and
//! `AddOutputFilterByType`, which declares a filter with a chain link of its own (mod_filter).

use std::collections::BTreeMap;

use super::provider::{FilterProvider, FilterRank};
use crate::model::merge::{by_key, settings};
use crate::model::response::expr::Expr;
use crate::syntax::work;

/// The responses for which a provider is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dispatch {
    /// `AddOutputFilterByType`: MIME types, compared exactly.
    Types(Vec<String>),
    /// `FilterProvider`: a condition.
    Holds(Expr),
}

/// `FilterProtocol`: what a provider does to the headers that describe the response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FilterProtocol {
    /// `change=yes`, `change=1:1`: the text changes, so its entity tag and checksum are removed.
    pub changes: bool,
    /// `change=yes`: the length changes.
    pub changes_length: bool,
    /// `byteranges=no`: the response has no ranges.
    pub no_ranges: bool,
    /// `proxy=no`: responses of backends are not filtered.
    pub no_proxy: bool,
    /// `proxy=transform`: responses with `Cache-Control: no-transform` are not filtered; others get a `Warning`.
    pub transforms: bool,
    /// `cache=no`: the filtered response must not be stored.
    pub no_cache: bool,
}

impl FilterProtocol {
    /// Parses `change=yes;byteranges=no`. Words that httpd does not know have no effect there either.
    pub fn parse(text: &str) -> FilterProtocol {
        let mut protocol = FilterProtocol::default();
        for word in text.split([';', ',', ' ']).map(str::trim) {
            match word.to_ascii_lowercase().as_str() {
                "change=yes" => (protocol.changes, protocol.changes_length) = (true, true),
                "change=1:1" => protocol.changes = true,
                "byteranges=no" => protocol.no_ranges = true,
                "proxy=no" => protocol.no_proxy = true,
                "proxy=transform" => protocol.transforms = true,
                "cache=no" => protocol.no_cache = true,
                _ => {}
            }
        }
        protocol
    }
}

/// A filter of `FilterDeclare`: the first of its providers that fits the response is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmartFilter {
    rank: FilterRank,
    /// In the order of their definition; the last is tried first.
    providers: Vec<DispatchedProvider>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct DispatchedProvider {
    provider: FilterProvider,
    dispatch: Dispatch,
    protocol: FilterProtocol,
}

/// The parts of a response on which the choice of filters depends.
pub struct FilteredResponse<'a> {
    /// MIME type without parameters, such as `text/html`.
    pub mime: &'a str,
    /// Whether a backend answered.
    pub is_proxied: bool,
    /// Whether `Cache-Control` has `no-transform`.
    pub is_fixed: bool,
    /// Evaluates a condition.
    pub holds: &'a dyn Fn(&Expr) -> bool,
}

impl SmartFilter {
    /// A filter without providers.
    pub fn new(rank: FilterRank) -> SmartFilter {
        SmartFilter { rank, providers: Vec::new() }
    }

    /// Adds a provider that is tried before the others.
    pub fn add(&mut self, provider: FilterProvider, dispatch: Dispatch) {
        self.providers.push(DispatchedProvider { provider, dispatch, protocol: FilterProtocol::default() });
    }

    /// Sets the flags of `FilterProtocol` for a provider. An error if the filter does not have it.
    pub fn set_protocol(&mut self, provider: FilterProvider, protocol: FilterProtocol) -> Result<(), String> {
        let mut named = self.providers.iter_mut().filter(|known| known.provider == provider).peekable();
        if named.peek().is_none() {
            return Err("the filter does not have this provider; write its FilterProvider before".to_owned());
        }
        named.for_each(|known| known.protocol = protocol);
        Ok(())
    }

    fn reads_response(&self) -> bool {
        self.providers.iter().any(|known| matches!(&known.dispatch, Dispatch::Holds(expr) if expr.reads_response()))
    }

    fn chosen(&self, response: &FilteredResponse<'_>) -> Option<ChosenFilter> {
        let fits = |dispatch: &Dispatch| match dispatch {
            Dispatch::Types(types) => types.iter().any(|known| work::spend(known.len()) && known == response.mime),
            Dispatch::Holds(expr) => (response.holds)(expr),
        };
        let is_barred = |protocol: FilterProtocol| {
            protocol.no_proxy && response.is_proxied || protocol.transforms && response.is_fixed
        };
        let mut providers = self.providers.iter().rev().take_while(|_| work::spend(work::RULE));
        let found = providers.find(|known| fits(&known.dispatch) && !is_barred(known.protocol))?;
        Some(ChosenFilter { rank: self.rank, provider: found.provider, protocol: found.protocol })
    }
}

/// An element of `FilterChain`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChainLink {
    /// `FilterChain !`, `FilterChain =name`: the links of outer sections are removed.
    Reset,
    /// A filter, perhaps one that is not declared.
    Filter(String),
}

/// A filter that is used for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenFilter {
    /// The position among the filters of the response.
    pub rank: FilterRank,
    /// The provider that the conditions have selected.
    pub provider: FilterProvider,
    /// The changes of headers that come with it.
    pub protocol: FilterProtocol,
}

settings! {
    /// Declared filters, and the chain of those that are used.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct FilterChain {
        /// Filters by name. One of an inner section replaces that of an outer one, with all its providers.
        pub filters: BTreeMap<String, SmartFilter>, by_key;
        /// `FilterChain`
        pub links: Vec<ChainLink>, joined;
    }
}

/// Appends the links of an inner section, from its last reset on.
fn joined(outer: &mut Vec<ChainLink>, inner: &[ChainLink]) {
    if let Some(reset) = inner.iter().rposition(|link| *link == ChainLink::Reset) {
        outer.clear();
        outer.extend_from_slice(inner.get(reset..).unwrap_or_default());
    } else {
        outer.extend_from_slice(inner);
    }
}

impl FilterChain {
    /// Applies an argument of `FilterChain`: a name with `+`, `@`, `-`, `=` in front, a name alone, or `!`.
    pub fn change(&mut self, argument: &str) {
        let link = |name: &str| ChainLink::Filter(name.to_owned());
        match (argument.get(..1), argument.get(1..).unwrap_or_default()) {
            (Some("+"), name) => self.links.push(link(name)),
            (Some("@"), name) => self.links.insert(0, link(name)),
            (Some("-"), name) => self.remove(name),
            (Some("!"), _) => self.links = vec![ChainLink::Reset],
            (Some("="), name) => self.links = vec![ChainLink::Reset, link(name)],
            _ => self.links.push(link(argument)),
        }
    }

    /// Removes the first link if it has this name; otherwise, as httpd does, each later one whose predecessor stays.
    fn remove(&mut self, name: &str) {
        let is_named = |link: &ChainLink| matches!(link, ChainLink::Filter(known) if known.eq_ignore_ascii_case(name));
        if self.links.first().is_some_and(is_named) {
            self.links.remove(0);
            return;
        }
        let mut at = 1;
        while at < self.links.len() {
            if self.links.get(at).is_some_and(is_named) {
                self.links.remove(at);
            }
            at += 1;
        }
    }

    /// Whether a filter of the chain has a provider for which `is_wanted` is true.
    pub fn may_use(&self, is_wanted: impl Fn(FilterProvider) -> bool) -> bool {
        self.used().flat_map(|filter| &filter.providers).any(|known| is_wanted(known.provider))
    }

    /// Whether a filter has a provider for which `is_wanted` is true, and a condition about headers or the status of
    /// the response: before the response is made, it is not known whether this provider is used.
    pub fn may_use_by_response(&self, is_wanted: impl Fn(FilterProvider) -> bool) -> bool {
        self.used()
            .any(|filter| filter.reads_response() && filter.providers.iter().any(|known| is_wanted(known.provider)))
    }

    /// Whether a condition is about headers or the status of the response.
    pub fn reads_response(&self) -> bool {
        self.used().any(SmartFilter::reads_response)
    }

    /// Whether a condition may depend on a question: see [`Expr::may_need_lookup`].
    pub fn may_need_lookup(&self) -> bool {
        let mut providers = self.used().flat_map(|filter| &filter.providers);
        providers.any(|known| matches!(&known.dispatch, Dispatch::Holds(expr) if expr.may_need_lookup()))
    }

    /// The filters of a response in the order of the chain.
    pub fn chosen(&self, response: &FilteredResponse<'_>) -> Vec<ChosenFilter> {
        let links = self.used().take_while(|_| work::spend(work::RULE));
        links.filter_map(|filter| filter.chosen(response)).collect()
    }

    fn used(&self) -> impl Iterator<Item = &SmartFilter> {
        self.links.iter().filter_map(|link| match link {
            ChainLink::Reset => None,
            ChainLink::Filter(name) => self.filters.get(name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::response::compress::Coding;
    use crate::model::response::filters::TextFilter;

    fn chain(arguments: &[&str]) -> FilterChain {
        let mut chain = FilterChain::default();
        arguments.iter().for_each(|argument| chain.change(argument));
        chain
    }

    fn names(chain: &FilterChain) -> String {
        let name = |link: &ChainLink| match link {
            ChainLink::Reset => "!".to_owned(),
            ChainLink::Filter(name) => name.clone(),
        };
        chain.links.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_chain_changes_as_in_httpd() {
        for (arguments, expected) in [
            (&["a", "+b", "@c"][..], "c a b"),
            (&["a", "a", "a", "-A"], "a a"),
            (&["b", "a", "a", "a", "-a"], "b a"),
            (&["a", "!"], "!"),
            (&["a", "=b", "c"], "! b c"),
            (&["-a", ""], ""),
        ] {
            assert_eq!(names(&chain(arguments)), expected, "{arguments:?}");
        }
        for (inner, expected) in [(&["b"][..], "a b"), (&["-a"], "a"), (&["!", "b"], "! b"), (&["=b"], "! b")] {
            let mut outer = chain(&["a"]);
            outer.merge(&chain(inner));
            assert_eq!(names(&outer), expected, "{inner:?}");
        }
    }

    #[test]
    fn the_provider_that_was_defined_last_is_tried_first() {
        let html = |types: &[&str]| Dispatch::Types(types.iter().map(|name| (*name).to_owned()).collect());
        let (gzip, substitute) = (FilterProvider::Coding(Coding::Gzip), FilterProvider::Text(TextFilter::Substitute));
        let mut filter = SmartFilter::new(FilterRank::RESOURCE);
        filter.add(gzip, html(&["text/html", "text/css"]));
        filter.add(substitute, html(&["text/html"]));
        let mut chain = chain(&["a", "none", "a"]);
        chain.filters.insert("a".to_owned(), filter);
        let chosen = |mime| {
            let response = FilteredResponse { mime, is_proxied: false, is_fixed: false, holds: &|_| false };
            chain.chosen(&response).iter().map(|it| it.provider).collect::<Vec<_>>()
        };
        assert_eq!(chosen("text/html"), [substitute, substitute]);
        assert_eq!(chosen("text/css"), [gzip, gzip]);
        assert_eq!(chosen("TEXT/CSS"), []);
        assert!(chain.may_use(|provider| provider == gzip) && !chain.may_need_lookup());
    }
}

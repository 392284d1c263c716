//! Server-side includes (mod_include): which responses are parsed, and how.

use std::collections::BTreeMap;

use super::compress::has_extension;
use crate::model::merge::{by_key, keep, settings};

settings! {
    /// Settings of server-side includes.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct Includes {
        /// `SetOutputFilter INCLUDES`: all responses. `false`: `SetOutputFilter` names other filters.
        pub all: Option<bool>, keep;
        /// `AddOutputFilter INCLUDES`: extensions, in lower case; `false` cancels an outer setting.
        pub extensions: BTreeMap<String, bool>, by_key;
        /// `XBitHack`; default off.
        pub x_bit_hack: Option<XBitHack>, keep;
        /// `SSIStartTag`; default `<!--#`.
        pub start_tag: Option<String>, keep;
        /// `SSIEndTag`; default `-->`.
        pub end_tag: Option<String>, keep;
        /// `SSIErrorMsg`
        pub error_message: Option<String>, keep;
        /// `SSITimeFormat`
        pub time_format: Option<String>, keep;
        /// `SSIUndefinedEcho`
        pub undefined_echo: Option<String>, keep;
        /// `SSIETag`; default off.
        pub etag: Option<bool>, keep;
        /// `SSILastModified`; default: `XBitHack` decides.
        pub last_modified: Option<bool>, keep;
        /// `KeptBodySize` in bytes; default 0.
        pub kept_body: Option<u64>, keep;
        /// `SSILegacyExprParser`; default off.
        pub legacy_expressions: Option<bool>, keep;
    }
}

/// `XBitHack`: whether the execute bit of a file of type text/html asks for parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XBitHack {
    /// Execute bits have no meaning.
    Off,
    /// The user's execute bit asks for parsing.
    On,
    /// As `On`; with the group's execute bit, the response has the file's Last-Modified.
    Full,
}

impl Includes {
    /// `SSIErrorMsg`
    pub fn error_message(&self) -> &str {
        self.error_message.as_deref().unwrap_or("[an error occurred while processing this directive]")
    }

    /// `SSITimeFormat`
    pub fn time_format(&self) -> &str {
        self.time_format.as_deref().unwrap_or("%A, %d-%b-%Y %H:%M:%S %Z")
    }

    /// `SSIUndefinedEcho`
    pub fn undefined_echo(&self) -> &str {
        self.undefined_echo.as_deref().unwrap_or("(none)")
    }

    /// Whether any response may be parsed because of a filter or an execute bit.
    pub fn are_on(&self) -> bool {
        self.all == Some(true)
            || self.extensions.values().any(|on| *on)
            || self.x_bit_hack.is_some_and(|hack| hack != XBitHack::Off)
    }

    /// Whether a filter of the place or of the file's name parses a response.
    pub fn filter(&self, file: &str) -> bool {
        self.all == Some(true) || has_extension(&self.extensions, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_named_by_extension_or_place() {
        let outer = Includes { extensions: BTreeMap::from([("shtml".into(), true)]), ..Includes::default() };
        assert!(outer.filter("a.SHTML.en") && outer.are_on());
        assert!(!outer.filter("shtml"));
        let mut inner = outer.clone();
        inner.merge(&Includes { extensions: BTreeMap::from([("shtml".into(), false)]), ..Includes::default() });
        assert!(!inner.filter("a.shtml"));
        assert!(!Includes { all: Some(false), ..Includes::default() }.are_on());
    }
}

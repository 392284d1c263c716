//! Image maps: `ImapMenu`, `ImapDefault`, `ImapBase`.

use crate::model::merge::{keep, settings};

settings! {
    /// `ImapMenu`, `ImapDefault`, `ImapBase`. `None`: not set, the outer value applies.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct ImageMaps {
        /// `ImapMenu`
        pub menu: Option<MenuForm>, keep;
        /// `ImapDefault`; default `nocontent`.
        pub default: Option<String>, keep;
        /// `ImapBase`; default `map`.
        pub base: Option<String>, keep;
    }
}

/// `ImapMenu`: the page for a request without coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MenuForm {
    /// There is no such page; the map's default answers.
    None,
    /// A title and a list of links, as in httpd.
    #[default]
    Formatted,
    /// A list of links, and the comments of the file.
    Semiformatted,
    /// Links alone, and the comments of the file, which are HTML of its author.
    Unformatted,
}

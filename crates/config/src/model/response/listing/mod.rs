//! Listings of folders (httpd manual, mod_autoindex): format, order, icons, descriptions, omitted names.

mod signs;

use crate::model::merge::{keep, prepend, settings};

pub use signs::{BLANK, EntryDescription, EntrySign, FOLDER, ListedAs, MatchAllowance, SignOf};
use signs::{description, sign};

settings! {
    /// Format of a listing.
    #[derive(Clone, Default)]
    place struct Listing {
        /// `IndexIgnore`, `IndexIgnoreReset`
        pub ignored: IgnoredNames, IgnoredNames::merge_into;
        /// `IndexOptions` without a value.
        pub options: ListingOptions, ListingOptions::merge_into;
        /// `NameWidth`: bytes of a name that are shown.
        pub name_width: Option<ColumnWidth>, keep;
        /// `DescriptionWidth`: characters of a description that are shown.
        pub description_width: Option<ColumnWidth>, keep;
        /// `IconWidth` in pixels; 0: not written.
        pub icon_width: Option<u32>, keep;
        /// `IconHeight` in pixels; 0: not written.
        pub icon_height: Option<u32>, keep;
        /// `Type`; default text/html.
        pub content_type: Option<String>, keep;
        /// `Charset`; default ISO-8859-1, as in httpd.
        pub charset: Option<String>, keep;
        /// `IndexOrderDefault`: sort column, and whether descending.
        pub order: Option<(ListingColumn, bool)>, keep;
        /// `AddIcon`, `AddIconByType`, `AddIconByEncoding`: URLs.
        pub icons: Vec<EntrySign>, prepend;
        /// `AddAlt`, `AddAltByType`, `AddAltByEncoding`: texts.
        pub alts: Vec<EntrySign>, prepend;
        /// `AddDescription`: HTML.
        pub descriptions: Vec<EntryDescription>, prepend;
        /// `DefaultIcon`
        pub default_icon: Option<String>, keep;
        /// `HeaderName`: URL of a text above the list.
        pub header: Option<String>, keep;
        /// `ReadmeName`: URL of a text below the list.
        pub readme: Option<String>, keep;
        /// `IndexHeadInsert`: HTML for the head of the page.
        pub head_insert: Option<String>, keep;
        /// `IndexStyleSheet`: URL.
        pub style_sheet: Option<String>, keep;
    }
}

/// A column by which a listing can be sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "Apache's names")]
pub enum ListingColumn {
    Name,
    Date,
    Size,
    Description,
}

/// A width in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnWidth {
    /// A number; 0 for descriptions: no limit by this setting.
    Fixed(usize),
    /// `*`: as wide as the longest text.
    Longest,
}

/// An option of `IndexOptions` that is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "Apache's names")]
#[repr(u32)]
pub enum ListingOption {
    AddAltClass = 1,
    FancyIndexing = 1 << 1,
    FoldersFirst = 1 << 2,
    HtmlTable = 1 << 3,
    IconsAreLinks = 1 << 4,
    IgnoreCase = 1 << 5,
    IgnoreClient = 1 << 6,
    ScanHtmlTitles = 1 << 7,
    ShowForbidden = 1 << 8,
    SuppressColumnSorting = 1 << 9,
    SuppressDescription = 1 << 10,
    SuppressHtmlPreamble = 1 << 11,
    SuppressIcon = 1 << 12,
    SuppressLastModified = 1 << 13,
    SuppressRules = 1 << 14,
    SuppressSize = 1 << 15,
    TrackModified = 1 << 16,
    UseOldDateFormat = 1 << 17,
    VersionSort = 1 << 18,
    Xhtml = 1 << 19,
}

impl ListingOption {
    /// The option with this name in `IndexOptions`.
    pub fn named(name: &str) -> Option<ListingOption> {
        use ListingOption::*;
        Some(match name.to_ascii_lowercase().as_str() {
            "addaltclass" => AddAltClass,
            "fancyindexing" => FancyIndexing,
            "foldersfirst" => FoldersFirst,
            "htmltable" => HtmlTable,
            "iconsarelinks" => IconsAreLinks,
            "ignorecase" => IgnoreCase,
            "ignoreclient" => IgnoreClient,
            "scanhtmltitles" => ScanHtmlTitles,
            "showforbidden" => ShowForbidden,
            "suppresscolumnsorting" => SuppressColumnSorting,
            "suppressdescription" => SuppressDescription,
            "suppresshtmlpreamble" => SuppressHtmlPreamble,
            "suppressicon" => SuppressIcon,
            "suppresslastmodified" => SuppressLastModified,
            "suppressrules" => SuppressRules,
            "suppresssize" => SuppressSize,
            "trackmodified" => TrackModified,
            "useolddateformat" => UseOldDateFormat,
            "versionsort" => VersionSort,
            "xhtml" => Xhtml,
            _ => return None,
        })
    }
}

/// The options that are on or off, as bits of [`ListingOption`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListingOptions {
    /// Options without a sign, which replace the outer ones. `None`: there are none.
    whole: Option<u32>,
    /// Options with `+`.
    more: u32,
    /// Options with `-`.
    less: u32,
}

impl ListingOptions {
    /// Applies an option as written: with `+`, with `-`, or without a sign.
    pub fn apply(&mut self, sign: Option<char>, option: ListingOption) {
        let bit = option as u32;
        match sign {
            Some('-') => (self.less, self.more) = (self.less | bit, self.more & !bit),
            Some(_) => (self.more, self.less) = (self.more | bit, self.less & !bit),
            None => *self = ListingOptions { whole: Some(self.whole.unwrap_or_default() | bit), more: 0, less: 0 },
        }
    }

    /// `IndexOptions None`: switches all options off.
    pub fn clear(&mut self) {
        *self = ListingOptions { whole: Some(0), more: 0, less: 0 };
    }

    /// The set without the options with `-`, and with those with `+`.
    pub fn has(self, option: ListingOption) -> bool {
        (self.whole.unwrap_or_default() & !self.less | self.more) & option as u32 != 0
    }

    /// Switches an option for one request.
    pub fn set(&mut self, option: ListingOption, on: bool) {
        self.apply(Some(if on { '+' } else { '-' }), option);
    }

    fn merge_into(outer: &mut ListingOptions, inner: &ListingOptions) {
        *outer = match inner.whole {
            Some(_) => *inner,
            None => ListingOptions {
                whole: outer.whole,
                more: outer.more & !inner.less | inner.more,
                less: outer.less & !inner.more | inner.less,
            },
        };
    }
}

/// `IndexIgnore`, `IndexIgnoreReset`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IgnoredNames {
    /// Patterns with `*` and `?`.
    pub patterns: Vec<String>,
    /// Whether the outer patterns are dropped.
    pub reset: bool,
}

impl IgnoredNames {
    fn merge_into(outer: &mut IgnoredNames, inner: &IgnoredNames) {
        if inner.reset {
            outer.clone_from(inner);
        } else {
            outer.patterns.extend_from_slice(&inner.patterns);
        }
    }
}

impl Listing {
    /// With the options of all sections that apply.
    pub fn has(&self, option: ListingOption) -> bool {
        self.options.has(option)
    }

    /// Whether a listing contains this name. `..` is the parent folder.
    pub fn shows(&self, name: &[u8], work: &MatchAllowance) -> bool {
        let is_ignored = |pattern: &String| {
            let of_name = pattern.rsplit('/').next().unwrap_or_default();
            work.matches(of_name, name)
        };
        !name.starts_with(b".ht") && !self.ignored.patterns.iter().any(is_ignored) && !work.is_used_up()
    }

    /// URL of the icon of an entry.
    pub fn icon(&self, entry: ListedAs<'_>, work: &MatchAllowance) -> Option<&str> {
        sign(&self.icons, entry, work)
    }

    /// The text of an entry's icon.
    pub fn alt(&self, entry: ListedAs<'_>, work: &MatchAllowance) -> Option<&str> {
        sign(&self.alts, entry, work)
    }

    /// The description of a file, by its path.
    pub fn description(&self, path: &[u8], work: &MatchAllowance) -> Option<&str> {
        description(&self.descriptions, path, work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> ListingOptions {
        let mut options = ListingOptions::default();
        for word in text.split(' ') {
            let sign = word.chars().next().filter(|sign| "+-".contains(*sign));
            options.apply(sign, ListingOption::named(word.trim_start_matches(['+', '-'])).unwrap());
        }
        options
    }

    #[test]
    fn options_without_a_sign_replace_and_others_change() {
        let has = |outer: &str, inner: &str, option| {
            let mut merged = options(outer);
            ListingOptions::merge_into(&mut merged, &options(inner));
            merged.has(option)
        };
        use ListingOption::*;
        assert!(has("FancyIndexing", "+FoldersFirst", FancyIndexing));
        assert!(has("FancyIndexing", "+FoldersFirst", FoldersFirst));
        assert!(!has("FancyIndexing", "FoldersFirst", FancyIndexing));
        assert!(!has("FancyIndexing", "-FancyIndexing", FancyIndexing));
        assert!(has("-FancyIndexing", "+FancyIndexing", FancyIndexing));
        assert!(!options("+FoldersFirst FancyIndexing").has(FoldersFirst));
    }
}

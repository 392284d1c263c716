//! Settings of responses: redirections, error documents, headers, variables, types. [`ResponseRules`] holds both the
//! settings of one section and the merged settings.

use crate::model::merge::{apart, append, keep, prepend, settings};
pub mod actions;
pub mod branch;
pub mod cache;
pub mod compress;
pub mod error_document;
pub mod expires;
pub mod expr;
pub mod filters;
pub mod headers;
pub mod image_map;
pub mod includes;
pub mod inflate;
pub mod listing;
pub mod lookup;
pub mod negotiation;
pub mod ranges;
pub mod redirect;
pub mod rewrite;
pub mod setenv;
pub mod ssl;
pub mod substitute;
pub mod tracking;
pub mod types;
pub mod variables;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use actions::Actions;
use compress::Compress;
use expires::Expires;
use expr::ExprText;
use filters::{FilterChain, FilterProvider, TextFilter, TextFilters};
use headers::HeaderRule;
use image_map::ImageMaps;
use includes::Includes;
use inflate::Inflate;
use listing::Listing;
use lookup::spelling::Spelling;
use negotiation::Negotiation;
use ranges::Ranges;
use rewrite::Rewrite;
use setenv::SetEnvIf;
use ssl::Ssl;
use substitute::Substitute;
use tracking::Tracking;
use types::Types;

use crate::model::identity::{CanonicalName, Signature};

pub use error_document::ErrorDocument;
pub use redirect::Redirect;

settings! {
    /// `None` and empty: not set, the outer value applies.
    #[derive(Clone, Default)]
    place struct ResponseRules, then ResponseRules::change_etag {
        /// `Redirect` in containers, the innermost first. Redirects of a host are in `Host`.
        pub redirects: Vec<Redirect>, prepend;
        /// `RedirectRelative`: whether redirects to paths of this server have no scheme and name; default off.
        pub redirect_relative: Option<bool>, keep;
        /// `Alias` in a `<Location>`: the file of every path in it.
        pub alias: Option<AliasByExpression>, keep;
        /// Rewrite settings in containers. Those of a host are in `Host`.
        pub rewrite: Rewrite, Rewrite::merge;
        /// `ErrorDocument`: status and response. The last entry of a status applies.
        pub error_documents: Vec<(u16, ErrorDocument)>, append;
        /// `Header`, in the order in which they are applied.
        pub headers: Vec<HeaderRule>, append;
        /// `RequestHeader`, in the order in which they are applied.
        pub request_headers: Vec<HeaderRule>, append;
        /// `AuthBasicFake`; an inner `None`: off.
        pub basic_fake: Option<Option<HeaderRule>>, keep;
        /// `ExpiresActive`, `ExpiresByType`, `ExpiresDefault`
        pub expires: Expires, Expires::merge;
        /// `SetEnvIf`, `BrowserMatch`
        pub set_env_if: Vec<SetEnvIf>, append;
        /// `SetEnv`, `PassEnv`, and `UnsetEnv` as `None`.
        pub env: Vec<(String, Option<String>)>, last_of_each;
        /// `AddType`, `AddHandler`, `AddEncoding`, …
        pub types: Types, Types::merge;
        /// `IndexOptions`, `IndexIgnore`
        pub listing: Listing, Listing::merge;
        /// `LanguagePriority`, `MultiviewsMatch`
        pub negotiation: Negotiation, Negotiation::merge;
        /// `ImapMenu`, `ImapDefault`, `ImapBase`
        pub image_map: ImageMaps, ImageMaps::merge;
        /// `DirectorySlash`; default on.
        pub directory_slash: Option<bool>, keep;
        /// `CheckSpelling`
        pub spelling: Spelling, Spelling::merge;
        /// `CookieTracking`
        pub tracking: Tracking, Tracking::merge;
        /// `DirectoryIndexRedirect`: the status; `Some(None)` is `Off`.
        pub index_redirect: Option<Option<u16>>, keep;
        /// `DirectoryCheckHandler`; default off.
        pub directory_check_handler: Option<bool>, keep;
        /// `Alias` and `ScriptAlias` in `<Location>`.
        pub place_alias: Option<PlaceAlias>, keep;
        /// `AliasPreservePath`; default off.
        pub alias_preserve_path: Option<bool>, keep;
        /// `FallbackResource`; `Some(None)` is `disabled`.
        pub fallback: Option<Option<Arc<str>>>, keep;
        /// `UseCanonicalName`; default off.
        pub canonical_name: Option<CanonicalName>, keep;
        /// `ServerSignature`; default off.
        pub signature: Option<Signature>, keep;
        /// `FileETag`; default size and time.
        pub file_etag: Option<FileEtag>, keep;
        /// `FileETag +X -Y`: parts added to the outer setting, and parts removed.
        pub file_etag_change: Option<(FileEtag, FileEtag)>, apart;
        /// `MaxRanges`, `MaxRangeOverlaps`, `MaxRangeReversals`
        pub ranges: Ranges, Ranges::merge;
        /// `SetOutputFilter DEFLATE`, `AddOutputFilter DEFLATE`
        pub compress: Compress, Compress::merge;
        /// `SetOutputFilter INCLUDES`, `XBitHack`, `SSIErrorMsg`, …
        pub includes: Includes, Includes::merge;
        /// `SetOutputFilter SUBSTITUTE`, `AddOutputFilter INFLATE`, …
        pub text_filters: TextFilters, TextFilters::merge;
        /// `FilterProvider`, `FilterChain`, `AddOutputFilterByType`
        pub filter_chain: FilterChain, FilterChain::merge;
        /// `Substitute`, `SubstituteMaxLineLength`
        pub substitute: Substitute, Substitute::merge;
        /// `SetInputFilter DEFLATE`, `DeflateInflateRatioLimit`, …
        pub inflate: Inflate, Inflate::merge;
        /// `SSLOptions`, `SSLRequireSSL`
        pub ssl: Ssl, Ssl::merge;
        /// `Action`, `Script`
        pub actions: Actions, Actions::merge;
        /// `AcceptPathInfo`; default: the handler decides.
        pub path_info: Option<PathInfo>, keep;
    }
}

/// `Alias` or `ScriptAlias` in `<Location>` whose target depends on the request.
#[derive(Debug, Clone)]
pub struct AliasByExpression {
    /// The file or folder.
    pub to: ExprText,
    /// Whether files run as CGI programs.
    pub script: bool,
}

/// `Alias` or `ScriptAlias` in `<Location>`: one target for all paths of the section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlaceAlias {
    /// The file or folder.
    pub to: PathBuf,
    /// Whether files run as CGI programs.
    pub script: bool,
}

/// `AcceptPathInfo`: whether a path may continue after the name of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathInfo {
    /// The path may continue after any file.
    On,
    /// The path must end with the file.
    Off,
    /// The path may continue after scripts, but not after other files.
    Default,
}

/// Parts of a file's ETag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "Apache's names")]
pub struct FileEtag {
    pub inode: bool,
    pub mtime: bool,
    pub size: bool,
}

impl FileEtag {
    /// Default of httpd 2.4.
    pub const USUAL: FileEtag = FileEtag { inode: false, mtime: true, size: true };

    fn changed(self, more: FileEtag, less: FileEtag) -> FileEtag {
        FileEtag {
            inode: (self.inode || more.inode) && !less.inode,
            mtime: (self.mtime || more.mtime) && !less.mtime,
            size: (self.size || more.size) && !less.size,
        }
    }
}

impl ResponseRules {
    /// Applies `FileETag +X -Y` to the merged setting.
    fn change_etag(&mut self, inner: &ResponseRules) {
        if let Some((more, less)) = inner.file_etag_change {
            self.file_etag = Some(self.file_etag.unwrap_or(FileEtag::USUAL).changed(more, less));
        }
    }

    /// The rules of `RequestHeader`, and that of `AuthBasicFake`.
    pub fn request_rules(&self) -> impl Iterator<Item = &HeaderRule> {
        self.request_headers.iter().chain(self.basic_fake.iter().flatten())
    }

    /// Whether a response may be compressed.
    pub fn may_compress(&self) -> bool {
        self.compress.is_on() || self.filter_chain.may_use(|provider| matches!(provider, FilterProvider::Coding(_)))
    }

    /// Whether a response may be parsed because of a filter or an execute bit.
    pub fn may_include(&self) -> bool {
        self.includes.are_on()
            || self.filter_chain.may_use(|provider| provider == FilterProvider::Text(TextFilter::Includes))
    }

    /// Whether a response may have a filter of its text besides INCLUDES.
    pub fn may_change_text(&self) -> bool {
        let changes = |provider| matches!(provider, FilterProvider::Text(filter) if filter != TextFilter::Includes);
        self.text_filters.are_on() || self.filter_chain.may_use(changes)
    }

    /// The configured response for an error, instead of the plain page.
    pub fn error_document(&self, status: u16) -> Option<&ErrorDocument> {
        let (_, document) = self.error_documents.iter().rfind(|(of, _)| *of == status)?;
        (*document != ErrorDocument::Default).then_some(document)
    }

    /// The fallback for a missing file, unless `path` is the fallback itself.
    pub fn fallback(&self, path: &[u8]) -> Option<&str> {
        self.fallback.as_ref()?.as_deref().filter(|fallback| fallback.as_bytes() != path)
    }

    /// Names of variables that these rules may set.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let changes = self.env.iter().chain(self.set_env_if.iter().flat_map(|rule| &rule.changes));
        changes.filter(|(_, value)| value.is_some()).map(|(name, _)| name.as_str())
    }

    /// Whether these rules affect the variables of a request.
    pub fn has_variables(&self) -> bool {
        !self.set_env_if.is_empty() || !self.env.is_empty()
    }
}

/// Appends pairs, and removes all but the last of each name.
fn last_of_each<T: Clone>(outer: &mut Vec<(String, T)>, inner: &[(String, T)]) {
    outer.extend_from_slice(inner);
    let last: HashMap<String, usize> = outer.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
    let mut places = 0..;
    outer.retain(|(name, _)| last.get(name).copied() == places.next());
}

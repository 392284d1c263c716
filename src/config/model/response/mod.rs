//! What sections say about answers rather than about programs: redirections, error documents, headers, variables, types.
//! A section's words and what is merged from them have one shape: [`Rules`].

pub mod actions;
pub mod compress;
pub mod error_document;
pub mod expires;
pub mod expr;
pub mod headers;
pub mod inflate;
pub mod listing;
pub mod ranges;
pub mod redirect;
pub mod setenv;
pub mod ssl;
pub mod types;
pub mod variables;

use std::collections::HashMap;

use actions::Actions;
use compress::Compress;
use expires::Expires;
use headers::HeaderRule;
use inflate::Inflate;
use listing::Listing;
use ranges::Ranges;
use setenv::SetEnvIf;
use ssl::Ssl;
use types::Types;

use crate::config::model::identity::{CanonicalName, Signature};

pub use error_document::ErrorDocument;
pub use redirect::Redirect;

/// `None` and empty mean: nothing, keep what was.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// `Redirect` in containers, the innermost first; a host's own stand in [`Host`](super::Host).
    pub redirects: Vec<Redirect>,
    /// `ErrorDocument`: status and answer; the last of a status counts.
    pub error_documents: Vec<(u16, ErrorDocument)>,
    /// `Header`, in the order in which they are applied.
    pub headers: Vec<HeaderRule>,
    /// `RequestHeader`, likewise.
    pub request_headers: Vec<HeaderRule>,
    /// `ExpiresActive`, `ExpiresByType`, `ExpiresDefault`
    pub expires: Expires,
    /// `SetEnvIf`, `BrowserMatch`
    pub set_env_if: Vec<SetEnvIf>,
    /// `SetEnv`, `PassEnv`, and `UnsetEnv` as `None`.
    pub env: Vec<(String, Option<String>)>,
    /// `AddType`, `AddHandler`, `AddEncoding`, …
    pub types: Types,
    /// `IndexOptions`, `IndexIgnore`
    pub listing: Listing,
    /// `DirectorySlash`; default on.
    pub directory_slash: Option<bool>,
    /// `UseCanonicalName`; default off.
    pub canonical_name: Option<CanonicalName>,
    /// `ServerSignature`; default off.
    pub signature: Option<Signature>,
    /// `FileETag`; default size and time.
    pub file_etag: Option<FileEtag>,
    /// `FileETag +X -Y`: what is added to what an outer section says, and what is taken away.
    pub file_etag_change: Option<(FileEtag, FileEtag)>,
    /// `MaxRanges`, `MaxRangeOverlaps`, `MaxRangeReversals`
    pub ranges: Ranges,
    /// `SetOutputFilter DEFLATE`, `AddOutputFilterByType DEFLATE`
    pub compress: Compress,
    /// `SetInputFilter DEFLATE`, `DeflateInflateRatioLimit`, …
    pub inflate: Inflate,
    /// `SSLOptions`, `SSLRequireSSL`
    pub ssl: Ssl,
    /// `Action`, `Script`
    pub actions: Actions,
    /// `AcceptPathInfo`; default: what answers says it.
    pub path_info: Option<PathInfo>,
}

/// Whether more of a path may stand behind a file's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathInfo {
    /// Behind any.
    On,
    /// Behind none.
    Off,
    /// Behind scripts, not behind files.
    Default,
}

/// What an entity tag of a file is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "Apache's names")]
pub struct FileEtag {
    pub inode: bool,
    pub mtime: bool,
    pub size: bool,
}

impl FileEtag {
    /// As httpd 2.4.
    pub const USUAL: FileEtag = FileEtag { inode: false, mtime: true, size: true };

    fn changed(self, more: FileEtag, less: FileEtag) -> FileEtag {
        FileEtag {
            inode: (self.inode || more.inode) && !less.inode,
            mtime: (self.mtime || more.mtime) && !less.mtime,
            size: (self.size || more.size) && !less.size,
        }
    }
}

impl Rules {
    /// Merges what an inner section says.
    pub fn merge(&mut self, inner: &Rules) {
        self.redirects.splice(0..0, inner.redirects.iter().cloned());
        self.error_documents.extend_from_slice(&inner.error_documents);
        self.headers.extend_from_slice(&inner.headers);
        self.request_headers.extend_from_slice(&inner.request_headers);
        self.expires.merge(&inner.expires);
        self.set_env_if.extend_from_slice(&inner.set_env_if);
        self.env.extend_from_slice(&inner.env);
        last_of_each(&mut self.env);
        self.types.merge(&inner.types);
        self.listing.merge(&inner.listing);
        self.directory_slash = inner.directory_slash.or(self.directory_slash);
        self.canonical_name = inner.canonical_name.or(self.canonical_name);
        self.signature = inner.signature.or(self.signature);
        self.file_etag = inner.file_etag.or(self.file_etag);
        if let Some((more, less)) = inner.file_etag_change {
            self.file_etag = Some(self.file_etag.unwrap_or(FileEtag::USUAL).changed(more, less));
        }
        self.ranges.merge(inner.ranges);
        self.compress.merge(&inner.compress);
        self.inflate.merge(&inner.inflate);
        self.ssl.merge(&inner.ssl);
        self.actions.merge(&inner.actions);
        self.path_info = inner.path_info.or(self.path_info);
    }

    /// What is to be answered instead of the plain page of an error.
    pub fn error_document(&self, status: u16) -> Option<&ErrorDocument> {
        let (_, document) = self.error_documents.iter().rfind(|(of, _)| *of == status)?;
        (*document != ErrorDocument::Default).then_some(document)
    }

    /// The variables that requests may have by what is said here.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let changes = self.env.iter().chain(self.set_env_if.iter().flat_map(|rule| &rule.changes));
        changes.filter(|(_, value)| value.is_some()).map(|(name, _)| name.as_str())
    }

    /// Whether the variables of a request depend on anything said here.
    pub fn has_variables(&self) -> bool {
        !self.set_env_if.is_empty() || !self.env.is_empty()
    }
}

/// Of each name the last pair, in their order.
pub fn last_of_each<T>(pairs: &mut Vec<(String, T)>) {
    let last: HashMap<String, usize> = pairs.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
    let mut places = 0..;
    pairs.retain(|(name, _)| last.get(name).copied() == places.next());
}

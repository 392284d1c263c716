//! Refusals: requests answered with an error page, which `request/respond/page.rs` renders.

use http::StatusCode;
use http::header::{ALLOW, HeaderName, HeaderValue};

use super::failure::Failure;
use base::path::BadPath;

/// The `Allow` field where CONNECT and TRACE are refused.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");

/// `Retry-After` of a 503, in seconds.
const SOON: u32 = 2;

/// A request that is answered with an error page.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    /// `Allow`, `Retry-After`, `Content-Range` or `WWW-Authenticate`.
    pub header: Option<(HeaderName, HeaderValue)>,
    /// Whether to close the connection, because the rest of the request was not read or is invalid.
    pub close: bool,
    /// The server has no capacity for the request now. Another server may answer it, unless a program has begun it.
    pub is_busy: bool,
    /// Text of the page; `None`: the default text of the status.
    pub why: Option<&'static str>,
    /// HTML that the page has below its text, such as a list of variants.
    pub list: Option<Box<str>>,
    /// Reason for the error log. Clients must not see it.
    pub cause: Option<FileCause>,
}

/// Why a file or folder is not sent.
#[derive(Debug, Clone, Copy)]
pub enum FileCause {
    NoIndex,
    /// `DirectorySlash Off`.
    NoSlash,
    SymbolicLink,
    Unreadable,
}

impl FileCause {
    /// Text for the error log, behind the file's name.
    pub fn text(self) -> &'static str {
        match self {
            FileCause::NoIndex => {
                "the folder has no index file (DirectoryIndex), and a list of its files is forbidden here (Options \
                 +Indexes allows it)"
            }
            FileCause::NoSlash => {
                "the path is that of a folder and has no slash at its end, and DirectorySlash Off prevents a redirect to \
                 the path with it"
            }
            FileCause::SymbolicLink => {
                "a symbolic link in the path is forbidden here (Options +FollowSymLinks or +SymLinksIfOwnerMatch \
                 allows it)"
            }
            FileCause::Unreadable => "permission denied: User may not read the file, or not enter a folder above it",
        }
    }
}

impl Refusal {
    /// A refusal with only a status; the connection remains usable.
    pub fn new(status: StatusCode) -> Refusal {
        Refusal { status, header: None, close: false, is_busy: false, why: None, list: None, cause: None }
    }

    /// A refusal after which the connection is closed.
    pub fn closing(status: StatusCode) -> Refusal {
        Refusal { close: true, ..Refusal::new(status) }
    }

    /// A refusal with a header that belongs to the status.
    pub fn with(status: StatusCode, name: HeaderName, value: HeaderValue) -> Refusal {
        Refusal { header: Some((name, value)), ..Refusal::new(status) }
    }

    /// 405 for CONNECT and TRACE.
    pub fn not_allowed() -> Refusal {
        Refusal { header: Some((ALLOW, METHODS)), ..Refusal::closing(StatusCode::METHOD_NOT_ALLOWED) }
    }

    /// 403 whose reason is in the error log.
    pub fn forbidden(cause: FileCause) -> Refusal {
        Refusal { cause: Some(cause), ..Refusal::new(StatusCode::FORBIDDEN) }
    }

    /// Sets the text of the page.
    pub fn because(self, why: &'static str) -> Refusal {
        Refusal { why: Some(why), ..self }
    }

    /// Adds HTML below the text of the page.
    pub fn listing(self, list: String) -> Refusal {
        Refusal { list: Some(list.into()), ..self }
    }

    /// 503 with a short Retry-After: there is no capacity for the request now.
    pub fn busy() -> Refusal {
        Refusal::busy_for(SOON)
    }

    /// As [`Refusal::busy`], with the seconds of Retry-After.
    fn busy_for(seconds: u32) -> Refusal {
        Refusal { is_busy: true, ..Refusal::later(StatusCode::SERVICE_UNAVAILABLE, seconds) }
    }

    /// A refusal with Retry-After, in seconds.
    pub fn later(status: StatusCode, seconds: u32) -> Refusal {
        Refusal::with(status, http::header::RETRY_AFTER, seconds.into())
    }
}

impl From<BadPath> for Refusal {
    fn from(bad: BadPath) -> Refusal {
        Refusal::new(bad.into())
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Refusal {
        match failure {
            Failure::Busy(seconds) => Refusal::busy_for(seconds),
            Failure::RequestTimeout => Refusal::new(StatusCode::GATEWAY_TIMEOUT),
            Failure::WorkerGone | Failure::ProtocolViolation => Refusal::new(StatusCode::BAD_GATEWAY),
        }
    }
}

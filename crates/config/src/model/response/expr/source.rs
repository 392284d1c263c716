//! Input of expressions: the request that they are evaluated for.

use std::net::IpAddr;

use strum::{EnumString, IntoStaticStr};

/// A variable `%{NAME}`, by httpd's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", ascii_case_insensitive)]
#[allow(missing_docs, reason = "httpd's names")]
pub enum ExprVariable {
    ApiVersion,
    AuthType,
    ConnLogId,
    ConnRemoteAddr,
    ContentType,
    ContextDocumentRoot,
    ContextPrefix,
    DocumentRoot,
    DocumentUri,
    Handler,
    Http2,
    Https,
    Ipv6,
    IsSubreq,
    LastModified,
    PathInfo,
    QueryString,
    RemoteAddr,
    RemoteHost,
    RemoteIdent,
    RemotePort,
    RemoteUser,
    RequestFilename,
    RequestLogId,
    RequestMethod,
    RequestScheme,
    RequestStatus,
    RequestUri,
    ScriptFilename,
    ScriptGroup,
    ScriptUser,
    ServerAddr,
    ServerAdmin,
    ServerName,
    ServerPort,
    ServerProtocol,
    ServerProtocolVersion,
    ServerProtocolVersionMajor,
    ServerProtocolVersionMinor,
    ServerSoftware,
    TheRequest,
    Time,
    TimeDay,
    TimeHour,
    TimeMin,
    TimeMon,
    TimeSec,
    TimeWday,
    TimeYear,
}

impl ExprVariable {
    /// Whether the value may depend on an [`ExprQuestion`] about the request's file.
    pub fn is_about_file(self) -> bool {
        use ExprVariable::{LastModified, PathInfo, RequestFilename, ScriptFilename, ScriptGroup, ScriptUser};
        matches!(self, LastModified | PathInfo | RequestFilename | ScriptFilename | ScriptGroup | ScriptUser)
    }
}

/// A fact about a file on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[allow(missing_docs, reason = "the names of the operators and functions")]
pub enum DiskFact {
    /// `-d`
    IsFolder,
    /// `-e`
    Exists,
    /// `-f`
    IsFile,
    /// `-s`: a file that is not empty.
    HasContent,
    /// `-L`, `-h`
    IsLink,
    /// `-x`
    IsExecutable,
    /// `file()`: the content.
    File,
    /// `filesize()`, in bytes; 0 without a file.
    FileSize,
    /// `filemod()`: the time of the last change, in µs since 1970; 0 without a file.
    FileMod,
    /// `%{LAST_MODIFIED}`: the same as `YYYYMMDDhhmmss`.
    LastModified,
    /// `%{SCRIPT_USER}`
    Owner,
    /// `%{SCRIPT_GROUP}`
    Group,
    /// `%{REQUEST_FILENAME}`: the name without the path behind the file.
    NameOfFile,
    /// `%{PATH_INFO}`: the path behind the file.
    PathInfo,
}

/// A question whose answer takes time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExprQuestion {
    /// `-U`, `-A`, `-F`: would this request be answered?
    LookAhead(LookAhead),
    /// A fact about the file with this name.
    Disk(DiskFact, String),
}

/// A request that is processed, but not answered, in order to decide about another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookAhead {
    /// A request for this path: `-U`, `%{LA-U:…}`
    Path(String),
    /// A request for this file: `-F`, `%{LA-F:…}`
    File(String),
}

/// The answer to an [`ExprQuestion`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExprAnswer {
    /// The test is true or false.
    Holds(bool),
    /// The fact as text.
    Text(String),
    /// The reason why there is no answer. The expression fails.
    Failed(String),
}

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExprFailure {
    /// An answer is not known yet. The caller finds it, and evaluates the expression again.
    Unknown(ExprQuestion),
    /// An error, for the log.
    Failed(String),
}

/// The request that an expression is evaluated for.
pub trait ExprSource {
    /// `%{NAME}`
    fn variable(&self, variable: ExprVariable) -> Result<String, ExprFailure>;
    /// The client's address, for `-R`. `None`: a unix socket.
    fn client(&self) -> Option<IpAddr>;
    /// A header of the request, with the name in lower case.
    fn request_header(&self, name: &str) -> Option<String>;
    /// A header of the response, with the name in lower case.
    fn response_header(&self, name: &str) -> Option<String>;
    /// A variable of the request: `SetEnv`, `SetEnvIf`, …
    fn request_env(&self, name: &str) -> Option<String>;
    /// A note of the request.
    fn note(&self, name: &str) -> Option<String>;
    /// A variable of the server's own environment.
    fn os_env(&self, name: &str) -> Option<String>;
    /// A variable of mod_ssl: `SSL_PROTOCOL`, …
    fn tls(&self, name: &str) -> Option<String>;
    /// The answer to a question. `None`: not known yet.
    fn answer(&self, question: &ExprQuestion) -> Option<ExprAnswer>;
}

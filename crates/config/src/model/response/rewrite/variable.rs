//! The variables of a request by httpd's names.

/// A variable of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "httpd's names")]
pub enum RuleVariable {
    ApiVersion,
    ConnRemoteAddr,
    ContextDocumentRoot,
    ContextPrefix,
    DocumentRoot,
    Https,
    Ipv6,
    IsSubreq,
    PathInfo,
    QueryString,
    RemoteAddr,
    RemoteHost,
    RemotePort,
    RemoteUser,
    RequestFilename,
    RequestMethod,
    RequestScheme,
    RequestUri,
    ServerAddr,
    ServerAdmin,
    ServerName,
    ServerPort,
    ServerProtocol,
    ServerSoftware,
    AuthType,
    TheRequest,
    /// A part of the current time, as a format of `strftime`.
    Time(&'static str),
}

//! Inputs of rewrite rules: variables of a request, tests of files, and groups of patterns.

use crate::model::response::expr::Expr;

/// Work for one rule or condition, in bytes.
pub const STEP: usize = 100;

/// A variable of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "httpd's names")]
pub enum Known {
    DocumentRoot,
    Https,
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

/// A test of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "what they say")]
pub enum FileTest {
    Folder,
    File,
    /// A regular file that is not empty.
    Size,
    Link,
    Executable,
}

/// Access to a request and the file system.
pub trait Seen {
    /// `%{NAME}`
    fn known(&self, known: Known) -> String;
    /// `%{HTTP:name}`, with the name in lower case.
    fn header(&self, name: &str) -> String;
    /// `%{ENV:name}`
    fn variable(&self, name: &str) -> Option<String>;
    /// `%{SSL:name}`
    fn tls(&self, name: &str) -> String;
    /// Whether an expression is true.
    fn holds(&self, expr: &Expr) -> bool;
    /// Whether a file passes a test.
    fn file(&self, name: &str, test: FileTest) -> bool;
    /// `http://host:port` of the server, as the client used it.
    fn origin(&self) -> String;
}

/// Values for a template.
pub trait Fill {
    /// `%{NAME}`
    fn known(&self, known: Known) -> String;
    /// `%{HTTP:name}`, with the name in lower case.
    fn header(&self, name: &str) -> String;
    /// `%{ENV:name}`
    fn variable(&self, name: &str) -> String;
    /// `%{SSL:name}`
    fn tls(&self, name: &str) -> String;
    /// Accounts for work of this many bytes.
    fn spend(&self, bytes: usize);
}

/// Groups of patterns that matched; index 0 is the whole match.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// Groups of the rule's pattern.
    pub rule: &'a [String],
    /// Groups of the last condition that matched.
    pub condition: &'a [String],
}

impl<'a> Found<'a> {
    pub(super) fn of_rule(self, number: usize) -> &'a str {
        self.rule.get(number).map_or("", String::as_str)
    }

    pub(super) fn of_condition(self, number: usize) -> &'a str {
        self.condition.get(number).map_or("", String::as_str)
    }
}

//! What rules ask about a request.

use crate::config::model::response::expr::Expr;

/// What a rule or a condition counts for, in bytes.
pub const STEP: usize = 100;

/// What is known of a request by a name.
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
    /// A part of the time, by its letters in `strftime`.
    Time(&'static str),
}

/// What a file may be tested for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "what they say")]
pub enum FileTest {
    Folder,
    File,
    /// A file with something in it.
    Size,
    Link,
    Executable,
}

/// What is asked about a request and the disk.
pub trait Seen {
    /// `%{NAME}`
    fn known(&self, known: Known) -> String;
    /// `%{HTTP:name}`, by its name in lower case.
    fn header(&self, name: &str) -> String;
    /// `%{ENV:name}`
    fn variable(&self, name: &str) -> Option<String>;
    /// `%{SSL:name}`
    fn tls(&self, name: &str) -> String;
    /// Whether an expression holds.
    fn holds(&self, expr: &Expr) -> bool;
    /// What a file is.
    fn file(&self, name: &str, test: FileTest) -> bool;
    /// `http://host:port`, where the client has found us.
    fn origin(&self) -> String;
}

/// What fills a template.
pub trait Fill {
    /// `%{NAME}`
    fn known(&self, known: Known) -> String;
    /// `%{HTTP:name}`, by its name in lower case.
    fn header(&self, name: &str) -> String;
    /// `%{ENV:name}`
    fn variable(&self, name: &str) -> String;
    /// `%{SSL:name}`
    fn tls(&self, name: &str) -> String;
    /// So many bytes were looked at or written.
    fn spend(&self, bytes: usize);
}

/// What patterns have found, all of it first.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The rule's.
    pub rule: &'a [String],
    /// That of the last condition that found something.
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

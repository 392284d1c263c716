//! Provides the request's values for conditions and variables of rewrite rules.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use http::request::Parts;

use crate::request::context::{RequestContext, known, variables};
use crate::request::files::lookup::names_folder;
use crate::routing::Route;
use base::path::Text;
use config::LogLevel;
use config::response::expr::Expr;
use config::response::rewrite::{FileTest, Question, RuleAnswer, RuleSource, RuleVariable};
use files::open::{Links, PathWithLinks};

/// A request while rewrite rules process it.
pub struct AskedOf<'a> {
    pub context: &'a RequestContext,
    /// The request's current head.
    pub head: &'a Parts,
    /// The request's current route.
    pub route: &'a Route,
    /// Answers to the rules' questions so far.
    pub answers: &'a [(Question, RuleAnswer)],
    /// Highest level of lines for the log.
    pub trace_level: u8,
}

/// Highest level of lines that `LogLevel rewrite:trace1` to `trace8` asks for; 0: none.
pub fn trace_level(context: &RequestContext, route: &Route) -> u8 {
    let config = &context.generation.config;
    LogLevel::trace_number(config.level_of(config.hosts.get(usize::from(route.host)), "rewrite"))
}

impl RuleSource for AskedOf<'_> {
    fn known(&self, known: RuleVariable) -> String {
        known::known(self.context, self.head, self.route, known)
    }

    fn header(&self, name: &str) -> String {
        let value = self.context.header_of(self.head, name).map(|value| String::from_utf8_lossy(value.as_bytes()));
        value.unwrap_or_default().into_owned()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.context.variables().get(name).map(str::to_owned)
    }

    fn tls(&self, name: &str) -> String {
        self.context.tls_variable_at(name, &self.route.settings.response.ssl).unwrap_or_default()
    }

    fn found(&self, expr: &Expr) -> Option<Vec<String>> {
        variables::found(self.context, self.head, self.route, expr)
    }

    fn answer(&self, question: &Question) -> Option<RuleAnswer> {
        self.answers.iter().find(|(known, _)| known == question).map(|(_, answer)| answer.clone())
    }

    fn trace_level(&self) -> u8 {
        self.trace_level
    }

    fn file(&self, name: &str, test: FileTest) -> bool {
        let (opener, path) = (&self.context.generation.opener, Text::bytes_of(PathBuf::from(name)));
        // Tests that need an open file open it like a file to send.
        let opened = || opener.open(PathWithLinks { root: &path, path: &path, links: Links::Follow }).ok();
        match test {
            FileTest::Folder => names_folder(&self.context.generation, &path),
            FileTest::File => opener.is_there(&path) && !names_folder(&self.context.generation, &path),
            FileTest::Size => opened().is_some_and(|it| it.kind.is_file() && it.size > 0),
            FileTest::Executable => {
                opened().and_then(|it| it.file.metadata().ok()).is_some_and(|it| it.permissions().mode() & 0o111 != 0)
            }
            FileTest::Link => {
                let root = path.parent().unwrap_or(Path::new("/"));
                opener.is_refused(PathWithLinks { root, path: &path, links: Links::Refuse })
            }
        }
    }

    fn origin(&self) -> String {
        known::origin(self.context, self.head, self.route)
    }
}

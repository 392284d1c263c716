//! Paths and queries of clients in rewrite rules: each run ends within its allowance of work, and costs what its input
//! explains.
#![no_main]

use std::hint::black_box;

use base::path::{Text, normalise};
use config::parse::{self, ParserSource};
use config::response::expr::Expr;
use config::response::rewrite::{
    FileTest, Question, Rewritten, RuleAnswer, RuleInput, RuleResponse, RuleSource, RuleVariable, run,
};
use config::{Config, Facts, work};
use libfuzzer_sys::fuzz_target;

const SITE: &str = "Listen 80\nDocumentRoot /srv/www\nRewriteEngine On\nRewriteMap low int:tolower\nRewriteMap esc int:escape\nRewriteMap unesc int:unescape\n\
    RewriteCond %{QUERY_STRING} ^(.*)&b=(.*)$\nRewriteRule ^/a/(.*)$ /b/${low:$1}?q=%1&x=$1 [QSA]\n\
    RewriteRule ^/m/([^/]*)/(.*)$ /${esc:$2}/$1 [B,NE]\nRewriteRule ^/n(.*) /n$1x [N=4]\n\
    RewriteCond %{HTTP:x-own} (.*)\nRewriteRule ^/c(.*)$ - [CO=name:$1:example.org,E=VAR:%1$1]\n\
    RewriteRule ^/r(.*)$ http://example.org/${unesc:$1} [R=301,L]\nRewriteRule ^/p(.*)$ http://127.0.0.1:81$1 [P]\nRewriteRule ^/g - [G]\n";

thread_local!(static CONFIG: Config = {
    let tree = parse::text(SITE, "site.conf", &ParserSource::disk("/", &|_| None)).expect("understood");
    Config::build(&tree, &Facts { server_root: "/".into(), ..Facts::default() }).expect("a configuration")
});

/// A request, of which the query is also each header and variable.
struct Asked {
    path: String,
    query: String,
}

impl RuleSource for Asked {
    fn known(&self, known: RuleVariable) -> String {
        match known {
            RuleVariable::RequestUri | RuleVariable::RequestFilename => self.path.clone(),
            _ => self.query.clone(),
        }
    }
    fn header(&self, _: &str) -> String {
        self.query.clone()
    }
    fn variable(&self, _: &str) -> Option<String> {
        Some(self.query.clone())
    }
    fn tls(&self, _: &str) -> String {
        String::new()
    }
    fn found(&self, _: &Expr) -> Option<Vec<String>> {
        None
    }
    fn file(&self, _: &str, _: FileTest) -> bool {
        false
    }
    fn origin(&self) -> String {
        "http://localhost".to_owned()
    }
    fn answer(&self, _: &Question) -> Option<RuleAnswer> {
        None
    }
    fn trace_level(&self) -> u8 {
        0
    }
}

fuzz_target!(|raw: &[u8]| {
    slope::watch(raw, |raw| _ = black_box(rewritten(raw)));
    let Some(made) = rewritten(raw) else { return };
    assert!(made.question.is_none(), "no rule asks");
    assert!(made.cookies.iter().all(|cookie| cookie.starts_with("name=")));
    match made.away {
        Some(RuleResponse::To(status, url)) => assert!(status == 301 && url.starts_with("http://example.org/")),
        Some(RuleResponse::Backend(url)) => assert!(url.starts_with("http://127.0.0.1:81")),
        Some(RuleResponse::Status(status)) => assert!(matches!(status, 400..600)),
        None => assert!(!made.changed || made.path.starts_with('/')),
    }
});

/// The result of the host's rules for a target: the path up to the first question mark, then the query.
fn rewritten(raw: &[u8]) -> Option<Rewritten> {
    let end = raw.iter().position(|byte| *byte == b'?').unwrap_or(raw.len());
    let path = Text::new(&normalise(raw.get(..end)?).ok()?).0;
    let query = String::from_utf8_lossy(raw.get(end + 1..).unwrap_or_default()).into_owned();
    let asked = Asked { path: path.clone(), query: query.clone() };
    let start = RuleInput { path, query: Some(query), ..RuleInput::default() };
    CONFIG.with(|config| {
        let rules = &config.hosts.first()?.rewrite;
        Some(work::Allowance::default().count(|| run(rules, start, &asked)))
    })
}

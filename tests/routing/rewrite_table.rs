//! Rewrite rules beside httpd: `rewrite_table/cases.txt` has a case for each statement of mod_rewrite's manual, with
//! the answers of Debian's httpd, which `rewrite_table/compare.py` writes. A line with `!` is an answer that differs on
//! purpose.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::os::unix::fs::symlink;

use crate::support::{Request, Response, Server, Site};

const CASES: &str = include_str!("rewrite_table/cases.txt");
const ENV: &str = "#!/bin/sh\nprintf \"Content-Type: text/plain\\n\\nS=%s I=%s Q=%s V=%s R=%s\" \\\n    \
    \"$SCRIPT_NAME\" \"$PATH_INFO\" \"$QUERY_STRING\" \"$V\" \"$REDIRECT_URL\"\n";
const MAP: &str = "#!/bin/sh\nwhile read -r key; do [ \"$key\" = null ] && echo NULL || echo \"value-of-$key\"; done\n";

/// A virtual host of its own.
#[derive(Default)]
struct Case<'a> {
    title: &'a str,
    host: Vec<&'a str>,
    /// Lines of `.htaccess` files, by folder.
    folders: BTreeMap<&'static str, Vec<&'a str>>,
    /// Requests with their answers.
    requests: Vec<(&'a str, &'a str)>,
}

fn cases() -> Vec<Case<'static>> {
    let mut cases: Vec<Case<'static>> = Vec::new();
    for line in CASES.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            cases.push(Case { title, ..Case::default() });
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if let Some(rule) = line.strip_prefix("|/") {
            case.folders.entry("").or_default().push(rule.trim());
        } else if let Some(rule) = line.strip_prefix("|s") {
            case.folders.entry("sub/").or_default().push(rule.trim());
        } else if let Some(rule) = line.strip_prefix('|') {
            case.host.push(rule.trim());
        } else if let Some(request) = line.strip_prefix("> ") {
            case.requests.push((request, ""));
        } else if let Some(answer) = line.strip_prefix("< ").or_else(|| line.strip_prefix("! ")) {
            case.requests.last_mut().expect("a request above its answer").1 = answer;
        }
    }
    cases
}

fn site(cases: &[Case<'_>]) -> (Site, String) {
    let (mut site, mut conf) = (Site::new(), String::new());
    for (number, case) in cases.iter().enumerate() {
        let root = site.filled(&format!("@DIR@/c{number}"));
        let fill = |rules: &[&str]| {
            rules.join("\n").replace("@ROOT@", &root).replace("HOST", &format!("c{number}.test")) + "\n"
        };
        for (name, text) in [
            ("there.txt", "there"),
            ("sub/there.txt", "sub there"),
            ("empty.txt", ""),
            ("names.map", "# names\nana value-of-ana more words\n#commented no\nana second\n"),
            ("one.map", "key only\n"),
            ("users", "camel:{SHA}FKK3d8cilR/nUVmv9S+Xoztf7LM=\n"),
        ] {
            site = site.file(&format!("c{number}/{name}"), text);
        }
        for (name, text) in [("env.cgi", ENV), ("sub/env.cgi", ENV), ("script.txt", ENV), ("map.sh", MAP)] {
            site = site.script(&format!("c{number}/{name}"), text);
        }
        symlink("there.txt", site.path(&format!("c{number}/link.txt"))).expect("a link");
        for (folder, rules) in &case.folders {
            site = site.file(&format!("c{number}/{folder}.htaccess"), &format!("RewriteEngine On\n{}", fill(rules)));
        }
        let engine = if case.host.is_empty() { "" } else { "RewriteEngine On\n" };
        let _ = write!(
            conf,
            "<VirtualHost *:*>\nServerName c{number}.test\nDocumentRoot {root}\n{engine}{}</VirtualHost>\n",
            fill(&case.host)
        );
    }
    (site, conf)
}

/// Sends a request like `/path Name:value`. A word without a colon is part of the value before it.
fn ask(server: &Server, number: usize, request: &str) -> String {
    let root = server.site.filled(&format!("@DIR@/c{number}"));
    let host = format!("c{number}.test");
    let request = request.replace("@ROOT@", &root);
    let mut words = request.split(' ');
    let mut sent = Request::get(words.next().unwrap_or_default()).header("Host", &host);
    let mut fields: Vec<(String, String)> = Vec::new();
    for word in words {
        match (word.split_once(':'), fields.last_mut()) {
            (Some((name, value)), _) => fields.push((name.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                let _ = write!(value, " {word}");
            }
            (None, None) => panic!("{word} is no header"),
        }
    }
    for (name, value) in &fields {
        sent = sent.header(name, value);
    }
    line(&server.send(sent)).replace(&root, "@ROOT@").replace(&host, "HOST")
}

fn line(answer: &Response) -> String {
    let mut facts = vec![answer.status.to_string()];
    facts.extend(answer.header("Location"));
    if answer.status == 200 {
        let kind = answer.header("Content-Type").filter(|kind| kind != "text/plain");
        facts.extend(kind.map(|kind| format!("type={kind}")));
        facts.extend(answer.header("Set-Cookie").map(|cookie| format!("cookie={cookie}")));
        facts.extend(answer.header("Vary").map(|vary| format!("vary={}", vary.to_lowercase())));
        facts.push(answer.text());
    }
    facts.join(" ").trim_end().to_owned()
}

#[test]
fn rules_are_followed_as_by_httpd() {
    let cases = cases();
    let (site, conf) = site(&cases);
    let server = site.serve(&format!(
        "AddHandler cgi-script .cgi\n<Directory @DIR@>\nRequire all granted\nAllowOverride All\n\
         Options +ExecCGI +FollowSymLinks\n</Directory>\n{conf}"
    ));
    let mut wrong = String::new();
    for (number, case) in cases.iter().enumerate() {
        for (request, expected) in &case.requests {
            let response = ask(&server, number, request);
            if response != *expected {
                let _ = writeln!(wrong, "{}\n  > {request}\n  httpd    {expected}\n  cameleer {response}", case.title);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

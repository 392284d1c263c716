//! Tables like `tests/apps/packaged/site/cases.tsv`: requests and their expected responses.

use regex::bytes::Regex;

use super::tool::{output, sha256};
use crate::support::{Request, Response, Server};

/// A row of a table.
pub struct Case {
    /// Name of the case in messages.
    pub name: String,
    /// Mounts of the case, one character each: `r` below /perl, `p` below /run, `-` for the path as written.
    pub mounts: String,
    method: String,
    headers: Vec<(String, String)>,
    path: String,
    body: Option<String>,
    status: u16,
    kind: String,
    checks: Vec<String>,
}

/// Reads every row of a table.
pub fn of(text: &str) -> Vec<Case> {
    text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(Case::read).collect()
}

impl Case {
    fn read(line: &str) -> Case {
        let [name, mounts, method, path, body, status, kind, checks] =
            line.split('\t').collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("eight columns: {line}"));
        let mut method = method.split('^');
        Case {
            name: name.into(),
            mounts: mounts.into(),
            method: method.next().unwrap_or("GET").into(),
            headers: method.filter_map(|h| h.split_once(": ")).map(|(n, v)| (n.into(), v.into())).collect(),
            path: path.into(),
            body: (body != "-").then(|| body.replace("\\r", "\r").replace("\\n", "\n")),
            status: status.parse().expect("a status"),
            kind: kind.into(),
            checks: checks.split(" && ").map(str::to_owned).collect(),
        }
    }

    /// The path, with `{M}` for the mount, of a GET.
    pub fn path_of_get(&self) -> Option<String> {
        (self.method == "GET").then(|| self.path.clone())
    }

    /// Sends the request, and returns the differences from the expected response.
    pub fn ask(&self, server: &Server, mount: &str, round: u32) -> Vec<String> {
        let fill = |text: &str| {
            let place = match mount {
                "r" => "/perl",
                "p" => "/run",
                _ => "",
            };
            text.replace("{M}", place).replace("@N@", &format!("{round}{}", if mount == "r" { 0 } else { 1 }))
        };
        let mut request = Request::new(&self.method, &fill(&self.path));
        if self.method == "POST" && self.headers.is_empty() {
            request = request.header("Content-Type", "application/x-www-form-urlencoded");
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &self.body {
            request = request.body(with_time_of_page(server, &fill("{M}"), fill(body)));
        }
        let response = server.send(request);
        let mut faults = self.head_faults(&response);
        faults.extend(self.checks.iter().filter_map(|check| fault(&fill(check), &response)));
        if !faults.is_empty() {
            faults
                .push(format!("    {}", response.text().chars().take(300).collect::<String>().replace('\n', "\n    ")));
        }
        faults
    }

    fn head_faults(&self, response: &Response) -> Vec<String> {
        let mut faults = Vec::new();
        if response.status != self.status {
            faults.push(format!("status {}, not {}", response.status, self.status));
        }
        let kind = response.header("content-type").unwrap_or_default();
        if self.kind != "-" && !kind.to_lowercase().starts_with(&self.kind.to_lowercase()) {
            faults.push(format!("type {kind:?}, not {:?}", self.kind));
        }
        faults
    }
}

/// Replaces `@MTIME@` by `oldtime` of the edit form, which identifies the edited version of the page.
fn with_time_of_page(server: &Server, mount: &str, body: String) -> String {
    if !body.contains("@MTIME@") {
        return body;
    }
    let form = server.get(&format!("{mount}/wiki.pl?action=edit&id=SandBox")).text();
    let time = regex::Regex::new(r#"name="oldtime" value="(\d+)""#).expect("a pattern");
    body.replace("@MTIME@", time.captures(&form).map_or("0", |found| found.get(1).map_or("0", |time| time.as_str())))
}

fn fault(check: &str, response: &Response) -> Option<String> {
    let (what, value) = check.split_once(':').unwrap_or_else(|| panic!("a check: {check}"));
    let body = &response.body;
    let wrong = match what {
        "has" => !matches(value, body),
        "not" => matches(value, body),
        "sha" if value == "@GUILDPNG@" => !body.starts_with(b"\x89PNG"),
        "sha" => sha256(body) != value,
        "len" => body.len().to_string() != value,
        "tgz" => !matches(value, &output("tar", &["-tzf", "-"], body)),
        "gun" => !matches(value, &output("gzip", &["-dc"], body)),
        "hdr" => {
            let (name, pattern) = value.split_once('=').expect("Name=REGEX");
            !response.header(name).is_some_and(|header| matches(pattern, header.as_bytes()))
        }
        other => panic!("unknown check {other}"),
    };
    wrong.then(|| format!("not true: {check} ({} bytes)", body.len()))
}

fn matches(pattern: &str, text: &[u8]) -> bool {
    // The table writes bytes as Perl's Latin-1 escapes: `\xc3\xa9`.
    Regex::new(&format!("(?m-u){pattern}")).expect("a pattern").is_match(text)
}

//! Tests of rules, by the paths that they produce.

use std::sync::Arc;

use super::*;
use crate::model::response::expr::{Expr, LookAhead};
use crate::syntax::pattern::Budget;

/// A request of a browser in version 5 to `http://example.org`, with one file below `/srv/www`.
struct Browser;

impl RuleSource for Browser {
    fn known(&self, known: RuleVariable) -> String {
        match known {
            RuleVariable::DocumentRoot => "/srv/www".to_owned(),
            RuleVariable::RequestMethod => "GET".to_owned(),
            RuleVariable::RequestUri => "/sent".to_owned(),
            other => format!("{other:?}"),
        }
    }
    fn header(&self, name: &str) -> String {
        if name == "user-agent" { "Browser/5".to_owned() } else { String::new() }
    }
    fn variable(&self, name: &str) -> Option<String> {
        (name == "robot").then(|| "yes".to_owned())
    }
    fn tls(&self, name: &str) -> String {
        name.to_owned()
    }
    fn found(&self, _: &Expr) -> Option<Vec<String>> {
        Some(vec!["whole".to_owned(), "part".to_owned()])
    }
    fn file(&self, name: &str, test: FileTest) -> bool {
        match test {
            FileTest::Folder => name == "/srv/www/wiki/",
            FileTest::File => name == "/srv/www/wiki/there",
            _ => false,
        }
    }
    fn origin(&self) -> String {
        "http://example.org".to_owned()
    }
    fn answer(&self, question: &Question) -> Option<RuleAnswer> {
        let found = |status, uri: &str| {
            let user = (uri == "/sent/in").then(|| "camel".to_owned());
            RuleAnswer::LookedUp(Box::new(LookedUp { status, is_there: status == 200, user, ..LookedUp::default() }))
        };
        match question {
            Question::LookAhead(LookAhead::Path(path)) if path == "/later" => None,
            Question::LookAhead(LookAhead::Path(path)) => Some(found(if path == "/shut" { 403 } else { 200 }, path)),
            Question::LookAhead(LookAhead::File(file)) => {
                Some(found(if file == "/srv/www/wiki/there" { 200 } else { 404 }, file))
            }
            Question::Value(_, key) => Some(RuleAnswer::Value((key != "none").then(|| format!("<{key}>")))),
        }
    }
    fn trace_level(&self) -> u8 {
        4
    }
}

fn place(text: &str, folder: Option<&str>) -> Rewrite {
    let (maps, budget) = (Maps::default(), &mut Budget::of_the_administrator());
    let mut place = Rewrite { engine: Some(true), folder: folder.map(Arc::from), is_set: true, ..Rewrite::default() };
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split(' ').collect();
        let flags = words.get(3).copied().unwrap_or_default();
        if words[0] == "if" {
            place.pending.push(Condition::parse(words[1], words[2], flags, &maps, budget).expect(line));
        } else {
            let conditions = std::mem::take(&mut place.pending);
            let rule = Rule::parse(words[1], words[2], flags, &maps, budget).expect(line);
            place.rules.push(Arc::new(Rule { conditions, ..rule }));
        }
    }
    place
}

fn of_host(rules: &str, target: &str) -> Rewritten {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query.to_owned())));
    run(&place(rules, None), RuleInput { path: path.to_owned(), query, ..RuleInput::default() }, &Browser)
}

/// The result as one line: `/path?query`, `302 URL`, `403`, or `-` if nothing changed.
fn line(made: &Rewritten) -> String {
    match &made.away {
        Some(RuleResponse::Status(status)) => status.to_string(),
        Some(RuleResponse::To(status, location)) => format!("{status} {location}"),
        Some(RuleResponse::Backend(url)) => format!("backend {url}"),
        None if !made.changed => "-".to_owned(),
        None => {
            let query = made.query.as_deref().map(|query| format!("?{query}")).unwrap_or_default();
            format!("{}{query}", made.path)
        }
    }
}

#[test]
fn rules_of_a_host_rewrite_paths() {
    for (rules, target, expected) in [
        ("rule ^/a/(.*)$ /b/$1", "/a/x?q=1", "/b/x?q=1"),
        ("rule ^/a/(.*)$ /b.pl?p=$1", "/a/x?q=1", "/b.pl?p=x"),
        ("rule ^/a/(.*)$ /b.pl?p=$1 [QSA]", "/a/x?q=1", "/b.pl?p=x&q=1"),
        ("rule ^/a/(.*)$ /b.pl [QSD]", "/a/x?q=1", "/b.pl"),
        ("rule ^/a/(.*)$ /b.pl?", "/a/x?q=1", "/b.pl"),
        ("rule ^/a/(.*)$ /$1", "/a/x?y", "/x?y"),
        ("rule ^/nothing /b", "/a", "-"),
        ("rule ^/a - [F]", "/a", "403"),
        ("rule ^/a - [G]", "/a", "410"),
        ("rule ^/a /b [R=404]", "/a", "404"),
        ("rule ^/A$ /b [NC]", "/a", "/b"),
        ("rule !^/a /b", "/a", "-"),
        ("rule !^/a /b$1", "/c", "/b"),
        ("rule ^/a$ /b\nrule ^/b$ /c", "/a", "/c"),
        ("rule ^/a$ /b [L]\nrule ^/b$ /c", "/a", "/b"),
        ("rule ^/a$ /b [S=1]\nrule ^/b$ /c\nrule ^/b$ /d", "/a", "/d"),
        ("rule ^/x /x [C]\nrule ^/a /b [C]\nrule . /c\nrule a$ /d", "/a", "/d"),
        ("rule (.*)_(.*) $1-$2 [N]", "/a_b_c", "/a-b-c"),
        ("rule (.*) $1x [N]", "/a", "500"),
        ("rule ^/a$ - [R=204]", "/a", "204"),
    ] {
        assert_eq!(line(&of_host(rules, target)), expected, "{rules}\n{target}");
    }
}

#[test]
fn a_result_varies_if_rules_use_more_than_path_and_query() {
    for (rules, expected) in [
        ("rule ^/(.*)$ /b/$1?q=%{QUERY_STRING} [E=x:$1]", false),
        ("rule ^/nothing /b/%{HTTP:User-Agent}", false),
        ("rule ^/a /b/%{HTTP:User-Agent}", true),
        ("rule ^/a /b/%{ENV:robot}", true),
        ("rule ^/a /b/%{REQUEST_METHOD}", true),
        ("rule ^/a http://example.org/b", true),
        ("rule ^/a - [CO=seen:yes:example.org:1]", true),
        ("if %{QUERY_STRING} none\nrule ^/a /b", true),
    ] {
        assert_eq!(of_host(rules, "/a?q").varies, expected, "{rules}");
    }
    let map = Map::parse("rnd:x", |_| Ok("a one|two".to_owned())).expect("a map");
    let maps = Maps::default().with("any", map);
    let rule = Rule::parse(".", "/${any:a}", "", &maps, &mut Budget::of_the_administrator()).expect("a rule");
    let rewrite = Rewrite { rules: vec![Arc::new(rule)], ..Rewrite::default() };
    assert!(run(&rewrite, RuleInput { path: "/a".to_owned(), ..RuleInput::default() }, &Browser).varies);
}

#[test]
fn rules_redirect_clients() {
    for (rules, target, expected) in [
        ("rule ^/a$ /b\\%20c?x=1&y=%{REQUEST_METHOD} [R]", "/a", "302 http://example.org/b%2520c?x=1&y=GET"),
        ("rule ^/a$ /b\\%20c [R=301,NE]", "/a", "301 http://example.org/b%20c"),
        ("rule ^/(.*)$ https://x.org/$1", "/a b:c?d=%20", "302 https://x.org/a%20b:c?d=%20"),
        ("rule ^/(.*)$ https://x.org/$1 [R=permanent]", "/a", "301 https://x.org/a"),
        ("rule ^/(.*)$ http://example.org/b/$1", "/a", "/b/a"),
        ("rule ^/(.*)$ https://x.org/$1 [NE]", "/a?b", "302 https://x.org/a?b"),
        ("rule ^/a$ b [R]", "/a", "302 http://example.org/b"),
        ("rule ^/a$ /b [R=308]\nrule /b$ /c [R=307]", "/a", "307 http://example.org/c"),
    ] {
        assert_eq!(line(&of_host(rules, target)), expected, "{rules}\n{target}");
    }
}

#[test]
fn all_conditions_must_hold_except_alternatives() {
    for (rules, expected) in [
        ("if %{HTTP_USER_AGENT} ^Browser/(.)\nrule ^/a /v%1", "/v5"),
        ("if %{HTTP_USER_AGENT} !^Browser\nrule ^/a /b", "-"),
        ("if %{REQUEST_METHOD} =get [NC]\nif %{ENV:robot} =yes\nrule ^/a /b", "/b"),
        ("if %{REQUEST_METHOD} =POST [OR]\nif %{REQUEST_METHOD} =GET\nrule ^/a /b", "/b"),
        ("if %{REQUEST_METHOD} =GET [OR]\nif %{REQUEST_METHOD} =POST\nif %{ENV:robot} =no\nrule ^/a /b", "-"),
        ("if %{QUERY_STRING} =\"\"\nrule ^/a /b", "/b"),
        ("if bb >c\nif a <aa\nif b >a\nrule ^/a /b", "/b"),
        ("if bb >c [NC]\nrule ^/a /b", "-"),
        ("if Bb <c [NC]\nrule ^/a /b", "/b"),
        ("if /open -U\nif /shut !-U\nrule ^/a /b", "/b"),
        ("if /srv/www/wiki/there -F\nif /srv/www/wiki/none !-F\nrule ^/a /b", "/b"),
        ("if expr true\nrule ^/a /%1", "/part"),
        ("if 12x -gt11\nif 3 -le3\nif b >a\nrule ^/a /b", "/b"),
        ("if $1 =x\nrule ^/a/(.) /b", "/b"),
        ("rule ^/a - [E=robot:no]\nif %{ENV:robot} =no\nrule ^/a /b", "/b"),
        ("if %{DOCUMENT_ROOT}/wiki/there -f\nif %{DOCUMENT_ROOT}/wiki/ !-f\nrule ^/a /b", "/b"),
    ] {
        assert_eq!(line(&of_host(rules, "/a/x")), expected, "{rules}");
    }
}

#[test]
fn rules_of_a_folder_see_the_path_below_it() {
    let of_folder = |rules: &str, file: &str, path_info: &str| {
        let start =
            RuleInput { path: file.to_owned(), path_info: path_info.to_owned(), query: None, is_subrequest: false };
        line(&run(&place(rules, Some("/srv/www/wiki/")), start, &Browser))
    };
    let front = "if %{REQUEST_FILENAME} !-f\nif %{REQUEST_FILENAME} !-d\nrule ^(.*)$ index.pl?p=$1 [L]";
    for (rules, file, path_info, expected) in [
        (front, "/srv/www/wiki/Page", "/x", "/srv/www/wiki/index.pl?p=Page/x"),
        (front, "/srv/www/wiki/there", "", "-"),
        (front, "/srv/www/wiki/", "", "-"),
        ("rule ^$ /top", "/srv/www/wiki/", "", "/top"),
        ("rule ^x/y$ z\nrule ^z/y$ w", "/srv/www/wiki/x", "/y", "/srv/www/wiki/w"),
        ("rule ^x/y$ z [DPI]\nrule ^z$ w", "/srv/www/wiki/x", "/y", "/srv/www/wiki/w"),
    ] {
        assert_eq!(of_folder(rules, file, path_info), expected, "{rules}\n{file}");
    }
}

#[test]
fn a_clients_question_mark_begins_no_query_and_its_path_is_no_file_system_path() {
    assert_eq!(line(&of_host("rule ^/a/(.*)$ /app/$1", "/a/b")), "/app/b");
    let made = run(
        &place("rule ^/a/(.*)$ /app/$1", None),
        RuleInput { path: "/a/b?admin=1".to_owned(), ..RuleInput::default() },
        &Browser,
    );
    assert_eq!((made.path.as_str(), made.query), ("/app/b?admin=1", None));
    for (rules, expected) in [
        ("rule ^/a(.*) $1/x", false),
        ("rule ^/a(.*) /srv/x$1", true),
        ("rule ^/a(.*) %{DOCUMENT_ROOT}$1", true),
        ("rule ^/a(.*) /$1/x", false),
    ] {
        assert_eq!(of_host(rules, "/a/etc").names_folder, expected, "{rules}");
    }
}

#[test]
fn the_work_of_rules_is_limited() {
    let many = "if %{HTTP:User-Agent}%{HTTP:User-Agent} =x [OR]\n".repeat(1300) + "if a b\nrule . /b\nrule . - [N]";
    let tests = "if /a/b/c -f [OR]\n".repeat(200) + "if a b\nrule . /b";
    let memory = format!("rule . - [{}]", "E=a:%{HTTP:User-Agent},".repeat(9000));
    let made = of_host(&format!("{memory}\nrule . - [N=200]"), "/a");
    assert!(made.too_much && made.variables.len() == 1, "{made:?}");
    for rules in [many, tests] {
        let made = of_host(&rules, "/a");
        assert!(made.too_much && made.away == Some(RuleResponse::Status(500)), "{made:?}");
    }
}

#[test]
fn invalid_rules_and_conditions_are_errors() {
    let (maps, budget) = (Maps::default(), &mut Budget::of_the_administrator());
    for (pattern, to, flags) in [
        ("(", "/x", ""),
        ("a", "%{LA-U:NOBODY}", ""),
        ("a", "/x", "L"),
        ("a", "/x", "[H]"),
        ("a", "/x", "[R=999]"),
        ("a", "/x", "[Q]"),
        ("a", "-", "[E=HTTP_PROXY:%{HTTP:Proxy}]"),
    ] {
        assert!(Rule::parse(pattern, to, flags, &maps, budget).is_err(), "{pattern} {to} {flags}");
    }
    for (test, pattern, flags) in
        [("x", "-eq x", ""), ("x", "(", ""), ("%{NO}", "x", ""), ("x", "y", "[L]"), ("expr", "maybe", "")]
    {
        assert!(Condition::parse(test, pattern, flags, &maps, budget).is_err(), "{test} {pattern} {flags}");
    }
}

fn of(rules: usize, options: RewriteOptions) -> Rewrite {
    let rules = (0..rules).map(|_| Arc::new(Rule::default())).collect();
    Rewrite { engine: Some(true), rules, options: Some(options), is_set: true, ..Rewrite::default() }
}

#[test]
fn an_inner_place_replaces_outer_rules_unless_it_inherits() {
    let plain = RewriteOptions::default();
    for (inherit, expected) in [(None, 1), (Some(Inherit::Behind), 3), (Some(Inherit::Before), 3)] {
        let mut outer = Rewrite { base: Some("/a/".into()), ..of(2, plain) };
        outer.merge(&Rewrite::default());
        assert_eq!(outer.rules.len(), 2, "an inner place without rewrite directives changes nothing");
        outer.merge(&of(1, RewriteOptions { inherit, merge_base: inherit.is_some(), ..plain }));
        assert_eq!((outer.rules.len(), outer.base.is_some()), (expected, inherit.is_some()));
    }
}

#[test]
fn an_outer_place_hands_its_rules_down_unless_the_inner_place_ignores_them() {
    let down = RewriteOptions { inherit_down: Some(Inherit::Behind), ..RewriteOptions::default() };
    let ignoring = RewriteOptions { ignore_inherit: true, ..RewriteOptions::default() };
    for (options, expected) in [(None, 3), (Some(RewriteOptions::default()), 3), (Some(ignoring), 1)] {
        let mut outer = of(2, down);
        outer.merge(&Rewrite { options, ..of(1, down) });
        assert_eq!(outer.rules.len(), expected, "{options:?}");
    }
    let mut outer = of(2, RewriteOptions { inherit: Some(Inherit::Before), ..RewriteOptions::default() });
    outer.merge(&Rewrite { options: None, ..of(1, down) });
    assert_eq!(outer.rules.len(), 3, "options are inherited");
}

#[test]
fn a_virtual_host_inherits_the_engine_but_no_rules() {
    let main = of(2, RewriteOptions::default());
    let mut silent = Rewrite::default();
    silent.inherit(&main);
    assert!(!silent.is_on());
    let mut own = Rewrite { engine: None, ..of(1, RewriteOptions::default()) };
    own.inherit(&main);
    assert_eq!((own.is_on(), own.rules.len()), (true, 1));
    let mut both = of(1, RewriteOptions { inherit: Some(Inherit::Behind), ..RewriteOptions::default() });
    both.inherit(&main);
    assert_eq!(both.rules.len(), 3);
}

#[test]
fn a_run_without_an_answer_stops_with_its_question() {
    let made = of_host("rule ^/a - [E=x:1]\nif /later -U\nrule ^/a /b\nrule ^/a - [F]", "/a");
    assert_eq!(made.question, Some(Question::LookAhead(LookAhead::Path("/later".to_owned()))));
    assert_eq!(made.away, None);
    let program = Map::parse("prg:/bin/map", |_| Err(String::new())).expect("a map");
    let (maps, budget) = (Maps::default().with("m", program), &mut Budget::of_the_administrator());
    for (key, expected) in [("$1", "/<x>"), ("none", "/other")] {
        let to = format!("/${{m:{key}|other}}");
        let rule = Rule::parse("^/(.*)", &to, "", &maps, budget).expect("a rule");
        let place = Rewrite { engine: Some(true), rules: vec![Arc::new(rule)], ..Rewrite::default() };
        let start = RuleInput { path: "/x".to_owned(), ..RuleInput::default() };
        assert_eq!(line(&run(&place, start, &Browser)), expected);
    }
}

#[test]
fn a_look_ahead_is_a_part_of_a_rule() {
    let made = of_host("rule ^/sent/in - [E=user:%{LA-U:REMOTE_USER}]", "/sent/in");
    assert_eq!(made.variables.get("user"), Some(&Some("camel".to_owned())));
    let place = place("if %{LA-U:REMOTE_USER} camel\nrule ^in$ out\nrule ^in$ away [R]\nrule ^in$ - [NS,F]", None);
    let start = RuleInput { path: "in".to_owned(), is_subrequest: true, ..RuleInput::default() };
    assert_eq!(line(&run(&place, start, &Browser)), "-", "a request that is only looked at asks about no other");
}

#[test]
fn a_rule_names_handler_and_type() {
    let made = of_host("rule ^/a\\.(.*)$ - [H=CGI-Script,T=text/$1]\nrule ^/a - [H=%{ENV:none}]", "/a.X");
    let forced = made.forced;
    assert_eq!((forced.handler.as_deref(), forced.content_type.as_deref()), (Some("cgi-script"), Some("text/x")));
}

#[test]
fn variables_have_names_of_the_request_but_for_the_proxy() {
    let made =
        of_host("rule ^/(.*)$ - [E=V_$1:$1,E=!robot,E=%{REQUEST_METHOD}]\nrule ^/ - [E=%{ENV:GET}http_proxy:x]", "/a");
    let names: Vec<(&str, Option<&str>)> =
        made.variables.iter().map(|(name, text)| (name.as_str(), text.as_deref())).collect();
    assert_eq!(names, [("GET", Some("")), ("V_a", Some("a")), ("robot", None)]);
}

#[test]
fn the_log_names_the_rule_of_each_step() {
    let made = of_host("rule ^/x /y\nif %{REQUEST_METHOD} !=GET\nrule ^/a /b\nrule ^/a/(.*) /c?q=$1 [R=301]", "/a/b");
    let lines: Vec<String> = made.trace.iter().map(|line| format!("{} {}", line.level, line.text)).collect();
    assert_eq!(
        lines,
        [
            "2 init rewrite engine with requested uri /a/b",
            "3 applying pattern '^/x' to uri '/a/b'",
            "3 applying pattern '^/a' to uri '/a/b'",
            "4 RewriteCond: input='GET' pattern='!=GET' => not-matched",
            "3 applying pattern '^/a/(.*)' to uri '/a/b'",
            "2 rewrite '/a/b' -> '/c?q=b'",
            "3 split uri=/c?q=b -> uri=/c, args=q=b",
            "2 explicitly forcing redirect with http://example.org/c",
            "1 redirect to http://example.org/c?q=b [REDIRECT/301]",
        ]
    );
}

//! Tests of rules, by the paths that they produce.

use std::sync::Arc;

use super::*;
use crate::model::response::expr::Expr;
use crate::syntax::pattern::Budget;

/// A request of a browser in version 5 to `http://example.org`, with one file below `/srv/www`.
struct Browser;

impl Seen for Browser {
    fn known(&self, known: Known) -> String {
        match known {
            Known::DocumentRoot => "/srv/www".to_owned(),
            Known::RequestMethod => "GET".to_owned(),
            Known::RequestUri => "/sent".to_owned(),
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
    fn holds(&self, _: &Expr) -> bool {
        true
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
}

fn place(text: &str, folder: Option<&str>) -> Rewrite {
    let (maps, budget) = (Maps::default(), &mut Budget::of_the_administrator());
    let mut place = Rewrite { engine: Some(true), folder: folder.map(Arc::from), said: true, ..Rewrite::default() };
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split(' ').collect();
        let flags = words.get(3).copied().unwrap_or_default();
        if words[0] == "if" {
            place.pending.push(Condition::parse(words[1], words[2], flags, &maps, budget).expect(line));
        } else {
            let conditions = std::mem::take(&mut place.pending);
            place.rules.push(Arc::new(Rule::parse(words[1], words[2], flags, conditions, &maps, budget).expect(line)));
        }
    }
    place
}

fn of_host(rules: &str, target: &str) -> Rewritten {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query.to_owned())));
    run(&place(rules, None), Start { path: path.to_owned(), query, ..Start::default() }, &Browser)
}

/// The result as one line: `/path?query`, `302 URL`, `403`, or `-` if nothing changed.
fn line(made: &Rewritten) -> String {
    match &made.away {
        Some(Away::Status(status)) => status.to_string(),
        Some(Away::To(status, location)) => format!("{status} {location}"),
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
        let start = Start { path: file.to_owned(), path_info: path_info.to_owned(), query: None };
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
        Start { path: "/a/b?admin=1".to_owned(), ..Start::default() },
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
        assert!(made.too_much && made.away == Some(Away::Status(500)), "{made:?}");
    }
}

#[test]
fn invalid_rules_and_conditions_are_errors() {
    let (maps, budget) = (Maps::default(), &mut Budget::of_the_administrator());
    for (pattern, to, flags) in [
        ("(", "/x", ""),
        ("^/a(?!b)", "/x", ""),
        ("a", "%{LA-U:REMOTE_USER}", ""),
        ("a", "/x", "L"),
        ("a", "/x", "[P]"),
        ("a", "/x", "[H=cgi-script]"),
        ("a", "/x", "[R=999]"),
        ("a", "/x", "[Q]"),
        ("a", "-", "[E=HTTP_PROXY:%{HTTP:Proxy}]"),
    ] {
        assert!(Rule::parse(pattern, to, flags, Vec::new(), &maps, budget).is_err(), "{pattern} {to} {flags}");
    }
    for (test, pattern, flags) in [
        ("x", "-U", ""),
        ("x", "-eq x", ""),
        ("x", "(", ""),
        ("%{NO}", "x", ""),
        ("x", "y", "[L]"),
        ("expr", "maybe", ""),
    ] {
        assert!(Condition::parse(test, pattern, flags, &maps, budget).is_err(), "{test} {pattern} {flags}");
    }
}

fn of(rules: usize, options: RewriteOptions) -> Rewrite {
    let rules = (0..rules).map(|_| Arc::new(Rule::default())).collect();
    Rewrite { engine: Some(true), rules, options, said: true, ..Rewrite::default() }
}

#[test]
fn an_inner_place_replaces_outer_rules_unless_it_inherits() {
    let plain = RewriteOptions::default();
    for (inherit, expected) in [(None, 1), (Some(Inherit::Behind), 3), (Some(Inherit::Before), 3)] {
        let mut outer = Rewrite { base: Some("/a/".into()), ..of(2, plain) };
        outer.merge(&Rewrite::default());
        assert_eq!(outer.rules.len(), 2, "an inner place without rewrite directives changes nothing");
        outer.merge(&of(1, RewriteOptions { inherit, merge_base: inherit.is_some() }));
        assert_eq!((outer.rules.len(), outer.base.is_some()), (expected, inherit.is_some()));
    }
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
    let mut both = of(1, RewriteOptions { inherit: Some(Inherit::Behind), merge_base: false });
    both.inherit(&main);
    assert_eq!(both.rules.len(), 3);
}

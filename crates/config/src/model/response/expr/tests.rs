//! Expressions as httpd's manual specifies them (expr.html).

use std::net::{IpAddr, Ipv4Addr};

use super::*;
use crate::syntax::work;

/// A request for `/a/b.html?x=12` by 192.0.2.7.
struct Request;

impl ExprSource for Request {
    fn variable(&self, variable: ExprVariable) -> Result<String, ExprFailure> {
        Ok(match variable {
            ExprVariable::RequestMethod => "GET",
            ExprVariable::Https => "off",
            ExprVariable::RequestUri => "/a/b.html",
            ExprVariable::QueryString => "x=12",
            ExprVariable::RemoteAddr => "192.0.2.7",
            _ => "",
        }
        .to_owned())
    }

    fn client(&self) -> Option<IpAddr> {
        Some(Ipv4Addr::new(192, 0, 2, 7).into())
    }

    fn request_header(&self, name: &str) -> Option<String> {
        (name == "user-agent").then(|| "Robot/1.0".to_owned())
    }

    fn response_header(&self, name: &str) -> Option<String> {
        (name == "content-length").then(|| "7".to_owned())
    }

    fn request_env(&self, name: &str) -> Option<String> {
        (name == "robot").then(|| "yes".to_owned())
    }

    fn note(&self, _: &str) -> Option<String> {
        None
    }

    fn os_env(&self, name: &str) -> Option<String> {
        (name == "TZ").then(|| "UTC".to_owned())
    }

    fn tls(&self, name: &str) -> Option<String> {
        (name == "SSL_PROTOCOL").then(|| "TLSv1.3".to_owned())
    }

    fn answer(&self, question: &ExprQuestion) -> Option<ExprAnswer> {
        match question {
            ExprQuestion::Disk(DiskFact::IsFile, name) => Some(ExprAnswer::Holds(name == "/there")),
            ExprQuestion::Disk(DiskFact::File, _) => Some(ExprAnswer::Failed("no such file".to_owned())),
            _ => None,
        }
    }
}

fn parsed(source: &str) -> Result<Expr, String> {
    Expr::parse(source, &mut Budget::of_the_administrator())
}

fn holds(source: &str) -> bool {
    parsed(source).expect(source).evaluate(&Request).expect(source).value
}

fn text(source: &str) -> String {
    ExprText::parse(source, &mut Budget::of_the_administrator()).expect(source).evaluate(&Request).expect(source)
}

#[test]
fn conditions_are_evaluated_as_httpds_manual_specifies() {
    for (source, expected) in [
        ("true", true),
        ("! true || (false || true)", true),
        ("true && false || false", false),
        ("not true or true and true", true),
        ("%{REQUEST_METHOD} == 'GET'", true),
        ("%{request_method} != 'GET'", false),
        ("%{REQUEST_URI} =~ m#^/a/(.*)\\.html$# && $1 == 'b'", true),
        ("%{HTTP_USER_AGENT} !~ /robot/i", false),
        ("%{HTTP:User-Agent} =~ /^Robot/", true),
        ("%{reqenv:robot} == \"yes\" && -z %{reqenv:other}", true),
        ("-n %{REMOTE_HOST}", false),
        ("-T %{reqenv:robot}", true),
        ("-R '192.0.2.0/24'", true),
        ("%{REMOTE_ADDR} -ipmatch '198.51.100.0/24'", false),
        ("%{REQUEST_METHOD} in {'POST', 'GET'}", true),
        ("'10' -gt 9 && '10' < '9'", true),
        ("'-1' -lt 0 && ' 12abc' -eq 12 && '+3' eq 3 && 'abc' -eq 0 && '' lt 1 && '1.9' -eq 1", true),
        ("'9223372036854775808' -gt '9223372036854775806' && '-99999999999999999999' -lt 0", true),
        ("'99999999999999999999' -lt 100", false),
        ("%{HTTPS} == 'off' && %{HTTPS} != 'on'", true),
        ("%{QUERY_STRING} =~ /x=([0-9]+)/ && $1 -eq 12", true),
        ("'a%{REQUEST_METHOD}b' == 'a' . %{REQUEST_METHOD} . 'b'", true),
        ("%{REQUEST_URI} -fnmatch '/a/*.html' && %{REQUEST_URI} -strcmatch '*.HTML'", true),
        ("-5 -lt 3", true),
        ("(('a')) == ('a' . '')", true),
        ("'%{:true && false:}' == 'false' && %{:'a' . 'b':} == 'ab'", true),
        ("'it\\'s' == \"it's\" && 'a\\tb' =~ /\\t/", true),
        ("-f '/there' && ! -f '/elsewhere'", true),
        ("%{SSL_PROTOCOL} == 'TLSv1.3' && %{SSL:SSL_PROTOCOL} == ssl('SSL_PROTOCOL')", true),
    ] {
        assert_eq!(holds(source), expected, "{source}");
    }
}

#[test]
fn functions_are_evaluated_as_httpds_manual_specifies() {
    for source in [
        "req('User-Agent') == 'Robot/1.0' && req_novary('user-agent') == http('USER-AGENT')",
        "resp('Content-Length') -gt 0",
        "osenv('TZ') == 'UTC' && env('TZ') == 'UTC' && env('robot') == 'yes' && note('x') == ''",
        "toupper(tolower('Ab')) == 'AB' && ToLower('A') == 'a'",
        "escape('a b/?') == 'a%20b/%3f' && unescape('a%20b%2fc') == 'a b%2fc' && unescape('%zz') == ''",
        "base64('foo bar') == 'Zm9vIGJhcg==' && unbase64('Zm9vIGJhcg==') == 'foo bar'",
        "md5('') == 'd41d8cd98f00b204e9800998ecf8427e'",
        "sha1('foo') == '0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33'",
        "ldap('a*(b),c') == 'a\\\\2a\\\\28b\\\\29\\\\2cc'",
        "replace('a.b.c', '.', '--') == 'a--b--c' && replace('a', '', 'x') == 'a'",
        "sub(s/b+/[$0]/, 'abba') == 'a[bb]a' && sub s#a#-#g, 'aba' == '-b-'",
        "join({'a', 'b'}, '+') == 'a+b' && join split(/,/, 'a,b') == 'ab'",
        "'b' in split(/ *, */, 'a , b') && 'a;' in split(s/,/;/, { 'a,b', 'c' })",
    ] {
        assert!(holds(source), "{source}");
    }
}

#[test]
fn texts_have_variables_and_no_operators() {
    for (source, expected) in [
        ("", ""),
        ("5 $ 5 % %% {a} } 'x'", "5 $ 5 % %% {a} } 'x'"),
        ("before %{REQUEST_METHOD}-%{QUERY_STRING}", "before GET-x=12"),
        ("%{tolower:%{REQUEST_METHOD} \\} X}", "get } x"),
        ("[$1]", "[]"),
        ("%{:1 -lt 2:}", "true"),
    ] {
        assert_eq!(text(source), expected, "{source}");
    }
}

#[test]
fn groups_stay_those_of_the_last_pattern_with_groups() {
    assert!(holds("'ab' =~ /(a)/ && 'x' =~ /x/ && $1 == 'a'"));
    assert!(holds("'ab' =~ /(a)/ && 'x' !~ /(y)/ && $1 == ''"));
    let found = parsed("'ab' =~ /(.)(.)/").unwrap().evaluate(&Request).unwrap().groups;
    assert_eq!(found.get(..3), Some(&["ab".to_owned(), "a".to_owned(), "b".to_owned()][..]));
}

#[test]
fn headers_that_were_used_are_reported_for_vary() {
    let vary = |source: &str| parsed(source).unwrap().evaluate(&Request).unwrap().vary;
    assert_eq!(vary("%{HTTP_USER_AGENT} == '' || req('User-Agent') == ''"), ["User-Agent"]);
    assert_eq!(vary("req_novary('Accept') == '' && %{HTTP_HOST} == ''"), Vec::<String>::new());
    assert_eq!(vary("true || req('Accept') == ''"), Vec::<String>::new());
}

#[test]
fn questions_without_an_answer_stop_the_evaluation() {
    let failure = |source: &str| parsed(source).unwrap().evaluate(&Request).unwrap_err();
    assert_eq!(failure("-U '/x'"), ExprFailure::Unknown(ExprQuestion::LookAhead(LookAhead::Path("/x".to_owned()))));
    assert_eq!(failure("file('/x') == ''"), ExprFailure::Failed("no such file".to_owned()));
    assert!(parsed("-U '/x'").unwrap().may_need_lookup() && !parsed("true").unwrap().may_need_lookup());
}

#[test]
fn an_invalid_expression_is_an_error_with_its_position() {
    let deep = "(".repeat(99) + "true" + &")".repeat(99);
    for (source, expected) in [
        ("", "at the end of the expression \"\""),
        ("maybe", "character 1 of the expression: \"maybe\""),
        ("%{NOBODY_KNOWS} == 'x'", "the variable %{NOBODY_KNOWS} does not exist at character 1"),
        ("'a' == nothing('b')", "the function nothing does not exist at character 8"),
        ("'a' -nothing 'b'", "such an operator does not exist at character 5 of the expression: \"-nothing"),
        ("-q 'a'", "the operator -q does not exist at character 2"),
        ("%{REQUEST_URI} =~ /x", "a pattern is not closed at character 19"),
        ("%{REQUEST_URI} =~ /x/z", "expected the flags i, s, m or g of a pattern, got z"),
        ("%{REQUEST_URI} =~ /(/", "invalid regular expression `(`"),
        ("true true", "expected &&, || or the end at character 6"),
        ("(true", "expected \")\" at the end"),
        ("'a' ~ 'b'", "expected a comparison such as == or =~ at character 5"),
        ("'a' == ", "expected a text in quotation marks"),
        ("'a' && true", "expected a comparison"),
        ("'a' == 'b", "a text or variable is not closed"),
        ("-R %{REMOTE_ADDR}", "expected a network in quotation marks"),
        ("'a' in 'b'", "expected a list such as"),
        ("replace('a', 'b') == ''", "expected replace(word, from, to)"),
        (&deep, "nested more than 50 deep"),
    ] {
        let error = parsed(source).expect_err(source);
        assert!(error.contains(expected), "{source}: {error}");
    }
}

#[test]
fn pages_and_htaccess_files_have_fewer_functions() {
    let of_page =
        |source: &str| Expr::parse_with(source, &mut Budget::of_the_administrator(), ExprRights::OfPage).map(|_| ());
    assert!(of_page("-f '/x'").is_err() && of_page("file('/x') == ''").is_err() && of_page("-n 'x'").is_ok());
    let of_htaccess = |source: &str| Expr::parse(source, &mut Budget::of_htaccess()).map(|_| ());
    assert!(of_htaccess("file('/x') == ''").is_err() && of_htaccess("-f '/x'").is_ok());
}

#[test]
fn an_expression_cannot_blow_up() {
    let doubled = "'xxxxxxxxxx' =~ /(.+)/".to_owned() + &" && '$0$0$0$0$0$0$0$0$0$0' =~ /(.+)/".repeat(30);
    let encoded = "base64(".repeat(40) + "'xxxxxxxxxx'" + &")".repeat(40) + " == ''";
    let replaced = "replace(".repeat(30) + "'xxxxxxxxxx'" + &", 'x', 'xxxxxxxxxx')".repeat(30) + " == ''";
    let substituted = "sub(s/x/xxxxxxxxxx/g, ".repeat(30) + "'xxxxxxxxxx'" + &")".repeat(30) + " == ''";
    let stars = format!("'{}' -strmatch '{}b'", "a".repeat(60_000), "*a".repeat(30_000));
    for source in [doubled, encoded, replaced, substituted, stars] {
        let expr = parsed(&source).expect("it is short");
        let allowance = work::Allowance::default();
        let failure = allowance.count(|| expr.evaluate(&Request)).expect_err("it exceeds the limits");
        assert!(matches!(failure, ExprFailure::Failed(_)) && allowance.is_used_up());
    }
}

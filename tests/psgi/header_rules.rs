//! `Header` and `Header always`: rules of both reach the fields of an application, whatever the status.

use crate::support::{Server, Site};

const APP: &str = r#"
sub {
    my $env = shift;
    my @fields = (Location => '/x', 'Set-Cookie' => 'sid=1', 'Set-Cookie' => 'b=2', 'X-Secret' => 's3', 'X-Frame-Options' => 'SAMEORIGIN');
    my ($status, $way) = $env->{QUERY_STRING} =~ /(\d+)(.*)/;
    return [$status, \@fields, []] unless $way;
    return sub { $_[0]->([$status, \@fields, []]) } if $way eq 'late';
    return sub { my $writer = $_[0]->([$status, \@fields]); $writer->write('a'); $writer->close };
}
"#;

#[track_caller]
fn serve(conf: &[&str]) -> Server {
    let conf = conf.join("\n");
    Site::new().file("app.psgi", APP).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

#[track_caller]
fn fields(server: &Server, query: &str, names: &[&str]) -> Vec<String> {
    let response = server.get(&format!("/?{query}"));
    names.iter().map(|name| response.header(name).unwrap_or_default()).collect()
}

#[test]
fn a_rule_of_either_table_reaches_the_cookies_of_an_application() {
    for table in ["", "always", "onsuccess"] {
        let rule = format!("Header {table} edit Set-Cookie \"^(.*)$\" \"$1; Secure; HttpOnly\"");
        let server = serve(&[&rule]);
        for query in ["200", "302", "404", "500", "302late", "200streamed", "404streamed"] {
            let expected = "sid=1; Secure; HttpOnly, b=2; Secure; HttpOnly";
            assert_eq!(fields(&server, query, &["set-cookie"]), [expected], "{table} {query}");
        }
    }
}

#[test]
fn a_rule_reaches_the_cookies_of_a_program_of_cameleer_run() {
    let rule = "Header always edit Set-Cookie $ \"; Secure\"";
    let cookies = |server: &Server| fields(server, "302", &["set-cookie"]);
    let server = Site::new().file("app.psgi", APP).run(["app.psgi", "-C", rule]);
    assert_eq!(cookies(&server), ["sid=1; Secure, b=2; Secure"]);
    let script = "#!/usr/bin/perl\nprint \"Status: 302\\nLocation: http://x/\\nSet-Cookie: sid=1\\n\\n\";\n";
    for mode in ["program", "fork", "persistent"] {
        let site = Site::new().script("cgi-bin/index.cgi", script).script("cgi-bin/a.cgi", script);
        let server = site.run(["cgi-bin", "--cgi-mode", mode, "-C", rule]);
        let response = server.get("/a.cgi").is(302);
        assert_eq!(response.header("set-cookie").as_deref(), Some("sid=1; Secure"), "{mode}");
    }
}

#[test]
fn rules_of_both_tables_see_each_others_changes() {
    let server = serve(&[
        "Header edit Set-Cookie $ \"; HttpOnly\"",
        "Header always edit Set-Cookie $ \"; Secure\"",
        "Header always set X-Frame-Options NONE",
        "Header set X-Frame-Options DENY",
        "Header always unset X-Secret",
    ]);
    let expected = ["sid=1; Secure; HttpOnly, b=2; Secure; HttpOnly", "DENY", ""];
    assert_eq!(fields(&server, "302", &["set-cookie", "x-frame-options", "x-secret"]), expected);
}

#[test]
fn a_field_that_the_application_does_not_send_has_two_tables() {
    let server = serve(&["Header set X-New one", "Header always set X-New two", "Header always set X-Old early early"]);
    assert_eq!(fields(&server, "200", &["x-new", "x-old"]), ["two, one", "early"]);
    let server = serve(&["Header always set X-Secret early early"]);
    assert_eq!(fields(&server, "200", &["x-secret"]), ["s3"]);
}

#[test]
fn a_rule_reaches_the_cookies_of_application_and_server() {
    let rule = "Header always edit Set-Cookie $ \"; Secure\"";
    let server = serve(&["CookieTracking On", "CookieName track", rule]);
    let response = server.get("/?200");
    let cookies = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    let cookies: Vec<&str> = cookies.map(|(_, value)| value.as_str()).collect();
    assert_eq!(cookies.len(), 3, "{cookies:?}");
    assert!(cookies.iter().all(|cookie| cookie.ends_with("; Secure")), "{cookies:?}");
}

//! CGI headers of a script become HTTP headers.

use super::{URL, serve};

#[test]
fn status_and_headers_of_the_script_are_the_responses() {
    let server =
        serve(r#"print "Status: 404 No such thing\nContent-Type: text/plain\nX-One: 1\nX-Two: 2\n\nnot here";"#);
    let response = server.get(URL).is(404);
    assert_eq!(response.header("status"), None);
    assert_eq!((response.header("x-one").as_deref(), response.header("x-two").as_deref()), (Some("1"), Some("2")));
    assert_eq!(response.text(), "not here", "the script's own page, nothing behind it");
}

#[test]
fn headers_may_end_in_crlf_or_lf_and_come_in_pieces() {
    for script in [
        r#"print "Content-Type: text/plain\r\nX-A: 1\r\n\r\nbody";"#,
        r#"print "Content-Ty"; print "pe: text/plain\n"; print "X-A: 1"; print "\n", "\n", "body";"#,
        r#"$| = 1; print "Content-Type: text/plain\n"; print "X-A: 1\n"; print "\nbody";"#,
    ] {
        let response = serve(script).get(URL).is(200);
        assert_eq!((response.header("x-a").as_deref(), response.text().as_str()), (Some("1"), "body"), "{script}");
    }
}

#[test]
fn two_cookies_stay_two_headers() {
    let server = serve(r#"print "Set-Cookie: a=1\nSet-Cookie: b=2\nContent-Type: text/plain\n\n";"#);
    let response = server.get(URL);
    let cookies: Vec<_> = response.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie")).collect();
    assert_eq!(cookies.len(), 2, "{response:?}");
}

#[test]
fn a_location_with_a_scheme_is_a_302() {
    let response = serve(r#"print "Location: http://example.org/x\n\n";"#).get(URL).is(302);
    assert_eq!(response.header("location").as_deref(), Some("http://example.org/x"));
}

#[test]
fn a_status_beside_a_location_header_is_sent() {
    let response = serve(r#"print "Status: 301 Moved\nLocation: http://example.org/\n\n";"#).get(URL).is(301);
    assert_eq!(response.header("location").as_deref(), Some("http://example.org/"));
}

#[test]
fn a_local_location_is_answered_by_what_is_there() {
    let server = serve(r#"print "Location: /other.txt\n\n";"#);
    server.site.write("htdocs/other.txt", "the other\n");
    assert_eq!(server.text(URL), "the other\n");
}

#[test]
fn the_target_of_a_local_location_knows_the_script_that_named_it() {
    let shown = r#"print "Content-Type: text/plain\n\n", map { "$_=$ENV{$_}\n" } sort grep { /^REDIRECT_(?:STATUS|URL|QUERY|MINE)/ } keys %ENV;"#;
    let server = super::Site::new()
        .script("scripts/names.pl", r#"print "Location: /perl/shows.pl\n\n";"#)
        .script("scripts/first.pl", r#"print "Location: /perl/names.pl?b=2\n\n";"#)
        .script("scripts/shows.pl", shown)
        .serve(&format!("{}\nSetEnv MINE 1", super::CONF));
    let wanted = "REDIRECT_MINE=1\nREDIRECT_QUERY_STRING=a=1\nREDIRECT_STATUS=200\nREDIRECT_URL=/perl/names.pl\n";
    assert_eq!(server.text("/perl/names.pl?a=1"), wanted);
    let last = server.text("/perl/first.pl?a=1");
    assert!(last.contains("REDIRECT_QUERY_STRING=b=2\n") && last.contains("REDIRECT_URL=/perl/names.pl\n"), "{last}");
    assert_eq!(server.text("/perl/shows.pl?a=1"), "");
}

#[test]
fn an_nph_script_speaks_http_itself() {
    let server = super::Site::new()
        .script(
            "scripts/nph-own.pl",
            r#"print "HTTP/1.1 299 My Own\r\nContent-Type: text/plain\r\nX-Own: 1\r\n\r\nraw";"#,
        )
        .serve(super::CONF);
    let response = server.get("/perl/nph-own.pl").is(299);
    assert_eq!((response.header("x-own").as_deref(), response.text().as_str()), (Some("1"), "raw"));
}

#[test]
fn a_script_without_a_header_is_a_500_with_premature_end_in_the_log() {
    let server = serve("print 'no header at all';");
    server.get(URL).is(500);
    server.logged("remature end of script headers");
}

#[test]
fn a_script_that_prints_nothing_is_a_500() {
    let server = serve("1;");
    server.get(URL).is(500);
    server.logged("remature end of script headers");
}

#[test]
fn send_header_off_takes_a_script_that_prints_no_header() {
    let server = super::site("print 'just text';")
        .serve(&format!("{}\n<Location /perl>\nPerlSendHeader Off\n</Location>", super::CONF));
    assert_eq!(server.text(URL), "just text");
}

#[test]
fn head_of_a_script_has_its_headers_and_no_body() {
    let server = serve(r#"print "Content-Type: text/plain\nX-A: 1\n\nbody";"#);
    let mut connection = server.connect();
    let head = connection.ask(crate::support::Request::new("HEAD", URL)).is(200);
    assert_eq!(head.header("x-a").as_deref(), Some("1"));
    assert_eq!(connection.ask(crate::support::Request::get(URL)).text(), "body");
}

#[test]
fn a_date_of_a_script_is_one_of_http_or_is_not_sent() {
    let cases = [
        ("Tue, 2 Mar 2021 12:30:00 +0100", Some("Tue, 02 Mar 2021 11:30:00 GMT")),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some("Sun, 06 Nov 1994 08:49:37 GMT")),
        ("Sunday, 06-Nov-94 08:49:37 GMT", Some("Sun, 06 Nov 1994 08:49:37 GMT")),
        ("Sun Nov  6 08:49:37 1994", Some("Sun, 06 Nov 1994 08:49:37 GMT")),
        ("yesterday or so", None),
        ("1234567890", None),
        ("", None),
    ];
    let script = "my $date = $ENV{QUERY_STRING}; $date =~ s/%([0-9A-F]{2})/chr hex $1/ge;\n\
        print qq{Content-Type: text/plain\\nLast-Modified: $date\\n\\nbody};";
    let server = serve(script);
    let ask = |date: &str| server.get(&format!("{URL}?{}", date.replace(' ', "%20"))).is(200);
    for (date, expected) in cases {
        let response = ask(date);
        assert_eq!(
            (response.header("last-modified").as_deref(), response.text().as_str()),
            (expected, "body"),
            "{date}"
        );
    }
    let sent = ask("Sun, 06 Nov 2095 08:49:37 GMT").header("last-modified").unwrap_or_default();
    assert!(sent.ends_with("GMT") && !sent.contains("2095"), "the future is now: {sent}");
}

#[test]
fn header_always_reaches_the_cookies_of_a_script() {
    let conf = format!("{}\nHeader always edit Set-Cookie $ \"; Secure\"", super::CONF);
    for script in [
        r#"print "Set-Cookie: a=1\nContent-Type: text/plain\n\n";"#,
        r#"my $r = Apache->request; $r->send_cgi_header("Set-Cookie: a=1\nContent-Type: text/plain\n\n");"#,
        r#"my $r = Apache->request; $r->cgi_header_out('Set-Cookie', 'a=1'); $r->send_http_header('text/plain');"#,
        r#"my $r = Apache->request; $r->err_headers_out->add('Set-Cookie', 'a=1'); $r->send_http_header('text/plain');"#,
    ] {
        let response = super::site(script).serve(&conf).get(URL).is(200);
        assert_eq!(response.header("set-cookie").as_deref(), Some("a=1; Secure"), "{script}");
    }
}

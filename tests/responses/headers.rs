//! `Header`, `RequestHeader`, `Expires…`, `AddDefaultCharset`: for files and for programs.

use crate::support::{Request, Response, serve_env_handler as serve};

fn header(response: &Response, name: &str) -> String {
    response.header(name).unwrap_or_else(|| "(none)".to_owned())
}

#[test]
fn headers_are_set_added_and_taken_away() {
    let server = serve(
        "Header set X-Set one\nHeader append X-Set two\nHeader merge X-Set two\nHeader add X-Set three\nHeader unset ETag\n\
         Header set X-Own front\nHeader edit X-Own ^f(.) F$1-\nHeader setifempty X-Empty yes\nHeader setifempty X-Set no\n\
         Header echo ^X-Ask",
    );
    for path in ["/page.html", "/perl"] {
        let response = server.send(Request::get(path).header("X-Asked", "a").header("Y", "b")).is(200);
        assert_eq!(header(&response, "x-set"), "one, two, three", "{path}");
        assert_eq!(header(&response, "x-own"), "Fr-ont", "{path}");
        assert_eq!(header(&response, "x-empty"), "yes", "{path}");
        assert_eq!(header(&response, "x-asked"), "a", "{path}");
        assert_eq!(header(&response, "y"), "(none)", "{path}");
        assert_eq!(header(&response, "etag"), "(none)", "{path}");
    }
}

#[test]
fn errors_have_only_headers_of_always() {
    let server = serve("Header set X-Good yes\nHeader always set X-Always yes");
    let good = server.get("/page.html");
    assert_eq!((header(&good, "x-good"), header(&good, "x-always")), ("yes".into(), "yes".into()));
    let bad = server.get("/none").is(404);
    assert_eq!((header(&bad, "x-good"), header(&bad, "x-always")), ("(none)".into(), "yes".into()));
}

/// mod_headers.html: the document of a place of the site is a response of that place.
#[test]
fn the_document_of_an_error_has_the_headers_of_its_place() {
    let server = serve(
        "ErrorDocument 410 /page.html\nRedirect gone /gone\nExpiresActive On\nExpiresDefault A60\nRedirect /moved http://else.example/\n\
         <Location /page.html>\nHeader set X-Good yes\n</Location>\n<Location /gone>\nHeader always set X-Old yes\n</Location>",
    );
    let gone = server.get("/gone").is(410);
    assert_eq!((header(&gone, "x-good"), header(&gone, "x-old")), ("yes".into(), "(none)".into()));
    // mod_expires adds nothing to errors, and its fields to redirects.
    assert_eq!(header(&gone, "expires"), "(none)");
    assert_eq!(header(&server.get("/moved").is(302), "cache-control"), "max-age=60");
}

/// mod_headers.html#early: before the headers are read by anything else.
#[test]
fn access_rules_read_the_headers_that_early_rules_have_changed() {
    let server = serve(
        "RequestHeader unset X-Trusted early\nRequestHeader set X-Made here early\nSetEnvIf X-Trusted yes trusted\n\
         SetEnvIf X-Made here made\nHeader set X-Seen %{made}e\n<Location /plain.txt>\nRequire env trusted\n</Location>\n\
         RequestHeader append X-Once a early",
    );
    server.send(Request::get("/plain.txt").header("X-Trusted", "yes")).is(403);
    let perl = server.send(Request::get("/perl").header("X-Trusted", "yes").header("X-Once", "b")).is(200);
    assert_eq!(header(&perl, "x-seen"), "1");
    let text = perl.text();
    assert!(text.contains("HTTP_X_MADE=here") && text.contains("HTTP_X_ONCE=b, a\n"), "{text}");
    assert!(!text.contains("HTTP_X_TRUSTED"), "{text}");
}

#[test]
fn a_note_of_a_header_is_for_expressions_and_logs() {
    let server = serve(
        "Header set X-Page camel\nHeader note X-Page page\nHeader set X-Said \"expr=%{note:page}\"\nHeader unset X-Page\n\
         CustomLog notes.log \"%U %{page}n\"\nHeader set X-Load \"%l %i %b\"",
    );
    let answer = server.get("/page.html").is(200);
    assert_eq!((header(&answer, "x-said"), header(&answer, "x-page")), ("camel".into(), "(none)".into()));
    let load = header(&answer, "x-load");
    let figures: Vec<&str> = load.split(' ').collect();
    let [averages, idle, busy] = figures.as_slice() else { panic!("{load}") };
    assert!(averages.starts_with("l=") && averages.split('/').count() == 3, "{load}");
    assert!(idle.starts_with("i=") && busy.starts_with("b="), "{load}");
    crate::support::until("the note is logged", || server.site.read("notes.log") == "/page.html camel\n");
}

#[test]
fn a_header_can_depend_on_a_variable_and_show_it() {
    let server = serve(
        "SetEnvIf User-Agent ^Robot/(.*) robot=$1\nHeader set X-Robot \"v%{robot}e 100%%\" env=robot\n\
         Header set X-Human yes env=!robot\nHeader set X-Time \"%D %t\"",
    );
    for path in ["/page.html", "/perl"] {
        let robot = server.send(Request::get(path).header("User-Agent", "Robot/7"));
        assert_eq!((header(&robot, "x-robot"), header(&robot, "x-human")), ("v7 100%".into(), "(none)".into()));
        let human = server.get(path);
        assert_eq!((header(&human, "x-robot"), header(&human, "x-human")), ("(none)".into(), "yes".into()));
        let time = header(&human, "x-time");
        let (took, received) = time.split_once(' ').expect("two words");
        assert!(took.strip_prefix("D=").is_some_and(|n| n.parse::<u64>().is_ok()), "{time}");
        assert!(received.strip_prefix("t=").is_some_and(|n| n.parse::<u64>().is_ok_and(|n| n > 1 << 50)), "{time}");
    }
}

#[test]
fn early_headers_give_way_to_the_programs() {
    let server = serve("Header set X-Own early early\nHeader set X-Early yes early");
    let response = server.get("/perl");
    assert_eq!((header(&response, "x-own"), header(&response, "x-early")), ("handler".into(), "yes".into()));
}

#[test]
fn programs_see_the_changed_request() {
    let server = serve(
        "RequestHeader set X-Added \"a b\"\nRequestHeader unset Cookie\nRequestHeader edit User-Agent Old New\n\
         RequestHeader append Via proxy",
    );
    let request = Request::get("/perl").header("Cookie", "c=d").header("User-Agent", "Old/1").header("Via", "first");
    let text = server.send(request).text();
    for line in ["HTTP_X_ADDED=a b", "HTTP_USER_AGENT=New/1", "HTTP_VIA=first, proxy"] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    assert!(!text.contains("HTTP_COOKIE"), "{text}");
}

#[test]
fn expires_by_type_sets_expires_and_cache_control() {
    let server = serve(
        "ExpiresActive On\nExpiresByType text/html \"access plus 1 hour\"\nExpiresDefault A60\n\
         <Location /perl/off>\nExpiresActive Off\n</Location>",
    );
    for (path, age) in [("/page.html", 3600), ("/perl", 3600), ("/plain.txt", 60)] {
        let response = server.get(path).is(200);
        assert_eq!(header(&response, "cache-control"), format!("max-age={age}"), "{path}");
        let until = httpdate::parse_http_date(&header(&response, "expires")).expect("a date");
        let left = until.duration_since(std::time::SystemTime::now()).expect("in the future").as_secs();
        assert!(left.abs_diff(age) <= 30, "{path}: {left}");
    }
    assert_eq!(header(&server.get("/perl/off"), "expires"), "(none)");
    assert_eq!(header(&server.get("/none").is(404), "expires"), "(none)");
    let etag = server.get("/page.html").header("etag").expect("a tag");
    let unchanged = server.send(Request::get("/page.html").header("If-None-Match", &etag)).is(304);
    assert_eq!(header(&unchanged, "cache-control"), "max-age=3600");
}

#[test]
fn expiry_can_count_from_the_files_change() {
    let server = serve("ExpiresActive On\nExpiresDefault \"modification plus 2 hours\"");
    server.site.age("htdocs/plain.txt", std::time::Duration::from_secs(3600));
    let control = header(&server.get("/plain.txt"), "cache-control");
    let age: u64 = control.strip_prefix("max-age=").and_then(|n| n.parse().ok()).expect("an age");
    assert!(age.abs_diff(3600) <= 30, "{control}");
    assert_eq!(header(&server.get("/perl"), "expires"), "(none)");
}

#[test]
fn a_default_charset_is_added_to_texts_without_one() {
    let server = serve("AddDefaultCharset utf-8\nAddType text/html;charset=iso-8859-2 .two\nAddType text/css .css");
    server.site.write("htdocs/a.two", "x");
    server.site.write("htdocs/a.css", "x");
    for (path, kind) in [
        ("/page.html", "text/html; charset=utf-8"),
        ("/perl", "text/html; charset=utf-8"),
        ("/a.two", "text/html;charset=iso-8859-2"),
        ("/a.css", "text/css"),
    ] {
        assert_eq!(header(&server.get(path), "content-type"), kind, "{path}");
    }
}

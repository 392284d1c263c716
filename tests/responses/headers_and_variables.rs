//! Headers and variables: mod/mod_headers.html, mod/mod_setenvif.html, mod/mod_expires.html

use crate::support::{Request, serve_echo_script as serve};

/// mod_headers.html#header, append: "the response header is appended to any existing header of the same name"; no
/// existing field is lost.
#[test]
fn appending_to_a_header_keeps_all_its_fields() {
    let server = serve("Header add X-List a\nHeader add X-List b\nHeader append X-List c\nHeader merge X-List b");
    let page = server.get("/plain.txt");
    let value = page.header("x-list").unwrap_or_default();
    let mut items: Vec<_> = value.split(',').map(str::trim).collect();
    items.sort_unstable();
    assert_eq!(items, ["a", "b", "c"], "{page:?}");
}

/// mod_headers.html#header, formats: "%{VARNAME}s: the contents of the SSL environment variable".
#[test]
fn a_trusted_header_may_report_tls() {
    let server = serve("Header set X-Protocol \"%{SSL_PROTOCOL}s\"");
    assert_eq!(server.get("/plain.txt").header("x-protocol").as_deref(), Some("(null)"));
}

/// mod_setenvif.html#setenvif: the attribute may be "a regular expression […] against the names of headers".
#[test]
fn a_variable_may_be_set_by_any_header_whose_name_fits() {
    let server = serve(
        "SetEnvIf ^User-Ag Robot robot\nSetEnvIf ^X-Fo (.+) found=$1\nHeader set X-Robot yes env=robot\nHeader set X-Found %{found}e",
    );
    let page = server
        .send(Request::get("/plain.txt").header("User-Agent", "Robot/1").header("X-Fo", "a").header("X-Foo", "b"));
    assert_eq!((page.header("x-robot").as_deref(), page.header("x-found").as_deref()), (Some("yes"), Some("b")));
    let page = server.get("/plain.txt");
    assert_eq!((page.header("x-robot"), page.header("x-found").as_deref()), (None, Some("(null)")));
}

/// mod_setenvif.html#setenvifexpr and expr.html; mod_headers.html#header: "expr=…" as the condition of a line.
#[test]
fn a_variable_may_depend_on_an_expression() {
    let server = serve(
        "SetEnvIfExpr \"%{REQUEST_URI} =~ m#^/(plain)# && %{QUERY_STRING} == 'x'\" found=$1\nHeader set X-Found %{found}e\n\
         Header set X-Get yes \"expr=%{REQUEST_METHOD} == 'GET' && -n %{req:X-Own}\"",
    );
    let page = server.send(Request::get("/plain.txt?x").header("X-Own", "1"));
    assert_eq!((page.header("x-found").as_deref(), page.header("x-get").as_deref()), (Some("plain"), Some("yes")));
    let page = server.get("/plain.txt");
    assert_eq!((page.header("x-found").as_deref(), page.header("x-get")), (Some("(null)"), None));
}

/// mod_expires.html; tried with httpd 2.4: an expiry before the response's date becomes the date itself.
#[test]
fn an_expiry_in_the_past_becomes_the_date_of_the_response() {
    let server = serve("ExpiresActive On\nExpiresDefault A-86400");
    let page = server.get("/plain.txt");
    assert_eq!(page.header("cache-control").as_deref(), Some("max-age=0"));
    let (expires, date) = (page.header("expires"), page.header("date"));
    let seconds = |date: Option<String>| httpdate::parse_http_date(&date.expect("a date")).expect("a date");
    let apart = seconds(expires).duration_since(seconds(date));
    assert!(apart.as_ref().map_or_else(|early| early.duration(), |late| *late).as_secs() <= 2, "{page:?}");
}

/// mod_mime.html#addoutputfilter, core.html#setoutputfilter, core.html#setinputfilter: a filter that does not exist
/// here is ignored with a message in the log.
#[test]
fn filters_that_are_not_ours_are_passed_over() {
    let server = serve(
        "SetInputFilter BUFFER\nSetOutputFilter XML2ENC\nAddOutputFilter XML2ENC;DEFLATE .own\nAddInputFilter X .y",
    );
    server.site.write("htdocs/page.own", &"source ".repeat(200));
    server.logged("BUFFER is ignored");
    server.logged("XML2ENC is ignored");
    let packed = server.send(Request::get("/page.own").header("Accept-Encoding", "gzip")).is(200);
    assert_eq!(packed.header("content-encoding").as_deref(), Some("gzip"));
    let plain = server.send(Request::get("/plain.txt").header("Accept-Encoding", "gzip")).is(200);
    assert_eq!(plain.header("content-encoding"), None);
}
